#include "device_agent/session/session_blobs.h"

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

// Blobs that a client may write at a time.
constexpr size_t kMaxWriters = 64;

}  // namespace

void SessionBlobs::Pin(const Digest& blob) {
  if (pinned_.insert(blob).second) tools_.pinned->Pin(pinned_);
}

absl::Status SessionBlobs::Write(const Digest& blob, int64_t offset, const absl::Cord& data,
                                 int64_t* held) {
  Pin(blob);
  *held = blob.size_bytes();
  auto writer = writers_.find(blob);
  if (writer == writers_.end()) {
    if (tools_.cache->Verify(blob).ok()) return absl::OkStatus();
    if (writers_.size() >= kMaxWriters) {
      return absl::ResourceExhaustedError(
          absl::StrCat("more than ", kMaxWriters, " blobs are written at a time"));
    }
    *held = 0;
    SLIPWAY_ASSIGN_OR_RETURN(std::unique_ptr<BlobWriter> opened, tools_.cache->Write(blob));
    writer = writers_.emplace(blob, std::move(opened)).first;
  }
  *held = writer->second->committed_bytes();
  if (offset != *held) {
    return absl::OutOfRangeError(absl::StrCat("the piece begins at ", offset, ", but ", *held,
                                              " bytes of the blob are here"));
  }
  for (const absl::string_view chunk : data.Chunks()) {
    SLIPWAY_RETURN_IF_ERROR(writer->second->Append(chunk));
  }
  *held = writer->second->committed_bytes();
  if (*held < blob.size_bytes()) return absl::OkStatus();
  const std::unique_ptr<BlobWriter> complete = std::move(writer->second);
  writers_.erase(writer);
  return complete->Commit();
}

absl::Status SessionBlobs::Fetch(absl::Span<const Digest> blobs, absl::Time until,
                                 std::stop_token stop, std::vector<Digest>* missing) {
  for (const Digest& blob : blobs) Pin(blob);
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<Digest> unsound, tools_.cache->FindUnsound(blobs));
  for (const Digest& blob : unsound) {
    if (tools_.fetch) {
      const absl::Status fetched = tools_.fetch(blob, until, stop);
      if (fetched.ok()) continue;
      if (!absl::IsNotFound(fetched)) return fetched;
    }
    missing->push_back(blob);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<CheckedManifest>> SessionBlobs::Gather(const Digest& manifest,
                                                                    absl::Time until,
                                                                    std::stop_token stop,
                                                                    std::vector<Digest>* missing) {
  std::optional<CheckedManifest> checked;
  SLIPWAY_RETURN_IF_ERROR(Fetch({&manifest, 1}, until, stop, missing));
  if (!missing->empty()) return checked;
  SLIPWAY_ASSIGN_OR_RETURN(const std::string bytes, ReadBlob(*tools_.cache, manifest));
  SLIPWAY_ASSIGN_OR_RETURN(checked, CheckedManifest::Parse(bytes));
  if (tools_.let_in) SLIPWAY_RETURN_IF_ERROR(tools_.let_in(*checked, until, stop));
  SLIPWAY_RETURN_IF_ERROR(Fetch(checked->blobs(), until, stop, missing));
  if (!missing->empty()) checked.reset();
  return checked;
}

}  // namespace slipway
