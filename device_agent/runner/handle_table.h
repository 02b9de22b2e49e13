// HandleTable: what a runner holds, by the handles that its client chose.
#ifndef SLIPWAY_DEVICE_AGENT_RUNNER_HANDLE_TABLE_H_
#define SLIPWAY_DEVICE_AGENT_RUNNER_HANDLE_TABLE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/runtime/program.h"
#include "core/tensor/tensor.h"

namespace slipway {

// A program that is loaded.
struct HeldProgram {
  std::string name;
  std::unique_ptr<Program> program;
  ProgramContextOptions options;
  std::unique_ptr<ProgramContext> context;  // Of program.
  std::vector<size_t> output_counts;        // By entry of program.
  bool was_called = false;
};

// Handles rise: one that was freed is never another thing's. Not thread-safe.
class HandleTable {
 public:
  // INVALID_ARGUMENT unless `handle` is above all that were there before.
  absl::Status CheckNew(uint64_t handle) const;

  // REQUIRES: CheckNew(handle) is OK.
  void PutTensor(uint64_t handle, Tensor tensor);
  // REQUIRES: HasTensor(handle).
  void ReplaceTensor(uint64_t handle, Tensor tensor);
  void PutProgram(uint64_t handle, HeldProgram program);

  // Valid until the next change. NOT_FOUND for what is not there or was freed; INVALID_ARGUMENT for what is of the
  // other kind.
  absl::StatusOr<Tensor*> FindTensor(uint64_t handle);
  absl::StatusOr<HeldProgram*> FindProgram(uint64_t handle);
  bool HasTensor(uint64_t handle) const { return tensors_.contains(handle); }

  // NOT_FOUND.
  absl::Status Free(uint64_t handle);

  int64_t tensors() const { return static_cast<int64_t>(tensors_.size()); }
  int64_t programs() const { return static_cast<int64_t>(programs_.size()); }
  int64_t tensor_bytes() const { return tensor_bytes_; }

 private:
  absl::Status Missing(uint64_t handle, const char* wanted) const;

  uint64_t highest_ = 0;
  int64_t tensor_bytes_ = 0;
  absl::flat_hash_map<uint64_t, Tensor> tensors_;
  absl::flat_hash_map<uint64_t, std::unique_ptr<HeldProgram>> programs_;
};

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_RUNNER_HANDLE_TABLE_H_
