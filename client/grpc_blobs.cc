#include "client/grpc_blobs.h"

#include <algorithm>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/rpc/grpc_settings.h"
#include "core/wire/digest_proto.h"

namespace slipway {
namespace {

constexpr size_t kMaxFindMissing = 10000;
// Tries of a transfer that the server answers but that gets nowhere.
constexpr int kMaxFruitlessTries = 5;

// As blob.proto advises: 60 s, and 1 s for each MiB.
absl::Duration TransferDeadline(int64_t bytes) { return absl::Seconds(60 + (bytes >> 20)); }

absl::StatusOr<v1::QueryWriteResponse> QueryWrite(v1::BlobService::StubInterface& stub,
                                                  Calls& calls, const Digest& digest,
                                                  absl::Duration retry_for) {
  v1::QueryWriteRequest request;
  *request.mutable_digest() = ToProto(digest);
  v1::QueryWriteResponse response;
  SLIPWAY_RETURN_IF_ERROR(calls.Make({.retry_for = retry_for}, [&](grpc::ClientContext& context) {
    return stub.QueryWrite(&context, request, &response);
  }));
  return response;
}

// Sends the bytes from `offset` on, once.
absl::Status WriteFrom(v1::BlobService::StubInterface& stub, Calls& calls, const NamedBlob& blob,
                       int64_t offset) {
  const absl::string_view bytes = blob.contents.bytes();
  const CallOptions options = {.deadline = TransferDeadline(blob.contents.size_bytes() - offset)};
  return calls.Make(options, [&](grpc::ClientContext& context) {
    v1::WriteResponse response;
    const auto writer = stub.Write(&context, &response);
    v1::WriteRequest request;
    *request.mutable_digest() = ToProto(blob.digest);
    size_t at = static_cast<size_t>(offset);
    do {
      const absl::string_view piece = bytes.substr(at, kMaxPieceBytes);
      request.set_offset(static_cast<int64_t>(at));
      request.set_data(piece.data(), piece.size());
      // A broken stream says why in Finish.
      if (!writer->Write(request)) break;
      at += piece.size();
      request.clear_digest();
    } while (at < bytes.size());
    writer->WritesDone();
    return writer->Finish();
  });
}

absl::Status UploadBlob(v1::BlobService::StubInterface& stub, Calls& calls, const NamedBlob& blob,
                        absl::Duration retry_for) {
  absl::Status last;
  int64_t furthest = -1;
  for (int fruitless = 0; fruitless < kMaxFruitlessTries;) {
    // Waits, too, for a server that went away.
    SLIPWAY_ASSIGN_OR_RETURN(const v1::QueryWriteResponse state,
                             QueryWrite(stub, calls, blob.digest, retry_for));
    if (state.complete()) return absl::OkStatus();
    const int64_t committed = state.committed_bytes();
    if (committed < 0 || committed > blob.contents.size_bytes()) {
      return absl::InternalError(absl::StrCat("the server holds ", committed,
                                              " bytes of a blob of ", blob.contents.size_bytes()));
    }
    fruitless = committed > furthest ? 0 : fruitless + 1;
    furthest = std::max(furthest, committed);
    // What is held may be another writer's, which is only found out by trying; 0 is always right.
    last = WriteFrom(stub, calls, blob, absl::IsOutOfRange(last) ? 0 : committed);
    if (!absl::IsUnavailable(last) && !absl::IsOutOfRange(last)) return last;
  }
  return last;
}

}  // namespace

absl::Status UploadBlobs(v1::BlobService::StubInterface& stub, Calls& calls,
                         absl::Span<const NamedBlob> blobs, absl::Duration retry_for) {
  absl::flat_hash_map<Digest, const NamedBlob*> by_digest;
  for (const NamedBlob& blob : blobs) by_digest[blob.digest] = &blob;
  for (size_t i = 0; i < blobs.size(); i += kMaxFindMissing) {
    v1::FindMissingRequest request;
    for (const NamedBlob& blob : blobs.subspan(i, kMaxFindMissing)) {
      *request.add_digests() = ToProto(blob.digest);
    }
    v1::FindMissingResponse response;
    SLIPWAY_RETURN_IF_ERROR(calls.Make({.retry_for = retry_for}, [&](grpc::ClientContext& context) {
      return stub.FindMissing(&context, request, &response);
    }));
    for (const v1::Digest& proto : response.missing()) {
      SLIPWAY_ASSIGN_OR_RETURN(const Digest digest, FromProto(proto));
      const auto found = by_digest.find(digest);
      if (found == by_digest.end()) {
        return absl::InternalError("the server misses a blob it was not asked for");
      }
      SLIPWAY_RETURN_IF_ERROR_WITH(UploadBlob(stub, calls, *found->second, retry_for), "upload");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Blob> DownloadBlob(v1::BlobService::StubInterface& stub, Calls& calls,
                                  const Digest& digest, absl::Duration retry_for) {
  std::string bytes;
  Hasher hasher;
  bool progressed = false;
  bool too_long = false;
  const CallOptions options = {.deadline = TransferDeadline(digest.size_bytes()),
                               .retry_for = retry_for};
  const absl::Status status = calls.Make(
      options,
      [&](grpc::ClientContext& context) {
        progressed = false;
        v1::ReadRequest request;
        *request.mutable_digest() = ToProto(digest);
        request.set_offset(static_cast<int64_t>(bytes.size()));
        const auto reader = stub.Read(&context, request);
        v1::ReadResponse piece;
        while (reader->Read(&piece)) {
          if (static_cast<int64_t>(bytes.size() + piece.data().size()) > digest.size_bytes()) {
            too_long = true;
            context.TryCancel();
            break;
          }
          // Grows as bytes come, not as a peer's digest promises.
          bytes.append(piece.data());
          hasher.Update(piece.data());
          progressed = true;
        }
        return reader->Finish();
      },
      &progressed);
  const std::string what = absl::StrCat("download of blob \"", digest.ToString(), "\"");
  if (too_long) return absl::DataLossError(absl::StrCat(what, ": more bytes than it has"));
  SLIPWAY_RETURN_IF_ERROR_WITH(status, what);
  if (hasher.Finish() != digest) {
    return absl::DataLossError(absl::StrCat(what, ": the bytes are not those of the digest"));
  }
  return Blob::Own(std::move(bytes));
}

}  // namespace slipway
