#include "core/backends/program/constant_blobs.h"

#include <algorithm>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "core/artifact/limits.h"
#include "core/base/round_up.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

// Most of the time of small ones goes into waiting for the disk.
constexpr int kWriters = 8;
// Of the tensors that are written at one time, unless a single one is larger. Making one may take as much again.
constexpr int64_t kMaxBytesAtOnce = int64_t{256} << 20;

// Writes tensors as blobs, several at a time.
class Writing {
 public:
  Writing(const std::vector<Tensor>& tensors, const std::vector<size_t>& large,
          const KeepBlob& keep, ConstantBlobs& result)
      : tensors_(tensors), large_(large), keep_(keep), result_(result) {}

  absl::Status Run() {
    std::vector<std::thread> writers;
    for (size_t i = 0; i < std::min<size_t>(kWriters, large_.size()); ++i) {
      writers.emplace_back([this] {
        while (WriteNext()) {
        }
      });
    }
    for (std::thread& writer : writers) writer.join();
    const absl::MutexLock lock(&mutex_);
    return status_;
  }

 private:
  bool HasRoom() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return next_ == large_.size() || !status_.ok() || bytes_under_way_ == 0 ||
           bytes_under_way_ + tensors_[large_[next_]].byte_size() <= kMaxBytesAtOnce;
  }

  bool WriteNext() {
    size_t index;
    {
      const absl::MutexLock lock(&mutex_, absl::Condition(this, &Writing::HasRoom));
      if (next_ == large_.size() || !status_.ok()) return false;
      index = large_[next_++];
      bytes_under_way_ += tensors_[index].byte_size();
    }
    absl::StatusOr<std::pair<Digest, Blob>> written = Write(tensors_[index]);
    const absl::MutexLock lock(&mutex_);
    bytes_under_way_ -= tensors_[index].byte_size();
    status_.Update(written.status());
    if (!written.ok()) return false;
    result_.constants[index].blob = written->first;
    result_.blobs.insert(*std::move(written));
    return true;
  }

  absl::StatusOr<std::pair<Digest, Blob>> Write(const Tensor& tensor) const {
    try {
      auto owner = std::make_shared<const Tensor>(tensor.Loaded());
      const absl::string_view bytes = owner->bytes();
      Digest digest = Digest::Of(bytes);
      SLIPWAY_ASSIGN_OR_RETURN(Blob kept, keep_(digest, Blob(bytes, std::move(owner))));
      return std::pair(std::move(digest), std::move(kept));
    } catch (const std::bad_alloc&) {
      return absl::ResourceExhaustedError(
          absl::StrCat("no memory for a constant ", ToString(tensor.type())));
    }
  }

  const std::vector<Tensor>& tensors_;
  const std::vector<size_t>& large_;  // Indices of those that are blobs of their own.
  const KeepBlob& keep_;
  absl::Mutex mutex_;
  ConstantBlobs& result_ ABSL_GUARDED_BY(mutex_);
  size_t next_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t bytes_under_way_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

absl::StatusOr<ConstantBlobs> PlaceConstants(const std::vector<Tensor>& tensors,
                                             const KeepBlob& keep) {
  ConstantBlobs result;
  result.constants.resize(tensors.size());
  std::vector<size_t> large;
  std::string merged;
  for (size_t i = 0; i < tensors.size(); ++i) {
    PlacedConstant& placed = result.constants[i];
    placed.size_bytes = tensors[i].byte_size();
    if (placed.size_bytes >= kOwnBlobBytes) {
      large.push_back(i);
      continue;
    }
    placed.offset = static_cast<int64_t>(merged.size());
    const Tensor loaded = tensors[i].Loaded();
    merged.append(loaded.bytes().data(), loaded.bytes().size());
    merged.resize(
        static_cast<size_t>(RoundUp(static_cast<int64_t>(merged.size()), kBufferAlignment)));
  }
  SLIPWAY_RETURN_IF_ERROR(Writing(tensors, large, keep, result).Run());
  if (large.size() < tensors.size()) {
    const Digest digest = Digest::Of(merged);
    for (PlacedConstant& placed : result.constants) {
      if (placed.size_bytes < kOwnBlobBytes) placed.blob = digest;
    }
    SLIPWAY_ASSIGN_OR_RETURN(result.blobs[digest], keep(digest, Blob::Own(std::move(merged))));
  }
  for (const auto& [digest, blob] : result.blobs) result.total_bytes += blob.size_bytes();
  return result;
}

}  // namespace slipway
