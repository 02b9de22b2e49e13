#include "device_agent/runner/handle_table.h"

#include "absl/strings/str_cat.h"

namespace slipway {

absl::Status HandleTable::CheckNew(uint64_t handle) const {
  if (handle > highest_) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("handle ", handle, " is not new: new ones are above ", highest_));
}

void HandleTable::PutTensor(uint64_t handle, Tensor tensor) {
  highest_ = handle;
  tensor_bytes_ += tensor.byte_size();
  tensors_[handle] = std::move(tensor);
}

void HandleTable::ReplaceTensor(uint64_t handle, Tensor tensor) {
  Tensor& held = tensors_.at(handle);
  tensor_bytes_ += tensor.byte_size() - held.byte_size();
  held = std::move(tensor);
}

void HandleTable::PutProgram(uint64_t handle, HeldProgram program) {
  highest_ = handle;
  programs_[handle] = std::make_unique<HeldProgram>(std::move(program));
}

absl::Status HandleTable::Missing(uint64_t handle, const char* wanted) const {
  if (tensors_.contains(handle) || programs_.contains(handle)) {
    return absl::InvalidArgumentError(absl::StrCat("handle ", handle, " is no ", wanted));
  }
  return absl::NotFoundError(
      absl::StrCat("no ", wanted, " has handle ", handle,
                   handle != 0 && handle <= highest_ ? ": it was freed, or never made" : ""));
}

absl::StatusOr<Tensor*> HandleTable::FindTensor(uint64_t handle) {
  const auto found = tensors_.find(handle);
  if (found == tensors_.end()) return Missing(handle, "tensor");
  return &found->second;
}

absl::StatusOr<HeldProgram*> HandleTable::FindProgram(uint64_t handle) {
  const auto found = programs_.find(handle);
  if (found == programs_.end()) return Missing(handle, "program");
  return found->second.get();
}

absl::Status HandleTable::Free(uint64_t handle) {
  const auto tensor = tensors_.find(handle);
  if (tensor != tensors_.end()) {
    tensor_bytes_ -= tensor->second.byte_size();
    tensors_.erase(tensor);
    return absl::OkStatus();
  }
  if (programs_.erase(handle) > 0) return absl::OkStatus();
  return Missing(handle, "program or tensor");
}

}  // namespace slipway
