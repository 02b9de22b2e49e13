// FuzzedServer: a whole server in this process, with work of every kind under way, and calls of any bytes.
#ifndef SLIPWAY_TESTS_FUZZ_GRPC_FUZZED_SERVER_H_
#define SLIPWAY_TESTS_FUZZ_GRPC_FUZZED_SERVER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/base/files.h"
#include "server/server_context.h"
#include "server/services/access.h"

namespace slipway::testing {

// One agent has a run, another one a session whose client is connected, a worker a compilation; what their
// requests need is there. What should not be ends the process. Not thread-safe.
class FuzzedServer {
 public:
  FuzzedServer();
  ~FuzzedServer();

  // Makes the call that an input describes (rpc_seeds.h), and returns how it ended. Ends the process when it does not
  // end in time, or when a request that is one is answered as only a bug would. REQUIRES: `input` is not empty.
  absl::Status Take(absl::string_view input);
  // Ends the process unless the server says what it is.
  void CheckServes();

  // Whether calls of the method may last until their caller leaves, which Take does soon: DEADLINE_EXCEEDED.
  static bool MayWait(server::Rpc rpc);

 private:
  class OpenSession;

  // Work for agents and the worker.
  void MakeWork();

  TemporaryFolder folder_;
  std::unique_ptr<server::ServerContext> server_;
  struct Client;
  std::unique_ptr<Client> client_;
  std::unique_ptr<OpenSession> session_;
  // What the server chose, by what stands for it in inputs.
  std::map<absl::string_view, std::string> names_;
  uint64_t reports_ = 0;
};

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_FUZZ_GRPC_FUZZED_SERVER_H_
