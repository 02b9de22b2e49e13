#include "client/testing/fake_runner.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/tensor/random.h"
#include "core/wire/digest_proto.h"
#include "core/wire/tensor_proto.h"

namespace slipway::testing {
namespace {

void AddFunctions(
    google::protobuf::RepeatedPtrField<v1::SessionResponse::Loaded::Function>& functions) {
  for (const char* name : {"add", "wait", "print", "crash"}) {
    v1::SessionResponse::Loaded::Function& function = *functions.Add();
    function.set_name(name);
    function.add_inputs()->set_name("a");
    if (function.name() == "add") function.add_inputs()->set_name("b");
    function.add_outputs()->set_name("y");
    function.mutable_outputs(0)->set_type("f32[n]");
  }
}

}  // namespace

v1::SessionResponse FakeRunner::Do(const v1::SessionRequest& request, absl::Cord& data,
                                   const std::vector<Digest>& needed_blobs) {
  v1::SessionResponse response;
  const absl::Status status = Carry(request, data, needed_blobs, response);
  response.set_id(request.id());
  response.set_code(static_cast<int>(status.code()));
  response.set_message(std::string(status.message()));
  if (absl::IsAborted(status)) response.set_log_tail("Segmentation fault\n");
  if (!request.has_read() || !status.ok()) data.Clear();
  return response;
}

absl::Status FakeRunner::Carry(const v1::SessionRequest& request, absl::Cord& data,
                               const std::vector<Digest>& needed_blobs,
                               v1::SessionResponse& response) {
  switch (request.kind_case()) {
    case v1::SessionRequest::kLoad:
      return Load(request.load(), needed_blobs, *response.mutable_loaded());
    case v1::SessionRequest::kWriteBlob:
      return WriteBlob(request.write_blob(), data, response);
    case v1::SessionRequest::kAllocate:
      return Allocate(request.allocate());
    case v1::SessionRequest::kWrite: {
      const std::string bytes(data);
      SLIPWAY_ASSIGN_OR_RETURN(char* const to,
                               Part(request.write().tensor(), request.write().offset(),
                                    static_cast<int64_t>(bytes.size())));
      std::copy(bytes.begin(), bytes.end(), to);
      return absl::OkStatus();
    }
    case v1::SessionRequest::kRead: {
      const v1::SessionRequest::Read& read = request.read();
      SLIPWAY_ASSIGN_OR_RETURN(const char* const from,
                               Part(read.tensor(), read.offset(), read.size()));
      data = absl::Cord(absl::string_view(from, static_cast<size_t>(read.size())));
      return absl::OkStatus();
    }
    case v1::SessionRequest::kSlice:
      return Slice(request.slice());
    case v1::SessionRequest::kAssign:
      return Assign(request.assign());
    case v1::SessionRequest::kCall:
      return Call(request.call(), *response.mutable_called());
    case v1::SessionRequest::kTime: {
      v1::SessionResponse::Called called;
      SLIPWAY_RETURN_IF_ERROR(Call(request.time().call(), called));
      v1::BenchmarkResult& result = *response.mutable_timed()->mutable_result();
      for (int i = 0; i < request.time().samples(); ++i) result.add_samples_ns(1000 + i);
      result.set_iterations_per_sample(request.time().flush_cache() ? 1 : 7);
      result.set_clock_resolution_ns(100);
      *result.mutable_steps() = called.steps();
      return absl::OkStatus();
    }
    case v1::SessionRequest::kFree:
      return Free(request.free());
    case v1::SessionRequest::kGetFacts:
      response.mutable_facts()->mutable_machine()->set_temperature_millicelsius(42'000);
      response.mutable_facts()->set_limit_bytes(1 << 30);
      response.mutable_facts()->set_tensors(tensors());
      response.mutable_facts()->set_programs(static_cast<int64_t>(programs_.size()));
      return absl::OkStatus();
    case v1::SessionRequest::kList:
      List(request.list(), *response.mutable_listed());
      return absl::OkStatus();
    default:
      return absl::UnimplementedError("the fake does not know this request");
  }
}

absl::Status FakeRunner::Load(const v1::SessionRequest::Load& load,
                              const std::vector<Digest>& needed_blobs,
                              v1::SessionResponse::Loaded& loaded) {
  for (const Digest& digest : needed_blobs) {
    if (Digest::Of(blobs_[digest.hex()]) == digest) continue;
    *loaded.add_missing() = ToProto(digest);
    return absl::FailedPreconditionError("blobs are missing");
  }
  programs_.insert(load.program());
  Note(load.program(), load.name());
  AddFunctions(*loaded.mutable_functions());
  loaded.set_load_ns(5000);
  return absl::OkStatus();
}

absl::Status FakeRunner::WriteBlob(const v1::SessionRequest::WriteBlob& write,
                                   const absl::Cord& data, v1::SessionResponse& response) {
  SLIPWAY_ASSIGN_OR_RETURN(const Digest digest, FromProto(write.blob()));
  std::string& bytes = blobs_[digest.hex()];
  const bool follows = write.offset() == static_cast<int64_t>(bytes.size());
  if (follows) bytes += std::string(data);
  response.mutable_blob_written()->set_size(static_cast<int64_t>(bytes.size()));
  return follows ? absl::OkStatus() : absl::OutOfRangeError("the piece does not follow");
}

absl::Status FakeRunner::Allocate(const v1::SessionRequest::Allocate& allocate) {
  SLIPWAY_ASSIGN_OR_RETURN(const TensorType type, FromProto(allocate.type()));
  if (type.dtype == DataType::kString) {
    return absl::InvalidArgumentError("a device has no tensors of strings");
  }
  if (type.byte_size() > 64 << 20) return absl::ResourceExhaustedError("the device is full");
  SLIPWAY_ASSIGN_OR_RETURN(Tensor tensor, allocate.random()
                                              ? RandomTensor(type, allocate.seed(), allocate.name())
                                              : Tensor::Create(type));
  if (!tensors_.emplace(allocate.tensor(), std::move(tensor)).second) {
    return absl::AlreadyExistsError("the handle is in use");
  }
  Note(allocate.tensor(), allocate.name());
  return absl::OkStatus();
}

// Boxes of one dimension alone.
absl::Status FakeRunner::Slice(const v1::SessionRequest::Slice& slice) {
  SLIPWAY_ASSIGN_OR_RETURN(Tensor* const from, Find(slice.from()));
  const int64_t element = ByteSize(from->dtype());
  SLIPWAY_ASSIGN_OR_RETURN(const char* const bytes,
                           Part(slice.from(), slice.begin(0) * element, slice.shape(0) * element));
  SLIPWAY_ASSIGN_OR_RETURN(
      tensors_[slice.tensor()],
      Tensor::FromBytes({from->dtype(), {slice.shape(0)}},
                        absl::string_view(bytes, static_cast<size_t>(slice.shape(0) * element))));
  Note(slice.tensor(), slice.name());
  return absl::OkStatus();
}

absl::Status FakeRunner::Assign(const v1::SessionRequest::Assign& assign) {
  SLIPWAY_ASSIGN_OR_RETURN(Tensor* const from, Find(assign.from()));
  SLIPWAY_ASSIGN_OR_RETURN(
      char* const to,
      Part(assign.to(), assign.begin(0) * ByteSize(from->dtype()), from->byte_size()));
  std::copy(from->bytes().begin(), from->bytes().end(), to);
  return absl::OkStatus();
}

absl::Status FakeRunner::Call(const v1::SessionRequest::Call& call,
                              v1::SessionResponse::Called& called) {
  if (programs_.count(call.program()) == 0) {
    return absl::NotFoundError(absl::StrCat("there is no program ", call.program()));
  }
  if (call.function() == "crash") {
    tensors_.clear();
    programs_.clear();
    return absl::AbortedError("the runner was ended by signal 11 in step 2, kernel \"k\"");
  }
  std::vector<Tensor> inputs;
  for (const uint64_t handle : call.inputs()) {
    SLIPWAY_ASSIGN_OR_RETURN(Tensor* const input, Find(handle));
    SLIPWAY_ASSIGN_OR_RETURN(Tensor copy, Tensor::FromBytes(input->type(), input->bytes()));
    inputs.push_back(std::move(copy));
  }
  const bool adds = call.function().empty() || call.function() == "add";
  if (inputs.size() != (adds ? 2u : 1u)) {
    return absl::InvalidArgumentError(
        absl::StrCat("function \"", call.function(), "\" has other inputs"));
  }
  if (adds) {
    if (inputs[0].type() != inputs[1].type()) {
      return absl::InvalidArgumentError("the inputs differ in type");
    }
    const auto to = inputs[0].mutable_values<float>();
    std::transform(to.begin(), to.end(), inputs[1].values<float>().begin(), to.begin(),
                   [](float a, float b) { return a + b; });
  }
  if (call.outputs_size() > 0) {
    tensors_[call.outputs(0)] = inputs[0];
    Note(call.outputs(0), call.output_names_size() > 0 ? call.output_names(0) : "");
  }
  called.set_duration_ns(1234);
  *called.add_outputs() = ToProto(inputs[0].type());
  if (call.profile()) {
    called.add_steps()->set_name("step0");
    called.mutable_steps(0)->set_duration_ns(99);
  }
  return absl::OkStatus();
}

absl::Status FakeRunner::Free(const v1::SessionRequest::Free& free) {
  absl::Status status;
  for (const uint64_t handle : free.handles()) {
    if (tensors_.erase(handle) + programs_.erase(handle) == 0) {
      status = absl::NotFoundError("there is no such handle");
    }
  }
  return status;
}

// One at a time.
void FakeRunner::List(const v1::SessionRequest::List& list,
                      v1::SessionResponse::Listed& listed) const {
  const auto program = programs_.upper_bound(list.after());
  const auto tensor = tensors_.upper_bound(list.after());
  const bool is_program =
      program != programs_.end() && (tensor == tensors_.end() || *program < tensor->first);
  if (is_program) {
    listed.add_programs()->set_handle(*program);
    listed.mutable_programs(0)->set_name(names_.at(*program));
    AddFunctions(*listed.mutable_programs(0)->mutable_functions());
    listed.set_more_after(*program);
  } else if (tensor != tensors_.end()) {
    listed.add_tensors()->set_handle(tensor->first);
    listed.mutable_tensors(0)->set_name(names_.at(tensor->first));
    *listed.mutable_tensors(0)->mutable_type() = ToProto(tensor->second.type());
    listed.set_more_after(tensor->first);
  }
}

void FakeRunner::Note(uint64_t handle, const std::string& name) {
  names_[handle] = name;
  next_handle_ = std::max(next_handle_, handle + 1);
}

absl::StatusOr<Tensor*> FakeRunner::Find(uint64_t handle) {
  const auto found = tensors_.find(handle);
  if (found != tensors_.end()) return &found->second;
  return absl::NotFoundError(absl::StrCat("there is no tensor ", handle));
}

absl::StatusOr<char*> FakeRunner::Part(uint64_t handle, int64_t offset, int64_t size) {
  SLIPWAY_ASSIGN_OR_RETURN(Tensor* const tensor, Find(handle));
  if (offset < 0 || size < 0 || offset + size > tensor->byte_size()) {
    return absl::OutOfRangeError("the part does not lie inside of the tensor");
  }
  return tensor->mutable_bytes() + offset;
}

}  // namespace slipway::testing
