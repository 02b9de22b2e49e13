#include "core/base/own_files.h"

#include <errno.h>
#include <unistd.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

constexpr uid_t kRoot = 0;
constexpr mode_t kWriteOfOthers = S_IWGRP | S_IWOTH;
constexpr mode_t kAllOfOthers = S_IRWXG | S_IRWXO;

std::string Quote(absl::string_view path) {
  return absl::StrCat("'", absl::Utf8SafeCEscape(path), "'");
}

std::string Mode(const struct stat& info) {
  return absl::StrFormat("mode %04o", info.st_mode & 07777);
}

absl::Status CheckOwner(const struct stat& info, uid_t user, absl::string_view path) {
  if (info.st_uid == user || info.st_uid == kRoot) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat(
      Quote(path), " belongs to user ", info.st_uid, ", who may change it, and not to ", user,
      ": name another one, or run: chown ", user, " ", path));
}

absl::StatusOr<struct stat> Stat(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) == 0) return info;
  return ErrnoStatus(errno, absl::StrCat("cannot stat ", Quote(path)));
}

}  // namespace

absl::Status CheckOwnFolder(const struct stat& folder, uid_t user, absl::string_view path) {
  // A folder for everybody, such as /tmp: its mode is right, and it is the wrong folder.
  if ((folder.st_mode & S_ISVTX) != 0 && (folder.st_mode & kWriteOfOthers) != 0) {
    return absl::PermissionDeniedError(
        absl::StrCat(Quote(path), " is for everybody: name a folder of its own below it"));
  }
  SLIPWAY_RETURN_IF_ERROR(CheckOwner(folder, user, path));
  if ((folder.st_mode & kWriteOfOthers) == 0) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat("others may write to the folder ", Quote(path),
                                                  ", which has ", Mode(folder),
                                                  "; run: chmod go-w ", path));
}

absl::Status CheckSecretFile(const struct stat& file, uid_t user, absl::string_view path) {
  SLIPWAY_RETURN_IF_ERROR(CheckOwner(file, user, path));
  const bool is_own = file.st_uid == user;
  const mode_t refused = is_own ? kAllOfOthers : kWriteOfOthers | S_IRWXO;
  if ((file.st_mode & refused) == 0) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat(
      "others may ", (file.st_mode & kWriteOfOthers) != 0 ? "write" : "read", " the secret in ",
      Quote(path), ", which has ", Mode(file), "; run: chmod ", is_own ? "600" : "640", " ", path));
}

absl::Status MakeOwnFolder(const std::string& path) {
  SLIPWAY_RETURN_IF_ERROR(MakeFolders(path));
  SLIPWAY_ASSIGN_OR_RETURN(const struct stat info, Stat(path));
  return CheckOwnFolder(info, geteuid(), path);
}

absl::Status CheckSecretFile(const std::string& path) {
  SLIPWAY_ASSIGN_OR_RETURN(const struct stat info, Stat(path));
  return CheckSecretFile(info, geteuid(), path);
}

}  // namespace slipway
