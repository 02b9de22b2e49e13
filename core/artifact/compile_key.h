// The compile key: the question an artifact is the answer to. Caches map it to
// the artifact's digest.
#ifndef SLIPWAY_CORE_ARTIFACT_COMPILE_KEY_H_
#define SLIPWAY_CORE_ARTIFACT_COMPILE_KEY_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/slipway/v1/compile.pb.h"

namespace slipway {

// 64 hexadecimal digits: the SHA-256 of, in this order,
//   1. the revision of this list, now 1;
//   2. the model's format;
//   3. the digest of the main file (its name is free, and so not part of this);
//   4. name and digest of every further file, sorted by name;
//   5. the canonical spelling of the target;
//   6. symbol, value and, where there is one, max of every bound dimension, sorted by symbol;
//   7. names of values that are kept;
//   8. names of passes that are left out;
//   9. name and both ends of every range, and whether products are observed;
//  10. schedules of kernels, where there are any;
//  11. name, type and digest of every input that the model is evaluated for, where it is;
//  12. the name of the library that is made, where one is;
//  13. the compiler's fingerprint, which covers its sources and the builds of
//      the libraries that generate its code.
// Not part of it: display_name, print_after, print_schedules and tell_candidates, which do not change the artifact.
// Whatever else comes to change an artifact is added here, and only here.
//
// INVALID_ARGUMENT when the specification or the fingerprint lacks a part or
// holds a malformed one.
absl::StatusOr<std::string> CompileKey(const v1::CompilationSpec& spec,
                                       absl::string_view fingerprint);

}  // namespace slipway

#endif  // SLIPWAY_CORE_ARTIFACT_COMPILE_KEY_H_
