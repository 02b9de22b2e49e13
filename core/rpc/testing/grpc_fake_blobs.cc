#include "core/rpc/testing/grpc_fake_blobs.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/rpc/grpc_settings.h"
#include "core/rpc/grpc_status.h"
#include "core/wire/digest_proto.h"

namespace slipway::testing {
namespace {

grpc::Status Broken() { return {grpc::StatusCode::UNAVAILABLE, "broken on purpose"}; }

}  // namespace

void FakeBlobService::SetFaults(BlobFaults faults) {
  absl::MutexLock lock(&mutex_);
  faults_ = std::move(faults);
}

int64_t FakeBlobService::bytes_read() const {
  absl::MutexLock lock(&mutex_);
  return bytes_read_;
}

int64_t FakeBlobService::bytes_written() const {
  absl::MutexLock lock(&mutex_);
  return bytes_written_;
}

grpc::Status FakeBlobService::FindMissing(grpc::ServerContext* context,
                                          const v1::FindMissingRequest* request,
                                          v1::FindMissingResponse* response) {
  const grpc::Status entered = enter_(*context);
  if (!entered.ok()) return entered;
  for (const v1::Digest& proto : request->digests()) {
    const absl::StatusOr<Digest> digest = FromProto(proto);
    if (!digest.ok()) return ToGrpc(digest.status());
    if (!blobs_.Has(*digest)) *response->add_missing() = proto;
  }
  return grpc::Status::OK;
}

grpc::Status FakeBlobService::QueryWrite(grpc::ServerContext* context,
                                         const v1::QueryWriteRequest* request,
                                         v1::QueryWriteResponse* response) {
  const grpc::Status entered = enter_(*context);
  if (!entered.ok()) return entered;
  const absl::StatusOr<Digest> digest = FromProto(request->digest());
  if (!digest.ok()) return ToGrpc(digest.status());
  response->set_complete(blobs_.Has(*digest));
  absl::MutexLock lock(&mutex_);
  response->set_committed_bytes(response->complete()
                                    ? digest->size_bytes()
                                    : blobs_.PartialBytes(*digest) + faults_.forgotten_bytes);
  return grpc::Status::OK;
}

grpc::Status FakeBlobService::Write(grpc::ServerContext* context,
                                    grpc::ServerReader<v1::WriteRequest>* reader,
                                    v1::WriteResponse* response) {
  const grpc::Status entered = enter_(*context);
  if (!entered.ok()) return entered;
  int64_t left = -1;  // Bytes until it breaks.
  {
    absl::MutexLock lock(&mutex_);
    if (faults_.writes > 0) {
      --faults_.writes;
      left = faults_.write_bytes;
    }
  }
  v1::WriteRequest request;
  if (!reader->Read(&request)) return {grpc::StatusCode::INVALID_ARGUMENT, "nothing came"};
  const absl::StatusOr<Digest> digest = FromProto(request.digest());
  if (!digest.ok()) return ToGrpc(digest.status());
  absl::StatusOr<std::unique_ptr<BlobWriter>> writer = blobs_.Write(*digest);
  if (!writer.ok()) return ToGrpc(writer.status());
  do {
    if (request.offset() != (*writer)->committed_bytes()) {
      return {grpc::StatusCode::OUT_OF_RANGE, "not the committed size"};
    }
    absl::string_view data = request.data();
    {
      absl::MutexLock lock(&mutex_);
      bytes_written_ += static_cast<int64_t>(data.size());
    }
    const bool breaks = left >= 0 && static_cast<int64_t>(data.size()) >= left;
    if (breaks) data = data.substr(0, static_cast<size_t>(left));
    const absl::Status status = (*writer)->Append(data);
    if (!status.ok()) return ToGrpc(status);
    if (breaks) return Broken();
    if (left >= 0) left -= static_cast<int64_t>(data.size());
  } while (reader->Read(&request));
  response->set_committed_bytes((*writer)->committed_bytes());
  return ToGrpc((*writer)->Commit());
}

grpc::Status FakeBlobService::Read(grpc::ServerContext* context, const v1::ReadRequest* request,
                                   grpc::ServerWriter<v1::ReadResponse>* writer) {
  const grpc::Status entered = enter_(*context);
  if (!entered.ok()) return entered;
  const absl::StatusOr<Digest> digest = FromProto(request->digest());
  if (!digest.ok()) return ToGrpc(digest.status());
  const absl::StatusOr<Blob> blob = blobs_.Get(*digest);
  if (!blob.ok()) return ToGrpc(blob.status());
  if (request->offset() > blob->size_bytes()) {
    return {grpc::StatusCode::OUT_OF_RANGE, "beyond the end"};
  }
  std::string bytes(blob->bytes().substr(static_cast<size_t>(request->offset())));
  bool breaks = false;
  {
    absl::MutexLock lock(&mutex_);
    if (faults_.read_ends_after >= 0)
      bytes.resize(std::min<size_t>(bytes.size(), faults_.read_ends_after));
    if (faults_.corrupt) bytes.assign(bytes.size(), '!');
    bytes += faults_.tail;
    if (faults_.reads > 0) {
      --faults_.reads;
      breaks = true;
      bytes.resize(std::min<size_t>(bytes.size(), faults_.read_bytes));
    }
    bytes_read_ += static_cast<int64_t>(bytes.size());
  }
  v1::ReadResponse response;
  for (size_t at = 0; at < bytes.size(); at += kMaxPieceBytes) {
    response.set_data(bytes.substr(at, kMaxPieceBytes));
    writer->Write(response);
  }
  return breaks ? Broken() : grpc::Status::OK;
}

}  // namespace slipway::testing
