// What the loops of machine code are made of, read from a disassembly.
#ifndef SLIPWAY_TESTS_CODEGEN_INNER_LOOPS_H_
#define SLIPWAY_TESTS_CODEGEN_INNER_LOOPS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace slipway {

// A loop without another one inside; counts are of instructions in it.
struct InnerLoop {
  int all = 0;
  int vector = 0;          // That name a vector register, loads and stores among them.
  int multiply_adds = 0;   // Of vectors, fused, those of pairs and of bytes among them.
  int by_element = 0;      // Those of them that multiply by one element of a vector (arm-64).
  int stack_accesses = 0;  // Of vectors: what was spilled.
};

// The inner loops of arm-64 or x86-64 code, in their order, as llvm-objdump prints it without the instructions' bytes.
std::vector<InnerLoop> InnerLoopsOf(absl::string_view disassembly);

// What Debian's llvm-objdump-14 makes of an object file.
absl::StatusOr<std::string> Disassemble(const std::string& object);

}  // namespace slipway

#endif  // SLIPWAY_TESTS_CODEGEN_INNER_LOOPS_H_
