// How processes of ours end when there is no memory left for them, and how their parents tell.
#ifndef SLIPWAY_CORE_BASE_OUT_OF_MEMORY_H_
#define SLIPWAY_CORE_BASE_OUT_OF_MEMORY_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "core/base/subprocess.h"

namespace slipway {

inline constexpr int kOutOfMemoryExitCode = 77;

// From now on this process ends with kOutOfMemoryExitCode where operator new finds no memory, on any thread.
void ExitWhenOutOfMemory();

// What ExitWhenOutOfMemory does.
[[noreturn]] void ExitOutOfMemory();

// Whether a child that called ExitWhenOutOfMemory ended because a limit of its own left it no memory. `output` is what it
// wrote last: LLVM and the C++ runtime abort with a word of it.
bool EndedOutOfMemory(const ExitStatus& end, absl::string_view output);

// How many processes the system has killed for want of memory since it began, of the machine or of a cgroup: the line
// "oom_kill" of `vmstat`. 0 where that cannot be read.
int64_t OutOfMemoryKills(const std::string& vmstat = "/proc/vmstat");

}  // namespace slipway

#endif  // SLIPWAY_CORE_BASE_OUT_OF_MEMORY_H_
