// Sessions: opening them, and what comes onto the device.
#include "client/session.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "client/address.h"
#include "client/convert.h"
#include "client/request_id.h"
#include "client/session/answers.h"
#include "client/session/transfer.h"
#include "core/artifact/slip_file.h"
#include "core/base/status_macros.h"
#include "core/wire/digest_proto.h"
#include "core/wire/tensor_proto.h"

namespace slipway {
namespace {

constexpr absl::Duration kShortestIdle = absl::Seconds(1);
constexpr absl::Duration kLongestIdle = absl::Hours(1);
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

// What became of loading a program.
struct LoadAnswer {
  absl::Status status;
  std::vector<RemoteFunction> functions;
  absl::Duration load_time;
  std::vector<Digest> missing;
};

std::vector<RemotePort> PortsFromProto(
    const google::protobuf::RepeatedPtrField<v1::SessionResponse::Loaded::Port>& protos) {
  std::vector<RemotePort> ports;
  for (const auto& proto : protos) ports.push_back({.name = proto.name(), .type = proto.type()});
  return ports;
}

absl::Status TakeLoaded(const RequestAnswer& answer, LoadAnswer& result) {
  const v1::SessionResponse::Loaded& loaded = answer.response.loaded();
  result.status = answer.error;
  if (!answer.error.ok()) {
    for (const v1::Digest& proto : loaded.missing()) {
      absl::StatusOr<Digest> digest = FromProto(proto);
      if (!digest.ok()) {
        return absl::InternalError(
            absl::StrCat("the device lacks what is no blob: ", digest.status().message()));
      }
      result.missing.push_back(*std::move(digest));
    }
    return absl::OkStatus();
  }
  if (loaded.functions().empty()) {
    return absl::InternalError("the device loaded a program without functions");
  }
  for (const auto& function : loaded.functions()) {
    result.functions.push_back({.name = function.name(),
                                .inputs = PortsFromProto(function.inputs()),
                                .outputs = PortsFromProto(function.outputs())});
  }
  result.load_time = absl::Nanoseconds(loaded.load_ns());
  return absl::OkStatus();
}

absl::StatusOr<LoadAnswer> TryLoad(SessionEngine& engine, uint64_t handle, const Digest& artifact,
                                   const LoadOptions& options) {
  std::vector<OutgoingRequest> requests(1);
  SetDeadline(options.deadline, requests[0].request);
  v1::SessionRequest::Load& load = *requests[0].request.mutable_load();
  load.set_program(handle);
  *load.mutable_manifest() = ToProto(artifact);
  load.set_threads(options.threads);
  load.set_loop_turns(options.loop_turns);
  load.set_dynamic_bytes(options.dynamic_bytes);
  load.set_name(options.name);
  LoadAnswer answer;
  const auto operation = std::make_shared<PlainOperation>(
      [&answer](size_t, const RequestAnswer& came) { return TakeLoaded(came, answer); });
  engine.Submit(operation, std::move(requests));
  engine.Wait(*operation, absl::InfiniteFuture());
  SLIPWAY_RETURN_IF_ERROR(operation->status());
  return answer;
}

// Whether the device lacks blobs, none of which it was sent.
bool LacksMore(const LoadAnswer& answer, const absl::flat_hash_set<Digest>& sent) {
  return absl::IsFailedPrecondition(answer.status) && !answer.missing.empty() &&
         std::none_of(answer.missing.begin(), answer.missing.end(),
                      [&](const Digest& digest) { return sent.contains(digest); });
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

absl::StatusOr<std::vector<MissingBlob>> FindMissing(const Artifact& artifact,
                                                     const std::vector<Digest>& missing) {
  absl::flat_hash_map<Digest, Blob> contents;
  for (const Digest& digest : artifact.manifest().blobs()) {
    contents[digest] = artifact.blob(digest);
  }
  contents[artifact.digest()] = Blob::Own(artifact.manifest().bytes());
  std::vector<MissingBlob> found;
  for (const Digest& digest : missing) {
    const auto blob = contents.find(digest);
    if (blob == contents.end()) {
      return absl::InternalError(absl::StrCat("the device lacks blob ", digest.ToString(),
                                              ", which the artifact does not have"));
    }
    found.push_back({.digest = digest, .contents = blob->second});
  }
  return found;
}

}  // namespace

absl::StatusOr<Session> Session::Open(const SessionOptions& options) {
  SLIPWAY_RETURN_IF_ERROR(CheckOptions(options));
  EngineOptions engine = {
      .address = options.address,
      .token = options.token,
      .interval = std::min({kHeartbeatInterval, options.idle / 4, options.patience / 3}),
      .silence = options.patience,
      .stop = options.stop,
      .on_waiting = options.on_waiting,
      .on_log = options.on_log};
  v1::SessionRequest::Open& open = *engine.open.mutable_open();
  open.set_device(options.device);
  open.set_target(options.target);
  open.set_idle_ns(absl::ToInt64Nanoseconds(options.idle));
  open.set_wait_ns(options.wait == absl::ZeroDuration() ? -1
                                                        : absl::ToInt64Nanoseconds(options.wait));
  open.set_purpose(options.purpose);
  open.set_request_id(NewRequestId());
  SLIPWAY_ASSIGN_OR_RETURN(std::shared_ptr<SessionEngine> opened,
                           SessionEngine::Open(std::move(engine)));
  return Session(std::move(opened));
}

const std::string& Session::id() const { return engine_->opened().session(); }
const std::string& Session::device() const { return engine_->opened().device(); }
const std::string& Session::target() const { return engine_->opened().target(); }

absl::StatusOr<RemoteProgram> Session::LoadFile(const std::string& path,
                                                const LoadOptions& options) {
  SLIPWAY_ASSIGN_OR_RETURN(const Artifact artifact, ReadSlip(path));
  return Load(artifact, options);
}

absl::StatusOr<RemoteProgram> Session::Load(const Artifact& artifact, const LoadOptions& options) {
  return LoadWith(artifact.digest(), &artifact, options);
}

absl::StatusOr<RemoteProgram> Session::Load(const Digest& artifact, const LoadOptions& options) {
  return LoadWith(artifact, nullptr, options);
}

absl::StatusOr<RemoteProgram> Session::LoadWith(const Digest& digest, const Artifact* artifact,
                                                const LoadOptions& options) {
  RemoteProgram program;
  const uint64_t handle = engine_->NewHandle();
  SLIPWAY_ASSIGN_OR_RETURN(LoadAnswer answer, TryLoad(*engine_, handle, digest, options));
  // A device may not know all that it lacks before it has the manifest.
  absl::flat_hash_set<Digest> sent;
  while (artifact != nullptr && LacksMore(answer, sent)) {
    sent.insert(answer.missing.begin(), answer.missing.end());
    SLIPWAY_ASSIGN_OR_RETURN(const std::vector<MissingBlob> missing,
                             FindMissing(*artifact, answer.missing));
    SLIPWAY_RETURN_IF_ERROR(SendBlobs(*engine_, missing));
    SLIPWAY_ASSIGN_OR_RETURN(answer, TryLoad(*engine_, handle, digest, options));
  }
  SLIPWAY_RETURN_IF_ERROR(answer.status);
  program.engine_ = engine_;
  program.handle_ = handle;
  program.functions_ = std::move(answer.functions);
  program.load_time_ = answer.load_time;
  return program;
}

absl::StatusOr<RemoteTensor> Session::Put(const Tensor& tensor, const std::string& name) {
  StartedTensor started = PutAsync(tensor, name);
  SLIPWAY_RETURN_IF_ERROR(started.done.Get().status());
  return std::move(started.tensor);
}

StartedTensor Session::PutAsync(const Tensor& tensor, const std::string& name) {
  RemoteTensor remote(engine_, name, tensor.type());
  std::vector<OutgoingRequest> requests = {MakeAllocate(remote.handle_, tensor.type(), name)};
  if (tensor.dtype() != DataType::kString) {  // Which the device refuses.
    const auto loaded = std::make_shared<const Tensor>(tensor.Loaded());
    AppendWrites(remote.handle_, 0, Blob(loaded->bytes(), loaded), PieceBytes(*engine_), requests);
  }
  Future<TensorType> done = Start<TensorType>(engine_, std::move(requests), tensor.type(), nullptr);
  return {std::move(remote), std::move(done)};
}

absl::StatusOr<RemoteTensor> Session::Zeros(const TensorType& type, const std::string& name) {
  RemoteTensor remote(engine_, name, type);
  SLIPWAY_RETURN_IF_ERROR(CarryOut(*engine_, {MakeAllocate(remote.handle_, type, name)}));
  return remote;
}

absl::StatusOr<RemoteTensor> Session::Random(const TensorType& type, uint64_t seed,
                                             const std::string& name) {
  RemoteTensor remote(engine_, name, type);
  OutgoingRequest allocate = MakeAllocate(remote.handle_, type, name);
  allocate.request.mutable_allocate()->set_random(true);
  allocate.request.mutable_allocate()->set_seed(seed);
  SLIPWAY_RETURN_IF_ERROR(CarryOut(*engine_, {std::move(allocate)}));
  return remote;
}

absl::StatusOr<SessionFacts> Session::Facts() {
  std::vector<OutgoingRequest> requests(1);
  MayWait(requests[0].request);
  requests[0].request.mutable_get_facts();
  return CarryOut<SessionFacts>(*engine_, std::move(requests), {},
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

absl::Status Session::Close() { return engine_->Close(); }

}  // namespace slipway
