#include "core/base/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/base/lifeline.h"
#include "core/base/status_macros.h"

extern char** environ;

namespace slipway {
namespace {

// The pieces of a posix_spawn call that must be released.
class FileActions {
 public:
  FileActions() { posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  posix_spawn_file_actions_t* get() { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

class Attributes {
 public:
  Attributes() { posix_spawnattr_init(&attributes_); }
  ~Attributes() { posix_spawnattr_destroy(&attributes_); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  posix_spawnattr_t* get() { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

// Child descriptor -> ours.
using FdMap = std::map<int, int>;

absl::Status AddStream(int child_fd, const ChildStream& stream, int null_fd, int output_fd,
                       FdMap& map) {
  switch (stream.kind) {
    case ChildStream::Kind::kInherit:
      map[child_fd] = child_fd;
      return absl::OkStatus();
    case ChildStream::Kind::kNull:
      map[child_fd] = null_fd;
      return absl::OkStatus();
    case ChildStream::Kind::kFd:
      if (stream.fd < 0) return absl::InvalidArgumentError("a child's stream has no descriptor");
      map[child_fd] = stream.fd;
      return absl::OkStatus();
    case ChildStream::Kind::kTail:
      if (child_fd == STDIN_FILENO) {
        return absl::InvalidArgumentError("stdin of a child cannot be a tail of its output");
      }
      map[child_fd] = output_fd;
      return absl::OkStatus();
  }
  return absl::InternalError("unknown kind of child stream");
}

// This process's environment, if it is inherited, with the additions. A lifeline of our own is not the child's.
std::vector<std::string> MakeEnvironment(const SubprocessOptions& options, int lifeline_child_fd) {
  std::map<std::string, std::string> variables;
  char** const inherited = options.inherit_environment ? environ : nullptr;
  for (char** entry = inherited; entry != nullptr && *entry != nullptr; ++entry) {
    const std::pair<std::string, std::string> variable =
        absl::StrSplit(*entry, absl::MaxSplits('=', 1));
    variables[variable.first] = variable.second;
  }
  variables.erase(kLifelineVariable);
  for (const auto& [name, value] : options.environment) variables[name] = value;
  if (lifeline_child_fd >= 0) variables[kLifelineVariable] = absl::StrCat(lifeline_child_fd);
  std::vector<std::string> entries;
  for (const auto& [name, value] : variables) entries.push_back(absl::StrCat(name, "=", value));
  return entries;
}

std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (const std::string& text : strings) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// Records in `actions` how the child's descriptors come about. `held` keeps copies open that the
// actions name.
absl::Status MapFds(const FdMap& map, FileActions& actions, std::vector<UniqueFd>& held) {
  const int end = map.rbegin()->first + 1;
  // Copies above all targets first: otherwise one dup2 could overwrite what a later one needs.
  for (const auto& [child_fd, our_fd] : map) {
    UniqueFd copy(fcntl(our_fd, F_DUPFD_CLOEXEC, end));
    if (!copy.is_open()) {
      // An inherited stream that we do not have ourselves: then the child has none either.
      if (errno == EBADF && child_fd == our_fd && child_fd <= STDERR_FILENO) continue;
      return ErrnoStatus(errno, absl::StrCat("cannot pass descriptor ", our_fd));
    }
    posix_spawn_file_actions_adddup2(actions.get(), copy.get(), child_fd);
    held.push_back(std::move(copy));
  }
  for (int fd = 0; fd < end; ++fd) {
    if (map.find(fd) == map.end()) posix_spawn_file_actions_addclose(actions.get(), fd);
  }
  posix_spawn_file_actions_addclosefrom_np(actions.get(), end);
  return absl::OkStatus();
}

absl::Status SetLimit(pid_t pid, int resource, absl::string_view name, uint64_t soft,
                      uint64_t hard) {
  rlimit limit{.rlim_cur = soft, .rlim_max = hard};
  rlimit old;
  if (prlimit(pid, static_cast<__rlimit_resource>(resource), nullptr, &old) == 0) {
    // Only root may raise a hard limit, and nobody wants to.
    limit.rlim_max = std::min<uint64_t>(limit.rlim_max, old.rlim_max);
    limit.rlim_cur = std::min<uint64_t>(limit.rlim_cur, limit.rlim_max);
  }
  if (prlimit(pid, static_cast<__rlimit_resource>(resource), &limit, nullptr) != 0) {
    return ErrnoStatus(errno, absl::StrCat("cannot limit ", name, " of process ", pid));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<pid_t> Spawn(const SubprocessOptions& options, int output_fd, int lifeline_fd) {
  if (options.argv.empty() || options.argv[0].empty()) {
    return absl::InvalidArgumentError("a child needs a program");
  }
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null.is_open()) return ErrnoStatus(errno, "cannot open '/dev/null'");
  FdMap map;
  SLIPWAY_RETURN_IF_ERROR(
      AddStream(STDIN_FILENO, options.stdin_stream, null.get(), output_fd, map));
  SLIPWAY_RETURN_IF_ERROR(
      AddStream(STDOUT_FILENO, options.stdout_stream, null.get(), output_fd, map));
  SLIPWAY_RETURN_IF_ERROR(
      AddStream(STDERR_FILENO, options.stderr_stream, null.get(), output_fd, map));
  for (const auto& [child_fd, our_fd] : options.fds) {
    constexpr int kMaxChildFd = 255;
    if (child_fd <= STDERR_FILENO || child_fd > kMaxChildFd ||
        !map.emplace(child_fd, our_fd).second) {
      return absl::InvalidArgumentError(absl::StrCat(
          "descriptor ", child_fd, " of a child is given twice or not in [3, ", kMaxChildFd, "]"));
    }
  }
  int lifeline_child_fd = -1;
  if (lifeline_fd >= 0) {
    lifeline_child_fd = map.rbegin()->first + 1;
    map[lifeline_child_fd] = lifeline_fd;
  }

  FileActions actions;
  std::vector<UniqueFd> held;
  SLIPWAY_RETURN_IF_ERROR(MapFds(map, actions, held));

  Attributes attributes;
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setflags(attributes.get(),
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setpgroup(attributes.get(), 0);
  posix_spawnattr_setsigmask(attributes.get(), &none);
  posix_spawnattr_setsigdefault(attributes.get(), &all);

  const std::vector<std::string> environment = MakeEnvironment(options, lifeline_child_fd);
  pid_t pid = -1;
  const int error_number =
      posix_spawnp(&pid, options.argv[0].c_str(), actions.get(), attributes.get(),
                   Pointers(options.argv).data(), Pointers(environment).data());
  if (error_number != 0) {
    return ErrnoStatus(error_number,
                       absl::StrCat("cannot start '", absl::Utf8SafeCEscape(options.argv[0]), "'"));
  }
  return pid;
}

absl::Status SetLimits(pid_t pid, const ResourceLimits& limits) {
  const auto set = [pid](int resource, absl::string_view name, int64_t value) {
    const uint64_t limit = static_cast<uint64_t>(std::max<int64_t>(value, 0));
    return SetLimit(pid, resource, name, limit, limit);
  };
  if (!limits.core_dumps) SLIPWAY_RETURN_IF_ERROR(set(RLIMIT_CORE, "core dumps", 0));
  if (limits.address_space_bytes.has_value()) {
    SLIPWAY_RETURN_IF_ERROR(set(RLIMIT_AS, "memory", *limits.address_space_bytes));
  }
  if (limits.data_bytes.has_value()) {
    SLIPWAY_RETURN_IF_ERROR(set(RLIMIT_DATA, "memory", *limits.data_bytes));
  }
  if (limits.open_files.has_value()) {
    SLIPWAY_RETURN_IF_ERROR(set(RLIMIT_NOFILE, "open files", *limits.open_files));
  }
  if (limits.file_size_bytes.has_value()) {
    SLIPWAY_RETURN_IF_ERROR(set(RLIMIT_FSIZE, "file sizes", *limits.file_size_bytes));
  }
  if (limits.cpu_time.has_value()) {
    const int64_t seconds =
        std::max<int64_t>(absl::ToInt64Seconds(absl::Ceil(*limits.cpu_time, absl::Seconds(1))), 1);
    // The soft limit sends SIGXCPU, which says why; the hard one cannot be caught.
    SLIPWAY_RETURN_IF_ERROR(SetLimit(pid, RLIMIT_CPU, "processor time",
                                     static_cast<uint64_t>(seconds),
                                     static_cast<uint64_t>(seconds) + 1));
  }
  return absl::OkStatus();
}

}  // namespace slipway
