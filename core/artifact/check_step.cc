#include "core/artifact/check_step.h"

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/artifact/check_control.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

using absl::InvalidArgumentError;

constexpr IntegerRange kLaunchSizes{1, (int64_t{1} << 31) - 1};
constexpr int kAxes = 3;

absl::Status CheckLaunch(const v1::Step::Launch& launch, const FunctionState& state) {
  if (launch.groups_size() != kAxes || launch.group_size() != kAxes) {
    return InvalidArgumentError("a launch has groups, and instances in a group, along x, y and z");
  }
  for (const v1::Size& groups : launch.groups()) {
    SLIPWAY_ASSIGN_OR_RETURN_WITH(const IntegerRange can_be,
                                  CheckSize(state.tables().expressions, groups), "groups");
    if (!can_be.Meets(kLaunchSizes)) {
      return InvalidArgumentError(absl::StrCat("a launch has ", can_be.min, " to ", can_be.max,
                                               " groups; 1 to ", kLaunchSizes.max, " wanted"));
    }
    SLIPWAY_RETURN_IF_ERROR_WITH(state.CheckKnown(groups), "groups");
  }
  int64_t instances = 1;
  for (const int64_t along : launch.group()) {
    if (along < 1 || along > kLaunchSizes.max / instances) {
      return InvalidArgumentError(absl::StrCat("a launch has ", along, " instances along an axis, ",
                                               "or more than ", kLaunchSizes.max, " in a group"));
    }
    instances *= along;
  }
  if (launch.shared_bytes() < 0 || launch.shared_bytes() > kLaunchSizes.max) {
    return InvalidArgumentError(
        absl::StrCat("a launch has ", launch.shared_bytes(), " bytes of shared memory"));
  }
  return absl::OkStatus();
}

absl::Status CheckKernel(const v1::Step& step, int index, FunctionState& state) {
  const v1::Step::Kernel& kernel = step.kernel();
  const v1::Manifest& manifest = state.tables().manifest;
  if (kernel.code() >= static_cast<uint32_t>(manifest.code_size())) {
    return InvalidArgumentError(absl::StrCat("code ", kernel.code(), " does not exist"));
  }
  const v1::Code& code = manifest.code(static_cast<int>(kernel.code()));
  if (kernel.kernel() >= code.kernel_count()) {
    return InvalidArgumentError(absl::StrCat("kernel ", kernel.kernel(), " does not exist: code ",
                                             kernel.code(), " has ", code.kernel_count()));
  }
  if (code.device() != step.device()) {
    return InvalidArgumentError(absl::StrCat("code ", kernel.code(), " is for device ",
                                             code.device(), ", but the step runs on device ",
                                             step.device()));
  }
  if (kernel.has_launch() != (code.entries_size() > 0)) {
    return InvalidArgumentError(kernel.has_launch() ? "has launch sizes for code without entries"
                                                    : "has no launch sizes for an entry");
  }
  if (kernel.has_launch()) SLIPWAY_RETURN_IF_ERROR(CheckLaunch(kernel.launch(), state));
  const int limit = state.tables().limits.arguments_per_step;
  if (kernel.inputs_size() > limit || kernel.outputs_size() > limit) {
    return absl::ResourceExhaustedError(
        absl::StrCat("has more than ", limit, " inputs or outputs"));
  }
  if (kernel.outputs_size() == 0) return InvalidArgumentError("writes nothing");
  FunctionState::Access access;
  access.step = index;
  access.inputs.assign(kernel.inputs().begin(), kernel.inputs().end());
  access.outputs.assign(kernel.outputs().begin(), kernel.outputs().end());
  access.in_place = true;
  for (const auto* values : {&access.inputs, &access.outputs}) {
    for (const uint32_t value : *values) {
      SLIPWAY_RETURN_IF_ERROR(state.CheckExists(value));
      SLIPWAY_RETURN_IF_ERROR(state.CheckTouches(step.device(), value));
    }
  }
  return state.Follow(access);
}

absl::Status CheckCopy(const v1::Step& step, int index, FunctionState& state) {
  const v1::Step::Copy& copy = step.copy();
  SLIPWAY_RETURN_IF_ERROR(state.CheckExists(copy.from()));
  SLIPWAY_RETURN_IF_ERROR(state.CheckExists(copy.to()));
  const Tables& tables = state.tables();
  if (!HaveSameType(tables.value(copy.from()), tables.value(copy.to()))) {
    return InvalidArgumentError(absl::StrCat("copies ", ToString(tables.type_of(copy.from())),
                                             " to ", ToString(tables.type_of(copy.to()))));
  }
  // The other side may lie anywhere.
  if (!state.CheckTouches(step.device(), copy.from()).ok()) {
    SLIPWAY_RETURN_IF_ERROR(state.CheckTouches(step.device(), copy.to()));
  }
  FunctionState::Access access;
  access.step = index;
  access.inputs = {copy.from()};
  access.outputs = {copy.to()};
  access.in_place = true;
  return state.Follow(access);
}

absl::Status CheckPeoplesNames(const v1::Step& step, const ReaderLimits& limits) {
  if (step.name().size() > static_cast<size_t>(limits.step_name_bytes)) {
    return InvalidArgumentError(
        absl::StrCat("its name has more than ", limits.step_name_bytes, " bytes"));
  }
  if (step.operators_size() > limits.operators_per_step) {
    return absl::ResourceExhaustedError(
        absl::StrCat("has more than ", limits.operators_per_step, " operators"));
  }
  for (const std::string& name : step.operators()) {
    if (name.size() > static_cast<size_t>(limits.name_bytes)) {
      return InvalidArgumentError("the name of an operator is too long");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckStep(const v1::Step& step, int index, FunctionState& state) {
  SLIPWAY_RETURN_IF_ERROR(CheckPeoplesNames(step, state.tables().limits));
  switch (step.kind_case()) {
    case v1::Step::kKernel:
      return CheckKernel(step, index, state);
    case v1::Step::kCopy:
      return CheckCopy(step, index, state);
    case v1::Step::kBindSymbols:
      return CheckBindSymbols(step.bind_symbols(), index, state);
    case v1::Step::kBranch:
      return CheckIf(step.branch(), index, state);
    case v1::Step::kLoop:
      return CheckLoop(step.loop(), index, state);
    case v1::Step::KIND_NOT_SET:
      break;
  }
  return InvalidArgumentError("kind is not set");
}

}  // namespace slipway
