#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/library/library_files.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;

absl::Status CannotUse(const std::string& folder, const std::error_code& error) {
  return absl::FailedPreconditionError(
      absl::StrCat("folder \"", folder, "\" cannot be used: ", error.message()));
}

absl::Status MakeFolder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  return error ? CannotUse(folder.string(), error) : absl::OkStatus();
}

absl::Status WriteAll(const std::vector<LibraryFile>& files, const std::string& folder) {
  for (const LibraryFile& file : files) {
    const std::string path = JoinPath(folder, file.path);
    SLIPWAY_RETURN_IF_ERROR(MakeFolder(fs::path(path).parent_path()));
    SLIPWAY_RETURN_IF_ERROR(WriteFileAtomically(path, file.Contents(), /*durable=*/false));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckLibraryFolder(const std::string& folder) {
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (!fs::exists(status)) {
    return fs::status_known(status) ? absl::OkStatus() : CannotUse(folder, error);
  }
  if (!fs::is_directory(status)) {
    return absl::AlreadyExistsError(absl::StrCat("\"", folder, "\" is there, and is no folder"));
  }
  fs::directory_iterator first(folder, error);
  if (error) return CannotUse(folder, error);
  if (first == fs::directory_iterator()) return absl::OkStatus();
  return absl::AlreadyExistsError(absl::StrCat("folder \"", folder, "\" is not empty: it has \"",
                                               first->path().filename().string(),
                                               "\"; name another, or remove it"));
}

absl::Status WriteLibrary(const std::vector<LibraryFile>& files, const std::string& folder) {
  SLIPWAY_RETURN_IF_ERROR(CheckLibraryFolder(folder));
  std::error_code error;
  const bool was_there = fs::exists(folder, error);
  SLIPWAY_RETURN_IF_ERROR(MakeFolder(folder));
  const absl::Status written = WriteAll(files, folder);
  if (written.ok()) return written;
  if (!was_there) {
    (void)RemoveTree(folder);
  } else {
    for (const LibraryFile& file : files) {
      (void)RemoveTree(JoinPath(folder, fs::path(file.path).begin()->string()));
    }
  }
  return written;
}

}  // namespace slipway
