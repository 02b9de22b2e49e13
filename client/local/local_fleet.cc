#include "client/local/local_fleet.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/own_files.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

constexpr char kPrefix[] = "slipway-local";
constexpr char kLockName[] = "lock";
constexpr absl::Duration kGrace = absl::Seconds(2);

std::string TemporaryRoot() {
  const char* root = getenv("TMPDIR");
  return root != nullptr && *root != '\0' ? root : "/tmp";
}

// Removes folders of this user's commands that were killed: those whose lock nobody holds.
void RemoveLeftovers(const std::string& root) {
  DIR* const folder = opendir(root.c_str());
  if (folder == nullptr) return;
  std::vector<std::string> found;
  while (const dirent* entry = readdir(folder)) {
    if (absl::StartsWith(entry->d_name, kPrefix)) found.push_back(JoinPath(root, entry->d_name));
  }
  closedir(folder);
  for (const std::string& path : found) {
    struct stat info;
    if (lstat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != getuid()) {
      continue;
    }
    const std::string lock_path = JoinPath(path, kLockName);
    // Without a lock it is just being made.
    if (access(lock_path.c_str(), F_OK) != 0) continue;
    const absl::StatusOr<FileLock> lock = FileLock::TryAcquire(lock_path, "cleaning up");
    // Whoever removes it first is fine; a leftover is only clutter.
    if (lock.ok()) RemoveTree(path).IgnoreError();
  }
}

std::vector<std::string> CommandLine(const LocalProgram& program, std::vector<std::string> flags) {
  flags.insert(flags.begin(), program.binary);
  if (!program.config.empty()) flags.push_back(absl::StrCat("--config=", program.config));
  return flags;
}

}  // namespace

absl::Status LocalFleet::MakeFolder() {
  RemoveLeftovers(TemporaryRoot());
  // Another command that cleans up may be quicker than the lock; then again.
  absl::Status status;
  for (int i = 0; i < 3; ++i) {
    SLIPWAY_ASSIGN_OR_RETURN(folder_, TemporaryFolder::Create(kPrefix));
    absl::StatusOr<FileLock> lock = FileLock::TryAcquire(
        JoinPath(folder_.path(), kLockName), absl::StrCat("slipway, process ", getpid()));
    if (lock.ok()) {
      lock_ = *std::move(lock);
      return absl::OkStatus();
    }
    status = lock.status();
  }
  return status;
}

absl::Status LocalFleet::StartServer() {
  const std::string socket = JoinPath(folder_.path(), "server.sock");
  if (socket.size() >= sizeof(sockaddr_un::sun_path)) {
    return absl::FailedPreconditionError(absl::StrCat(
        "\"", socket, "\" is too long for a socket; set TMPDIR to a folder with a shorter name"));
  }
  address_ = absl::StrCat("unix:", socket);
  SLIPWAY_ASSIGN_OR_RETURN(
      server_,
      Sibling::Start(
          "slipwayd",
          CommandLine(options_.server,
                      {absl::StrCat("--listen=", address_),
                       absl::StrCat("--data-dir=", JoinPath(folder_.path(), "server")),
                       absl::StrCat("--blob-dir=", JoinPath(options_.cache_folder, "blobs")),
                       absl::StrCat("--cache-dir=", options_.cache_folder)})));
  return server_->WaitUntilReady(options_.ready_timeout);
}

absl::StatusOr<std::unique_ptr<LocalFleet>> LocalFleet::Start(const LocalFleetOptions& options) {
  std::unique_ptr<LocalFleet> fleet(new LocalFleet(options));
  SLIPWAY_RETURN_IF_ERROR(fleet->MakeFolder());
  SLIPWAY_RETURN_IF_ERROR(MakeOwnFolder(options.cache_folder));
  SLIPWAY_RETURN_IF_ERROR(fleet->StartServer());
  return fleet;
}

absl::Status LocalFleet::StartAgent(const LocalProgram& agent,
                                    const std::vector<std::string>& accelerators) {
  if (agent_ == nullptr) {
    std::vector<std::string> flags = {
        absl::StrCat("--server=", address_),
        absl::StrCat("--state-dir=", JoinPath(folder_.path(), "agent")),
        absl::StrCat("--cache-dir=", JoinPath(options_.cache_folder, "agent")), "--id=local"};
    for (const std::string& accelerator : accelerators) {
      flags.push_back(absl::StrCat("--accelerator=", accelerator));
    }
    SLIPWAY_ASSIGN_OR_RETURN(agent_,
                             Sibling::Start("slipway-agent", CommandLine(agent, std::move(flags))));
  }
  return agent_->WaitUntilReady(options_.ready_timeout);
}

LocalFleet::~LocalFleet() {
  if (agent_ != nullptr) agent_->Terminate();
  if (server_ != nullptr) server_->Terminate();
  if (agent_ != nullptr) agent_->WaitForEnd(kGrace);
  if (server_ != nullptr) server_->WaitForEnd(kGrace);
}

}  // namespace slipway
