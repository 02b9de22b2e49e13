// Tensors on a device.
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/session.h"
#include "client/session/answers.h"
#include "client/session/transfer.h"
#include "core/base/status_macros.h"

namespace slipway {

RemoteTensor::RemoteTensor(std::shared_ptr<SessionEngine> engine, std::string name, TensorType type)
    : engine_(std::move(engine)),
      handle_(engine_->NewHandle()),
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
  return Start<Tensor>(engine_, std::move(reads), *std::move(tensor),
                       [piece_bytes](size_t piece, const RequestAnswer& answer, Tensor& whole) {
                         return TakeRead(piece, answer.data, whole.dtype(), piece_bytes,
                                         absl::MakeSpan(whole.mutable_bytes(),
                                                        static_cast<size_t>(whole.byte_size())));
                       });
}

absl::Status RemoteTensor::GetInto(absl::Span<char> bytes) const {
  SLIPWAY_ASSIGN_OR_RETURN(const TensorType type, KnownType());
  if (static_cast<int64_t>(bytes.size()) != type.byte_size()) {
    return absl::InvalidArgumentError(absl::StrCat("tensor \"", name_, "\" has ", type.byte_size(),
                                                   " bytes, but there is room for ", bytes.size()));
  }
  return Read(0, bytes);
}

absl::Status RemoteTensor::Read(int64_t offset, absl::Span<char> bytes) const {
  SLIPWAY_ASSIGN_OR_RETURN(const TensorType type, KnownType());
  const int64_t piece_bytes = PieceBytes(*engine_);
  return CarryOut<absl::Span<char>>(
             *engine_, MakeReads(handle_, offset, static_cast<int64_t>(bytes.size()), piece_bytes),
             bytes,
             [piece_bytes, dtype = type.dtype](size_t piece, const RequestAnswer& answer,
                                               absl::Span<char>& whole) {
               return TakeRead(piece, answer.data, dtype, piece_bytes, whole);
             })
      .status();
}

absl::Status RemoteTensor::Write(int64_t offset, const Blob& bytes) {
  SLIPWAY_RETURN_IF_ERROR(KnownType().status());
  std::vector<OutgoingRequest> writes;
  AppendWrites(handle_, offset, bytes, PieceBytes(*engine_), writes);
  return CarryOut(*engine_, std::move(writes));
}

absl::StatusOr<RemoteTensor> RemoteTensor::Slice(absl::Span<const int64_t> begin,
                                                 absl::Span<const int64_t> shape) const {
  SLIPWAY_ASSIGN_OR_RETURN(const TensorType type, KnownType());
  RemoteTensor slice(engine_, name_, {type.dtype, Shape(shape.begin(), shape.end())});
  std::vector<OutgoingRequest> requests(1);
  MayWait(requests[0].request);
  v1::SessionRequest::Slice& request = *requests[0].request.mutable_slice();
  request.set_from(handle_);
  request.set_tensor(slice.handle_);
  request.mutable_begin()->Add(begin.begin(), begin.end());
  request.mutable_shape()->Add(shape.begin(), shape.end());
  SLIPWAY_RETURN_IF_ERROR(CarryOut(*engine_, std::move(requests)));
  return slice;
}

absl::StatusOr<RemoteTensor> RemoteTensor::Copy() const {
  SLIPWAY_ASSIGN_OR_RETURN(const TensorType type, KnownType());
  return Slice(std::vector<int64_t>(type.shape.size()), type.shape);
}

absl::Status RemoteTensor::Assign(absl::Span<const int64_t> begin, const RemoteTensor& from) {
  SLIPWAY_RETURN_IF_ERROR(CheckIsOf(engine_.get(), *this));
  SLIPWAY_RETURN_IF_ERROR(CheckIsOf(engine_.get(), from));
  std::vector<OutgoingRequest> requests(1);
  MayWait(requests[0].request);
  v1::SessionRequest::Assign& request = *requests[0].request.mutable_assign();
  request.set_to(handle_);
  request.mutable_begin()->Add(begin.begin(), begin.end());
  request.set_from(from.handle_);
  return CarryOut(*engine_, std::move(requests));
}

absl::Status RemoteTensor::CheckIsOf(const SessionEngine* engine, const RemoteTensor& tensor) {
  if (!tensor.is_set()) return absl::InvalidArgumentError("a tensor is not set");
  if (tensor.engine_.get() == engine) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("tensor \"", tensor.name_, "\" belongs to another session"));
}

}  // namespace slipway
