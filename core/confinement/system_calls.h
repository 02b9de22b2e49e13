// SystemCallRule: a system call that a confined process may make, and the filter that a list of them becomes.
#ifndef SLIPWAY_CORE_CONFINEMENT_SYSTEM_CALLS_H_
#define SLIPWAY_CORE_CONFINEMENT_SYSTEM_CALLS_H_

#include <linux/filter.h>

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace slipway {

// A test of the low 32 bits of an argument: (argument & mask) == value.
struct ArgumentTest {
  int argument = -1;  // 0 to 5; -1: no test.
  uint32_t mask = 0;
  uint32_t value = 0;
};

// Of several rules for one call, one must fit.
struct SystemCallRule {
  enum class Answer {
    kAllow,
    // ENOSYS, as by a kernel that does not have the call: the C library then takes an older one.
    kUnknown,
  };
  int call;  // Its number, SYS_....
  ArgumentTest first = {};
  ArgumentTest second = {};
  Answer answer = Answer::kAllow;
};

// A program of seccomp(2). Calls that no rule fits fail with EPERM, those that are newer than this code with ENOSYS, and a
// call by the convention of another architecture ends the process.
std::vector<sock_filter> MakeFilter(absl::Span<const SystemCallRule> rules);

// Whether the kernel has filters.
bool HasFilters();

// Lays the filter on this thread, and all that it starts; without the slower memory that old kernels give to filtered
// processes, since a kernel's secrets are not in ours. REQUIRES: no_new_privs.
absl::Status InstallFilter(absl::Span<const sock_filter> filter);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CONFINEMENT_SYSTEM_CALLS_H_
