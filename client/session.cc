// Sessions: opening them, and what comes onto the device.
#include "client/session.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/address.h"
#include "client/convert.h"
#include "client/request_id.h"
#include "client/session/answers.h"
#include "client/session/grpc_selector_check.h"
#include "client/session/load_operation.h"
#include "client/session/transfer.h"
#include "core/artifact/slip_file.h"
#include "core/base/status_macros.h"
#include "core/wire/digest_proto.h"
#include "core/wire/session_wish.h"
#include "core/wire/tag_proto.h"
#include "core/wire/tensor_proto.h"

namespace slipway {
namespace {

constexpr absl::Duration kLongestWait = absl::Hours(24);
constexpr absl::Duration kHeartbeatInterval = absl::Seconds(1);

absl::Status CheckOptions(const SessionOptions& options) {
  SLIPWAY_RETURN_IF_ERROR(CheckAddress(options.address));
  if (options.idle < kShortestIdle || options.idle > kLongestIdle) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a session cannot be idle for ", absl::FormatDuration(options.idle), ": 1 s to 1 h"));
  }
  if (options.wait < absl::ZeroDuration() || options.wait > kLongestWait) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a device cannot be waited for ", absl::FormatDuration(options.wait), ": 0 to 24 h"));
  }
  if (options.patience <= absl::ZeroDuration() || options.patience > options.idle) {
    return absl::InvalidArgumentError(absl::StrCat("the patience ",
                                                   absl::FormatDuration(options.patience),
                                                   " is not between 0 and the idle time"));
  }
  return absl::OkStatus();
}

using Loaded = v1::SessionResponse::Loaded;

std::vector<RemotePort> PortsFromProto(
    const google::protobuf::RepeatedPtrField<Loaded::Port>& protos) {
  std::vector<RemotePort> ports;
  for (const auto& proto : protos) ports.push_back({.name = proto.name(), .type = proto.type()});
  return ports;
}

std::vector<RemoteFunction> FunctionsFromProto(
    const google::protobuf::RepeatedPtrField<Loaded::Function>& protos) {
  std::vector<RemoteFunction> functions;
  for (const Loaded::Function& proto : protos) {
    functions.push_back({.name = proto.name(),
                         .inputs = PortsFromProto(proto.inputs()),
                         .outputs = PortsFromProto(proto.outputs())});
  }
  return functions;
}

OutgoingRequest MakeAllocate(uint64_t handle, const TensorType& type, const std::string& name) {
  OutgoingRequest outgoing;
  MayWait(outgoing.request);
  v1::SessionRequest::Allocate& allocate = *outgoing.request.mutable_allocate();
  allocate.set_tensor(handle);
  *allocate.mutable_type() = ToProto(type);
  allocate.set_name(name);
  return outgoing;
}

// What a device may lack of it.
LoadOperation::Contents ContentsOf(const Artifact& artifact) {
  return [artifact](const Digest& digest) -> std::optional<Blob> {
    if (digest == artifact.digest()) {
      return Blob(artifact.manifest().bytes(), std::make_shared<const Artifact>(artifact));
    }
    const Blob* const blob = artifact.FindBlob(digest);
    return blob == nullptr ? std::nullopt : std::make_optional(*blob);
  };
}

absl::StatusOr<EngineOptions> MakeEngineOptions(const SessionOptions& options,
                                                absl::Duration idle) {
  SLIPWAY_ASSIGN_OR_RETURN(CallerProof proof,
                           FindProof(options.address, Role::kUser, options.proof));
  return EngineOptions{.address = options.address,
                       .proof = std::move(proof),
                       .may_go_straight = options.may_go_straight,
                       .interval = std::min({kHeartbeatInterval, idle / 4, options.patience / 3}),
                       .silence = options.patience,
                       .stop = options.stop,
                       .on_waiting = options.on_waiting,
                       .on_log = options.on_log};
}

absl::StatusOr<RemoteTensor> Finished(StartedTensor started) {
  SLIPWAY_RETURN_IF_ERROR(started.done.Get().status());
  return std::move(started.tensor);
}
absl::StatusOr<RemoteProgram> Finished(StartedProgram started) {
  SLIPWAY_RETURN_IF_ERROR(started.done.Get().status());
  return std::move(started.program);
}

}  // namespace

absl::StatusOr<Session> Session::Open(const SessionOptions& options) {
  SLIPWAY_RETURN_IF_ERROR(CheckOptions(options));
  SLIPWAY_ASSIGN_OR_RETURN(EngineOptions engine, MakeEngineOptions(options, options.idle));
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<Tag> tags, CheckTags(options.tags));
  SLIPWAY_RETURN_IF_ERROR(
      CheckSelector(options.device, options.address, engine.proof, options.stop));
  v1::SessionRequest::Open& open = *engine.first.mutable_open();
  *open.mutable_tags() = ToProto(tags);
  open.set_device(options.device);
  open.set_target(options.target);
  open.set_idle_ns(absl::ToInt64Nanoseconds(options.idle));
  open.set_wait_ns(options.wait == absl::ZeroDuration() ? -1
                                                        : absl::ToInt64Nanoseconds(options.wait));
  open.set_purpose(options.purpose);
  open.set_priority(options.priority);
  open.set_longest_ns(absl::ToInt64Nanoseconds(options.longest));
  open.set_request_id(NewRequestId());
  SLIPWAY_ASSIGN_OR_RETURN(std::shared_ptr<SessionEngine> opened,
                           SessionEngine::Open(std::move(engine)));
  return Session(std::move(opened));
}

absl::StatusOr<ResumedSession> Session::Resume(const SessionOptions& options, const std::string& id,
                                               const std::string& ticket) {
  SLIPWAY_RETURN_IF_ERROR(CheckOptions(options));
  SLIPWAY_ASSIGN_OR_RETURN(EngineOptions engine, MakeEngineOptions(options, kShortestIdle));
  engine.first.mutable_resume()->set_session(id);
  engine.first.mutable_resume()->set_ticket(ticket);
  ResumedSession resumed;
  SLIPWAY_ASSIGN_OR_RETURN(resumed.session.engine_, SessionEngine::Open(std::move(engine)));
  absl::Status status = resumed.session.TakeListed(resumed);
  // Of what is not wholly taken up, nothing ends here.
  if (!status.ok()) resumed.session.Detach().IgnoreError();
  SLIPWAY_RETURN_IF_ERROR(status);
  return resumed;
}

absl::Status Session::TakeListed(ResumedSession& resumed) {
  for (uint64_t after = 0;;) {
    std::vector<OutgoingRequest> requests(1);
    MayWait(requests[0].request);
    requests[0].request.mutable_list()->set_after(after);
    SLIPWAY_ASSIGN_OR_RETURN(
        const v1::SessionResponse::Listed listed,
        Start<v1::SessionResponse::Listed>(
            engine_, std::move(requests), {},
            [](size_t, const RequestAnswer& answer, v1::SessionResponse::Listed& result) {
              result = answer.response.listed();
              return absl::OkStatus();
            })
            .Get());
    for (const v1::SessionResponse::Listed::Program& program : listed.programs()) {
      RemoteProgram& taken =
          resumed.programs.emplace_back(RemoteProgram(engine_, program.handle(), program.name()));
      taken.functions_->functions = FunctionsFromProto(program.functions());
      taken.functions_->is_known = true;
    }
    for (const v1::SessionResponse::Listed::Tensor& tensor : listed.tensors()) {
      absl::StatusOr<TensorType> type = FromProto(tensor.type());
      if (!type.ok()) {
        return absl::InternalError(
            absl::StrCat("the device lists a tensor without a type: ", type.status().message()));
      }
      resumed.tensors.push_back(
          RemoteTensor(engine_, tensor.handle(), tensor.name(), *std::move(type)));
    }
    if (listed.more_after() == 0) return absl::OkStatus();
    if (listed.more_after() <= after) {
      return absl::InternalError("the device lists what it has in circles");
    }
    after = listed.more_after();
  }
}

const std::string& Session::id() const { return engine_->opened().session(); }
const std::string& Session::ticket() const { return engine_->opened().ticket(); }
const std::string& Session::device() const { return engine_->opened().device(); }
const std::string& Session::target() const { return engine_->opened().target(); }
bool Session::is_straight() const { return engine_->is_straight(); }

absl::StatusOr<RemoteProgram> Session::LoadFile(const std::string& path,
                                                const LoadOptions& options) {
  SLIPWAY_ASSIGN_OR_RETURN(const Artifact artifact, ReadSlip(path));
  return Load(artifact, options);
}

absl::StatusOr<RemoteProgram> Session::Load(const Artifact& artifact, const LoadOptions& options) {
  return Finished(LoadAsync(artifact, options));
}

absl::StatusOr<RemoteProgram> Session::Load(const Digest& artifact, const LoadOptions& options) {
  return Finished(LoadAsync(artifact, options));
}

StartedProgram Session::LoadAsync(const Artifact& artifact, const LoadOptions& options) {
  return LoadWith(artifact.digest(), ContentsOf(artifact), options);
}

StartedProgram Session::LoadAsync(const Digest& artifact, const LoadOptions& options) {
  return LoadWith(artifact, nullptr, options);
}

StartedProgram Session::LoadWith(const Digest& digest, BlobSource contents,
                                 const LoadOptions& options) {
  RemoteProgram program(engine_, engine_->NewHandle(), options.name);
  v1::SessionRequest request;
  SetDeadline(options.deadline, request);
  v1::SessionRequest::Load& load = *request.mutable_load();
  load.set_program(program.handle_);
  *load.mutable_manifest() = ToProto(digest);
  load.set_threads(options.threads);
  load.set_loop_turns(options.loop_turns);
  load.set_dynamic_bytes(options.dynamic_bytes);
  load.set_name(options.name);
  auto operation = std::make_shared<LoadOperation>(
      std::move(request), std::move(contents), PieceBytes(*engine_),
      [late = program.functions_](const Loaded& loaded) {
        if (loaded.functions().empty()) {
          return absl::InternalError("the device loaded a program without functions");
        }
        late->functions = FunctionsFromProto(loaded.functions());
        late->load_time = absl::Nanoseconds(loaded.load_ns());
        late->is_known = true;
        return absl::OkStatus();
      });
  std::vector<OutgoingRequest> first = operation->Begin();
  Future<Done> done = Start<Done>(engine_, std::move(operation), std::move(first));
  return {std::move(program), std::move(done)};
}

absl::StatusOr<RemoteTensor> Session::Put(const Tensor& tensor, const std::string& name) {
  return Finished(PutAsync(tensor, name));
}

StartedTensor Session::PutAsync(const Tensor& tensor, const std::string& name) {
  RemoteTensor remote(engine_, name, tensor.type());
  std::vector<OutgoingRequest> requests = {MakeAllocate(remote.handle_, tensor.type(), name)};
  requests.front().request.mutable_allocate()->set_unset(true);
  if (tensor.dtype() != DataType::kString) {  // Which the device refuses.
    const auto loaded = std::make_shared<const Tensor>(tensor.Loaded());
    AppendWrites(remote.handle_, 0, Blob(loaded->bytes(), loaded), PieceBytes(*engine_), requests);
  }
  return RemoteTensor::Start(std::move(remote), std::move(requests));
}

absl::StatusOr<RemoteTensor> Session::Zeros(const TensorType& type, const std::string& name) {
  return Finished(ZerosAsync(type, name));
}

StartedTensor Session::ZerosAsync(const TensorType& type, const std::string& name) {
  RemoteTensor remote(engine_, name, type);
  OutgoingRequest allocate = MakeAllocate(remote.handle_, type, name);
  return RemoteTensor::Start(std::move(remote), {std::move(allocate)});
}

absl::StatusOr<RemoteTensor> Session::Random(const TensorType& type, uint64_t seed,
                                             const std::string& name) {
  return Finished(RandomAsync(type, seed, name));
}

StartedTensor Session::RandomAsync(const TensorType& type, uint64_t seed, const std::string& name) {
  RemoteTensor remote(engine_, name, type);
  OutgoingRequest allocate = MakeAllocate(remote.handle_, type, name);
  allocate.request.mutable_allocate()->set_random(true);
  allocate.request.mutable_allocate()->set_seed(seed);
  return RemoteTensor::Start(std::move(remote), {std::move(allocate)});
}

absl::StatusOr<SessionFacts> Session::Facts() { return FactsAsync().Get(); }

Future<SessionFacts> Session::FactsAsync() {
  std::vector<OutgoingRequest> requests(1);
  MayWait(requests[0].request);
  requests[0].request.mutable_get_facts();
  return Start<SessionFacts>(engine_, std::move(requests), {},
                             [](size_t, const RequestAnswer& answer, SessionFacts& result) {
                               const v1::SessionResponse::Facts& facts = answer.response.facts();
                               result = {.machine = MachineFromProto(facts.machine()),
                                         .free_bytes = facts.free_bytes(),
                                         .limit_bytes = facts.limit_bytes(),
                                         .tensor_bytes = facts.tensor_bytes(),
                                         .tensors = facts.tensors(),
                                         .programs = facts.programs()};
                               return absl::OkStatus();
                             });
}

absl::Status Session::Detach() { return engine_->Detach(); }
absl::Status Session::Close() { return engine_->Close(); }

}  // namespace slipway
