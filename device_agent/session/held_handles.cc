#include "device_agent/session/held_handles.h"

#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "core/runtime/call_options.h"

namespace slipway {
namespace {

constexpr size_t kMaxProgramNameBytes = 255;
// More are lost without a name.
constexpr size_t kMaxLost = 100'000;

std::vector<uint64_t> HandlesOf(const v1::SessionRequest& request) {
  switch (request.kind_case()) {
    case v1::SessionRequest::kWrite:
      return {request.write().tensor()};
    case v1::SessionRequest::kRead:
      return {request.read().tensor()};
    case v1::SessionRequest::kSlice:
      return {request.slice().from()};
    case v1::SessionRequest::kAssign:
      return {request.assign().to(), request.assign().from()};
    case v1::SessionRequest::kFree:
      return {request.free().handles().begin(), request.free().handles().end()};
    case v1::SessionRequest::kCall:
    case v1::SessionRequest::kTime: {
      const v1::SessionRequest::Call& call =
          request.has_call() ? request.call() : request.time().call();
      std::vector<uint64_t> handles = {call.program()};
      handles.insert(handles.end(), call.inputs().begin(), call.inputs().end());
      return handles;
    }
    default:
      return {};
  }
}

// Those that a request makes.
absl::Span<const uint64_t> NewHandlesOf(const v1::SessionRequest& request, uint64_t& one) {
  switch (request.kind_case()) {
    case v1::SessionRequest::kLoad:
      one = request.load().program();
      break;
    case v1::SessionRequest::kAllocate:
      one = request.allocate().tensor();
      break;
    case v1::SessionRequest::kSlice:
      one = request.slice().tensor();
      break;
    case v1::SessionRequest::kCall:
      return {request.call().outputs().data(), static_cast<size_t>(request.call().outputs_size())};
    default:
      return {};
  }
  return {&one, 1};
}

}  // namespace

void HeldHandles::NoteNew(const v1::SessionRequest& request) {
  uint64_t one = 0;
  for (const uint64_t handle : NewHandlesOf(request, one)) {
    // The highest of all has none above it.
    if (handle >= next_ && handle != UINT64_MAX) next_ = handle + 1;
  }
}

void HeldHandles::Note(const v1::SessionRequest& request) {
  switch (request.kind_case()) {
    case v1::SessionRequest::kLoad:
      held_[request.load().program()] = {
          true, request.load().name().substr(0, kMaxProgramNameBytes), {}};
      break;
    case v1::SessionRequest::kAllocate:
      held_[request.allocate().tensor()] = {false, request.allocate().name(), {}};
      break;
    case v1::SessionRequest::kSlice:
      held_[request.slice().tensor()] = {false, request.slice().name(), {}};
      break;
    case v1::SessionRequest::kCall:
      for (int i = 0; i < request.call().outputs_size(); ++i) {
        Held& output = held_[request.call().outputs(i)];
        if (i < request.call().output_names_size()) output.name = request.call().output_names(i);
      }
      break;
    case v1::SessionRequest::kFree:
      for (const uint64_t handle : request.free().handles()) held_.erase(handle);
      break;
    default:
      break;
  }
}

void HeldHandles::PutNames(v1::SessionResponse::Listed& listed) const {
  const auto name_of = [this](uint64_t handle) {
    const auto found = held_.find(handle);
    return found == held_.end() ? std::string() : found->second.name;
  };
  for (auto& program : *listed.mutable_programs()) program.set_name(name_of(program.handle()));
  for (auto& tensor : *listed.mutable_tensors()) tensor.set_name(name_of(tensor.handle()));
}

std::string HeldHandles::Shown(uint64_t handle, const Held& held) {
  if (held.name.empty()) return absl::StrCat("of handle ", handle);
  return absl::StrCat("\"", absl::Utf8SafeCEscape(held.name), "\" (handle ", handle, ")");
}

std::string HeldHandles::Lose(const std::string& why) {
  size_t programs = 0;
  size_t tensors = 0;
  for (auto& [handle, held] : held_) {
    ++(held.is_program ? programs : tensors);
    held.steps.clear();
    if (lost_.size() < kMaxLost) lost_[handle] = {std::move(held), why};
  }
  held_.clear();
  return absl::StrCat(programs, programs == 1 ? " program" : " programs", " and ", tensors,
                      tensors == 1 ? " tensor" : " tensors");
}

absl::Status HeldHandles::CheckLost(const v1::SessionRequest& request) const {
  for (const uint64_t handle : HandlesOf(request)) {
    const auto found = lost_.find(handle);
    if (found == lost_.end()) continue;
    const Held& held = found->second.held;
    return absl::FailedPreconditionError(
        absl::StrCat(held.is_program ? "program " : "tensor ", Shown(handle, held), " was lost: ",
                     found->second.why, ": ", held.is_program ? "load it again" : "make it again"));
  }
  return absl::OkStatus();
}

void HeldHandles::NoteSteps(uint64_t program, std::vector<StepInfo> steps) {
  held_[program].steps = std::move(steps);
}

std::string HeldHandles::Describe(uint64_t program, uint32_t step) const {
  const auto found = held_.find(program);
  if (found == held_.end() || step == kNoStep) return "";
  return absl::StrCat(DescribeStep(found->second.steps, step), ", of program ",
                      Shown(program, found->second));
}

}  // namespace slipway
