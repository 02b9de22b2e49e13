#include "server/handlers/blobs.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/wire/digest_proto.h"
#include "server/limits.h"

namespace slipway::server {

absl::Status FindMissing(const Environment& env, const v1::FindMissingRequest& request,
                         v1::FindMissingResponse* response) {
  if (request.digests_size() > kMaxDigestsInFindMissing) {
    return absl::InvalidArgumentError(absl::StrCat(
        request.digests_size(), " digests are asked for; at most ", kMaxDigestsInFindMissing));
  }
  std::vector<Digest> digests;
  for (const v1::Digest& digest : request.digests()) {
    SLIPWAY_ASSIGN_OR_RETURN(Digest parsed, FromProto(digest));
    digests.push_back(std::move(parsed));
  }
  for (const Digest& digest : env.blobs->FindMissing(digests)) {
    *response->add_missing() = ToProto(digest);
  }
  return absl::OkStatus();
}

absl::Status QueryWrite(const Environment& env, const v1::QueryWriteRequest& request,
                        v1::QueryWriteResponse* response) {
  SLIPWAY_ASSIGN_OR_RETURN(const Digest digest, FromProto(request.digest()));
  response->set_complete(env.blobs->Has(digest));
  response->set_committed_bytes(response->complete() ? digest.size_bytes()
                                                     : env.blobs->PartialBytes(digest));
  return absl::OkStatus();
}

absl::Status MayWrite(const Caller& caller, const Environment& env) {
  if (caller.roles.Has(Role::kAgent) || caller.roles.Has(Role::kWorker)) return absl::OkStatus();
  return env.memory->MayBegin();
}

BlobUpload::~BlobUpload() { env_.uploads->Closed(this); }

bool BlobUpload::LetGo() {
  if (!mutex_.TryLock()) return false;
  writer_.reset();
  mutex_.Unlock();
  return true;
}

void BlobUpload::CloseWriter() {
  env_.uploads->Closed(this);
  writer_.reset();
}

absl::Status BlobUpload::Take(const v1::WriteRequest& request) {
  absl::MutexLock lock(&mutex_);
  absl::Status status = TakeOrFail(request);
  if (!status.ok()) {
    // Before the caller hears of it, so that his next call finds the transfer free.
    CloseWriter();
  } else if (writer_ != nullptr) {
    env_.uploads->Used(this, owner_);
  }
  return status;
}

absl::Status BlobUpload::TakeOrFail(const v1::WriteRequest& request) {
  if (is_known_) return absl::OkStatus();
  if (request.data().size() > kMaxPieceBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("a piece has ", request.data().size(), " bytes; at most ", kMaxPieceBytes));
  }
  if (!digest_.is_set()) {
    SLIPWAY_RETURN_IF_ERROR(Begin(request));
  } else if (request.has_digest()) {
    return absl::InvalidArgumentError("a message after the first names a blob");
  } else if (request.offset() != offset_) {
    return absl::InvalidArgumentError(
        absl::StrCat("a piece begins at ", request.offset(), "; ", offset_, " was next"));
  } else if (writer_ == nullptr) {
    SLIPWAY_RETURN_IF_ERROR(GoOn());
  }
  if (is_known_) return absl::OkStatus();
  // A sender that begins anew repeats what is held already; the digest is checked over all of it.
  absl::string_view data = request.data();
  const int64_t held = writer_->committed_bytes() - offset_;
  offset_ += static_cast<int64_t>(data.size());
  data.remove_prefix(std::min<int64_t>(held, static_cast<int64_t>(data.size())));
  if (data.empty()) return absl::OkStatus();
  return writer_->Append(data);
}

absl::Status BlobUpload::OpenWriter() {
  absl::StatusOr<std::unique_ptr<BlobWriter>> writer = env_.blobs->Write(digest_);
  if (absl::IsAlreadyExists(writer.status())) {
    is_known_ = true;
    return absl::OkStatus();
  }
  if (!writer.ok()) return writer.status();
  writer_ = *std::move(writer);
  return absl::OkStatus();
}

absl::Status BlobUpload::GoOn() {
  SLIPWAY_RETURN_IF_ERROR(OpenWriter());
  if (is_known_ || writer_->committed_bytes() >= offset_) return absl::OkStatus();
  return absl::OutOfRangeError(
      absl::StrCat("the transfer stood still, and ", offset_ - writer_->committed_bytes(),
                   " bytes of it were dropped meanwhile: ask QueryWrite and resume there"));
}

absl::Status BlobUpload::Begin(const v1::WriteRequest& request) {
  if (!request.has_digest()) return absl::InvalidArgumentError("the first message names no blob");
  SLIPWAY_ASSIGN_OR_RETURN(const Digest digest, FromProto(request.digest()));
  if (digest.size_bytes() > env_.limits.max_blob_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat("the blob has ", digest.size_bytes(),
                                                     " bytes; this server allows ",
                                                     env_.limits.max_blob_bytes));
  }
  digest_ = digest;
  SLIPWAY_RETURN_IF_ERROR(OpenWriter());
  if (is_known_) return absl::OkStatus();
  offset_ = request.offset();
  if (offset_ != 0 && offset_ != writer_->committed_bytes()) {
    return absl::OutOfRangeError(absl::StrCat("the first piece begins at ", offset_, "; ",
                                              writer_->committed_bytes(),
                                              " bytes are held: ask QueryWrite and resume there"));
  }
  return absl::OkStatus();
}

absl::Status BlobUpload::Finish(v1::WriteResponse* response) {
  absl::MutexLock lock(&mutex_);
  env_.uploads->Closed(this);
  if (!is_known_) {
    if (!digest_.is_set()) return absl::InvalidArgumentError("no message came");
    if (writer_ == nullptr) SLIPWAY_RETURN_IF_ERROR(GoOn());
  }
  const std::unique_ptr<BlobWriter> writer = std::move(writer_);
  if (!is_known_) {
    if (writer->committed_bytes() < digest_.size_bytes()) {
      // Kept, so that the sender may resume.
      return absl::InvalidArgumentError(
          absl::StrCat("the transfer ended after ", writer->committed_bytes(), " of ",
                       digest_.size_bytes(), " bytes; send the rest"));
    }
    SLIPWAY_RETURN_IF_ERROR(writer->Commit());
  }
  response->set_committed_bytes(digest_.size_bytes());
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<BlobDownload>> BlobDownload::Open(const Environment& env,
                                                                 std::string owner,
                                                                 const v1::ReadRequest& request) {
  SLIPWAY_ASSIGN_OR_RETURN(const Digest digest, FromProto(request.digest()));
  if (request.offset() < 0 || request.offset() > digest.size_bytes()) {
    return absl::OutOfRangeError(absl::StrCat(
        "offset ", request.offset(), " is outside of the blob's ", digest.size_bytes(), " bytes"));
  }
  SLIPWAY_RETURN_IF_ERROR(env.downloads->Begin(owner));
  std::unique_ptr<BlobDownload> download(new BlobDownload(env.downloads, std::move(owner)));
  // Read in pieces and not mapped: of what happens to the file the server must hear as of an error.
  absl::StatusOr<std::unique_ptr<BlobReader>> reader = env.blobs->Open(digest);
  if (absl::IsNotFound(reader.status())) {
    return absl::NotFoundError(
        absl::StrCat("blob ", digest.ToString(), " is not here: write it, or compile again"));
  }
  if (!reader.ok()) return reader.status();
  download->reader_ = *std::move(reader);
  download->size_ = digest.size_bytes();
  download->offset_ = request.offset();
  return download;
}

BlobDownload::~BlobDownload() { downloads_.End(owner_); }

absl::StatusOr<bool> BlobDownload::Next(v1::ReadResponse* response) {
  const int64_t left = size_ - offset_;
  // An empty blob is one empty piece.
  if (left == 0 && (began_ || size_ > 0)) return false;
  began_ = true;
  const int64_t piece = std::min(left, downloads_.PieceBytes());
  SLIPWAY_ASSIGN_OR_RETURN(*response->mutable_data(), reader_->Read(offset_, piece));
  offset_ += piece;
  return true;
}

}  // namespace slipway::server
