// A server for tests of agents: says what it is told to say, remembers what it hears.
#ifndef SLIPWAY_DEVICE_AGENT_TESTING_GRPC_FAKE_SERVER_H_
#define SLIPWAY_DEVICE_AGENT_TESTING_GRPC_FAKE_SERVER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "core/rpc/testing/grpc_fake_blobs.h"
#include "proto/slipway/v1/agent.pb.h"

namespace slipway {

// AgentService and BlobService on an address. Thread-safe.
class FakeServer {
 public:
  // `address` as for an agent's --server.
  explicit FakeServer(const std::string& address);
  ~FakeServer();

  testing::FakeBlobService& blobs();

  // Wants these attempts from now on.
  void Want(const std::vector<v1::RunAssignment>& attempts);
  // Answers every Sync with this status; OK: as usual.
  void FailSync(int code, const std::string& message);

  // Waits for a report that fits. Unset after a minute.
  std::optional<v1::AgentState> WaitFor(const std::function<bool(const v1::AgentState&)>& fits);
  // Waits for an attempt that has ended.
  std::optional<v1::RunAttemptState> WaitForEnd(const std::string& attempt_id);

 private:
  class Services;
  std::unique_ptr<Services> services_;
};

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_TESTING_GRPC_FAKE_SERVER_H_
