// FakeServer: a Slipway server in this process that compiles and runs nothing. Jobs end as a test says, and
// calls break where it says.
#ifndef SLIPWAY_CLIENT_TESTING_GRPC_FAKE_SERVER_H_
#define SLIPWAY_CLIENT_TESTING_GRPC_FAKE_SERVER_H_

#include <grpcpp/server.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "core/rpc/testing/grpc_fake_blobs.h"
#include "proto/slipway/v1/compile.grpc.pb.h"
#include "proto/slipway/v1/fleet.grpc.pb.h"
#include "proto/slipway/v1/history.grpc.pb.h"
#include "proto/slipway/v1/job.grpc.pb.h"
#include "proto/slipway/v1/run.grpc.pb.h"
#include "proto/slipway/v1/server.grpc.pb.h"
#include "tests/common/socket_folder.h"

namespace slipway::testing {

// How the fake behaves; what a test does not set works. Change it only through FakeServer::Configure.
struct FakeBehaviour {
  // Called once for a job when it is to end; sets state and result or error. The default makes compilations
  // succeed with TestManifest, runs return y, and benchmarks have 100 samples.
  std::function<void(v1::Job&)> finish;
  // Jobs stay RUNNING until they are cancelled.
  bool hold = false;
  // This many calls, of any kind, fail with UNAVAILABLE.
  int unavailable_calls = 0;
  // The next WatchJob breaks with UNAVAILABLE after so many messages; -1: never.
  int break_watch_after = -1;
  // What the next Create* call returns instead of accepting.
  grpc::Status create_status;
  // Create* accepts this many jobs and then claims to be UNAVAILABLE, as a connection that breaks does.
  int lost_answers = 0;
  std::vector<v1::Device> devices;
  // What jobs are about; empty: as from servers that do not tell.
  std::string subject;
  // Listed first, where the jobs of everybody are asked for.
  std::vector<v1::Job> jobs_of_others;
  // What was measured before, newest first; pages of it have two each, the first none.
  std::vector<v1::HistoryEntry> history;
  // What GetRecord gives, of whatever is asked for.
  v1::SignedRecord record;
  v1::ServerInfo info;
  // What every call must carry as "authorization", if not empty.
  std::string token;
};

// Thread-safe. Listens at a unix socket.
class FakeServer {
 public:
  FakeServer();
  ~FakeServer();

  std::string address() const { return socket_.address(); }
  void Configure(const std::function<void(FakeBehaviour&)>& change);

  FakeBlobService& blobs();
  // What arrived.
  int creates() const;
  std::vector<v1::Job> jobs() const;
  int lists() const;  // Of jobs, that were answered.
  int device_lists() const;
  v1::ListJobsRequest last_list() const;
  v1::ListHistoryRequest last_history() const;

 private:
  struct State;
  class Compiles;
  class Runs;
  class Jobs;
  class Fleet;
  class History;
  class Server;

  const SocketFolder socket_;
  std::unique_ptr<State> state_;
  std::vector<std::unique_ptr<grpc::Service>> services_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace slipway::testing

#endif  // SLIPWAY_CLIENT_TESTING_GRPC_FAKE_SERVER_H_
