#include "device_agent/update/update_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "core/base/log.h"
#include "core/base/own_files.h"
#include "core/base/status_macros.h"
#include "core/base/subprocess.h"
#include "core/rpc/agent_statement.h"
#include "device_agent/update/update_state.h"

namespace slipway {
namespace {

constexpr int64_t kMaxStateBytes = 64 << 10;
constexpr char kStateName[] = "state";
constexpr char kBinaryPrefix[] = "agent-";

absl::StatusOr<Digest> DigestOfFile(const std::string& path) {
  SLIPWAY_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path, kMaxAgentBytes));
  return Digest::Of(file.bytes());
}

}  // namespace

UpdateFolder::UpdateFolder(absl::string_view state_dir) : folder_(JoinPath(state_dir, "update")) {}

std::optional<agent::UpdateState> UpdateFolder::Load() const {
  const absl::StatusOr<std::string> bytes = ReadFile(JoinPath(folder_, kStateName), kMaxStateBytes);
  if (absl::IsNotFound(bytes.status())) return std::nullopt;
  agent::UpdateState state;
  if (bytes.ok() && state.ParseFromString(*bytes)) return state;
  Log(LogLevel::kError, "what is remembered of updates cannot be read, the installed agent runs",
      {{"file", JoinPath(folder_, kStateName)}, {"why", bytes.status().message()}});
  return std::nullopt;
}

absl::StatusOr<agent::UpdateState> UpdateFolder::Change(
    absl::FunctionRef<agent::UpdateState(agent::UpdateState)> change) const {
  SLIPWAY_RETURN_IF_ERROR(MakeOwnFolder(folder_));
  const UniqueFd turn(
      open(JoinPath(folder_, "turn").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!turn.is_open() || flock(turn.get(), LOCK_EX) != 0) {
    return ErrnoStatus(errno, absl::StrCat("cannot lock \"", folder_, "\""));
  }
  agent::UpdateState state = change(Load().value_or(agent::UpdateState()));
  SLIPWAY_RETURN_IF_ERROR(WriteFileAtomically(JoinPath(folder_, kStateName),
                                              state.SerializeAsString(), /*durable=*/true, 0600));
  RemoveOthers(state);
  return state;
}

void UpdateFolder::RemoveOthers(const agent::UpdateState& state) const {
  std::vector<std::string> named;
  for (const Digest& binary : NamedBinaries(state)) named.push_back(PathOf(binary));
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, ignored)) {
    const std::string path = entry.path().string();
    if (entry.path().filename().string().rfind(kBinaryPrefix, 0) != 0) continue;
    if (std::find(named.begin(), named.end(), path) != named.end()) continue;
    std::filesystem::remove(entry.path(), ignored);
  }
}

absl::Status UpdateFolder::Keep(const Digest& binary, absl::string_view bytes) const {
  SLIPWAY_RETURN_IF_ERROR(MakeOwnFolder(folder_));
  return WriteFileAtomically(PathOf(binary), bytes, /*durable=*/true, 0700);
}

absl::Status UpdateFolder::Check(const Digest& binary) const {
  SLIPWAY_ASSIGN_OR_RETURN(const Digest found, DigestOfFile(PathOf(binary)));
  if (found == binary) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("\"", PathOf(binary), "\" has other bytes"));
}

std::string UpdateFolder::PathOf(const Digest& binary) const {
  return JoinPath(folder_, absl::StrCat(kBinaryPrefix, binary.hex()));
}

std::string UpdateFolder::lock_path() const { return JoinPath(folder_, "lock"); }

absl::StatusOr<Digest> OwnBinary() { return DigestOfFile(kOwnExecutable); }

}  // namespace slipway
