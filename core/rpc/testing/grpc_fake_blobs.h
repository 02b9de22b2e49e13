// FakeBlobService: a BlobService over memory that breaks where a test says.
#ifndef SLIPWAY_CORE_RPC_TESTING_GRPC_FAKE_BLOBS_H_
#define SLIPWAY_CORE_RPC_TESTING_GRPC_FAKE_BLOBS_H_

#include <grpcpp/server_context.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "core/store/memory_blob_store.h"
#include "proto/slipway/v1/blob.grpc.pb.h"

namespace slipway::testing {

// What breaks; by default nothing.
struct BlobFaults {
  // So many of the next calls of Read (Write) end in UNAVAILABLE after so many bytes.
  int reads = 0;
  int64_t read_bytes = 0;
  int writes = 0;
  int64_t write_bytes = 0;
  // QueryWrite claims so many bytes more than Write takes, as when another process writes the same blob, or a
  // server forgot them in between.
  int64_t forgotten_bytes = 0;
  // Read ends after as many bytes, as if that were all; -1: all bytes.
  int64_t read_ends_after = -1;
  // Read sends this after the blob's bytes; and, with `corrupt`, other bytes in their place.
  std::string tail;
  bool corrupt = false;
};

// Thread-safe.
class FakeBlobService final : public v1::BlobService::Service {
 public:
  // What every call does first; what is not OK ends it.
  using Enter = std::function<grpc::Status(const grpc::ServerContext&)>;
  explicit FakeBlobService(Enter enter =
                               [](const grpc::ServerContext&) { return grpc::Status::OK; })
      : enter_(std::move(enter)) {}

  // What is stored here can be read, and what is written appears here.
  MemoryBlobStore& blobs() { return blobs_; }
  void SetFaults(BlobFaults faults);

  // Bytes that Read sent and Write took from callers so far.
  int64_t bytes_read() const;
  int64_t bytes_written() const;

  grpc::Status FindMissing(grpc::ServerContext* context, const v1::FindMissingRequest* request,
                           v1::FindMissingResponse* response) override;
  grpc::Status QueryWrite(grpc::ServerContext* context, const v1::QueryWriteRequest* request,
                          v1::QueryWriteResponse* response) override;
  grpc::Status Write(grpc::ServerContext* context, grpc::ServerReader<v1::WriteRequest>* reader,
                     v1::WriteResponse* response) override;
  grpc::Status Read(grpc::ServerContext* context, const v1::ReadRequest* request,
                    grpc::ServerWriter<v1::ReadResponse>* writer) override;

 private:
  const Enter enter_;
  MemoryBlobStore blobs_;
  mutable absl::Mutex mutex_;
  BlobFaults faults_ ABSL_GUARDED_BY(mutex_);
  int64_t bytes_read_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t bytes_written_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace slipway::testing

#endif  // SLIPWAY_CORE_RPC_TESTING_GRPC_FAKE_BLOBS_H_
