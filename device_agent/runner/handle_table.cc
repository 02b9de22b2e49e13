#include "device_agent/runner/handle_table.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"

namespace slipway {
namespace {

constexpr size_t kMaxRanges = 4096;

}  // namespace

bool HandleTable::IsNew(uint64_t handle) const {
  const auto above = unused_.upper_bound(handle);
  return above != unused_.begin() && handle <= std::prev(above)->second;
}

absl::Status HandleTable::CheckNew(uint64_t handle) const {
  if (IsNew(handle)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("handle ", handle, " is not new"));
}

void HandleTable::Use(uint64_t handle) {
  const auto range = std::prev(unused_.upper_bound(handle));
  const auto [first, last] = *range;
  unused_.erase(range);
  if (first < handle) unused_[first] = handle - 1;
  if (handle < last) unused_[handle + 1] = last;
  if (unused_.size() > kMaxRanges) unused_.erase(unused_.begin());
}

void HandleTable::PutTensor(uint64_t handle, Tensor tensor) {
  Use(handle);
  tensor_bytes_ += tensor.byte_size();
  tensors_[handle] = std::move(tensor);
}

void HandleTable::ReplaceTensor(uint64_t handle, Tensor tensor) {
  Tensor& held = tensors_.at(handle);
  tensor_bytes_ += tensor.byte_size() - held.byte_size();
  held = std::move(tensor);
}

void HandleTable::PutProgram(uint64_t handle, HeldProgram program) {
  Use(handle);
  programs_[handle] = std::make_unique<HeldProgram>(std::move(program));
}

absl::Status HandleTable::Missing(uint64_t handle, const char* wanted) const {
  if (tensors_.contains(handle) || programs_.contains(handle)) {
    return absl::InvalidArgumentError(absl::StrCat("handle ", handle, " is no ", wanted));
  }
  return absl::NotFoundError(absl::StrCat("no ", wanted, " has handle ", handle,
                                          handle != 0 && !IsNew(handle) ? ": it was freed" : ""));
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

std::vector<uint64_t> HandleTable::HandlesAfter(uint64_t after) const {
  std::vector<uint64_t> handles;
  for (const auto& [handle, tensor] : tensors_) {
    if (handle > after) handles.push_back(handle);
  }
  for (const auto& [handle, program] : programs_) {
    if (handle > after) handles.push_back(handle);
  }
  std::sort(handles.begin(), handles.end());
  return handles;
}

}  // namespace slipway
