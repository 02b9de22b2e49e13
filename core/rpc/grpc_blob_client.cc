#include "core/rpc/grpc_blob_client.h"

#include <algorithm>
#include <optional>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/rpc/grpc_settings.h"
#include "core/wire/digest_proto.h"

namespace slipway {
namespace {

constexpr size_t kMaxFindMissing = 10'000;

// As blob.proto advises: 60 s, and 1 s for each MiB.
absl::Duration TransferDeadline(int64_t bytes) { return absl::Seconds(60 + (bytes >> 20)); }

// What a writer says of bytes that are not the blob's.
absl::Status Received(const absl::Status& written) {
  if (!absl::IsInvalidArgument(written)) return written;
  return absl::DataLossError(absl::StrCat("the server sent something else: ", written.message()));
}

}  // namespace

BlobClient::BlobClient(Calls& calls)
    : calls_(calls), stub_(v1::BlobService::NewStub(calls.channel())) {}

absl::Status BlobClient::FetchOnce(const Digest& digest, BlobStore& store,
                                   const RetryPolicy& policy, bool& progressed) {
  absl::StatusOr<std::unique_ptr<BlobWriter>> opened = store.Write(digest);
  // Another user of the store may have brought it.
  if (absl::IsAlreadyExists(opened.status())) return absl::OkStatus();
  SLIPWAY_RETURN_IF_ERROR(opened.status());
  BlobWriter& writer = **opened;
  absl::Status written;
  const absl::Duration deadline = TransferDeadline(digest.size_bytes() - writer.committed_bytes());
  const absl::Status read = calls_.Once(deadline, policy, [&](grpc::ClientContext& context) {
    v1::ReadRequest request;
    *request.mutable_digest() = ToProto(digest);
    request.set_offset(writer.committed_bytes());
    const auto reader = stub_->Read(&context, request);
    v1::ReadResponse piece;
    while (written.ok() && reader->Read(&piece)) {
      written = writer.Append(piece.data());
      progressed |= written.ok() && !piece.data().empty();
    }
    if (!written.ok()) context.TryCancel();
    return reader->Finish();
  });
  SLIPWAY_RETURN_IF_ERROR(Received(written));
  SLIPWAY_RETURN_IF_ERROR(read);
  if (writer.committed_bytes() < digest.size_bytes()) {
    return absl::UnavailableError(
        absl::StrCat("the server sent ", writer.committed_bytes(), " bytes of it"));
  }
  return Received(writer.Commit());
}

absl::Status BlobClient::Fetch(const Digest& digest, BlobStore& store, const RetryPolicy& policy) {
  return Annotate(
      calls_.Persist(
          policy, [&](bool& progressed) { return FetchOnce(digest, store, policy, progressed); }),
      absl::StrCat("cannot fetch blob ", digest.ToString()));
}

absl::Status BlobClient::WriteFrom(int64_t offset, const Digest& digest, const Blob& blob,
                                   const RetryPolicy& policy) {
  const absl::Duration deadline = TransferDeadline(digest.size_bytes() - offset);
  return calls_.Once(deadline, policy, [&](grpc::ClientContext& context) {
    v1::WriteResponse response;
    const auto writer = stub_->Write(&context, &response);
    v1::WriteRequest request;
    *request.mutable_digest() = ToProto(digest);
    int64_t at = offset;
    do {
      const Blob part = blob.Part(at, std::min<int64_t>(kMaxPieceBytes, blob.size_bytes() - at));
      const absl::string_view piece = part.bytes();
      request.set_offset(at);
      request.set_data(piece.data(), piece.size());
      part.LetGo();
      // A broken stream says why in Finish.
      if (!writer->Write(request)) break;
      at += part.size_bytes();
      request.clear_digest();
    } while (at < blob.size_bytes());
    writer->WritesDone();
    return writer->Finish();
  });
}

absl::Status BlobClient::SendOne(const Digest& digest, Source source, const RetryPolicy& policy) {
  std::optional<Blob> blob;
  int64_t furthest = 0;
  return calls_.Persist(policy, [&](bool& progressed) -> absl::Status {
    v1::QueryWriteRequest request;
    *request.mutable_digest() = ToProto(digest);
    v1::QueryWriteResponse held;
    SLIPWAY_RETURN_IF_ERROR(calls_.Once(kCallDeadline, policy, [&](grpc::ClientContext& context) {
      return stub_->QueryWrite(&context, request, &held);
    }));
    if (held.complete()) return absl::OkStatus();
    const int64_t committed = held.committed_bytes();
    if (committed < 0 || committed > digest.size_bytes()) {
      return absl::InternalError(absl::StrCat("the server claims to hold ", committed, " of ",
                                              digest.size_bytes(), " bytes"));
    }
    progressed = committed > furthest;
    furthest = std::max(furthest, committed);
    if (!blob.has_value()) {
      SLIPWAY_ASSIGN_OR_RETURN(blob, source(digest));
    }
    absl::Status sent = WriteFrom(committed, digest, *blob, policy);
    // What is held may be forgotten since, or be another writer's; 0 is always right.
    if (absl::IsOutOfRange(sent)) sent = WriteFrom(0, digest, *blob, policy);
    if (absl::IsOutOfRange(sent)) return absl::UnavailableError(sent.message());
    return sent;
  });
}

absl::Status BlobClient::Send(absl::Span<const Digest> digests, Source source,
                              const RetryPolicy& policy) {
  const auto send = [&](const Digest& digest) {
    return Annotate(SendOne(digest, source, policy),
                    absl::StrCat("cannot send blob ", digest.ToString()));
  };
  // Of one blob QueryWrite tells as much.
  if (digests.size() == 1) return send(digests.front());
  for (; !digests.empty(); digests.remove_prefix(std::min(digests.size(), kMaxFindMissing))) {
    v1::FindMissingRequest request;
    absl::flat_hash_set<Digest> asked;
    for (const Digest& digest : digests.subspan(0, kMaxFindMissing)) {
      if (asked.insert(digest).second) *request.add_digests() = ToProto(digest);
    }
    v1::FindMissingResponse response;
    SLIPWAY_RETURN_IF_ERROR(calls_.Make(kCallDeadline, policy, [&](grpc::ClientContext& context) {
      return stub_->FindMissing(&context, request, &response);
    }));
    for (const v1::Digest& proto : response.missing()) {
      SLIPWAY_ASSIGN_OR_RETURN(const Digest digest, FromProto(proto));
      if (asked.erase(digest) == 0) {
        return absl::InternalError("the server misses a blob that it was not asked for");
      }
      SLIPWAY_RETURN_IF_ERROR(send(digest));
    }
  }
  return absl::OkStatus();
}

}  // namespace slipway
