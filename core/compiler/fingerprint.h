// The fingerprint: everything about this compiler that changes what it makes.
#ifndef SLIPWAY_CORE_COMPILER_FINGERPRINT_H_
#define SLIPWAY_CORE_COMPILER_FINGERPRINT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace slipway {

struct OwnOperator;  // core/compiler/own_operator.h

// 64 hexadecimal digits: the SHA-256 of FingerprintText(). Goes into compile keys, so that two workers
// with the same fingerprint make the same artifact of the same question.
absl::StatusOr<std::string> WorkerFingerprint(absl::Span<const OwnOperator> own_operators = {});

// What the fingerprint is made of, in lines: the version of Slipway, the digest of the sources of importers,
// passes and everything under them, and of every backend its own sources and the builds of the libraries that
// generate its code. Nobody has to raise a number: another compiler has another fingerprint. Errors when a
// library does not tell which build it is. `own_operators` are those that the worker compiles with: a line
// each, with the revision of its lowering.
absl::StatusOr<std::string> FingerprintText(absl::Span<const OwnOperator> own_operators = {});

}  // namespace slipway

#endif  // SLIPWAY_CORE_COMPILER_FINGERPRINT_H_
