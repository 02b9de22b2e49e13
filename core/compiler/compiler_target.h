// What a compiler compiles for, and what it is.
#ifndef SLIPWAY_CORE_COMPILER_COMPILER_TARGET_H_
#define SLIPWAY_CORE_COMPILER_COMPILER_TARGET_H_

#include <string>

namespace slipway {

// One family of targets. Two compilers of the same fingerprint make the same artifact of the same question.
struct CompilerTarget {
  std::string family;       // FamilyOf of core/target/target.h.
  std::string fingerprint;  // 64 hexadecimal digits.
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_COMPILER_COMPILER_TARGET_H_
