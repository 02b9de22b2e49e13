// Checks of a manifest's tables: everything but its functions.
#ifndef SLIPWAY_CORE_ARTIFACT_CHECK_TABLES_H_
#define SLIPWAY_CORE_ARTIFACT_CHECK_TABLES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/artifact/checked_manifest.h"
#include "core/artifact/expressions.h"
#include "core/artifact/limits.h"
#include "proto/slipway/v1/artifact.pb.h"

namespace slipway {

// Checked tables, and what follows from them.
struct Tables {
  const v1::Manifest& manifest;
  const ReaderLimits& limits;
  Target target;
  Expressions expressions;
  // With the size of each arena.
  std::vector<ProgramSpace> spaces;
  // By value: how many bytes it can have.
  std::vector<IntegerRange> value_bytes;

  // REQUIRES: they exist.
  const v1::Value& value(uint32_t index) const { return manifest.values(static_cast<int>(index)); }
  const v1::Buffer& buffer_of(uint32_t value_index) const {
    return manifest.buffers(static_cast<int>(value(value_index).buffer()));
  }
  PortType type_of(uint32_t value_index) const;
  IntegerRange extent(const v1::Dimension& dimension) const;
};

// RESOURCE_EXHAUSTED over the limit.
absl::Status CheckCount(int64_t count, int64_t limit, absl::string_view what);
// INVALID_ARGUMENT over the limit.
absl::Status CheckLength(absl::string_view text, int limit, absl::string_view what);
// A size that an expression may give, of which some value must be within [min, max].
absl::StatusOr<IntegerRange> CheckSize(const Expressions& expressions, const v1::Size& size);

// Target, devices, code and constants, and for people: names, tools. Errors as of CheckedManifest::Check.
absl::StatusOr<Target> CheckHeader(const v1::Manifest& manifest, const ReaderLimits& limits);
absl::Status CheckCodeAndConstants(const v1::Manifest& manifest, const Target& target,
                                   const ReaderLimits& limits);

// Spaces, buffers and values; fills `tables`, whose expressions are set. Errors as of CheckedManifest::Check.
absl::Status CheckMemory(Tables& tables);

// All of them. Both arguments must outlive the tables.
absl::StatusOr<Tables> CheckTables(const v1::Manifest& manifest, const ReaderLimits& limits);

// Whether two values have the same type; symbolic extents are the same when they are the same expression.
bool HaveSameType(const v1::Value& a, const v1::Value& b);

// The type of a value, in the words of its symbols.
PortType PortTypeOf(const v1::Value& value, const Expressions& expressions);

}  // namespace slipway

#endif  // SLIPWAY_CORE_ARTIFACT_CHECK_TABLES_H_
