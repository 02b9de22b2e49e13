// The fingerprint: everything about this compiler that changes what it makes.
#ifndef SLIPWAY_CORE_COMPILER_FINGERPRINT_H_
#define SLIPWAY_CORE_COMPILER_FINGERPRINT_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/compiler/compiler_target.h"

namespace slipway {

struct OwnOperator;  // core/compiler/own_operator.h

// What this compiler compiles for, sorted by family. A fingerprint is the SHA-256 of the family's
// FingerprintTexts() and goes into compile keys.
absl::StatusOr<std::vector<CompilerTarget>> CompilerTargets(
    absl::Span<const OwnOperator> own_operators = {});

// By family what its fingerprint is made of, in lines: the version of Slipway, the digest of the sources of
// importers, passes and everything under them, and of the backend its own sources and the builds of the
// libraries that generate its code. Nobody has to raise a number: another compiler has another fingerprint,
// and other backends do not change it. Errors when a library does not tell which build it is.
// `own_operators` are those that the worker compiles with: a line each, with the revision of its lowering.
absl::StatusOr<std::map<std::string, std::string>> FingerprintTexts(
    absl::Span<const OwnOperator> own_operators = {});

}  // namespace slipway

#endif  // SLIPWAY_CORE_COMPILER_FINGERPRINT_H_
