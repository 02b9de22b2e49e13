// What sessions cost beyond what gRPC costs, straight to an agent and through a server, and what a server accepts;
// every ratio is of minima or medians of rounds that take turns, in one run:
//   - a call of a tiny loaded program, handles in and out (goals: 1.6 of a unary call; of two, through a server);
//   - calls that do not wait for each other (goal: 20,000 a second);
//   - 256 MiB put and got (goals: 85 % of a bare stream's rate, 75 % through a server), and how much memory server and
//     agents take for it (goal: 32 MB). The bare stream does what a put and a get do and no more: it takes the tensor
//     from its memory and leaves it in the other's. Beside it, a stream of one message again and again whose bytes are
//     dropped: what the connection alone could carry;
//   - jobs accepted durably from 32 clients (goals: 1,000 a second, p99 100 ms).
//
//   bazel run //tests/bench:session_bench [-- --json]
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/client.h"
#include "client/session.h"
#include "core/base/clock.h"
#include "core/base/json_writer.h"
#include "core/base/status_macros.h"
#include "core/base/subprocess.h"
#include "core/runtime/test_programs/test_programs.h"
#include "tests/bench/grpc_accept_rate.h"
#include "tests/bench/grpc_bare_rates.h"
#include "tests/common/cluster.h"
#include "tests/common/process_list.h"
#include "tests/common/service_process.h"

namespace slipway::bench {
namespace {

constexpr char kServeBare[] = "--serve-bare-rates";
constexpr int kRounds = 5;
constexpr int kCalls = 2'000;
constexpr int kPipelined = 40'000;
constexpr int kUnderWay = 512;
constexpr int64_t kTensorBytes = 256 << 20;
constexpr int kClients = 32;
constexpr int kJobs = 8'000;

using testing::Cluster;
using testing::ServiceProcess;

absl::Duration Median(std::vector<absl::Duration> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// A session with a tiny program loaded.
struct Loaded {
  Session session;
  RemoteProgram program;
  RemoteTensor x;
  RemoteTensor y;

  static absl::StatusOr<Loaded> Open(const std::string& address) {
    SLIPWAY_ASSIGN_OR_RETURN(Session session,
                             Session::Open({.address = address, .proof = {.insecure = true}}));
    SLIPWAY_ASSIGN_OR_RETURN(RemoteProgram program, session.Load(TestProgram(TestKernel::kAdd)));
    SLIPWAY_ASSIGN_OR_RETURN(RemoteTensor x, session.Zeros({DataType::kFloat32, {2, 8}}));
    SLIPWAY_ASSIGN_OR_RETURN(RemoteTensor y, session.Zeros({DataType::kFloat32, {2, 8}}));
    return Loaded{std::move(session), std::move(program), std::move(x), std::move(y)};
  }

  absl::StatusOr<absl::Duration> CallMedian() {
    const SystemClock clock;
    std::vector<absl::Duration> times;
    for (int i = 0; i < kCalls; ++i) {
      const absl::Duration begin = clock.Monotonic();
      SLIPWAY_RETURN_IF_ERROR(program.CallInto({&x}, {&y}).status());
      times.push_back(clock.Monotonic() - begin);
    }
    return Median(std::move(times));
  }

  absl::StatusOr<absl::Duration> Pipelined() {
    const SystemClock clock;
    const absl::Duration begin = clock.Monotonic();
    std::vector<Future<CallReport>> under_way(kUnderWay);
    for (int i = 0; i < kPipelined; ++i) {
      Future<CallReport>& slot = under_way[static_cast<size_t>(i % kUnderWay)];
      if (i >= kUnderWay) SLIPWAY_RETURN_IF_ERROR(slot.Get().status());
      slot = program.CallIntoAsync({&x}, {&y});
    }
    for (Future<CallReport>& slot : under_way) SLIPWAY_RETURN_IF_ERROR(slot.Get().status());
    return clock.Monotonic() - begin;
  }
};

// Seconds; the least of all rounds, but for calls, whose medians' least it is.
struct Times {
  absl::Duration call = absl::InfiniteDuration();
  absl::Duration put = absl::InfiniteDuration();
  absl::Duration get = absl::InfiniteDuration();
  absl::Duration pipelined = absl::InfiniteDuration();
};

absl::Span<char> AllBytes(Tensor& tensor) {
  return absl::MakeSpan(tensor.mutable_bytes(), static_cast<size_t>(tensor.byte_size()));
}

absl::Status MeasureBare(BareRates& bare, const Tensor& tensor, Tensor& back, Times& times,
                         Times& dropped) {
  std::vector<absl::Duration> calls;
  for (int i = 0; i < kCalls; ++i) {
    SLIPWAY_ASSIGN_OR_RETURN(const absl::Duration call, bare.Call());
    calls.push_back(call);
  }
  times.call = std::min(times.call, Median(std::move(calls)));
  SLIPWAY_ASSIGN_OR_RETURN(const absl::Duration put, bare.Put(tensor.bytes()));
  times.put = std::min(times.put, put);
  SLIPWAY_ASSIGN_OR_RETURN(const absl::Duration get, bare.Get(AllBytes(back)));
  times.get = std::min(times.get, get);
  if (back.bytes() != tensor.bytes()) return absl::DataLossError("other bytes came back");
  SLIPWAY_ASSIGN_OR_RETURN(const absl::Duration sent, bare.Send(kTensorBytes));
  dropped.put = std::min(dropped.put, sent);
  SLIPWAY_ASSIGN_OR_RETURN(const absl::Duration received, bare.Receive(kTensorBytes));
  dropped.get = std::min(dropped.get, received);
  return absl::OkStatus();
}

absl::Status MeasureSession(Loaded& loaded, const Tensor& tensor, Tensor& back, Times& times) {
  const SystemClock clock;
  SLIPWAY_ASSIGN_OR_RETURN(const absl::Duration call, loaded.CallMedian());
  times.call = std::min(times.call, call);
  SLIPWAY_ASSIGN_OR_RETURN(const absl::Duration pipelined, loaded.Pipelined());
  times.pipelined = std::min(times.pipelined, pipelined);
  absl::Duration begin = clock.Monotonic();
  SLIPWAY_ASSIGN_OR_RETURN(const RemoteTensor put, loaded.session.Put(tensor));
  times.put = std::min(times.put, clock.Monotonic() - begin);
  begin = clock.Monotonic();
  SLIPWAY_RETURN_IF_ERROR(put.GetInto(AllBytes(back)));
  times.get = std::min(times.get, clock.Monotonic() - begin);
  if (back.bytes() != tensor.bytes()) return absl::DataLossError("other bytes came back");
  return absl::OkStatus();
}

// How much more memory a process has taken at most since this began.
class Growth {
 public:
  explicit Growth(pid_t pid) : pid_(pid), before_(testing::ResidentBytes(pid)) {
    testing::ForgetPeak(pid);
  }
  int64_t bytes() const { return testing::PeakResidentBytes(pid_) - before_; }

 private:
  const pid_t pid_;
  const int64_t before_;
};

struct Result {
  Times bare;
  Times dropped;
  Times direct;
  Times relayed;
  AcceptRate accepts;
  int64_t server_growth_bytes = 0;
  int64_t agent_growth_bytes = 0;  // Of the two the larger.
};

absl::StatusOr<Result> MeasureAll() {
  Result result;
  SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<Cluster> cluster,
                           Cluster::Start({.agents = 1, .tcp = true, .insecure = true}));
  ServiceProcess listening({.name = "agent",
                            .argv = {testing::AgentBinary(), "--listen", "127.0.0.1:0",
                                     "--insecure", "--state-dir", cluster->Path("listening")},
                            .environment = {},
                            .log_file = cluster->Path("listening.log"),
                            .limits = {}});
  SLIPWAY_RETURN_IF_ERROR(listening.Start());
  ServiceProcess echo({.name = "bare gRPC",
                       .argv = {kOwnExecutable, kServeBare},
                       .environment = {},
                       .log_file = cluster->Path("bare.log"),
                       .limits = {}});
  SLIPWAY_RETURN_IF_ERROR(echo.Start());
  SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<BareRates> bare,
                           BareRates::Connect(echo.ready_line()));
  Tensor tensor = Tensor::Zeros(DataType::kUint8, {kTensorBytes});
  for (int64_t i = 0; i < kTensorBytes; i += 64)
    tensor.mutable_bytes()[i] = static_cast<char>(i >> 6);
  // Pages that are there: what is measured is moving bytes, as in the bare streams.
  Tensor back = Tensor::Zeros(DataType::kUint8, {kTensorBytes});
  std::fill_n(back.mutable_bytes(), kTensorBytes, '\1');
  {
    SLIPWAY_ASSIGN_OR_RETURN(Loaded direct, Loaded::Open(listening.ready_line()));
    SLIPWAY_ASSIGN_OR_RETURN(Loaded relayed, Loaded::Open(cluster->address()));
    const Growth server(cluster->server().pid());
    const Growth agent(cluster->agent(0).pid());
    const Growth listening_agent(listening.pid());
    for (int round = 0; round < kRounds; ++round) {
      SLIPWAY_RETURN_IF_ERROR(MeasureBare(*bare, tensor, back, result.bare, result.dropped));
      SLIPWAY_RETURN_IF_ERROR(MeasureSession(direct, tensor, back, result.direct));
      SLIPWAY_RETURN_IF_ERROR(MeasureSession(relayed, tensor, back, result.relayed));
    }
    result.server_growth_bytes = server.bytes();
    result.agent_growth_bytes = std::max(agent.bytes(), listening_agent.bytes());
    SLIPWAY_RETURN_IF_ERROR(relayed.session.Close());
  }
  SLIPWAY_RETURN_IF_ERROR(listening.Stop().status());
  SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<Cluster> accepting, Cluster::Start({.agents = 0}));
  SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<Client> client, accepting->Connect());
  const Artifact artifact = TestProgram(TestKernel::kAdd);
  SLIPWAY_RETURN_IF_ERROR(client->PutArtifact(artifact));
  SLIPWAY_ASSIGN_OR_RETURN(
      result.accepts, MeasureAccepts(accepting->address(), artifact.digest(), kClients, kJobs));
  SLIPWAY_RETURN_IF_ERROR(accepting->StopAll());
  SLIPWAY_RETURN_IF_ERROR(cluster->StopAll());
  return result;
}

double BytesPerSecond(absl::Duration time) {
  return static_cast<double>(kTensorBytes) / absl::ToDoubleSeconds(time);
}
double Rate(absl::Duration time) { return BytesPerSecond(time) / 1e6; }
double PerSecond(absl::Duration pipelined) { return kPipelined / absl::ToDoubleSeconds(pipelined); }

void PrintText(const Result& result) {
  const auto row = [](const char* name, const Times& times) {
    std::printf("%-20s", name);
    if (times.call < absl::InfiniteDuration()) {
      std::printf(" %9.1f us", absl::ToDoubleMicroseconds(times.call));
    } else {
      std::printf(" %12s", "");
    }
    std::printf(" %8.0f MB/s %8.0f MB/s", Rate(times.put), Rate(times.get));
    if (times.pipelined < absl::InfiniteDuration()) {
      std::printf(" %9.0f calls/s", PerSecond(times.pipelined));
    }
    std::printf("\n");
  };
  std::printf("%-20s %12s %13s %13s %17s\n", "", "CALL p50", "PUT", "GET", "PIPELINED");
  row("bare gRPC", result.bare);
  row("bare gRPC, dropped", result.dropped);
  row("direct", result.direct);
  row("through a server", result.relayed);
  std::printf("a direct call takes %.2f of a bare one, a relayed one %.2f of two\n",
              absl::FDivDuration(result.direct.call, result.bare.call),
              absl::FDivDuration(result.relayed.call, 2 * result.bare.call));
  std::printf("the server grew by %.1f MB, an agent by %.1f MB\n",
              static_cast<double>(result.server_growth_bytes) / 1e6,
              static_cast<double>(result.agent_growth_bytes) / 1e6);
  std::printf("a server accepts %.0f jobs a second from %d clients, p99 %.1f ms\n",
              result.accepts.per_second, kClients, absl::ToDoubleMilliseconds(result.accepts.p99));
}

void PrintJson(const Result& result) {
  JsonWriter json;
  json.BeginObject();
  json.Integer("schema_version", 1);
  json.Real("direct_call_ratio", absl::FDivDuration(result.direct.call, result.bare.call));
  json.Real("relayed_call_ratio", absl::FDivDuration(result.relayed.call, 2 * result.bare.call));
  json.Real("pipelined_calls_per_s", PerSecond(result.direct.pipelined));
  json.Real("relayed_pipelined_calls_per_s", PerSecond(result.relayed.pipelined));
  json.Real("put_share_direct", absl::FDivDuration(result.bare.put, result.direct.put));
  json.Real("put_share_relayed", absl::FDivDuration(result.bare.put, result.relayed.put));
  json.Real("get_share_direct", absl::FDivDuration(result.bare.get, result.direct.get));
  json.Real("get_share_relayed", absl::FDivDuration(result.bare.get, result.relayed.get));
  json.Real("put_bytes_per_s_bare", BytesPerSecond(result.bare.put));
  json.Real("put_bytes_per_s_bare_dropped", BytesPerSecond(result.dropped.put));
  json.Real("put_bytes_per_s_direct", BytesPerSecond(result.direct.put));
  json.Real("put_bytes_per_s_relayed", BytesPerSecond(result.relayed.put));
  json.Real("get_bytes_per_s_bare", BytesPerSecond(result.bare.get));
  json.Real("get_bytes_per_s_bare_dropped", BytesPerSecond(result.dropped.get));
  json.Real("get_bytes_per_s_direct", BytesPerSecond(result.direct.get));
  json.Real("get_bytes_per_s_relayed", BytesPerSecond(result.relayed.get));
  json.Integer("server_rss_growth_bytes", result.server_growth_bytes);
  json.Integer("agent_rss_growth_bytes", result.agent_growth_bytes);
  json.Real("accepts_per_s", result.accepts.per_second);
  json.Real("accept_p99_ms", absl::ToDoubleMilliseconds(result.accepts.p99));
  json.EndObject();
  std::printf("%s\n", json.Take().c_str());
}

int Main(bool json) {
  const absl::StatusOr<Result> result = MeasureAll();
  if (!result.ok()) {
    std::fprintf(stderr, "session_bench: %s\n", result.status().ToString().c_str());
    return 1;
  }
  json ? PrintJson(*result) : PrintText(*result);
  return 0;
}

}  // namespace
}  // namespace slipway::bench

int main(int argc, char** argv) {
  bool json = false;
  bool serves = false;
  int ready_fd = -1;
  for (int i = 1; i < argc; ++i) {
    json = json || std::strcmp(argv[i], "--json") == 0;
    serves = serves || std::strcmp(argv[i], slipway::bench::kServeBare) == 0;
    constexpr char kReady[] = "--ready-fd=";
    if (std::strncmp(argv[i], kReady, sizeof(kReady) - 1) == 0 &&
        !absl::SimpleAtoi(argv[i] + sizeof(kReady) - 1, &ready_fd)) {
      return 2;
    }
  }
  return serves ? slipway::bench::ServeBareRates(ready_fd) : slipway::bench::Main(json);
}
