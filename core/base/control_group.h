// Control groups: limits that the kernel holds for a process together with all that it starts, root's too (cgroups(7)).
//
// A process may make groups beneath its own where that was delegated to it: by systemd's Delegate=yes, by a container that may
// write its /sys/fs/cgroup, or, where nobody manages groups, to root. In version 2 a group that has groups beneath it, with
// limits, can have no process itself, so this one goes on in a group "slipway" beneath.
#ifndef SLIPWAY_CORE_BASE_CONTROL_GROUP_H_
#define SLIPWAY_CORE_BASE_CONTROL_GROUP_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace slipway {

struct GroupLimits {
  std::optional<int64_t> tasks;  // Processes and threads.
  std::optional<int64_t>
      memory_bytes;  // Touched, of files in memory and of what is read from disks as well.
};

// Where the group of a process is, by what it can limit.
struct GroupPlace {
  std::string folder;
  bool is_unified = false;  // Version 2.
};
struct GroupPlaces {
  std::optional<GroupPlace> tasks;
  std::optional<GroupPlace> memory;
};
// Of the process whose /proc/PID/cgroup and /proc/PID/mountinfo these are. Pure but for which controllers a folder of version 2 has:
// its cgroup.controllers is read. What cannot be understood is passed over.
GroupPlaces FindGroupPlaces(absl::string_view cgroup, absl::string_view mountinfo);

// The limit on tasks of the group that the calling process is in, if it has one.
std::optional<int64_t> OwnTaskLimit();

// A group of processes, until this is destroyed: what is in it then is killed. Not thread-safe.
class ControlGroup {
 public:
  ControlGroup(const ControlGroup&) = delete;
  ControlGroup& operator=(const ControlGroup&) = delete;
  ~ControlGroup();

  // Takes in a process, and all that it starts from then on. Errors of the file.
  absl::Status Add(pid_t pid) const;
  // How many of its processes the system has killed for want of memory; 0 where it does not limit that.
  int64_t OutOfMemoryKills() const;

 private:
  friend class ControlGroups;
  ControlGroup() = default;

  std::vector<GroupPlace> places_;       // One for each hierarchy.
  std::optional<GroupPlace> of_memory_;  // One of them.
};

// The groups that this process may make. Thread-safe.
class ControlGroups {
 public:
  // Finds out, and prepares for it, which moves this process in version 2: call it early, where no other thread starts processes.
  // Removes what processes like this one have left behind.
  static ControlGroups Prepare();
  // Makes none.
  ControlGroups() = default;

  // What groups made here can limit.
  bool limits_tasks() const { return places_.tasks.has_value(); }
  bool limits_memory() const { return places_.memory.has_value(); }
  // Why they cannot limit both, for people; empty if they can.
  const std::string& why_not() const { return why_not_; }

  // A group with such of these limits as can be had. None, without an error, where no limit can. Errors of the files.
  absl::StatusOr<std::unique_ptr<ControlGroup>> Make(const GroupLimits& limits) const;

 private:
  GroupPlaces places_;
  std::string why_not_ = "nobody has asked for groups";
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_BASE_CONTROL_GROUP_H_
