// Early return on error, and context added on the way up.
#ifndef SLIPWAY_CORE_BASE_STATUS_MACROS_H_
#define SLIPWAY_CORE_BASE_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace slipway {

// Returns `status` with `context` put in front of its message ("context: message"). Code and
// payloads are kept. An OK status is returned unchanged.
inline absl::Status Annotate(const absl::Status& status, absl::string_view context) {
  if (status.ok()) return status;
  absl::Status annotated(status.code(), absl::StrCat(context, ": ", status.message()));
  status.ForEachPayload([&annotated](absl::string_view type_url, const absl::Cord& payload) {
    annotated.SetPayload(type_url, payload);
  });
  return annotated;
}

}  // namespace slipway

// Evaluates an expression of type absl::Status; returns it from the enclosing function if not OK.
#define SLIPWAY_RETURN_IF_ERROR(expression)            \
  do {                                                 \
    absl::Status slipway_status_ = (expression);       \
    if (!slipway_status_.ok()) return slipway_status_; \
  } while (false)

// The same, with context in front of the message.
#define SLIPWAY_RETURN_IF_ERROR_WITH(expression, context)                              \
  do {                                                                                 \
    absl::Status slipway_status_ = (expression);                                       \
    if (!slipway_status_.ok()) return ::slipway::Annotate(slipway_status_, (context)); \
  } while (false)

// SLIPWAY_ASSIGN_OR_RETURN(auto value, Function()): assigns the value or returns the error.
#define SLIPWAY_ASSIGN_OR_RETURN(lhs, expression) \
  SLIPWAY_ASSIGN_OR_RETURN_IMPL_(SLIPWAY_CONCAT_(slipway_value_, __COUNTER__), lhs, expression)

// The same, with context in front of the message.
#define SLIPWAY_ASSIGN_OR_RETURN_WITH(lhs, expression, context)                          \
  SLIPWAY_ASSIGN_OR_RETURN_WITH_IMPL_(SLIPWAY_CONCAT_(slipway_value_, __COUNTER__), lhs, \
                                      expression, context)

#define SLIPWAY_CONCAT_INNER_(a, b) a##b
#define SLIPWAY_CONCAT_(a, b) SLIPWAY_CONCAT_INNER_(a, b)
#define SLIPWAY_ASSIGN_OR_RETURN_IMPL_(value, lhs, expression) \
  auto value = (expression);                                   \
  if (!value.ok()) return value.status();                      \
  lhs = *std::move(value)
#define SLIPWAY_ASSIGN_OR_RETURN_WITH_IMPL_(value, lhs, expression, context) \
  auto value = (expression);                                                 \
  if (!value.ok()) return ::slipway::Annotate(value.status(), (context));    \
  lhs = *std::move(value)

#endif  // SLIPWAY_CORE_BASE_STATUS_MACROS_H_
