#include "core/store/sound_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/base/files.h"
#include "core/store/file_names.h"

namespace slipway {
namespace {

// About 20 MB of memory.
constexpr size_t kMaxRemembered = 100'000;

bool IsSame(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

constexpr int64_t kMaxMarkBytes = 256;

// What a mark says; others than this version's are none.
std::string TextOf(const FileState& state) {
  return absl::StrCat("sound 1 ", state.device, " ", state.inode, " ", state.size, " ",
                      state.written.tv_sec, ".", state.written.tv_nsec, " ", state.changed.tv_sec,
                      ".", state.changed.tv_nsec, "\n");
}

}  // namespace

FileState StateOf(const struct stat& file) {
  return {.device = file.st_dev,
          .inode = file.st_ino,
          .size = file.st_size,
          .written = file.st_mtim,
          .changed = file.st_ctim};
}

bool operator==(const FileState& a, const FileState& b) {
  return a.device == b.device && a.inode == b.inode && a.size == b.size &&
         IsSame(a.written, b.written) && IsSame(a.changed, b.changed);
}

bool SoundFiles::Knows(const Digest& digest, int fd) {
  // The file is looked at under the lock: NoteUse changes its state and what is known of it in one step.
  absl::MutexLock lock(&mutex_);
  struct stat file;
  if (fstat(fd, &file) != 0) return false;
  const FileState state = StateOf(file);
  const auto found = sound_.find(digest);
  if (found != sound_.end() && found->second == state) return true;
  if (!IsMarked(digest, state)) return false;
  sound_[digest] = state;
  return true;
}

void SoundFiles::Remember(const Digest& digest, const FileState& state) {
  absl::MutexLock lock(&mutex_);
  if (sound_.size() >= kMaxRemembered) sound_.clear();
  sound_[digest] = state;
  Mark(digest, state);
}

void SoundFiles::Forget(const Digest& digest) {
  absl::MutexLock lock(&mutex_);
  sound_.erase(digest);
  if (!marks_.empty()) unlink(HexPath(marks_, digest.hex()).c_str());
}

void SoundFiles::NoteUse(const Digest& digest, const std::string& path, absl::Time now) {
  // Under the lock, so that of two who note their use none takes the other's for a change.
  absl::MutexLock lock(&mutex_);
  struct stat file;
  if (stat(path.c_str(), &file) != 0) return;
  const absl::Duration age = now - absl::TimeFromTimespec(file.st_mtim);
  if (age >= absl::ZeroDuration() && age < kNoteAfter) return;
  const auto found = sound_.find(digest);
  const bool was_sound = found != sound_.end() && found->second == StateOf(file);
  const timespec time = absl::ToTimespec(now);
  const timespec times[2] = {time, time};
  if (utimensat(AT_FDCWD, path.c_str(), times, 0) != 0 || !was_sound) return;
  if (stat(path.c_str(), &file) != 0) return;
  const FileState state = StateOf(file);
  if (state.device == found->second.device && state.inode == found->second.inode &&
      state.size == found->second.size) {
    found->second = state;
    Mark(digest, state);
  }
}

bool SoundFiles::IsMarked(const Digest& digest, const FileState& state) const {
  if (marks_.empty()) return false;
  const std::string path = HexPath(marks_, digest.hex());
  struct stat mark;
  if (stat(path.c_str(), &mark) != 0 ||
      absl::Now() - absl::TimeFromTimespec(mark.st_mtim) > kMarkedFor) {
    return false;
  }
  const absl::StatusOr<std::string> text = ReadFile(path, kMaxMarkBytes);
  return text.ok() && *text == TextOf(state);
}

void SoundFiles::Mark(const Digest& digest, const FileState& state) const {
  if (marks_.empty()) return;
  // Where it cannot be written the blob is read once more.
  if (!MakeFolders(HexParent(marks_, digest.hex())).ok()) return;
  WriteFileAtomically(HexPath(marks_, digest.hex()), TextOf(state), /*durable=*/false)
      .IgnoreError();
}

}  // namespace slipway
