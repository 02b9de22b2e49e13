// FakeDevice: a SessionService in this process, over tensors of the host. Its one program is a toy; it breaks, waits and
// lies where a test says. It holds clients to the protocol: what breaks it ends the session with INVALID_ARGUMENT.
//
// Functions of the program: "add" (a, b) -> sum of f32; "wait" (x) -> x, not before Release; "print" (x) -> x, with a
// line of log; "crash" (x) -> x, which ends the runner.
#ifndef SLIPWAY_CLIENT_TESTING_GRPC_FAKE_DEVICE_H_
#define SLIPWAY_CLIENT_TESTING_GRPC_FAKE_DEVICE_H_

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/cord.h"
#include "absl/synchronization/mutex.h"
#include "core/base/digest.h"
#include "proto/slipway/v1/session.pb.h"
#include "tests/common/socket_folder.h"

namespace slipway::testing {

// How the fake behaves; what a test does not set works. Change it only through FakeDevice::Configure.
struct FakeDeviceBehaviour {
  std::string token;         // What every call must carry as "authorization", if not empty.
  grpc::Status refusal;      // What `open` and `resume` end in.
  bool let_wait = false;     // `open` is told to wait until Release.
  bool is_mute = false;      // Nothing is answered over sessions.
  bool server_lives = true;  // GetServerInfo is answered.
  int64_t max_data_bytes = 1 << 20;
  int64_t max_requests = 64;
  int64_t max_data_under_way_bytes = 4 << 20;
  bool tells_handles = true;  // As agents do that let sessions be taken up elsewhere.
  // The connection breaks when this message of a session comes, counted from 0; before or after it was taken.
  int drop_at = -1;
  bool drop_before = false;
  // Blobs without which nothing is loaded; the first that is missing is named.
  std::vector<Digest> needed_blobs;
  // Changes every response and piece of news before it is sent.
  std::function<void(v1::SessionResponse&, absl::Cord& data)> tamper;
};

// Thread-safe. Listens at a unix socket.
class FakeDevice {
 public:
  FakeDevice();
  ~FakeDevice();

  std::string address() const { return socket_.address(); }
  void Configure(const std::function<void(FakeDeviceBehaviour&)>& change);

  // Lets those go on who wait: for the device, and in a call of "wait".
  void Release();
  // As when its process ends, and is there again with what it knew.
  void StopListening();
  void Listen();
  // Ends every connection, with this status.
  void EndConnections(const grpc::Status& status);
  // Sends these bytes, as they are, over every connection.
  void Send(const absl::Cord& message);
  // Bytes of a blob that are there.
  std::map<std::string, std::string> blobs();
  void PutBlob(const Digest& digest, const std::string& bytes);

  // What arrived.
  int messages();     // Over all connections of all sessions, the first of each included.
  int connections();  // Of sessions.
  std::vector<v1::SessionRequest> carried_out();  // In order, without their data.
  int held();  // Requests that have come and are not carried out.
  int64_t tensors();
  bool is_closed();  // The last session, by the client.

 private:
  class Connection;
  class Inquiry;
  class Service;
  struct Held;
  struct State;

  const SocketFolder socket_;
  const std::unique_ptr<State> state_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace slipway::testing

#endif  // SLIPWAY_CLIENT_TESTING_GRPC_FAKE_DEVICE_H_
