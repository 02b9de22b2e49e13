#include "core/runtime/loop_runner.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/artifact/limits.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

constexpr int64_t kMaxValueBytes = ReaderLimits().value_bytes;
// Slices that memory is taken for when the number of turns is not known.
constexpr int64_t kFirstSlices = 4;

size_t Size(int count) { return static_cast<size_t>(count); }

}  // namespace

LoopRunner::LoopRunner(Interpreter& interpreter, const StepPlan& step)
    : interpreter_(interpreter),
      step_(step),
      loop_(step.proto->loop()),
      body_(interpreter.function(loop_.body())),
      first_scanned_input_(first_carried_input_ + Size(loop_.initial_size())),
      first_captured_input_(first_scanned_input_ + Size(loop_.scanned_size())),
      first_carried_output_(loop_.has_condition() ? 1 : 0),
      first_collected_output_(first_carried_output_ + Size(loop_.initial_size())),
      inputs_(first_captured_input_ + Size(loop_.captured_size())),
      carried_extents_(Size(loop_.initial_size())),
      carried_(Size(loop_.initial_size())),
      next_carried_(Size(loop_.initial_size())),
      slices_(Size(loop_.scanned_size())),
      collected_(Size(loop_.collected_size())),
      results_(Size(loop_.results_size()) + Size(loop_.collected_size())) {}

absl::Status LoopRunner::Run(const FunctionPlan& function) {
  const absl::Cleanup clear = [this] { Clear(); };
  return MakeTurns(function);
}

void LoopRunner::Clear() {
  DynamicMemory& memory = interpreter_.memory();
  const auto give_back = [&memory](Block*& block) {
    if (block != nullptr) memory.Return(*block);
    block = nullptr;
  };
  for (std::vector<Block*>* blocks : {&carried_, &next_carried_, &slices_}) {
    for (Block*& block : *blocks) give_back(block);
  }
  for (Collected& collected : collected_) give_back(collected.block);
  give_back(turn_);
}

absl::Status LoopRunner::MakeTurns(const FunctionPlan& function) {
  SLIPWAY_RETURN_IF_ERROR(BeginLoop());
  bool goes_on = true;
  if (loop_.has_first_condition())
    SLIPWAY_RETURN_IF_ERROR(ReadCondition(loop_.first_condition(), goes_on));
  int64_t turn = 0;
  for (; goes_on && turn < most_turns_; ++turn) {
    SLIPWAY_RETURN_IF_ERROR(interpreter_.CountTurn());
    SLIPWAY_RETURN_IF_ERROR_WITH(MakeTurn(turn, goes_on),
                                 absl::StrCat("turn ", turn, " of function '",
                                              absl::Utf8SafeCEscape(body_.proto->name()), "'"));
    // The body's work has ended, and with it what its blocks waited for.
    interpreter_.memory().SetIdle();
  }
  return StoreResults(function, turn);
}

absl::Status LoopRunner::ReadCondition(uint32_t value, bool& holds) {
  uint8_t byte = 0;
  SLIPWAY_RETURN_IF_ERROR(interpreter_.ReadNow(
      interpreter_.space_of(value), interpreter_.values().memory(value), &byte, sizeof(byte)));
  holds = byte != 0;
  return absl::OkStatus();
}

absl::Status LoopRunner::BeginLoop() {
  const ValueTable& values = interpreter_.values();
  most_turns_ = std::numeric_limits<int64_t>::max();
  if (loop_.has_max_turns()) {
    int64_t most = 0;
    SLIPWAY_RETURN_IF_ERROR(interpreter_.ReadNow(interpreter_.space_of(loop_.max_turns()),
                                                 values.memory(loop_.max_turns()), &most,
                                                 sizeof(most)));
    most_turns_ = std::max<int64_t>(0, most);
  }
  for (int i = 0; i < loop_.scanned_size(); ++i) {
    const int64_t length = values.extents(loop_.scanned(i))[0];
    if (const int64_t other = values.extents(loop_.scanned(0))[0]; length != other) {
      return absl::InvalidArgumentError(absl::StrCat("scans value ", loop_.scanned(0), " of ",
                                                     other, " slices and value ", loop_.scanned(i),
                                                     " of ", length));
    }
    most_turns_ = std::min(most_turns_, length);
  }
  is_exact_ = !loop_.has_condition() && most_turns_ < std::numeric_limits<int64_t>::max();

  const uint32_t turn = body_.inputs[0].value;
  SLIPWAY_ASSIGN_OR_RETURN(
      turn_, interpreter_.memory().Take(interpreter_.space_of(turn), sizeof(int64_t)));
  inputs_[0] = {DataType::kInt64, {}, turn_->memory};
  for (size_t i = 0; i < carried_.size(); ++i) {
    TensorView& view = inputs_[first_carried_input_ + i];
    view = interpreter_.ViewOf(loop_.initial(static_cast<int>(i)));
    view.block = nullptr;
  }
  for (int i = 0; i < loop_.captured_size(); ++i) {
    TensorView& view = inputs_[first_captured_input_ + Size(i)];
    view = interpreter_.ViewOf(loop_.captured(i));
    view.block = nullptr;
  }
  for (size_t i = 0; i < collected_.size(); ++i) {
    const uint32_t value = loop_.collected(static_cast<int>(i));
    Collected& collected = collected_[i];
    collected.is_in_place = !interpreter_.IsMadeBy(step_, value);
    collected.memory = collected.is_in_place ? values.memory(value) : DeviceMemory();
    collected.extents.fill(kUnknownExtent);
  }
  return absl::OkStatus();
}

absl::Status LoopRunner::BindSlices(int64_t turn) {
  const ValueTable& values = interpreter_.values();
  for (size_t i = 0; i < slices_.size(); ++i) {
    const uint32_t value = loop_.scanned(static_cast<int>(i));
    const absl::Span<const int64_t> extents = values.extents(value);
    const int64_t slice_bytes = values.bytes(value) / extents[0];
    DeviceMemory slice = values.memory(value).From(turn * slice_bytes);
    if (slice_bytes % kBufferAlignment != 0) {
      const uint32_t space = interpreter_.space_of(value);
      if (slices_[i] == nullptr) {
        SLIPWAY_ASSIGN_OR_RETURN(slices_[i], interpreter_.memory().Take(space, slice_bytes));
      }
      SLIPWAY_RETURN_IF_ERROR(interpreter_.CopyNow(space, slice, slices_[i]->memory, slice_bytes));
      slice = slices_[i]->memory;
    }
    inputs_[first_scanned_input_ + i] = {values.dtype(value), extents.subspan(1), slice};
  }
  return absl::OkStatus();
}

absl::Status LoopRunner::MakeTurn(int64_t turn, bool& goes_on) {
  SLIPWAY_RETURN_IF_ERROR(interpreter_.WriteNow(interpreter_.space_of(body_.inputs[0].value), &turn,
                                                turn_->memory, sizeof(turn)));
  SLIPWAY_RETURN_IF_ERROR(BindSlices(turn));
  const absl::Cleanup end = [this] { interpreter_.End(body_); };
  SLIPWAY_RETURN_IF_ERROR(interpreter_.Call(body_, inputs_));
  if (loop_.has_condition()) {
    SLIPWAY_RETURN_IF_ERROR(ReadCondition(body_.outputs[0].value, goes_on));
  }
  SLIPWAY_RETURN_IF_ERROR(Collect(turn));
  return Carry();
}

absl::Status LoopRunner::Carry() {
  for (size_t i = 0; i < carried_.size(); ++i) {
    const uint32_t value = body_.outputs[first_carried_output_ + i].value;
    TensorView view = interpreter_.ViewOf(value);
    if (view.block != nullptr) {
      MemoryPool::Share(*view.block);
      next_carried_[i] = view.block;
    } else {
      const uint32_t space = interpreter_.space_of(value);
      const int64_t bytes = interpreter_.values().bytes(value);
      SLIPWAY_ASSIGN_OR_RETURN(next_carried_[i], interpreter_.memory().Take(space, bytes));
      SLIPWAY_RETURN_IF_ERROR(
          interpreter_.CopyNow(space, view.memory, next_carried_[i]->memory, bytes));
    }
  }
  // Only now, since outputs may be carried inputs of this turn, in another order.
  for (size_t i = 0; i < carried_.size(); ++i) {
    const TensorView view = interpreter_.ViewOf(body_.outputs[first_carried_output_ + i].value);
    std::copy(view.extents.begin(), view.extents.end(), carried_extents_[i].begin());
    if (carried_[i] != nullptr) interpreter_.memory().Return(*carried_[i]);
    carried_[i] = std::exchange(next_carried_[i], nullptr);
    inputs_[first_carried_input_ + i] = {
        view.dtype, absl::MakeConstSpan(carried_extents_[i]).subspan(0, view.extents.size()),
        carried_[i]->memory, carried_[i]};
  }
  return absl::OkStatus();
}

absl::Status LoopRunner::Collect(int64_t turn) {
  const ValueTable& values = interpreter_.values();
  for (size_t i = 0; i < collected_.size(); ++i) {
    Collected& collected = collected_[i];
    const uint32_t slice = body_.outputs[first_collected_output_ + i].value;
    const absl::Span<const int64_t> extents = values.extents(slice);
    if (turn == 0) {
      std::copy(extents.begin(), extents.end(), collected.extents.begin() + 1);
      collected.slice_bytes = values.bytes(slice);
    } else if (!std::equal(extents.begin(), extents.end(), collected.extents.begin() + 1)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "collects ", ToString(extents), " in value ", loop_.collected(static_cast<int>(i)),
          ", but ", ToString(absl::MakeConstSpan(collected.extents).subspan(1, extents.size())),
          " in earlier turns"));
    }
    const int64_t end = (turn + 1) * collected.slice_bytes;
    if (end > kMaxValueBytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat("collects more than ", kMaxValueBytes, " bytes"));
    }
    if (end > collected.memory.bytes) SLIPWAY_RETURN_IF_ERROR(Grow(i, end));
    SLIPWAY_RETURN_IF_ERROR(interpreter_.CopyNow(
        interpreter_.space_of(slice), values.memory(slice),
        collected.memory.From(turn * collected.slice_bytes), collected.slice_bytes));
  }
  return absl::OkStatus();
}

absl::Status LoopRunner::Grow(size_t index, int64_t bytes) {
  Collected& collected = collected_[index];
  const uint32_t value = loop_.collected(static_cast<int>(index));
  if (collected.is_in_place) {
    return absl::InvalidArgumentError(absl::StrCat("collects more turns than value ", value,
                                                   " has memory for, ", collected.memory.bytes,
                                                   " bytes"));
  }
  const int64_t slices = is_exact_ ? most_turns_ : kFirstSlices;
  const int64_t wanted =
      collected.slice_bytes > 0 && slices > kMaxValueBytes / collected.slice_bytes
          ? kMaxValueBytes
          : slices * collected.slice_bytes;
  const uint32_t space = interpreter_.space_of(value);
  SLIPWAY_ASSIGN_OR_RETURN(
      Block* const larger,
      interpreter_.memory().Take(space, std::max({bytes, wanted, 2 * collected.memory.bytes})));
  if (collected.block != nullptr) {
    const absl::Status copied = interpreter_.CopyNow(space, collected.memory, larger->memory,
                                                     bytes - collected.slice_bytes);
    interpreter_.memory().Return(*collected.block);
    collected.block = larger;
    SLIPWAY_RETURN_IF_ERROR(copied);
  }
  collected.block = larger;
  collected.memory = larger->memory;
  return absl::OkStatus();
}

absl::Status LoopRunner::StoreResults(const FunctionPlan& function, int64_t turns) {
  const ValueTable& values = interpreter_.values();
  if (loop_.has_turns()) {
    SLIPWAY_RETURN_IF_ERROR(
        interpreter_.symbols().Bind(interpreter_.call_of(function), loop_.turns(), turns));
  }
  const size_t carried = carried_.size();
  for (size_t i = 0; i < carried; ++i) {
    results_[i] = {loop_.results(static_cast<int>(i)), inputs_[first_carried_input_ + i]};
  }
  for (size_t i = 0; i < collected_.size(); ++i) {
    Collected& collected = collected_[i];
    collected.extents[0] = turns;
    const uint32_t value = loop_.collected(static_cast<int>(i));
    results_[carried + i] = {
        value,
        {values.dtype(value),
         absl::MakeConstSpan(collected.extents).subspan(0, values.extents(value).size()),
         collected.memory, collected.block}};
  }
  SLIPWAY_RETURN_IF_ERROR(interpreter_.BindResults(function, step_, results_));
  for (size_t i = 0; i < results_.size(); ++i) {
    if (i >= carried && collected_[i - carried].is_in_place) continue;
    SLIPWAY_RETURN_IF_ERROR(
        interpreter_.StoreResult(function, step_, results_[i].value, results_[i].view));
  }
  return absl::OkStatus();
}

}  // namespace slipway
