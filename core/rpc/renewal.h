// Renewal: keeps an identity from expiring.
#ifndef SLIPWAY_CORE_RPC_RENEWAL_H_
#define SLIPWAY_CORE_RPC_RENEWAL_H_

#include <memory>
#include <string>

#include "core/rpc/caller_proof.h"

namespace slipway {

// A thread that renews an identity whenever it is time, for a process that goes on for long; nothing for an empty identity_file, and for one that was given with an authority_file. What fails is
// logged, and tried again an hour later. Others may renew the same file: they read it anew.
class Renewal {
 public:
  virtual ~Renewal() = default;
  static std::unique_ptr<Renewal> Start(const std::string& server, const CallerProof& proof);
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RPC_RENEWAL_H_
