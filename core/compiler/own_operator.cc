#include "core/compiler/own_operator.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/register_all.h"
#include "core/reference/register_all.h"

namespace slipway {
namespace {

absl::Status CheckComplete(const OwnOperator& own) {
  const std::string& name = own.schema.name;
  std::string lacks;
  if (!absl::StrContains(name, ".") || absl::StartsWith(name, "slipway.")) {
    lacks = "a name with a dot that does not begin with \"slipway.\"";
  } else if (own.kernel.evaluate == nullptr) {
    lacks = "a kernel";
  } else if (own.lowering.lower == nullptr) {
    lacks = "a lowering";
  } else if (own.lowering.revision.empty()) {
    lacks = "a revision in its lowering";
  }
  if (lacks.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("own operator \"", name, "\" needs ", lacks));
}

}  // namespace

absl::StatusOr<KnownOperators> KnowOperators(absl::Span<const OwnOperator> own_operators) {
  KnownOperators known;
  known.registry = StandardOperators();
  SLIPWAY_RETURN_IF_ERROR(RegisterAllKernels(known.kernels));
  for (const OwnOperator& own : own_operators) {
    SLIPWAY_RETURN_IF_ERROR(CheckComplete(own));
    SLIPWAY_RETURN_IF_ERROR(known.registry.Add(own.schema));
    SLIPWAY_RETURN_IF_ERROR(known.kernels.Add(own.schema.name, own.kernel));
    SLIPWAY_RETURN_IF_ERROR(known.own_lowerings.Add(own.schema.name, own.lowering));
  }
  return known;
}

}  // namespace slipway
