#include "device_agent/session/held_handles.h"

#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/runtime/call_options.h"

namespace slipway {
namespace {

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

}  // namespace

void HeldHandles::Note(const v1::SessionRequest& request) {
  switch (request.kind_case()) {
    case v1::SessionRequest::kLoad:
      held_[request.load().program()] = {true, request.load().name(), {}};
      break;
    case v1::SessionRequest::kAllocate:
      held_[request.allocate().tensor()] = {false, request.allocate().name(), {}};
      break;
    case v1::SessionRequest::kSlice:
      held_[request.slice().tensor()] = {};
      break;
    case v1::SessionRequest::kCall:
      for (const uint64_t output : request.call().outputs()) held_.try_emplace(output);
      break;
    case v1::SessionRequest::kFree:
      for (const uint64_t handle : request.free().handles()) held_.erase(handle);
      break;
    default:
      break;
  }
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
