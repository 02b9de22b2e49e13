// HandleTable: what a runner holds, by the handles that its client chose.
#ifndef SLIPWAY_DEVICE_AGENT_RUNNER_HANDLE_TABLE_H_
#define SLIPWAY_DEVICE_AGENT_RUNNER_HANDLE_TABLE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/runtime/program.h"
#include "core/tensor/tensor.h"
#include "proto/slipway/v1/session.pb.h"

namespace slipway {

// A program that is loaded.
struct HeldProgram {
  std::string name;
  std::unique_ptr<Program> program;
  ProgramContextOptions options;
  std::unique_ptr<ProgramContext> context;  // Of program.
  google::protobuf::RepeatedPtrField<v1::SessionResponse::Loaded::Function>
      functions;  // Its entries.
  bool was_called = false;
};

// A handle that was freed is never another thing's. Not thread-safe.
class HandleTable {
 public:
  // INVALID_ARGUMENT for a handle that was used before. They need not rise: threads of a client overtake each other. Who
  // leaves more than 4,096 gaps loses the lowest.
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
  bool HasProgram(uint64_t handle) const { return programs_.contains(handle); }

  // NOT_FOUND.
  absl::Status Free(uint64_t handle);

  int64_t tensors() const { return static_cast<int64_t>(tensors_.size()); }
  int64_t programs() const { return static_cast<int64_t>(programs_.size()); }
  int64_t tensor_bytes() const { return tensor_bytes_; }
  // All handles above `after`, rising.
  std::vector<uint64_t> HandlesAfter(uint64_t after) const;

 private:
  absl::Status Missing(uint64_t handle, const char* wanted) const;

  bool IsNew(uint64_t handle) const;
  void Use(uint64_t handle);

  // First and last of each range of handles that were never used.
  absl::btree_map<uint64_t, uint64_t> unused_ = {{1, UINT64_MAX}};
  int64_t tensor_bytes_ = 0;
  absl::flat_hash_map<uint64_t, Tensor> tensors_;
  absl::flat_hash_map<uint64_t, std::unique_ptr<HeldProgram>> programs_;
};

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_RUNNER_HANDLE_TABLE_H_
