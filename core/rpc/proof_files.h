// ProofFiles: notices that the files of a CallerProof were replaced, as by their renewal. gRPC reads them once for a channel.
#ifndef SLIPWAY_CORE_RPC_PROOF_FILES_H_
#define SLIPWAY_CORE_RPC_PROOF_FILES_H_

#include <array>
#include <cstdint>
#include <string>

#include "core/rpc/caller_proof.h"

namespace slipway {

// Not thread-safe.
class ProofFiles {
 public:
  // Looks at them now.
  explicit ProofFiles(const CallerProof& proof);

  // Whether they are others than when this last looked: by inode, size and time of change, which costs two system calls.
  bool HaveChanged();

 private:
  // Of one file; all 0 where there is none.
  using Facts = std::array<int64_t, 4>;
  std::array<Facts, 2> Look() const;

  const std::string identity_file_;
  const std::string authority_file_;
  std::array<Facts, 2> seen_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RPC_PROOF_FILES_H_
