#include "core/store/file_blob_store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "core/base/files.h"
#include "core/base/own_files.h"
#include "core/base/status_macros.h"
#include "core/store/file_names.h"

namespace slipway {
namespace {

std::string Quote(absl::string_view path) {
  return absl::StrCat("'", absl::Utf8SafeCEscape(path), "'");
}

absl::Status PathError(absl::string_view verb, absl::string_view path) {
  return ErrnoStatus(errno, absl::StrCat("cannot ", verb, " ", Quote(path)));
}

absl::Status NoBlob(const Digest& digest) {
  return absl::NotFoundError(absl::StrCat("blob ", digest.ToString(), " is not in the store"));
}

absl::Status WriteAll(int fd, absl::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return PathError("write", path);
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

// The names in a folder; none when there is no such folder.
absl::StatusOr<std::vector<std::string>> ListFolder(const std::string& path) {
  std::vector<std::string> names;
  DIR* folder = opendir(path.c_str());
  if (folder == nullptr) {
    if (errno == ENOENT || errno == ENOTDIR) return names;
    return PathError("list", path);
  }
  while (const dirent* entry = readdir(folder)) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  closedir(folder);
  return names;
}

// A file in the partial folder that goes away unless it is released.
struct NewFile {
  UniqueFd fd;
  std::string path;

  static absl::StatusOr<NewFile> Create(const std::string& root) {
    NewFile file;
    file.path = NewFilePattern(root);
    file.fd.reset(mkostemp(file.path.data(), O_CLOEXEC));
    if (!file.fd.is_open()) {
      return PathError("make a file in", PartialFolder(root));
    }
    return file;
  }
  NewFile() = default;
  NewFile(NewFile&& other) noexcept
      : fd(std::move(other.fd)), path(std::exchange(other.path, "")) {}
  NewFile& operator=(NewFile&& other) noexcept {
    std::swap(fd, other.fd);
    std::swap(path, other.path);
    return *this;
  }
  ~NewFile() {
    if (!path.empty()) unlink(path.c_str());
  }
};

// A link is no blob, and a pipe that nobody writes to must not hang.
constexpr int kOpenToRead = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
constexpr int64_t kReadAtOnce = 1 << 20;

// Reads a part of an open file into `buffer`; what is there, where it ends before.
absl::StatusOr<absl::string_view> ReadPart(int fd, int64_t offset, absl::Span<char> buffer) {
  size_t used = 0;
  while (used < buffer.size()) {
    const ssize_t count = pread(fd, buffer.data() + used, buffer.size() - used,
                                static_cast<off_t>(offset + static_cast<int64_t>(used)));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoStatus(errno, "cannot read it");
    if (count == 0) break;
    used += static_cast<size_t>(count);
  }
  return absl::string_view(buffer.data(), used);
}

// Hashes the first `size` bytes of an open file, or as many as there are; tells how many.
absl::StatusOr<int64_t> HashFile(int fd, int64_t size, Hasher& hasher) {
  std::string buffer(static_cast<size_t>(std::min(size, kReadAtOnce)), '\0');
  int64_t done = 0;
  while (done < size) {
    const auto want = static_cast<size_t>(std::min(kReadAtOnce, size - done));
    SLIPWAY_ASSIGN_OR_RETURN(const absl::string_view part,
                             ReadPart(fd, done, absl::MakeSpan(buffer).first(want)));
    hasher.Update(part);
    done += static_cast<int64_t>(part.size());
    if (part.size() < want) break;
  }
  return done;
}

absl::Status CheckDigest(Hasher& hasher, const Digest& digest) {
  const Digest actual = hasher.Finish();
  if (actual == digest) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("its content has digest ", actual.ToString()));
}

// Whether `path` still names the open file.
bool IsStillAt(int fd, const std::string& path) {
  struct stat open_file;
  struct stat named;
  return fstat(fd, &open_file) == 0 && stat(path.c_str(), &named) == 0 &&
         open_file.st_ino == named.st_ino && open_file.st_dev == named.st_dev;
}

}  // namespace

// Writes to the blob's partial file while it holds the lock on it, or, when
// somebody else does, to a file of its own.
class FileBlobStore::Writer final : public BlobWriter {
 public:
  static absl::StatusOr<std::unique_ptr<BlobWriter>> Open(FileBlobStore& store,
                                                          const Digest& digest) {
    std::unique_ptr<Writer> writer(new Writer(store, digest));
    const std::string path = PartialPath(store.options_.folder, digest);
    while (true) {
      UniqueFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
      if (!fd.is_open()) return PathError("open", path);
      if (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) break;
      // Its last writer may have published or dropped it in between.
      if (!IsStillAt(fd.get(), path)) continue;
      writer->fd_ = std::move(fd);
      writer->path_ = path;
      SLIPWAY_RETURN_IF_ERROR(writer->TakeOver());
      return writer;
    }
    SLIPWAY_ASSIGN_OR_RETURN(NewFile file, NewFile::Create(store.options_.folder));
    writer->fd_ = std::move(file.fd);
    writer->path_ = std::exchange(file.path, "");
    writer->is_private_ = true;
    return writer;
  }

  ~Writer() override {
    if (is_private_ && !path_.empty()) unlink(path_.c_str());
  }

  int64_t committed_bytes() const override { return size_; }

  absl::Status Append(absl::string_view bytes) override {
    if (static_cast<int64_t>(bytes.size()) > digest_.size_bytes() - size_) {
      return absl::InvalidArgumentError(absl::StrCat("more than the ", digest_.size_bytes(),
                                                     " bytes of blob ", digest_.ToString()));
    }
    const absl::Status status = WriteAll(fd_.get(), bytes, path_);
    if (!status.ok()) {
      // A part may have been written; the file ends where the hash does.
      if (ftruncate(fd_.get(), size_) == 0) lseek(fd_.get(), size_, SEEK_SET);
      return status;
    }
    hasher_.Update(bytes);
    size_ += static_cast<int64_t>(bytes.size());
    return absl::OkStatus();
  }

  absl::Status Commit() override {
    const Digest actual = hasher_.Finish();
    if (actual != digest_) {
      unlink(path_.c_str());
      path_.clear();
      return absl::InvalidArgumentError(absl::StrCat("the bytes sent for blob ", digest_.ToString(),
                                                     " have digest ", actual.ToString()));
    }
    SLIPWAY_RETURN_IF_ERROR(store_.Publish(fd_.get(), path_, digest_));
    path_.clear();
    return absl::OkStatus();
  }

 private:
  Writer(FileBlobStore& store, Digest digest) : store_(store), digest_(std::move(digest)) {}

  // Hashes what an earlier writer left.
  absl::Status TakeOver() {
    struct stat left;
    if (fstat(fd_.get(), &left) != 0) return PathError("stat", path_);
    if (left.st_size > digest_.size_bytes()) {
      if (ftruncate(fd_.get(), 0) != 0) return PathError("truncate", path_);
      return absl::OkStatus();
    }
    SLIPWAY_ASSIGN_OR_RETURN_WITH(size_, HashFile(fd_.get(), left.st_size, hasher_), Quote(path_));
    lseek(fd_.get(), size_, SEEK_SET);
    return absl::OkStatus();
  }

  FileBlobStore& store_;
  const Digest digest_;
  UniqueFd fd_;
  std::string path_;  // Empty once nothing is there any more.
  bool is_private_ = false;
  Hasher hasher_;
  int64_t size_ = 0;
};

class FileBlobStore::Reader final : public BlobReader {
 public:
  Reader(UniqueFd fd, Digest digest) : fd_(std::move(fd)), digest_(std::move(digest)) {}

  absl::StatusOr<std::string> Read(int64_t offset, int64_t size) override {
    std::string bytes(static_cast<size_t>(size), '\0');
    const absl::StatusOr<absl::string_view> part =
        ReadPart(fd_.get(), offset, absl::MakeSpan(bytes));
    if (part.ok() && part->size() == bytes.size()) return bytes;
    return absl::DataLossError(absl::StrCat("blob ", digest_.ToString(),
                                            " was changed while it was read", part.ok() ? "" : ": ",
                                            part.status().message(), "; send it again"));
  }

 private:
  const UniqueFd fd_;
  const Digest digest_;
};

FileBlobStore::FileBlobStore(Options options)
    : options_(std::move(options)),
      clock_(options_.clock != nullptr ? *options_.clock : system_clock_),
      sound_(options_.marks_sound ? SoundFolder(options_.folder) : "") {}

absl::StatusOr<std::unique_ptr<FileBlobStore>> FileBlobStore::Create(Options options) {
  if (options.folder.empty()) {
    return absl::InvalidArgumentError("a blob store needs a folder");
  }
  SLIPWAY_RETURN_IF_ERROR(MakeOwnFolder(options.folder));
  SLIPWAY_RETURN_IF_ERROR(MakeFolders(BlobsFolder(options.folder)));
  SLIPWAY_RETURN_IF_ERROR(MakeFolders(PartialFolder(options.folder)));
  std::unique_ptr<FileBlobStore> store(new FileBlobStore(std::move(options)));
  store->DropUnfinished(store->options_.abandoned_after);
  return store;
}

std::string FileBlobStore::Path(const Digest& digest) const {
  return HexPath(BlobsFolder(options_.folder), digest.hex());
}

void FileBlobStore::NoteUse(const Digest& digest) {
  if (options_.notes_uses) sound_.NoteUse(digest, Path(digest), clock_.Now());
}

void FileBlobStore::DropUnfinished(absl::Duration idle) {
  const std::string folder = PartialFolder(options_.folder);
  const auto names = ListFolder(folder);
  if (!names.ok()) return;
  // Written by the machine's clock, whatever clock this store has.
  const absl::Time limit = system_clock_.Now() - idle;
  for (const std::string& name : *names) {
    const std::string path = JoinPath(folder, name);
    struct stat info;
    if (stat(path.c_str(), &info) != 0 || absl::TimeFromTimespec(info.st_mtim) >= limit) {
      continue;
    }
    const UniqueFd fd(open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (fd.is_open() && flock(fd.get(), LOCK_EX | LOCK_NB) == 0) {
      unlink(path.c_str());
    }
  }
}

absl::Status FileBlobStore::Publish(int fd, const std::string& from, const Digest& digest) {
  const std::string folder = BlobsFolder(options_.folder);
  const std::string parent = HexParent(folder, digest.hex());
  if (options_.durable && fsync(fd) != 0) return PathError("sync", from);
  if (mkdir(parent.c_str(), 0700) == 0) {
    if (options_.durable) {
      const UniqueFd parents(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      if (!parents.is_open() || fsync(parents.get()) != 0) {
        return PathError("sync", folder);
      }
    }
  } else if (errno != EEXIST) {
    return PathError("make folder", parent);
  }
  const timespec now = absl::ToTimespec(clock_.Now());
  const timespec times[2] = {now, now};
  if (futimens(fd, times) != 0) return PathError("set the time of", from);
  const std::string to = Path(digest);
  if (rename(from.c_str(), to.c_str()) != 0) return PathError("make", to);
  struct stat info;
  if (fstat(fd, &info) == 0) sound_.Remember(digest, StateOf(info));
  if (options_.durable) {
    const UniqueFd folder_fd(open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder_fd.is_open() || fsync(folder_fd.get()) != 0) {
      return PathError("sync", parent);
    }
  }
  return absl::OkStatus();
}

bool FileBlobStore::Has(const Digest& digest) const {
  struct stat info;
  return digest.is_set() && stat(Path(digest).c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
         info.st_size == digest.size_bytes();
}

absl::StatusOr<Blob> FileBlobStore::Get(const Digest& digest) {
  if (!digest.is_set()) return NoBlob(digest);
  const std::string path = Path(digest);
  absl::StatusOr<MappedFile> file = MappedFile::Open(path, INT64_MAX);
  if (absl::IsNotFound(file.status())) return NoBlob(digest);
  if (!file.ok()) return file.status();
  const auto size = static_cast<int64_t>(file->bytes().size());
  if (size != digest.size_bytes()) {
    return absl::DataLossError(absl::StrCat("blob ", digest.ToString(), " has ", size, " bytes in ",
                                            Quote(path), "; send it again"));
  }
  NoteUse(digest);
  return Blob::Own(*std::move(file));
}

absl::Status FileBlobStore::Inspect(const Digest& digest) const {
  const std::string path = Path(digest);
  const UniqueFd fd(open(path.c_str(), kOpenToRead));
  if (!fd.is_open()) return errno == ENOENT ? NoBlob(digest) : PathError("open", path);
  Hasher hasher;
  const absl::StatusOr<int64_t> read = HashFile(fd.get(), digest.size_bytes(), hasher);
  if (!read.ok()) return absl::DataLossError(read.status().message());
  return CheckDigest(hasher, digest);
}

absl::StatusOr<UnfinishedBlobs> FileBlobStore::CountUnfinished() const {
  UnfinishedBlobs unfinished;
  const std::string folder = PartialFolder(options_.folder);
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListFolder(folder));
  for (const std::string& name : names) {
    struct stat info;
    if (stat(JoinPath(folder, name).c_str(), &info) != 0) continue;
    ++unfinished.count;
    unfinished.bytes += info.st_size;
  }
  return unfinished;
}

absl::Status FileBlobStore::CheckContent(int fd, const Digest& digest) {
  if (sound_.Knows(digest, fd)) return absl::OkStatus();
  struct stat before;
  if (fstat(fd, &before) != 0) return ErrnoStatus(errno, "cannot stat it");
  const FileState state = StateOf(before);
  if (!S_ISREG(before.st_mode)) return absl::DataLossError("it is no file");
  if (before.st_size != digest.size_bytes()) {
    return absl::DataLossError(absl::StrCat("it has ", before.st_size, " bytes"));
  }
  Hasher hasher;
  const absl::StatusOr<int64_t> read = HashFile(fd, digest.size_bytes(), hasher);
  if (!read.ok()) return absl::DataLossError(read.status().message());
  bytes_verified_ += *read;
  SLIPWAY_RETURN_IF_ERROR(CheckDigest(hasher, digest));
  // Of what changes while it is looked at nothing is known.
  struct stat after;
  if (fstat(fd, &after) == 0 && StateOf(after) == state) sound_.Remember(digest, state);
  return absl::OkStatus();
}

absl::StatusOr<bool> FileBlobStore::HoldsOtherSize(int fd, const Digest& digest) {
  struct stat info;
  if (fstat(fd, &info) != 0) return ErrnoStatus(errno, "cannot stat a blob");
  if (info.st_size == digest.size_bytes()) return false;
  SLIPWAY_ASSIGN_OR_RETURN(const Digest other, Digest::FromHex(digest.hex(), info.st_size));
  const absl::Status content = CheckContent(fd, other);
  if (!content.ok() && !absl::IsDataLoss(content)) return content;
  return content.ok();
}

absl::StatusOr<UniqueFd> FileBlobStore::OpenSound(const Digest& digest) {
  if (!digest.is_set()) return NoBlob(digest);
  const std::string path = Path(digest);
  UniqueFd fd(open(path.c_str(), kOpenToRead));
  if (!fd.is_open()) return errno == ENOENT ? NoBlob(digest) : PathError("open", path);
  const absl::Status content = CheckContent(fd.get(), digest);
  if (content.ok()) {
    NoteUse(digest);
    return fd;
  }
  if (!absl::IsDataLoss(content)) return Annotate(content, Quote(path));
  // Who names a wrong size is wrong, and not the blob.
  SLIPWAY_ASSIGN_OR_RETURN(const bool is_another, HoldsOtherSize(fd.get(), digest));
  if (is_another) return NoBlob(digest);
  sound_.Forget(digest);
  // Another may have brought it anew since.
  if (IsStillAt(fd.get(), path)) unlink(path.c_str());
  return absl::DataLossError(absl::StrCat("blob ", digest.ToString(), " was rotten in ",
                                          Quote(path), " (", content.message(),
                                          ") and has been removed; send it again"));
}

absl::Status FileBlobStore::Verify(const Digest& digest) { return OpenSound(digest).status(); }

absl::StatusOr<std::unique_ptr<BlobReader>> FileBlobStore::Open(const Digest& digest) {
  SLIPWAY_ASSIGN_OR_RETURN(UniqueFd fd, OpenSound(digest));
  return std::make_unique<Reader>(std::move(fd), digest);
}

absl::StatusOr<bool> FileBlobStore::IsSound(const Digest& digest) {
  const absl::Status status = Verify(digest);
  if (absl::IsNotFound(status) || absl::IsDataLoss(status)) return false;
  if (!status.ok()) return status;
  return true;
}

absl::Status FileBlobStore::Put(const Digest& digest, absl::string_view bytes) {
  const Digest actual = Digest::Of(bytes);
  if (actual != digest) {
    return absl::InvalidArgumentError(absl::StrCat("the bytes given for blob ", digest.ToString(),
                                                   " have digest ", actual.ToString()));
  }
  SLIPWAY_ASSIGN_OR_RETURN(const bool is_here, IsSound(digest));
  if (is_here) return absl::OkStatus();
  SLIPWAY_ASSIGN_OR_RETURN(NewFile file, NewFile::Create(options_.folder));
  SLIPWAY_RETURN_IF_ERROR(WriteAll(file.fd.get(), bytes, file.path));
  SLIPWAY_RETURN_IF_ERROR(Publish(file.fd.get(), file.path, digest));
  file.path.clear();
  return absl::OkStatus();
}

absl::StatusOr<Digest> FileBlobStore::PutFile(const std::string& path) {
  SLIPWAY_ASSIGN_OR_RETURN(const MappedFile source, MappedFile::Open(path, INT64_MAX));
  Digest digest = Digest::Of(source.bytes());
  SLIPWAY_ASSIGN_OR_RETURN(const bool is_here, IsSound(digest));
  if (is_here) return digest;
  // The copy is what is verified: the source may change in between.
  SLIPWAY_RETURN_IF_ERROR_WITH(Put(digest, source.bytes()), Quote(path));
  return digest;
}

absl::StatusOr<std::unique_ptr<BlobWriter>> FileBlobStore::Write(const Digest& digest) {
  if (!digest.is_set()) return NoBlob(digest);
  SLIPWAY_ASSIGN_OR_RETURN(const bool is_here, IsSound(digest));
  if (is_here) {
    return absl::AlreadyExistsError(absl::StrCat("blob ", digest.ToString(), " is in the store"));
  }
  return Writer::Open(*this, digest);
}

int64_t FileBlobStore::PartialBytes(const Digest& digest) const {
  struct stat info;
  if (!digest.is_set() || stat(PartialPath(options_.folder, digest).c_str(), &info) != 0) {
    return 0;
  }
  return info.st_size <= digest.size_bytes() ? info.st_size : 0;
}

absl::Status FileBlobStore::Remove(const Digest& digest) {
  if (!digest.is_set()) return absl::OkStatus();
  const std::string path = Path(digest);
  sound_.Forget(digest);
  if (unlink(path.c_str()) != 0 && errno != ENOENT) {
    return PathError("remove", path);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<BlobInfo>> FileBlobStore::List() const {
  std::vector<BlobInfo> blobs;
  const std::string folder = BlobsFolder(options_.folder);
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<std::string> parents, ListFolder(folder));
  for (const std::string& parent : parents) {
    const std::string parent_path = JoinPath(folder, parent);
    SLIPWAY_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListFolder(parent_path));
    for (const std::string& name : names) {
      const std::string hex = ParseHexPath(parent, name);
      struct stat info;
      if (hex.empty() || stat(JoinPath(parent_path, name).c_str(), &info) != 0 ||
          !S_ISREG(info.st_mode)) {
        continue;
      }
      SLIPWAY_ASSIGN_OR_RETURN(Digest digest, Digest::FromHex(hex, info.st_size));
      blobs.push_back({std::move(digest), absl::TimeFromTimespec(info.st_mtim)});
    }
  }
  return blobs;
}

}  // namespace slipway
