#include "client/session/load_operation.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/session/transfer.h"
#include "core/wire/digest_proto.h"

namespace slipway {
namespace {

// Rounds in which the device got no further with any blob, after which it is given up.
constexpr int kMostIdleRounds = 3;

}  // namespace

std::vector<OutgoingRequest> LoadOperation::Begin() const {
  std::vector<OutgoingRequest> requests(1);
  requests[0].request = load_;
  return requests;
}

absl::Status LoadOperation::Take(size_t piece, const RequestAnswer& answer) {
  return missing_.empty() ? TakeLoad(answer) : TakeBlob(piece, answer);
}

absl::Status LoadOperation::TakeLoad(const RequestAnswer& answer) {
  const v1::SessionResponse::Loaded& loaded = answer.response.loaded();
  if (answer.error.ok()) {
    is_loaded_ = true;
    return loaded_(loaded);
  }
  if (!absl::IsFailedPrecondition(answer.error)) return answer.error;
  // A device may not know all that it lacks before it has the manifest.
  std::vector<Missing> missing;
  for (const v1::Digest& proto : loaded.missing()) {
    absl::StatusOr<Digest> digest = FromProto(proto);
    if (!digest.ok()) {
      return absl::InternalError(
          absl::StrCat("the device lacks what is no blob: ", digest.status().message()));
    }
    // What was sent once is not sent again.
    if (contents_ == nullptr || sent_.contains(*digest)) return answer.error;
    std::optional<Blob> contents = contents_(*digest);
    if (!contents.has_value()) {
      return absl::InternalError(absl::StrCat("the device lacks blob ", digest->ToString(),
                                              ", which the artifact does not have"));
    }
    missing.push_back({.digest = *std::move(digest), .contents = *std::move(contents)});
  }
  if (missing.empty()) return answer.error;
  for (const Missing& blob : missing) sent_.insert(blob.digest);
  missing_ = std::move(missing);
  idle_rounds_ = 0;
  went_on_ = true;
  return absl::OkStatus();
}

absl::Status LoadOperation::TakeBlob(size_t piece, const RequestAnswer& answer) {
  const bool is_elsewhere = absl::IsOutOfRange(answer.error) && answer.response.has_blob_written();
  if (!answer.error.ok() && !is_elsewhere) return answer.error;
  Missing& blob = missing_[blob_of_[piece]];
  const int64_t size = answer.response.blob_written().size();
  if (size < 0 || size > blob.contents.size_bytes()) {
    return absl::InternalError(
        absl::StrCat("the device says it has ", size, " bytes of blob ", blob.digest.ToString()));
  }
  if (size > blob.furthest) went_on_ = true;
  blob.furthest = std::max(blob.furthest, size);
  blob.size = size;
  blob.is_started = true;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<OutgoingRequest>> LoadOperation::Next() {
  if (is_loaded_) return std::vector<OutgoingRequest>();
  idle_rounds_ = went_on_ ? 0 : idle_rounds_ + 1;
  went_on_ = false;
  if (idle_rounds_ == kMostIdleRounds) {
    return absl::AbortedError("blobs were sent again and again, and the device does not have them");
  }
  std::vector<OutgoingRequest> requests;
  blob_of_.clear();
  for (size_t i = 0; i < missing_.size(); ++i) {
    const Missing& blob = missing_[i];
    if (!blob.is_started || blob.size < blob.contents.size_bytes()) AppendWrites(i, requests);
  }
  if (!requests.empty()) return requests;
  missing_.clear();
  return Begin();
}

void LoadOperation::AppendWrites(size_t blob, std::vector<OutgoingRequest>& requests) {
  const Missing& missing = missing_[blob];
  const int64_t total = missing.contents.size_bytes();
  int64_t offset = missing.size;
  do {
    const int64_t size = std::min(piece_bytes_, total - offset);
    OutgoingRequest& write = requests.emplace_back();
    MayWait(write.request);
    *write.request.mutable_write_blob()->mutable_blob() = ToProto(missing.digest);
    write.request.mutable_write_blob()->set_offset(offset);
    write.data = Share(missing.contents.Part(offset, size));
    blob_of_.push_back(blob);
    offset += size;
  } while (missing.is_started && offset < total);
}

void LoadOperation::Finish(const absl::Status& status) {
  if (status.ok()) {
    result_ = Done();
  } else {
    result_ = status;
  }
  loaded_ = nullptr;
}

}  // namespace slipway
