#include "core/base/control_group.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "core/base/files.h"
#include "core/base/kernel_file.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

constexpr char kLeaf[] = "slipway";          // Where this process goes on, in version 2.
constexpr char kGroupPrefix[] = "slipway-";  // Groups made here, with what mkdtemp adds.
constexpr char kControllers[] = "+memory +pids";
constexpr int64_t kMaxTextBytes = 1 << 20;
// What was just made may be about to be used.
constexpr absl::Duration kAgeOfLeftovers = absl::Minutes(1);
// Processes that were killed need a moment to be gone.
constexpr absl::Duration kTimeToEmpty = absl::Milliseconds(200);

std::string ReadText(const std::string& path) { return ReadFile(path, kMaxTextBytes).value_or(""); }

bool HasWord(absl::string_view text, absl::string_view word) {
  for (const absl::string_view other : absl::StrSplit(text, absl::ByAnyChar(" \n"))) {
    if (other == word) return true;
  }
  return false;
}

std::optional<int64_t> NumberAfter(absl::string_view text, absl::string_view name) {
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::pair<absl::string_view, absl::string_view> words = absl::StrSplit(line, ' ');
    int64_t number = 0;
    if (words.first == name && absl::SimpleAtoi(words.second, &number)) return number;
  }
  return std::nullopt;
}

// Mount points have blanks and the like as "\040".
std::string UnescapeMount(absl::string_view text) {
  std::string path;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto is_octal = [&](size_t at) { return text[at] >= '0' && text[at] <= '7'; };
    if (text[i] == '\\' && i + 3 < text.size() && is_octal(i + 1) && is_octal(i + 2) &&
        is_octal(i + 3)) {
      path += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                (text[i + 3] - '0'));
      i += 3;
    } else {
      path += text[i];
    }
  }
  return path;
}

// A line of mountinfo: "32 31 0:29 ROOT POINT OPTIONS ... - TYPE SOURCE SUPER_OPTIONS".
struct Mount {
  std::string root;
  std::string point;
  std::string type;
  std::string super_options;
};

std::vector<Mount> GroupMounts(absl::string_view mountinfo) {
  std::vector<Mount> mounts;
  for (const absl::string_view line : absl::StrSplit(mountinfo, '\n')) {
    const std::pair<absl::string_view, absl::string_view> halves =
        absl::StrSplit(line, absl::MaxSplits(" - ", 1));
    const std::vector<absl::string_view> left = absl::StrSplit(halves.first, ' ');
    const std::vector<absl::string_view> right = absl::StrSplit(halves.second, ' ');
    if (left.size() < 6 || right.size() < 3 || !absl::StartsWith(right[0], "cgroup")) continue;
    mounts.push_back({UnescapeMount(left[3]), UnescapeMount(left[4]), std::string(right[0]),
                      std::string(right[2])});
  }
  return mounts;
}

// Where a group stands in a mount, if it is beneath what is mounted there.
std::optional<std::string> FolderIn(const Mount& mount, absl::string_view group) {
  // A group out of sight, from within a namespace of groups, has ".." in its name.
  if (absl::StrContains(group, "..")) return std::nullopt;
  if (mount.root != "/" && !absl::ConsumePrefix(&group, mount.root)) return std::nullopt;
  if (!group.empty() && group[0] != '/') return std::nullopt;
  return absl::StrCat(mount.point, group == "/" ? "" : group);
}

std::optional<std::string> FolderOf(const std::vector<Mount>& mounts, absl::string_view type,
                                    absl::string_view controller, absl::string_view group) {
  for (const Mount& mount : mounts) {
    if (mount.type != type) continue;
    const std::vector<absl::string_view> options = absl::StrSplit(mount.super_options, ',');
    if (!controller.empty() &&
        std::find(options.begin(), options.end(), controller) == options.end()) {
      continue;
    }
    if (const auto folder = FolderIn(mount, group); folder.has_value()) return folder;
  }
  return std::nullopt;
}

std::vector<pid_t> ProcessesIn(const std::string& folder) {
  std::vector<pid_t> pids;
  for (const absl::string_view line :
       absl::StrSplit(ReadText(JoinPath(folder, "cgroup.procs")), '\n')) {
    pid_t pid = 0;
    if (absl::SimpleAtoi(line, &pid) && pid > 0) pids.push_back(pid);
  }
  return pids;
}

// Whoever manages groups on this machine has given away those beneath. Others' tools find out by whether they may write; root may always.
bool IsDelegated(const std::string& folder) {
  struct stat facts;
  if (geteuid() != 0 || stat("/run/systemd/system", &facts) != 0) return true;
  for (const char* name : {"trusted.delegate", "user.delegate"}) {
    char value[2] = {};
    if (getxattr(folder.c_str(), name, value, sizeof(value)) == 1 && value[0] == '1') return true;
  }
  return false;
}

void RemoveLeftovers(const std::string& folder) {
  DIR* const entries = opendir(folder.c_str());
  if (entries == nullptr) return;
  std::vector<std::string> found;
  while (const dirent* entry = readdir(entries)) {
    if (absl::StartsWith(entry->d_name, kGroupPrefix)) found.push_back(entry->d_name);
  }
  closedir(entries);
  for (const std::string& name : found) {
    const std::string path = JoinPath(folder, name);
    struct stat facts;
    if (stat(path.c_str(), &facts) == 0 &&
        absl::FromTimeT(facts.st_mtime) < absl::Now() - kAgeOfLeftovers) {
      rmdir(path.c_str());  // Fails for one that has processes.
    }
  }
}

// What systemd's Delegate= needs the user to say.
std::string AskForDelegation(const std::string& why) {
  return absl::StrCat(why, ": run it with Delegate=yes in its systemd unit");
}

// Lets groups beneath `folder` have limits. Returns why they cannot.
std::string Enable(const std::string& folder) {
  const auto is_enabled = [&] {
    const std::string enabled = ReadText(JoinPath(folder, "cgroup.subtree_control"));
    return HasWord(enabled, "memory") && HasWord(enabled, "pids");
  };
  if (is_enabled()) return "";
  // Moving costs milliseconds, and where others are it would be for nothing.
  if (ProcessesIn(folder) != std::vector<pid_t>{getpid()}) {
    return AskForDelegation("its control group has other processes");
  }
  const std::string leaf = JoinPath(folder, kLeaf);
  if (mkdir(leaf.c_str(), 0755) != 0 && errno != EEXIST) {
    return AskForDelegation(
        absl::StrCat("it may make no control group beneath its own (", strerror(errno), ")"));
  }
  absl::Status status = WriteKernelFile(JoinPath(leaf, "cgroup.procs"), "0");
  if (status.ok())
    status = WriteKernelFile(JoinPath(folder, "cgroup.subtree_control"), kControllers);
  if (status.ok() || is_enabled()) return "";
  WriteKernelFile(JoinPath(folder, "cgroup.procs"), "0").IgnoreError();
  rmdir(leaf.c_str());
  return AskForDelegation(
      absl::StrCat("its control group is not its own (", status.message(), ")"));
}

}  // namespace

GroupPlaces FindGroupPlaces(absl::string_view cgroup, absl::string_view mountinfo) {
  const std::vector<Mount> mounts = GroupMounts(mountinfo);
  GroupPlaces places;
  for (const absl::string_view line : absl::StrSplit(cgroup, '\n')) {
    // "HIERARCHY:CONTROLLERS:GROUP"; of version 2 "0::GROUP".
    const std::vector<absl::string_view> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() != 3) continue;
    if (parts[0] == "0") {
      const auto folder = FolderOf(mounts, "cgroup2", "", parts[2]);
      if (!folder.has_value()) continue;
      const std::string controllers = ReadText(JoinPath(*folder, "cgroup.controllers"));
      if (HasWord(controllers, "pids")) places.tasks = GroupPlace{*folder, true};
      if (HasWord(controllers, "memory")) places.memory = GroupPlace{*folder, true};
      continue;
    }
    const std::vector<absl::string_view> controllers = absl::StrSplit(parts[1], ',');
    const auto find = [&](absl::string_view controller, std::optional<GroupPlace>& place) {
      if (std::find(controllers.begin(), controllers.end(), controller) == controllers.end())
        return;
      const auto folder = FolderOf(mounts, "cgroup", controller, parts[2]);
      if (folder.has_value()) place = GroupPlace{*folder, false};
    };
    find("pids", places.tasks);
    find("memory", places.memory);
  }
  return places;
}

std::optional<int64_t> OwnTaskLimit() {
  const GroupPlaces places =
      FindGroupPlaces(ReadText("/proc/self/cgroup"), ReadText("/proc/self/mountinfo"));
  int64_t limit = 0;
  if (!places.tasks.has_value() ||
      !absl::SimpleAtoi(ReadText(JoinPath(places.tasks->folder, "pids.max")), &limit)) {
    return std::nullopt;
  }
  return limit;
}

absl::Status ControlGroup::Add(pid_t pid) const {
  for (const GroupPlace& place : places_) {
    SLIPWAY_RETURN_IF_ERROR(
        WriteKernelFile(JoinPath(place.folder, "cgroup.procs"), absl::StrCat(pid)));
  }
  return absl::OkStatus();
}

int64_t ControlGroup::OutOfMemoryKills() const {
  if (!of_memory_.has_value()) return 0;
  const char* const file = of_memory_->is_unified ? "memory.events" : "memory.oom_control";
  return NumberAfter(ReadText(JoinPath(of_memory_->folder, file)), "oom_kill").value_or(0);
}

ControlGroup::~ControlGroup() {
  for (const GroupPlace& place : places_) {
    const absl::Time end = absl::Now() + kTimeToEmpty;
    while (rmdir(place.folder.c_str()) != 0 && errno == EBUSY && absl::Now() < end) {
      for (const pid_t pid : ProcessesIn(place.folder)) kill(pid, SIGKILL);
      absl::SleepFor(absl::Milliseconds(1));
    }
  }
}

ControlGroups ControlGroups::Prepare() {
  ControlGroups groups;
  groups.places_ = FindGroupPlaces(ReadText("/proc/self/cgroup"), ReadText("/proc/self/mountinfo"));
  groups.why_not_.clear();
  for (std::optional<GroupPlace>* place : {&groups.places_.tasks, &groups.places_.memory}) {
    std::string why;
    if (!place->has_value()) {
      why = "this kernel limits no groups of processes here: mount cgroup2 at /sys/fs/cgroup";
    } else {
      std::string& folder = (*place)->folder;
      // This process, or the one that has started it, was here before.
      if ((*place)->is_unified)
        folder = std::string(absl::StripSuffix(folder, absl::StrCat("/", kLeaf)));
      if (!IsDelegated(folder)) {
        why = AskForDelegation("its control group is systemd's");
      } else if ((*place)->is_unified) {
        why = Enable(folder);
      } else if (access(folder.c_str(), W_OK) != 0) {
        why = AskForDelegation("it may make no control group beneath its own");
      }
      if (why.empty()) RemoveLeftovers(folder);
    }
    if (why.empty()) continue;
    place->reset();
    groups.why_not_ = why;
  }
  return groups;
}

absl::StatusOr<std::unique_ptr<ControlGroup>> ControlGroups::Make(const GroupLimits& limits) const {
  std::unique_ptr<ControlGroup> group(new ControlGroup);
  // The place for a group beneath `above`; one for both limits in version 2.
  const auto make = [&group](const GroupPlace& above) -> absl::StatusOr<GroupPlace> {
    for (const GroupPlace& place : group->places_) {
      if (above.is_unified && place.is_unified) return place;
    }
    std::string folder = JoinPath(above.folder, absl::StrCat(kGroupPrefix, "XXXXXX"));
    if (mkdtemp(folder.data()) == nullptr) {
      return ErrnoStatus(errno,
                         absl::StrCat("cannot make a control group in \"", above.folder, "\""));
    }
    return group->places_.emplace_back(GroupPlace{folder, above.is_unified});
  };
  if (limits.tasks.has_value() && limits_tasks()) {
    SLIPWAY_ASSIGN_OR_RETURN(const GroupPlace place, make(*places_.tasks));
    SLIPWAY_RETURN_IF_ERROR(
        WriteKernelFile(JoinPath(place.folder, "pids.max"), absl::StrCat(*limits.tasks)));
  }
  if (limits.memory_bytes.has_value() && limits_memory()) {
    SLIPWAY_ASSIGN_OR_RETURN(const GroupPlace place, make(*places_.memory));
    group->of_memory_ = place;
    const char* const file = place.is_unified ? "memory.max" : "memory.limit_in_bytes";
    SLIPWAY_RETURN_IF_ERROR(
        WriteKernelFile(JoinPath(place.folder, file), absl::StrCat(*limits.memory_bytes)));
    if (place.is_unified) {
      // Where there is swap; and who is over the limit ends as a whole, rather than lose a part.
      WriteKernelFile(JoinPath(place.folder, "memory.swap.max"), "0").IgnoreError();
      WriteKernelFile(JoinPath(place.folder, "memory.oom.group"), "1").IgnoreError();
    }
  }
  if (group->places_.empty()) return std::unique_ptr<ControlGroup>();
  return group;
}

}  // namespace slipway
