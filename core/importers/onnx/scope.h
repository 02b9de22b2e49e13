// Scope: what the names of one graph, body or function mean. Private to this folder.
#ifndef SLIPWAY_CORE_IMPORTERS_ONNX_SCOPE_H_
#define SLIPWAY_CORE_IMPORTERS_ONNX_SCOPE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/graph/graph.h"
#include "core/importers/onnx/emitter.h"

namespace slipway {

// What a model may make in all, its bodies and expanded functions included.
class ModelBudget {
 public:
  // RESOURCE_EXHAUSTED past kMaxNodes, kMaxValues and kMaxRepeatedBytes.
  absl::Status TakeNodes(int64_t count);
  absl::Status TakeValue();
  absl::Status TakeRepeatedBytes(int64_t count);

 private:
  int64_t nodes_ = 0;
  int64_t values_ = 0;
  int64_t repeated_bytes_ = 0;
};

// Not thread-safe. What it refers to must outlive it.
class Scope {
 public:
  // What a body reads of the graph around it.
  struct Capture {
    ValueId outer;  // In the graph around the body.
    ValueId inner;  // In the body, made by nothing: to become an input.
  };

  // Values are added by `emitter`, called by `prefix` and their name. `around` is the scope around a body, whose names
  // are seen inside; null for a model's graph and for functions.
  Scope(Emitter& emitter, ModelBudget& budget, std::string prefix, Scope* around)
      : emitter_(emitter), budget_(budget), prefix_(std::move(prefix)), around_(around) {}

  // A function's name stands for a value that is there already, or for none (kNoValue).
  void Bind(const std::string& name, ValueId id) { ids_[name] = id; }
  // A value that the next Define of this name gives instead of a new one.
  void Expect(const std::string& name, ValueId id) { expected_.emplace(name, id); }
  // By name, those that nothing has defined.
  const absl::flat_hash_map<std::string, ValueId>& expected() const { return expected_; }

  // INVALID_ARGUMENT for a name that is defined already or that CheckValueName refuses.
  absl::StatusOr<ValueId> Define(const std::string& name, absl::string_view what);

  // Null where the name is not defined in this scope itself.
  const ValueId* FindOwn(const std::string& name) const;
  // Absent where nothing defines the name; kNoValue where it stands for none. What a scope around defines is captured,
  // a constant as a constant. Other captured values have no types: a branch that is never taken may contradict them.
  absl::StatusOr<std::optional<ValueId>> Find(const std::string& name);

  const std::vector<Capture>& captures() const { return captures_; }

 private:
  Emitter& emitter_;
  ModelBudget& budget_;
  const std::string prefix_;
  Scope* const around_;
  absl::flat_hash_map<std::string, ValueId> ids_;
  absl::flat_hash_map<std::string, ValueId> expected_;
  std::vector<Capture> captures_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_IMPORTERS_ONNX_SCOPE_H_
