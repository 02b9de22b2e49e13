#include "client/session/transfer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/session/answers.h"
#include "core/base/status_macros.h"
#include "core/wire/digest_proto.h"

namespace slipway {
namespace {

constexpr absl::Duration kLongestDeadline = absl::Hours(24);
// Sizes of elements divide it.
constexpr int64_t kElementBytes = 16;
// Rounds of writing blobs in which the device got no further, after which it is given up.
constexpr int kMostIdleRounds = 3;

absl::Cord Share(const Blob& bytes) {
  return absl::MakeCordFromExternal(bytes.bytes(), [owner = bytes.owner()] {});
}

// How far a blob has got.
struct BlobProgress {
  int64_t size = 0;         // Bytes that the device has.
  bool is_started = false;  // It has said so.
};

// The next pieces of a blob: one until it is known where to go on, then all.
void AppendBlobWrites(const MissingBlob& blob, const BlobProgress& progress, int64_t piece_bytes,
                      std::vector<OutgoingRequest>& requests) {
  const int64_t total = blob.contents.size_bytes();
  int64_t offset = progress.size;
  do {
    const int64_t size = std::min(piece_bytes, total - offset);
    OutgoingRequest& write = requests.emplace_back();
    MayWait(write.request);
    *write.request.mutable_write_blob()->mutable_blob() = ToProto(blob.digest);
    write.request.mutable_write_blob()->set_offset(offset);
    write.data = Share(blob.contents.Part(offset, size));
    offset += size;
  } while (progress.is_started && offset < total);
}

}  // namespace

void SetDeadline(absl::Duration deadline, v1::SessionRequest& request) {
  request.set_deadline_ns(
      absl::ToInt64Nanoseconds(std::clamp(deadline, absl::ZeroDuration(), kLongestDeadline)));
}

void MayWait(v1::SessionRequest& request) { SetDeadline(kLongestDeadline, request); }

int64_t PieceBytes(const SessionEngine& engine) {
  const int64_t most = engine.opened().max_data_bytes();
  return most < kElementBytes ? most : most - most % kElementBytes;
}

void AppendWrites(uint64_t tensor, int64_t offset, const Blob& bytes, int64_t piece_bytes,
                  std::vector<OutgoingRequest>& requests) {
  for (int64_t done = 0; done < bytes.size_bytes(); done += piece_bytes) {
    OutgoingRequest& write = requests.emplace_back();
    MayWait(write.request);
    write.request.mutable_write()->set_tensor(tensor);
    write.request.mutable_write()->set_offset(offset + done);
    write.data = Share(bytes.Part(done, std::min(piece_bytes, bytes.size_bytes() - done)));
  }
}

std::vector<OutgoingRequest> MakeReads(uint64_t tensor, int64_t offset, int64_t size,
                                       int64_t piece_bytes) {
  std::vector<OutgoingRequest> requests;
  for (int64_t done = 0; done < size; done += piece_bytes) {
    OutgoingRequest& read = requests.emplace_back();
    MayWait(read.request);
    read.asked = std::min(piece_bytes, size - done);
    read.request.mutable_read()->set_tensor(tensor);
    read.request.mutable_read()->set_offset(offset + done);
    read.request.mutable_read()->set_size(read.asked);
  }
  return requests;
}

absl::Status TakeRead(size_t piece, const absl::Cord& data, DataType dtype, int64_t piece_bytes,
                      absl::Span<char> bytes) {
  const absl::Span<char> part =
      bytes.subspan(piece * static_cast<size_t>(piece_bytes), static_cast<size_t>(piece_bytes));
  if (data.size() != part.size()) {
    return absl::InternalError(absl::StrCat("the device sent ", data.size(),
                                            " bytes of a tensor where ", part.size(),
                                            " were asked for"));
  }
  size_t done = 0;
  for (const absl::string_view chunk : data.Chunks()) {
    std::memcpy(part.data() + done, chunk.data(), chunk.size());
    done += chunk.size();
  }
  int64_t bad = 0;
  if (!AreElements(dtype, absl::string_view(part.data(), part.size()), &bad)) {
    return absl::InternalError(
        absl::StrCat("the device sent a byte that is no element of ", Name(dtype)));
  }
  return absl::OkStatus();
}

absl::Status SendBlobs(SessionEngine& engine, const std::vector<MissingBlob>& blobs) {
  std::vector<BlobProgress> progress(blobs.size());
  for (int idle_rounds = 0; idle_rounds < kMostIdleRounds;) {
    std::vector<OutgoingRequest> requests;
    std::vector<size_t> blob_of;  // Of each request.
    for (size_t i = 0; i < blobs.size(); ++i) {
      if (progress[i].is_started && progress[i].size == blobs[i].contents.size_bytes()) continue;
      AppendBlobWrites(blobs[i], progress[i], PieceBytes(engine), requests);
      blob_of.resize(requests.size(), i);
    }
    if (requests.empty()) return absl::OkStatus();

    const std::vector<BlobProgress> before = progress;
    const auto take = [&](size_t piece, const RequestAnswer& answer) {
      const bool is_elsewhere =
          absl::IsOutOfRange(answer.error) && answer.response.has_blob_written();
      if (!answer.error.ok() && !is_elsewhere) return answer.error;
      const size_t blob = blob_of[piece];
      const int64_t size = answer.response.blob_written().size();
      if (size < 0 || size > blobs[blob].contents.size_bytes()) {
        return absl::InternalError(absl::StrCat("the device says it has ", size, " bytes of blob ",
                                                blobs[blob].digest.ToString()));
      }
      progress[blob] = {.size = size, .is_started = true};
      return absl::OkStatus();
    };
    const auto operation = std::make_shared<PlainOperation>(take);
    engine.Submit(operation, std::move(requests));
    engine.Wait(*operation, absl::InfiniteFuture());
    SLIPWAY_RETURN_IF_ERROR(operation->status());
    const bool went_on = !std::equal(before.begin(), before.end(), progress.begin(),
                                     [](const auto& a, const auto& b) {
                                       return a.is_started == b.is_started && a.size >= b.size;
                                     });
    idle_rounds = went_on ? 0 : idle_rounds + 1;
  }
  return absl::AbortedError("blobs were sent again and again, and the device does not have them");
}

}  // namespace slipway
