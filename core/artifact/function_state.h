// FunctionState: what holds at one point of a function while its steps are followed.
#ifndef SLIPWAY_CORE_ARTIFACT_FUNCTION_STATE_H_
#define SLIPWAY_CORE_ARTIFACT_FUNCTION_STATE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/artifact/check_tables.h"
#include "core/artifact/expressions.h"
#include "core/artifact/memory_map.h"
#include "core/artifact/step_order.h"

namespace slipway {

// What callers of a function must know of it.
struct FunctionFacts {
  bool is_entry = false;
  // The longest chain of calls below it; 0 where it calls nothing.
  int depth = 0;
  // By space: its part of the arena, from the lowest to the highest byte it or what it calls writes. Empty where
  // min > max; max is one past the end.
  std::vector<IntegerRange> arena_parts;
};

// What is known of the functions followed so far, and who has what.
struct ProgramFacts {
  static constexpr int kNobody = -1;

  // By index of symbol, and of external or dynamic buffer: the one function it belongs to.
  std::vector<int> symbol_owners;
  std::vector<int> buffer_owners;
  std::vector<FunctionFacts> functions;
};

// Follows one function. All checks name the value and what is wrong with it; errors as of CheckedManifest::Check.
// Not thread-safe.
class FunctionState {
 public:
  // All must outlive the state. `function` is the index of the one that is followed.
  FunctionState(const Tables& tables, const StepOrder& order, int function, ProgramFacts& program);

  // An input: its dimensions give symbols their values, and its bytes are there. REQUIRES: it exists.
  absl::Status BindInput(uint32_t value);
  // Once all inputs are bound: all that an input needs is known.
  absl::Status CheckInput(uint32_t value) { return CheckKnown(value); }

  // Step `step` reads `inputs`. Then it may call functions, which leave their parts of the arenas unknown; after a
  // call, symbols without a value that are exactly a dimension of an output get one. So do `binds`. Then it writes
  // `outputs`. An output may take the place of an input only where `in_place`, and then exactly.
  struct Access {
    int step = 0;
    std::vector<uint32_t> inputs;
    std::vector<const FunctionFacts*> calls;
    std::vector<uint32_t> binds;
    std::vector<uint32_t> outputs;
    bool in_place = false;
  };
  absl::Status Follow(const Access& access);

  // An output of the function, when all steps have ended.
  absl::Status CheckHeld(uint32_t value);
  // Whether the caller knows the type of a value before the first step. REQUIRES: CheckHeld.
  bool IsKnownToCaller(uint32_t value) const;

  // INVALID_ARGUMENT for a value that does not exist.
  absl::Status CheckExists(uint32_t value) const;
  // Whether steps of the device may touch the value. REQUIRES: it exists.
  absl::Status CheckTouches(uint32_t device, uint32_t value) const;
  // Whether the symbols of an expression are the function's and have values by now. REQUIRES: it exists.
  absl::Status CheckKnownNumber(uint32_t expression) const;
  // The same of the expression that the size may be.
  absl::Status CheckKnown(const v1::Size& size) const;

  const Tables& tables() const { return tables_; }
  const ProgramFacts& program() const { return program_; }
  int function() const { return function_; }
  // What was found out of the function so far.
  const FunctionFacts& facts() const { return facts_; }

 private:
  // Of a symbol without a value.
  static constexpr int kNever = INT32_MAX;

  // All expressions that a value's type and buffer need.
  std::vector<uint32_t> ExpressionsOf(uint32_t value) const;
  absl::Status OwnSymbols(uint32_t expression) const;
  absl::Status CheckUse(uint32_t value);
  absl::Status Bind(uint32_t symbol, int step);
  absl::Status BindDimensions(uint32_t value, int step);
  absl::Status CheckKnown(uint32_t value) const;
  absl::Status CheckKnownExpression(uint32_t expression) const;
  bool IsUnit(uint32_t value) const;
  MemoryRange RangeOf(uint32_t value) const;
  bool MayOverlap(uint32_t a, uint32_t b) const;
  bool TakesThePlaceOf(uint32_t output, uint32_t input) const;
  absl::Status CheckOutputs(const Access& access);
  absl::Status CheckOutsideOf(const FunctionFacts& callee, const Access& access) const;
  absl::Status FollowCalls(const Access& access);
  absl::Status Explain(MemoryConflict conflict, uint32_t value) const;
  absl::Status CheckWork() const;
  void GrowArenaPart(uint32_t space, IntegerRange part);

  const Tables& tables_;
  const int function_;
  ProgramFacts& program_;
  FunctionFacts facts_;
  MemoryMap memory_;
  absl::flat_hash_set<uint32_t> input_buffers_;
  // By symbol: the step that gives it its value, MemoryMap::kCaller or kNever.
  std::vector<int> bound_at_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_ARTIFACT_FUNCTION_STATE_H_
