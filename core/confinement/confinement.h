// Confinement: what a process that works on what strangers send may still do, as a value, and how a process takes it on.
#ifndef SLIPWAY_CORE_CONFINEMENT_CONFINEMENT_H_
#define SLIPWAY_CORE_CONFINEMENT_CONFINEMENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/confinement/path_rule.h"
#include "core/confinement/system_calls.h"

namespace slipway {

// One thing that a confined process cannot do, by the means of the kernel that sees to it.
enum class ConfinementPart {
  kPrivileges,  // No capability, and none to come by running a file: capabilities(7), no_new_privs.
  kNamespaces,  // A network, IPC objects and mounts of its own, and nothing in them.
  kTasks,  // A limit on its threads and processes that others' do not count towards: RLIMIT_NPROC, or a group's.
  kFiles,  // Landlock: paths that are not named cannot be opened.
  kSignals,     // Landlock: signals and abstract sockets reach those alone that it has started.
  kSystemCalls  // Seccomp: calls that are not named fail.
};
// "privileges", "namespaces", ...
const char* Name(ConfinementPart part);

// What a process is left with.
struct Confinement {
  std::vector<ConfinementPart> parts;
  std::vector<PathRule> paths;
  std::vector<SystemCallRule> calls;
  // It makes files, or runs programs that look at who runs them: user and group stay what they are.
  bool keeps_ids = false;
  // Nothing that it starts outlives it: with its namespaces, it goes on in a child (own_processes.h).
  bool owns_processes = false;
  // It ends with the thread that has started it: a SIGKILL, which it cannot undo once it is confined.
  bool ends_with_parent = false;
  // Limits, in all where not said otherwise; unset: those it has.
  std::optional<int64_t> max_tasks;
  // A control group holds it to max_tasks, whoever it is (core/base/control_group.h).
  bool has_task_group = false;
  std::optional<int64_t> max_open_files;
  std::optional<int64_t> max_file_bytes;  // Of each file.
};

// A part that is not to be had here.
struct MissingPart {
  ConfinementPart part;
  std::string why;  // And what to do, without a full stop.
};
using MissingParts = std::vector<MissingPart>;

// "files: this kernel has no Landlock; ...\nsignals: ...".
std::string ToString(absl::Span<const MissingPart> missing);

// Confines the calling process for the rest of its life, and all that it starts. What the kernel does not give is left out
// and told; all else holds. An error of a part that the kernel has but does not carry out leaves the process half
// confined: it must end. REQUIRES: the process has one thread.
absl::StatusOr<MissingParts> ApplyConfinement(const Confinement& confinement);

// What ApplyConfinement would tell in this process: a child tries, and ends. Call it before there are threads, or where
// none holds a lock.
absl::StatusOr<MissingParts> ProbeConfinement(const Confinement& confinement);

// FAILED_PRECONDITION with every missing part, and what to do; OK if there is none. `who` is a process, as in "the runner".
absl::Status RequireWhole(absl::string_view who, absl::Span<const MissingPart> missing);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CONFINEMENT_CONFINEMENT_H_
