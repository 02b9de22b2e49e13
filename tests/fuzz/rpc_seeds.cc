#include "tests/fuzz/rpc_seeds.h"

#include <google/protobuf/message.h>

#include <algorithm>
#include <cstdint>

#include "absl/strings/strip.h"
#include "core/artifact/manifest.h"
#include "core/artifact/test_manifest.h"
#include "core/base/digest.h"
#include "core/tensor/tensor.h"
#include "core/wire/digest_proto.h"
#include "core/wire/tensor_proto.h"
#include "proto/grpc/health/v1/health.pb.h"
#include "proto/grpc/reflection/v1alpha/reflection.pb.h"
#include "proto/slipway/v1/agent.pb.h"
#include "proto/slipway/v1/blob.pb.h"
#include "proto/slipway/v1/compile.pb.h"
#include "proto/slipway/v1/fleet.pb.h"
#include "proto/slipway/v1/history.pb.h"
#include "proto/slipway/v1/identity.pb.h"
#include "proto/slipway/v1/job.pb.h"
#include "proto/slipway/v1/queue.pb.h"
#include "proto/slipway/v1/run.pb.h"
#include "proto/slipway/v1/server.pb.h"
#include "proto/slipway/v1/session.pb.h"
#include "proto/slipway/v1/worker.pb.h"

namespace slipway::testing {
namespace {

using server::AccessRow;
using server::Rpc;

constexpr size_t kSizeBytes = 4;
constexpr size_t kMaxMessages = 64;

v1::Digest Program() { return ToProto(Digest::Of(SerializeManifest(TestManifest()))); }

v1::RunSpec Run() {
  v1::RunSpec spec;
  *spec.mutable_manifest() = Program();
  *spec.add_inputs() = ToInlineProto("x", Tensor::Zeros(DataType::kFloat32, {2, 8}));
  spec.set_threads(1);
  return spec;
}

template <typename Request>
Request For(const std::string& name) {
  Request request;
  request.set_name(name);
  request.add_roles(v1::ROLE_USER);
  request.set_lifetime_ns(3'600'000'000'000);
  return request;
}

v1::CreateCompilationRequest Compilation() {
  v1::CreateCompilationRequest request;
  request.set_request_id("compilation");
  v1::CompilationSpec& spec = *request.mutable_spec();
  spec.mutable_model()->set_format(v1::MODEL_FORMAT_ONNX);
  v1::ModelFile& file = *spec.mutable_model()->add_files();
  file.set_name("model.onnx");
  *file.mutable_digest() = ToProto(Digest::Of(kModelBytes));
  spec.mutable_target()->set_name("x86-64-v3-linux");
  spec.mutable_options()->add_keep("value");
  v1::DimensionBinding& binding = *spec.mutable_options()->add_dimensions();
  binding.set_symbol("n");
  binding.set_value(3);
  return request;
}

v1::AgentState AgentReport() {
  v1::AgentState state;
  state.set_agent_id(kAgent);
  state.set_instance_id(kInstance);
  state.set_sequence(1'000);
  state.set_version("1.0");
  state.set_min_protocol(1);
  state.set_max_protocol(1);
  state.set_max_session(1);
  state.set_max_benchmark(1);
  v1::DeviceDescription& device = *state.add_devices();
  device.set_id(kAgent);
  device.set_target("x86-64-v3-linux");
  device.set_cores(4);
  v1::DeviceInventory& inventory = *device.mutable_inventory();
  inventory.add_core_kinds()->set_cores(4);
  inventory.set_storage_bytes(1'000);
  inventory.set_power(v1::DeviceInventory::BATTERY);
  inventory.set_charge_percent(80);
  device.add_labels()->set_key("lab");
  v1::RunAttemptState& attempt = *state.add_attempts();
  attempt.set_attempt_id(std::string(kSomeRunAttempt));
  attempt.set_state(v1::RunAttemptState::SUCCEEDED);
  attempt.mutable_run_result()->set_device(kAgent);
  *attempt.mutable_run_result()->add_outputs() =
      ToInlineProto("y", Tensor::Zeros(DataType::kFloat32, {2, 8}));
  return state;
}

v1::WorkerState WorkerReport() {
  v1::WorkerState state;
  state.set_worker_id(kWorker);
  state.set_instance_id(kInstance);
  state.set_sequence(1'000);
  state.set_min_protocol(1);
  state.set_max_protocol(1);
  state.set_capacity(1);
  v1::TargetSupport& target = *state.add_targets();
  target.set_family("x86-64-linux");
  target.set_fingerprint(std::string(64, 'f'));
  v1::CompileAttemptState& attempt = *state.add_attempts();
  attempt.set_attempt_id(std::string(kSomeCompileAttempt));
  attempt.set_state(v1::CompileAttemptState::SUCCEEDED);
  *attempt.mutable_result()->mutable_manifest() = Program();
  attempt.mutable_result()->mutable_report()->set_kernels_compiled(1);
  return state;
}

std::string Resume() {
  v1::SessionRequests requests;
  v1::SessionRequest::Resume& resume = *requests.add_requests()->mutable_resume();
  resume.set_session(std::string(kSomeSession));
  resume.set_ticket(std::string(kSomeTicket));
  return requests.SerializeAsString();
}

std::string SomeRequests() {
  v1::SessionRequests requests;
  v1::SessionRequest& load = *requests.add_requests();
  load.set_id(1);
  load.mutable_load()->set_program(1);
  *load.mutable_load()->mutable_manifest() = Program();
  v1::SessionRequest& read = *requests.add_requests();
  read.set_id(2);
  read.mutable_read()->set_tensor(1);
  read.mutable_read()->set_size(64);
  requests.add_requests()->mutable_heartbeat();
  return requests.SerializeAsString();
}

std::string SomeResponses() {
  v1::SessionResponses responses;
  v1::SessionResponse& response = *responses.add_responses();
  response.mutable_opened()->set_session(std::string(kSomeSession));
  response.mutable_opened()->set_ticket(std::string(kSomeTicket));
  response.mutable_opened()->set_device(kSessionAgent);
  return responses.SerializeAsString();
}

template <typename Request>
std::string OfJob() {
  Request request;
  request.set_id(std::string(kSomeRun));
  return request.SerializeAsString();
}

std::optional<std::vector<std::string>> MessagesFor(Rpc rpc) {
  // The calls without a case have no seed yet.
  if (rpc == Rpc::kGetServerInfo) return {{v1::GetServerInfoRequest().SerializeAsString()}};
  if (rpc == Rpc::kGetServerStatus) return {{v1::GetServerStatusRequest().SerializeAsString()}};
  if (rpc == Rpc::kSetLogLevel) {
    v1::SetLogLevelRequest request;
    request.set_level("info");
    request.set_with_peers(true);
    return {{request.SerializeAsString()}};
  }
  if (rpc == Rpc::kCheckHealth || rpc == Rpc::kWatchHealth) {
    grpc::health::v1::HealthCheckRequest request;
    request.set_service("slipway.v1.RunService");
    return {{request.SerializeAsString()}};
  }
  if (rpc == Rpc::kReflect) {
    grpc::reflection::v1alpha::ServerReflectionRequest list;
    list.set_list_services("");
    grpc::reflection::v1alpha::ServerReflectionRequest symbol;
    symbol.set_file_containing_symbol("slipway.v1.JobService");
    return {{list.SerializeAsString(), symbol.SerializeAsString()}};
  }
  if (rpc == Rpc::kCreateCompilation) return {{Compilation().SerializeAsString()}};
  if (rpc == Rpc::kCreateRun) {
    v1::CreateRunRequest request;
    request.set_request_id("run");
    *request.mutable_spec() = Run();
    request.set_priority(1);
    v1::Tag& tag = *request.add_tags();
    tag.set_key("commit");
    tag.set_value("1f0c9ad");
    return {{request.SerializeAsString()}};
  }
  if (rpc == Rpc::kCreateBenchmark) {
    v1::CreateBenchmarkRequest request;
    request.set_request_id("benchmark");
    *request.mutable_spec()->mutable_run() = Run();
    request.mutable_spec()->set_warmup(1);
    request.mutable_spec()->set_samples(10);
    v1::Scenario& scenario = *request.mutable_spec()->mutable_scenario();
    scenario.set_kind(v1::Scenario::SERVER);
    scenario.set_qps_millis(1000);
    request.mutable_spec()->mutable_settling()->set_until_steady(true);
    return {{request.SerializeAsString()}};
  }
  if (rpc == Rpc::kGetJob) return {{OfJob<v1::GetJobRequest>()}};
  if (rpc == Rpc::kListJobs) {
    v1::ListJobsRequest request;
    request.set_page_size(2);
    request.add_states(v1::Job::ASSIGNED);
    request.add_states(v1::Job::QUEUED);
    request.add_kinds(v1::Job::RUN);
    request.set_subject("t");
    request.set_since_ns(1);
    return {{request.SerializeAsString()}};
  }
  if (rpc == Rpc::kWatchJob) return {{OfJob<v1::WatchJobRequest>()}};
  if (rpc == Rpc::kCancelJob) return {{OfJob<v1::CancelJobRequest>()}};
  if (rpc == Rpc::kListDevices) {
    v1::ListDevicesRequest request;
    request.set_selector("arch=x86-64|arm-64 cores>=2 !label:broken");
    request.set_available(true);
    return {{request.SerializeAsString()}};
  }
  if (rpc == Rpc::kSetDeviceLabels) {
    v1::SetDeviceLabelsRequest request;
    request.set_device(kAgent);
    request.add_labels()->set_key("lab");
    request.mutable_labels(0)->set_value("berlin");
    request.add_removed("rack");
    return {{request.SerializeAsString()}};
  }
  if (rpc == Rpc::kOfferAgent) {
    v1::OfferAgentRequest request;
    *request.mutable_offer()->mutable_binary() = Program();
    request.mutable_offer()->set_version("1.2.3");
    request.mutable_offer()->set_platform("x86-64-linux");
    request.mutable_offer()->set_selector("label:lab=berlin");
    request.mutable_offer()->set_at_once(2);
    return {{request.SerializeAsString()}};
  }
  if (rpc == Rpc::kListAgentOffers) return {{v1::ListAgentOffersRequest().SerializeAsString()}};
  if (rpc == Rpc::kWithdrawAgentOffer) {
    v1::WithdrawAgentOfferRequest request;
    request.set_platform("x86-64-linux");
    return {{request.SerializeAsString()}};
  }
  if (rpc == Rpc::kListWorkers) return {{v1::ListWorkersRequest().SerializeAsString()}};
  if (rpc == Rpc::kOpenSession) return {{Resume(), SomeRequests()}};
  if (rpc == Rpc::kFindMissing) {
    v1::FindMissingRequest request;
    *request.add_digests() = Program();
    *request.add_digests() = ToProto(Digest::Of("nowhere"));
    return {{request.SerializeAsString()}};
  }
  if (rpc == Rpc::kQueryWrite) {
    v1::QueryWriteRequest request;
    *request.mutable_digest() = Program();
    return {{request.SerializeAsString()}};
  }
  if (rpc == Rpc::kWrite) {
    const std::string blob = "a blob in two pieces";
    v1::WriteRequest first;
    *first.mutable_digest() = ToProto(Digest::Of(blob));
    first.set_data(blob.substr(0, 7));
    v1::WriteRequest second;
    second.set_offset(7);
    second.set_data(blob.substr(7));
    return {{first.SerializeAsString(), second.SerializeAsString()}};
  }
  if (rpc == Rpc::kRead) {
    v1::ReadRequest request;
    *request.mutable_digest() = Program();
    request.set_offset(5);
    return {{request.SerializeAsString()}};
  }
  if (rpc == Rpc::kSyncAgent) return {{AgentReport().SerializeAsString()}};
  if (rpc == Rpc::kAttach) return {{SomeResponses()}};
  if (rpc == Rpc::kVouch) {
    v1::VouchRequest request;
    request.set_session(std::string(kSomeSession));
    request.set_ticket(std::string(kSomeTicket));
    *request.mutable_manifest() = Program();
    request.set_target("x86-64-v3-linux");
    request.set_compile_key(std::string(64, 'c'));
    return {{request.SerializeAsString()}};
  }
  if (rpc == Rpc::kListHistory) {
    v1::ListHistoryRequest request;
    request.set_page_size(2);
    request.set_model("test");
    request.set_target("x86-64-linux");
    request.set_threads(1);
    request.set_with_samples(true);
    return {{request.SerializeAsString()}};
  }
  if (rpc == Rpc::kGetHistoryEntry || rpc == Rpc::kGetRecord)
    return {{OfJob<v1::GetHistoryEntryRequest>()}};
  if (rpc == Rpc::kSyncWorker) return {{WorkerReport().SerializeAsString()}};
  if (rpc == Rpc::kInvite) return {{For<v1::InviteRequest>("new").SerializeAsString()}};
  if (rpc == Rpc::kCreateToken) return {{For<v1::CreateTokenRequest>("new").SerializeAsString()}};
  if (rpc == Rpc::kListIdentities) {
    v1::ListIdentitiesRequest request;
    request.set_page_size(2);
    return {{request.SerializeAsString()}};
  }
  if (rpc == Rpc::kRevoke) {
    v1::RevokeRequest request;
    request.set_id_or_name(kSomebody);
    return {{request.SerializeAsString()}};
  }
  if (rpc == Rpc::kListQueue) {
    v1::ListQueueRequest request;
    request.set_limit(2);
    return {{request.SerializeAsString()}};
  }
  if (rpc == Rpc::kReserve) {
    v1::ReserveRequest request;
    request.set_request_id("reserve");
    request.set_device(kAgent);
    request.set_length_ns(3'600'000'000'000);
    request.set_purpose("a try");
    return {{request.SerializeAsString()}};
  }
  if (rpc == Rpc::kListReservations) {
    return {{v1::ListReservationsRequest().SerializeAsString()}};
  }
  if (rpc == Rpc::kUnreserve) {
    v1::UnreserveRequest request;
    request.set_id(std::string(kSomeReservation));
    return {{request.SerializeAsString()}};
  }
  if (rpc == Rpc::kSetAvailability) {
    v1::SetAvailabilityRequest request;
    request.set_device(kAgent);
    request.set_action(v1::SetAvailabilityRequest::UNDRAIN);
    return {{request.SerializeAsString()}};
  }
  if (rpc == Rpc::kRenew) {
    v1::RenewRequest request;
    request.set_request("of PKCS #10");
    return {{request.SerializeAsString()}};
  }
  return std::nullopt;
}

}  // namespace

const google::protobuf::MethodDescriptor* MethodOf(const AccessRow& row) {
  return google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(
      std::string(row.method));
}

std::vector<std::string> SplitMessages(const AccessRow& row, absl::string_view bytes) {
  if (!MethodOf(row)->client_streaming()) return {std::string(bytes)};
  std::vector<std::string> messages;
  while (bytes.size() >= kSizeBytes && messages.size() < kMaxMessages) {
    uint32_t size = 0;
    for (size_t i = kSizeBytes; i > 0; --i) size = size << 8 | static_cast<uint8_t>(bytes[i - 1]);
    bytes.remove_prefix(kSizeBytes);
    messages.emplace_back(bytes.substr(0, size));
    bytes.remove_prefix(messages.back().size());
  }
  return messages;
}

std::string JoinMessages(const AccessRow& row, const std::vector<std::string>& messages) {
  if (!MethodOf(row)->client_streaming()) return messages.front();
  std::string bytes;
  for (const std::string& message : messages) {
    for (size_t i = 0; i < kSizeBytes; ++i) {
      bytes.push_back(static_cast<char>(message.size() >> (8 * i)));
    }
    bytes += message;
  }
  return bytes;
}

std::string SeedName(const AccessRow& row) {
  return std::string(absl::StripPrefix(row.method, "slipway.v1."));
}

std::optional<std::string> SeedOf(const AccessRow& row) {
  const std::optional<std::vector<std::string>> messages = MessagesFor(row.rpc);
  if (!messages.has_value()) return std::nullopt;
  return static_cast<char>(row.rpc) + JoinMessages(row, *messages);
}

}  // namespace slipway::testing
