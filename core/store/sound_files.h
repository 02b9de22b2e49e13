// SoundFiles: which files have been found to hold what they should, for as long as nothing has happened to them.
#ifndef SLIPWAY_CORE_STORE_SOUND_FILES_H_
#define SLIPWAY_CORE_STORE_SOUND_FILES_H_

#include <sys/stat.h>
#include <time.h>

#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "core/base/digest.h"

namespace slipway {

// What the system says of a file that changes whenever its content does: nobody but root sets the time of the last
// change back.
struct FileState {
  dev_t device = 0;
  ino_t inode = 0;
  off_t size = 0;
  timespec written{};
  timespec changed{};

  friend bool operator==(const FileState& a, const FileState& b);
};
FileState StateOf(const struct stat& file);

// Thread-safe. Memory is bounded; what is forgotten is looked at once more.
class SoundFiles {
 public:
  // How long what was found is believed from one process to the next: so late is it noticed that a disk rots.
  static constexpr absl::Duration kMarkedFor = absl::Hours(24);
  // A use is noted when the last note is so old.
  static constexpr absl::Duration kNoteAfter = absl::Minutes(1);

  // `marks` is a folder, made when needed, in which later processes find what this one found; empty: they find nothing. Who
  // may write to it can make others believe anything.
  explicit SoundFiles(std::string marks) : marks_(std::move(marks)) {}

  // Whether the blob's file, which is open, is in the state in which it was found sound.
  bool Knows(const Digest& digest, int fd);
  void Remember(const Digest& digest, const FileState& state);
  void Forget(const Digest& digest);
  // Sets the file's time of writing, by which its last use is told. One that was sound before it stays so. Where there
  // is no such file nothing happens.
  void NoteUse(const Digest& digest, const std::string& path, absl::Time now);

 private:
  bool IsMarked(const Digest& digest, const FileState& state) const;
  void Mark(const Digest& digest, const FileState& state) const;

  const std::string marks_;
  absl::Mutex mutex_;
  absl::flat_hash_map<Digest, FileState> sound_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_STORE_SOUND_FILES_H_
