// Which processes of a test are alive: found by a mark in their environment, which processes that they start inherit, or
// by paths among their arguments: runners inherit nothing.
#ifndef SLIPWAY_TESTS_COMMON_PROCESS_LIST_H_
#define SLIPWAY_TESTS_COMMON_PROCESS_LIST_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace slipway::testing {

struct RunningProcess {
  pid_t pid = 0;
  pid_t parent = 0;
  std::string program;                 // The executable's name without its folder.
  std::vector<std::string> arguments;  // argv without argv[0].

  // "slipway-agent runner (pid 7, child of 5)"
  std::string ToString() const;
};

// Those whose environment began with `mark` ("NAME=FOLDER") in it, or that were given a path below FOLDER, by pid. Zombies
// are not alive.
std::vector<RunningProcess> ListProcesses(absl::string_view mark);

// Waits for the end of all of them; returns those that are left when the time is up.
std::vector<RunningProcess> AwaitNoProcess(absl::string_view mark, absl::Duration timeout);

// What a process takes of the machine; 0 when it has ended.
int64_t ResidentBytes(pid_t pid);
int64_t ThreadCount(pid_t pid);
// Of all its threads so far.
absl::Duration ProcessorTime(pid_t pid);
// The most that was resident since ForgetPeak, or since its start.
int64_t PeakResidentBytes(pid_t pid);
void ForgetPeak(pid_t pid);

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_COMMON_PROCESS_LIST_H_
