#include "core/confinement/confinement.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/files.h"
#include "core/base/kernel_file.h"
#include "core/base/status_macros.h"
#include "core/confinement/landlock.h"
#include "core/confinement/own_processes.h"
#include "core/confinement/probe_report.h"

namespace slipway {
namespace {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SLIPWAY_HAS_SHADOW_MEMORY 1
#endif
#endif
#ifdef SLIPWAY_HAS_SHADOW_MEMORY
// Its run time opens files, starts processes and traces this one when it reports.
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif

// From Linux 5.14 on RLIMIT_NPROC counts in each user namespace by itself.
bool CountsTasksByNamespace() {
  utsname system;
  int major = 0;
  int minor = 0;
  if (uname(&system) != 0 || sscanf(system.release, "%d.%d", &major, &minor) != 2) return false;
  return major > 5 || (major == 5 && minor >= 14);
}

absl::Status SetLimit(__rlimit_resource resource, const char* name, std::optional<int64_t> most) {
  if (!most.has_value()) return absl::OkStatus();
  rlimit limit;
  if (getrlimit(resource, &limit) != 0) return ErrnoStatus(errno, name);
  limit.rlim_max = std::min(limit.rlim_max, static_cast<rlim_t>(*most));
  limit.rlim_cur = std::min(limit.rlim_cur, limit.rlim_max);
  if (setrlimit(resource, &limit) == 0) return absl::OkStatus();
  return ErrnoStatus(errno, absl::StrCat("cannot limit ", name));
}

// In a user namespace whose ids are not mapped, a process is nobody to itself; to files it is who it was.
absl::Status MapOwnIds(uid_t user, gid_t group) {
  SLIPWAY_RETURN_IF_ERROR(WriteKernelFile("/proc/self/setgroups", "deny"));
  SLIPWAY_RETURN_IF_ERROR(
      WriteKernelFile("/proc/self/uid_map", absl::StrCat(user, " ", user, " 1")));
  return WriteKernelFile("/proc/self/gid_map", absl::StrCat(group, " ", group, " 1"));
}

bool HasCapability(int capability) {
  __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct sets[2] = {};
  return syscall(SYS_capget, &header, sets) == 0 &&
         (sets[capability / 32].effective >> (capability % 32) & 1) != 0;
}

absl::Status DropAllCapabilities() {
  __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  const __user_cap_data_struct none[2] = {};
  if (syscall(SYS_capset, &header, none) == 0) return absl::OkStatus();
  return ErrnoStatus(errno, "cannot drop capabilities");
}

// One process taking on one confinement.
class Applying {
 public:
  explicit Applying(const Confinement& wanted)
      : wanted_(wanted), version_(kIsSanitized ? 0 : LandlockVersion()) {}

  // What comes later needs what comes before: filters and Landlock forbid the rest.
  absl::StatusOr<MissingParts> Run() {
    LeaveRoot();
    SLIPWAY_RETURN_IF_ERROR(EnterNamespaces());
    SLIPWAY_RETURN_IF_ERROR(DropPrivileges());
    // Only now: a change of who a process is makes the kernel forget it.
    if (wanted_.ends_with_parent && prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) {
      return ErrnoStatus(errno, "cannot end with the parent process");
    }
    SLIPWAY_RETURN_IF_ERROR(SetLimits());
    SLIPWAY_RETURN_IF_ERROR(ConfineFilesAndSignals());
    SLIPWAY_RETURN_IF_ERROR(FilterSystemCalls());
    if (has_namespaces_ && wanted_.owns_processes) {
      SLIPWAY_RETURN_IF_ERROR(ContinueInOwnProcesses());
    }
    return std::move(missing_);
  }

 private:
  bool Wants(ConfinementPart part) const {
    return std::find(wanted_.parts.begin(), wanted_.parts.end(), part) != wanted_.parts.end();
  }
  // Whether the part is wanted and to be had; `lack` says why it is not, if so.
  bool Takes(ConfinementPart part, const char* lack) {
    if (!Wants(part)) return false;
    if (kIsSanitized) lack = "the program is built with a sanitizer: take another build of it";
    if (lack != nullptr) missing_.push_back({part, lack});
    return lack == nullptr;
  }

  // Whom RLIMIT_NPROC binds is the real user, unless he is root. Files are opened as the effective one, who stays.
  void LeaveRoot() {
    if (kIsSanitized || wanted_.keeps_ids || !Wants(ConfinementPart::kTasks) || getuid() != 0)
      return;
    constexpr uid_t kNobody = 65534;
    if (setresuid(kNobody, static_cast<uid_t>(-1), static_cast<uid_t>(-1)) == 0) is_root_ = false;
  }

  absl::Status EnterNamespaces() {
    const uid_t user = geteuid();
    const char* const lack =
        wanted_.keeps_ids && user == 0 && !HasCapability(CAP_SETFCAP)
            ? "root needs the capability SETFCAP to be itself in a namespace: leave it that, or "
              "start it as another user"
            : nullptr;
    if (!Takes(ConfinementPart::kNamespaces, lack)) return absl::OkStatus();
    const gid_t group = getegid();
    const int processes = wanted_.owns_processes ? CLONE_NEWPID : 0;
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWNS | processes) != 0) {
      missing_.push_back(
          {ConfinementPart::kNamespaces,
           absl::StrCat("the kernel, or the container around, lets no user namespace be made (",
                        strerror(errno),
                        "): allow kernel.unprivileged_userns_clone, "
                        "user.max_user_namespaces and unshare(2)")});
      return absl::OkStatus();
    }
    has_namespaces_ = true;
    return wanted_.keeps_ids ? MapOwnIds(user, group) : absl::OkStatus();
  }

  absl::Status DropPrivileges() {
    // Filters and Landlock ask for it, too.
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return ErrnoStatus(errno, "no_new_privs");
    return Wants(ConfinementPart::kPrivileges) ? DropAllCapabilities() : absl::OkStatus();
  }

  absl::Status SetLimits() {
    SLIPWAY_RETURN_IF_ERROR(SetLimit(RLIMIT_NOFILE, "open files", wanted_.max_open_files));
    SLIPWAY_RETURN_IF_ERROR(SetLimit(RLIMIT_FSIZE, "file sizes", wanted_.max_file_bytes));
    const char* lack = nullptr;
    if (is_root_) {
      lack =
          "it runs as root, whom RLIMIT_NPROC does not bind: start it as another user, or with "
          "Delegate=yes in its systemd unit";
    } else if (!has_namespaces_) {
      lack = "without a user namespace all processes of the user are counted: see namespaces";
    } else if (!CountsTasksByNamespace()) {
      lack = "this kernel counts all processes of the user: take Linux 5.14 or later";
    }
    if (lack != nullptr && wanted_.has_task_group) return absl::OkStatus();
    if (!Takes(ConfinementPart::kTasks, lack)) return absl::OkStatus();
    return SetLimit(RLIMIT_NPROC, "threads and processes", wanted_.max_tasks);
  }

  absl::Status ConfineFilesAndSignals() {
    const bool writes =
        std::any_of(wanted_.paths.begin(), wanted_.paths.end(),
                    [](const PathRule& rule) { return rule.access == PathAccess::kWrite; });
    const char* lack = nullptr;
    if (version_ < (writes ? kLandlockOfWriting : kLandlockOfReading)) {
      lack = writes ? "this kernel has no Landlock that lets files be moved: take Linux 5.19 or "
                      "later, with landlock in its lsm= list"
                    : "this kernel has no Landlock: take Linux 5.13 or later, with landlock in its "
                      "lsm= list";
    }
    LandlockScope scope;
    scope.files = Takes(ConfinementPart::kFiles, lack);
    lack = version_ >= kLandlockOfSignals
               ? nullptr
               : "the Landlock of this kernel does not hold signals back: take Linux 6.12 or later";
    scope.signals = Takes(ConfinementPart::kSignals, lack);
    if (!scope.files && !scope.signals) return absl::OkStatus();
    return RestrictByLandlock(scope, wanted_.paths);
  }

  absl::Status FilterSystemCalls() {
    const char* const lack =
        HasFilters() ? nullptr : "this kernel has no seccomp filters (CONFIG_SECCOMP_FILTER)";
    if (!Takes(ConfinementPart::kSystemCalls, lack)) return absl::OkStatus();
    return InstallFilter(MakeFilter(wanted_.calls));
  }

  const Confinement& wanted_;
  const int version_;  // Of Landlock.
  // Not who it is in a namespace of its own.
  bool is_root_ = getuid() == 0;
  bool has_namespaces_ = false;
  MissingParts missing_;
};

}  // namespace

const char* Name(ConfinementPart part) {
  switch (part) {
    case ConfinementPart::kPrivileges:
      return "privileges";
    case ConfinementPart::kNamespaces:
      return "namespaces";
    case ConfinementPart::kTasks:
      return "tasks";
    case ConfinementPart::kFiles:
      return "files";
    case ConfinementPart::kSignals:
      return "signals";
    case ConfinementPart::kSystemCalls:
      return "system calls";
  }
  return "unknown";
}

std::string ToString(absl::Span<const MissingPart> missing) {
  return absl::StrJoin(missing, "\n", [](std::string* out, const MissingPart& part) {
    absl::StrAppend(out, Name(part.part), ": ", part.why);
  });
}

absl::StatusOr<MissingParts> ApplyConfinement(const Confinement& confinement) {
  return Applying(confinement).Run();
}

absl::StatusOr<MissingParts> ProbeConfinement(const Confinement& confinement) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return ErrnoStatus(errno, "a pipe to try a confinement");
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  const pid_t pid = fork();
  if (pid < 0) return ErrnoStatus(errno, "a process to try a confinement");
  if (pid == 0) {
    // What is confined later begins as a new program. This is a copy of a process that nobody may trace, to whom its own
    // files in /proc do not belong.
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    WriteProbeReport(write_end.get(), ApplyConfinement(confinement));
    _exit(0);
  }
  write_end.reset();
  absl::StatusOr<MissingParts> missing = ReadProbeReport(read_end.get());
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return missing;
}

absl::Status RequireWhole(absl::string_view who, absl::Span<const MissingPart> missing) {
  if (missing.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("--require-confinement: ", who, " cannot be confined wholly\n",
                   ToString(missing), "\nor do without --require-confinement"));
}

}  // namespace slipway
