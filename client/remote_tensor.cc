// Tensors on a device.
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/session.h"
#include "client/session/answers.h"
#include "client/session/transfer.h"
#include "core/base/status_macros.h"

namespace slipway {

RemoteTensor::RemoteTensor(std::shared_ptr<SessionEngine> engine, std::string name, TensorType type)
    : RemoteTensor(engine, engine->NewHandle(), std::move(name), std::move(type)) {}

RemoteTensor::RemoteTensor(std::shared_ptr<SessionEngine> engine, uint64_t handle, std::string name,
                           TensorType type)
    : engine_(std::move(engine)),
      handle_(handle),
      name_(std::move(name)),
      type_(std::make_shared<LateType>()) {
  if (type.dtype == DataType::kInvalid) return;
  type_->type = std::move(type);
  type_->is_known = true;
}

RemoteTensor::~RemoteTensor() {
  if (is_set()) engine_->Free(handle_);
}

TensorType RemoteTensor::type() const {
  return is_set() && type_->is_known ? type_->type : TensorType();
}

absl::StatusOr<TensorType> RemoteTensor::KnownType() const {
  if (!is_set()) return absl::InvalidArgumentError("the tensor is not set");
  if (type_->is_known) return type_->type;
  return absl::FailedPreconditionError(
      absl::StrCat("tensor \"", name_, "\" has no type yet; wait for the call that makes it"));
}

absl::StatusOr<Tensor> RemoteTensor::Get() const { return GetAsync().Get(); }

Future<Tensor> RemoteTensor::GetAsync() const {
  const absl::StatusOr<TensorType> type = KnownType();
  if (!type.ok()) return FailedFuture<Tensor>(type.status());
  absl::StatusOr<Tensor> tensor = Tensor::Create(*type);
  if (!tensor.ok()) return FailedFuture<Tensor>(tensor.status());
  const int64_t piece_bytes = PieceBytes(*engine_);
  std::vector<OutgoingRequest> reads = MakeReads(handle_, 0, tensor->byte_size(), piece_bytes);
  return slipway::Start<Tensor>(
      engine_, std::move(reads), *std::move(tensor),
      [piece_bytes](size_t piece, const RequestAnswer& answer, Tensor& whole) {
        return TakeRead(
            piece, answer.data, whole.dtype(), piece_bytes,
            absl::MakeSpan(whole.mutable_bytes(), static_cast<size_t>(whole.byte_size())));
      });
}

absl::Status RemoteTensor::GetInto(absl::Span<char> bytes) const {
  return GetIntoAsync(bytes).Get().status();
}

Future<Done> RemoteTensor::GetIntoAsync(absl::Span<char> bytes) const {
  const absl::StatusOr<TensorType> type = KnownType();
  if (!type.ok()) return FailedFuture<Done>(type.status());
  if (static_cast<int64_t>(bytes.size()) != type->byte_size()) {
    return FailedFuture<Done>(
        absl::InvalidArgumentError(absl::StrCat("tensor \"", name_, "\" has ", type->byte_size(),
                                                " bytes, but there is room for ", bytes.size())));
  }
  return ReadAsync(0, bytes);
}

absl::Status RemoteTensor::Read(int64_t offset, absl::Span<char> bytes) const {
  return ReadAsync(offset, bytes).Get().status();
}

Future<Done> RemoteTensor::ReadAsync(int64_t offset, absl::Span<char> bytes) const {
  const absl::StatusOr<TensorType> type = KnownType();
  if (!type.ok()) return FailedFuture<Done>(type.status());
  const int64_t piece_bytes = PieceBytes(*engine_);
  return slipway::Start<Done>(
      engine_, MakeReads(handle_, offset, static_cast<int64_t>(bytes.size()), piece_bytes), Done(),
      [piece_bytes, dtype = type->dtype, bytes](size_t piece, const RequestAnswer& answer, Done&) {
        return TakeRead(piece, answer.data, dtype, piece_bytes, bytes);
      });
}

absl::Status RemoteTensor::Write(int64_t offset, const Blob& bytes) {
  return WriteAsync(offset, bytes).Get().status();
}

Future<Done> RemoteTensor::WriteAsync(int64_t offset, const Blob& bytes) {
  if (const absl::Status known = KnownType().status(); !known.ok()) {
    return FailedFuture<Done>(known);
  }
  std::vector<OutgoingRequest> writes;
  AppendWrites(handle_, offset, bytes, PieceBytes(*engine_), writes);
  return slipway::Start(engine_, std::move(writes));
}

absl::StatusOr<RemoteTensor> RemoteTensor::Slice(absl::Span<const int64_t> begin,
                                                 absl::Span<const int64_t> shape,
                                                 const std::string& name) const {
  StartedTensor started = SliceAsync(begin, shape, name);
  SLIPWAY_RETURN_IF_ERROR(started.done.Get().status());
  return std::move(started.tensor);
}

StartedTensor RemoteTensor::SliceAsync(absl::Span<const int64_t> begin,
                                       absl::Span<const int64_t> shape,
                                       const std::string& name) const {
  const absl::StatusOr<TensorType> type = KnownType();
  if (!type.ok()) return {RemoteTensor(), FailedFuture<TensorType>(type.status())};
  RemoteTensor slice(engine_, name.empty() ? name_ : name,
                     {type->dtype, Shape(shape.begin(), shape.end())});
  std::vector<OutgoingRequest> requests(1);
  MayWait(requests[0].request);
  v1::SessionRequest::Slice& request = *requests[0].request.mutable_slice();
  request.set_from(handle_);
  request.set_tensor(slice.handle_);
  request.mutable_begin()->Add(begin.begin(), begin.end());
  request.mutable_shape()->Add(shape.begin(), shape.end());
  request.set_name(slice.name_);
  return Start(std::move(slice), std::move(requests));
}

absl::StatusOr<RemoteTensor> RemoteTensor::Copy(const std::string& name) const {
  StartedTensor started = CopyAsync(name);
  SLIPWAY_RETURN_IF_ERROR(started.done.Get().status());
  return std::move(started.tensor);
}

StartedTensor RemoteTensor::CopyAsync(const std::string& name) const {
  const TensorType whole = type();
  return SliceAsync(std::vector<int64_t>(whole.shape.size()), whole.shape, name);
}

absl::Status RemoteTensor::Assign(absl::Span<const int64_t> begin, const RemoteTensor& from) {
  return AssignAsync(begin, from).Get().status();
}

Future<Done> RemoteTensor::AssignAsync(absl::Span<const int64_t> begin, const RemoteTensor& from) {
  absl::Status status = CheckIsOf(engine_.get(), *this);
  if (status.ok()) status = CheckIsOf(engine_.get(), from);
  if (!status.ok()) return FailedFuture<Done>(std::move(status));
  std::vector<OutgoingRequest> requests(1);
  MayWait(requests[0].request);
  v1::SessionRequest::Assign& request = *requests[0].request.mutable_assign();
  request.set_to(handle_);
  request.mutable_begin()->Add(begin.begin(), begin.end());
  request.set_from(from.handle_);
  return slipway::Start(engine_, std::move(requests));
}

StartedTensor RemoteTensor::Start(RemoteTensor tensor, std::vector<OutgoingRequest> requests) {
  Future<TensorType> done =
      slipway::Start<TensorType>(tensor.engine_, std::move(requests), tensor.type(), nullptr);
  return {std::move(tensor), std::move(done)};
}

absl::Status RemoteTensor::CheckIsOf(const SessionEngine* engine, const RemoteTensor& tensor) {
  if (!tensor.is_set()) return absl::InvalidArgumentError("a tensor is not set");
  if (tensor.engine_.get() == engine) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("tensor \"", tensor.name_, "\" belongs to another session"));
}

}  // namespace slipway
