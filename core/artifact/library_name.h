// The name of a library that a program becomes when it is linked into others: what all its symbols, in code and in C, begin with.
#ifndef SLIPWAY_CORE_ARTIFACT_LIBRARY_NAME_H_
#define SLIPWAY_CORE_ARTIFACT_LIBRARY_NAME_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace slipway {

inline constexpr size_t kMaxLibraryNameBytes = 64;

// INVALID_ARGUMENT unless it is 1 to 64 of a-z, 0-9 and "_", begins with a letter, ends with none of "_", and has no "_" beside
// another: then with "_" behind it, or in capitals, it is an identifier of C and C++ that neither reserves, and no two names differ in
// capitals alone.
absl::Status CheckLibraryName(absl::string_view name);

// The table of kernels that its object defines, and the slipway_imports that it needs (core/kernel_abi/kernel_abi.h).
std::string LibraryKernelsSymbol(absl::string_view name);
std::string LibraryImportsSymbol(absl::string_view name);

}  // namespace slipway

#endif  // SLIPWAY_CORE_ARTIFACT_LIBRARY_NAME_H_
