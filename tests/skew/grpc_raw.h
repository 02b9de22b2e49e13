// Calls and a server whose messages are bytes, so that peers of other versions can be played.
#ifndef SLIPWAY_TESTS_SKEW_GRPC_RAW_H_
#define SLIPWAY_TESTS_SKEW_GRPC_RAW_H_

#include <grpcpp/channel.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "tests/common/socket_folder.h"

namespace slipway::testing {

// Methods are named "JobService/GetJob". Thread-safe.
class RawClient {
 public:
  explicit RawClient(const std::string& address);

  // Sends the requests and the end of them, and returns all responses; of a method of any kind. At most 20 s.
  absl::StatusOr<std::vector<std::string>> Call(const std::string& method,
                                                const std::vector<std::string>& requests) const;

 private:
  std::shared_ptr<grpc::Channel> channel_;
};

struct RawAnswer {
  absl::Status status;
  std::vector<std::string> responses;
};

// Answers every method, once the caller has sent all requests. Listens on a free port of the loopback.
class RawServer {
 public:
  // Called on a thread of its own for each call, with one request at least; may wait, but not for long: the
  // destructor waits for it.
  using Handler =
      std::function<RawAnswer(const std::string& method, const std::vector<std::string>& requests)>;

  explicit RawServer(Handler handler);
  ~RawServer();

  std::string address() const { return socket_.address(); }

 private:
  class Call;
  class Service final : public grpc::CallbackGenericService {
   public:
    explicit Service(RawServer& server) : server_(server) {}
    grpc::ServerGenericBidiReactor* CreateReactor(
        grpc::GenericCallbackServerContext* context) override;

   private:
    RawServer& server_;
  };

  const Handler handler_;
  Service service_{*this};
  absl::Mutex mutex_;
  std::vector<std::thread> threads_ ABSL_GUARDED_BY(mutex_);
  const SocketFolder socket_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_SKEW_GRPC_RAW_H_
