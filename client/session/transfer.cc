#include "client/session/transfer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace slipway {
namespace {

constexpr absl::Duration kLongestDeadline = absl::Hours(24);
// Sizes of elements divide it.
constexpr int64_t kElementBytes = 16;

}  // namespace

absl::Cord Share(const Blob& bytes) {
  return absl::MakeCordFromExternal(bytes.bytes(), [owner = bytes.owner()] {});
}

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

}  // namespace slipway
