#include "tests/fuzz/grpc_fuzzed_server.h"

#include <google/protobuf/message.h>
#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "core/artifact/manifest.h"
#include "core/artifact/test_manifest.h"
#include "core/base/check.h"
#include "core/rpc/grpc_status.h"
#include "server/grpc_test_client.h"
#include "server/handlers/queue.h"
#include "tests/fuzz/rpc_seeds.h"

namespace slipway::testing {
namespace {

using server::AccessRow;
using server::kAccess;
using server::Rpc;
using server::TestClient;

// Far more than any call takes.
constexpr auto kAnswerTime = std::chrono::seconds(10);
// Of those that may wait.
constexpr auto kPatience = std::chrono::milliseconds(20);
// Above those of seeds.
constexpr uint64_t kFirstSequence = 10'000;
constexpr int64_t kMaxBytes = 64 << 20;

grpc::ByteBuffer ToBuffer(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

// Waits for the one operation under way, which ends at the call's deadline at the latest.
bool Await(grpc::CompletionQueue& queue) {
  void* tag = nullptr;
  bool ok = false;
  return queue.Next(&tag, &ok) && ok;
}

// `ends`: says that no request follows.
absl::Status Call(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
                  const std::vector<std::string>& requests, bool ends,
                  grpc::ClientContext& context) {
  grpc::GenericStub stub(channel);
  grpc::CompletionQueue queue;
  const auto call = stub.PrepareCall(&context, method, &queue);
  call->StartCall(nullptr);
  bool going = Await(queue);
  for (size_t i = 0; i < requests.size() && going; ++i) {
    call->Write(ToBuffer(requests[i]), nullptr);
    going = Await(queue);
  }
  if (going && ends) {
    call->WritesDone(nullptr);
    going = Await(queue);
  }
  // Also when the server has ended the call before all was sent: its status comes after what it answered.
  do {
    grpc::ByteBuffer response;
    call->Read(&response, nullptr);
    going = Await(queue);
  } while (going);
  grpc::Status status;
  call->Finish(&status, nullptr);
  Await(queue);
  return FromGrpc(status);
}

// Of a report that follows others it is what the server does not ignore. Sequences are the same field of both kinds.
std::string Numbered(std::string report, uint64_t sequence) {
  constexpr int kField = v1::AgentState::kSequenceFieldNumber;
  static_assert(kField == int{v1::WorkerState::kSequenceFieldNumber});
  report.push_back(static_cast<char>(kField << 3));
  for (; sequence > 0x7f; sequence >>= 7) report.push_back(static_cast<char>(sequence | 0x80));
  report.push_back(static_cast<char>(sequence));
  return report;
}

std::unique_ptr<google::protobuf::Message> New(const google::protobuf::Descriptor& type) {
  const google::protobuf::Message* prototype =
      google::protobuf::MessageFactory::generated_factory()->GetPrototype(&type);
  return std::unique_ptr<google::protobuf::Message>(prototype->New());
}

bool IsRequest(const google::protobuf::Descriptor& type, const std::string& bytes) {
  return New(type)->ParseFromString(bytes);
}

// A request of what can be read of the bytes until they make no sense.
std::string ReadablePart(const google::protobuf::Descriptor& type, const std::string& bytes) {
  const std::unique_ptr<google::protobuf::Message> message = New(type);
  (void)message->ParsePartialFromString(bytes);
  return message->SerializePartialAsString();
}

// Says so before the input that led there is printed.
void Check(bool is_so, const AccessRow& row, absl::string_view what) {
  SLIPWAY_CHECK(is_so, absl::StrCat(row.method, ": ", what));
}

template <typename T>
T Must(absl::StatusOr<T> value, absl::string_view what) {
  SLIPWAY_CHECK(value.ok(), absl::StrCat(what, ": ", value.status().ToString()));
  return *std::move(value);
}

}  // namespace

struct FuzzedServer::Client {
  explicit Client(const std::string& address) : test(address) {}

  template <typename State, typename Desired, typename Stub>
  Desired Sync(Stub& stub, State& state,
               grpc::Status (Stub::*method)(grpc::ClientContext*, const State&, Desired*)) {
    state.set_sequence(state.sequence() + 1);
    return Must(TestClient::Call(stub, method, state), "a report");
  }
  v1::DesiredAgentState Sync(v1::AgentState& state) {
    return Sync(*test.agents, state, &v1::AgentService::Stub::Sync);
  }
  v1::DesiredWorkerState Sync(v1::WorkerState& state) {
    return Sync(*test.workers, state, &v1::WorkerService::Stub::Sync);
  }

  TestClient test;
};

// A session whose client goes on, but sends nothing more.
class FuzzedServer::OpenSession {
 public:
  OpenSession(TestClient& client, const std::string& device)
      : stream_(client.sessions->Open(&context_)) {
    v1::SessionRequests requests;
    requests.add_requests()->mutable_open()->set_device(device);
    SLIPWAY_CHECK(stream_->Write(requests), "a session is not opened");
  }
  ~OpenSession() {
    context_.TryCancel();
    stream_->Finish();
  }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::SessionRequests, v1::SessionResponses>> stream_;
};

FuzzedServer::FuzzedServer() : folder_(Must(TemporaryFolder::Create("fuzz"), "a folder")) {
  server::ServerOptions options;
  options.listen = absl::StrCat("unix:", JoinPath(folder_.path(), "s"));
  options.data_dir = JoinPath(folder_.path(), "data");
  options.cache_dir = JoinPath(folder_.path(), "cache");
  options.workers = 0;
  options.max_blob_bytes = kMaxBytes;
  options.max_model_bytes = kMaxBytes;
  options.max_input_bytes = kMaxBytes;
  options.blob_quota_bytes = kMaxBytes;
  server_ =
      Must(server::ServerContext::Create(Must(server::Complete(options), "options")), "a server");
  client_ = std::make_unique<Client>(server_->address());
  MakeWork();
}

FuzzedServer::~FuzzedServer() {
  session_.reset();
  client_.reset();
  server_.reset();
}

void FuzzedServer::MakeWork() {
  Must(server_->environment().identities->Invite(kSomebody, {Role::kUser}, absl::ZeroDuration()),
       "an invitation");
  TestClient& test = client_->test;
  const std::string manifest = SerializeManifest(TestManifest());
  for (const std::string& blob :
       {manifest, TestCode(), TestConstants(), std::string(kModelBytes)}) {
    SLIPWAY_CHECK(test.Write(blob).ok(), "a blob is not taken");
  }
  v1::AgentState agent = server::TestAgentState(kAgent, kInstance);
  agent.set_max_benchmark(1);
  v1::AgentState session_agent = server::TestAgentState(kSessionAgent, kInstance);
  session_agent.set_max_session(1);
  v1::WorkerState worker = server::TestWorkerState(kWorker, kInstance);
  client_->Sync(agent);
  client_->Sync(session_agent);
  client_->Sync(worker);

  v1::CreateRunRequest run;
  run.set_request_id("first run");
  *run.mutable_spec()->mutable_manifest() = ToProto(Digest::Of(manifest));
  run.mutable_spec()->set_device(kAgent);
  names_[kSomeRun] =
      Must(TestClient::Call(*test.runs, &v1::RunService::Stub::CreateRun, run), "a run").job_id();
  v1::CreateCompilationRequest compilation;
  compilation.set_request_id("first compilation");
  v1::Model& model = *compilation.mutable_spec()->mutable_model();
  model.set_format(v1::MODEL_FORMAT_ONNX);
  *model.add_files()->mutable_digest() = ToProto(Digest::Of(kModelBytes));
  compilation.mutable_spec()->mutable_target()->set_name("x86-64-v3-linux");
  Must(TestClient::Call(*test.compilations, &v1::CompileService::Stub::CreateCompilation,
                        compilation),
       "a compilation");
  session_ = std::make_unique<OpenSession>(test, kSessionAgent);
  // Behind all that the session may take.
  v1::ReserveRequest reserve;
  reserve.set_request_id("first reservation");
  reserve.set_device(kSessionAgent);
  reserve.set_from_ns(absl::ToUnixNanos(absl::Now() + absl::Hours(24 * 10)));
  reserve.set_length_ns(absl::ToInt64Nanoseconds(absl::Hours(1)));
  v1::Reservation reservation;
  SLIPWAY_CHECK(
      server::Reserve({.owner = kSomebody}, server_->environment(), reserve, &reservation).ok(),
      "a device is not reserved");
  names_[kSomeReservation] = reservation.id();

  const v1::DesiredAgentState runs = client_->Sync(agent);
  const v1::DesiredWorkerState compilations = client_->Sync(worker);
  // The session is opened while this goes on.
  session_agent.set_park_ns(absl::ToInt64Nanoseconds(absl::Seconds(10)));
  v1::DesiredAgentState sessions;
  const absl::Time end = absl::Now() + absl::Seconds(10);
  while (sessions.attempts_size() == 0 && absl::Now() < end) {
    session_agent.set_applied_version(sessions.version());
    sessions = client_->Sync(session_agent);
  }
  SLIPWAY_CHECK(runs.attempts_size() == 1 && compilations.attempts_size() == 1 &&
                    sessions.attempts_size() == 1,
                "a job has found nobody");
  names_[kSomeRunAttempt] = runs.attempts(0).attempt_id();
  names_[kSomeCompileAttempt] = compilations.attempts(0).attempt_id();
  names_[kSomeSession] = sessions.attempts(0).session().session();
  names_[kSomeTicket] = sessions.attempts(0).session().ticket();
  for (const auto& [name, chosen] : names_) {
    SLIPWAY_CHECK(name.size() == chosen.size(), absl::StrCat("'", name, "' is not like ", chosen));
  }
}

bool FuzzedServer::MayWait(Rpc rpc) {
  return rpc == Rpc::kWatchJob || rpc == Rpc::kOpenSession || rpc == Rpc::kSyncAgent ||
         rpc == Rpc::kAttach || rpc == Rpc::kSyncWorker || rpc == Rpc::kWatchHealth;
}

absl::Status FuzzedServer::Take(absl::string_view input) {
  const AccessRow& row = kAccess[static_cast<uint8_t>(input[0]) % kAccess.size()];
  const google::protobuf::MethodDescriptor& method = *MethodOf(row);
  std::vector<std::string> messages = SplitMessages(row, input.substr(1));
  for (std::string& message : messages) {
    absl::StrReplaceAll(names_, &message);
    // Most of what was changed somewhere is no message any more, and does not come as far as our code.
    if (input.size() % 4 != 0 && !IsRequest(*method.input_type(), message)) {
      message = ReadablePart(*method.input_type(), message);
    }
  }
  const bool is_report = row.rpc == Rpc::kSyncAgent || row.rpc == Rpc::kSyncWorker;
  // Every other one has the sequence that it came with.
  if (is_report && ++reports_ % 2 == 0) {
    messages[0] = Numbered(std::move(messages[0]), kFirstSequence + reports_);
  }
  const bool are_requests = std::all_of(
      messages.begin(), messages.end(),
      [&](const std::string& message) { return IsRequest(*method.input_type(), message); });
  // A stream that may last ends with an empty message, or when its caller leaves.
  const bool ends = !MayWait(row.rpc) || !method.client_streaming() ||
                    (!messages.empty() && messages.back().empty());
  grpc::ClientContext context;
  const auto begin = std::chrono::system_clock::now();
  context.set_deadline(begin + (MayWait(row.rpc) ? kPatience : kAnswerTime));
  context.AddMetadata("session-id", names_[kSomeSession]);
  context.AddMetadata("session-ticket", names_[kSomeTicket]);
  const absl::Status status = Call(
      client_->test.channel, absl::StrCat("/", method.service()->full_name(), "/", method.name()),
      messages, ends, context);
  Check(MayWait(row.rpc) || !absl::IsDeadlineExceeded(status), row, "the server has not answered");
  // A message that cannot be parsed is INTERNAL to gRPC.
  const bool is_bug = absl::IsInternal(status) || absl::IsUnknown(status);
  Check(!is_bug || !are_requests, row, status.message());
  Check(!absl::IsDataLoss(status), row, status.message());
  return status;
}

void FuzzedServer::CheckServes() {
  Must(TestClient::Call(*client_->test.servers, &v1::ServerService::Stub::GetServerInfo,
                        v1::GetServerInfoRequest()),
       "the server does not serve any more");
}

}  // namespace slipway::testing
