// SwappingRelay: stands between an agent and its server, holds the server's key for TLS, and changes what it likes.
#ifndef SLIPWAY_TESTS_SECURITY_GRPC_SWAPPING_RELAY_H_
#define SLIPWAY_TESTS_SECURITY_GRPC_SWAPPING_RELAY_H_

#include <functional>
#include <memory>
#include <string>

#include "proto/slipway/v1/agent.pb.h"
#include "proto/slipway/v1/statement.pb.h"

namespace slipway::testing {

// Serves agents at an address of its own as the server whose identity file it has, and asks the real one for all it says, as the
// agent whose identity file it has. Thread-safe.
class SwappingRelay {
 public:
  struct Options {
    std::string server;           // Address of the real one.
    std::string server_identity;  // Identity files.
    std::string agent_identity;
  };
  explicit SwappingRelay(const Options& options);
  ~SwappingRelay();

  // HOST:PORT.
  const std::string& address() const;

  // What is done from now on to assignments, to pieces of blobs, and to statements that were asked for. Empty: nothing.
  struct Changes {
    std::function<void(v1::RunAssignment&)> assignment = nullptr;
    std::function<void(std::string& piece)> blob = nullptr;
    std::function<void(v1::SignedStatement&)> statement = nullptr;
  };
  void Change(Changes changes);

 private:
  class Services;
  std::unique_ptr<Services> services_;
};

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_SECURITY_GRPC_SWAPPING_RELAY_H_
