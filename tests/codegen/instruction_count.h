// How many instructions of a piece of code are executed: the same number on every machine that can run it, whatever else
// runs there.
#ifndef SLIPWAY_TESTS_CODEGEN_INSTRUCTION_COUNT_H_
#define SLIPWAY_TESTS_CODEGEN_INSTRUCTION_COUNT_H_

#include <cstdint>
#include <functional>

#include "absl/types/span.h"

namespace slipway {

// Calls `run` and counts what the calling thread executes of `code` meanwhile; each turn of a repeated string instruction
// counts. The processor steps from instruction to instruction (x86-64's trap flag), for which a process needs no
// permission, and takes some microseconds for each, in `code` or not. Takes SIGTRAP meanwhile: one call at a time in a
// process, and none in a debugger.
int64_t CountInstructions(absl::Span<const uint8_t> code, const std::function<void()>& run);

}  // namespace slipway

#endif  // SLIPWAY_TESTS_CODEGEN_INSTRUCTION_COUNT_H_
