// LoadOperation: loads a program, and writes the blobs that the device says it lacks.
#ifndef SLIPWAY_CLIENT_SESSION_LOAD_OPERATION_H_
#define SLIPWAY_CLIENT_SESSION_LOAD_OPERATION_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/future.h"
#include "client/session/operation.h"
#include "core/base/blob.h"
#include "core/base/digest.h"
#include "proto/slipway/v1/session.pb.h"

namespace slipway {

// Asks in rounds: load; while the device lacks blobs that it was not sent, write those and load again. Each blob is
// written from where another try had got to.
class LoadOperation final : public SessionOperation {
 public:
  // Asked for each blob that the device lacks; none if the artifact has no such blob.
  using Contents = std::function<std::optional<Blob>(const Digest&)>;
  // Given what was loaded. An error becomes that of the operation.
  using Loaded = std::function<absl::Status(const v1::SessionResponse::Loaded&)>;

  // `load` holds a load. Blobs go in pieces of `piece_bytes`. Without `contents`, of an artifact that is named alone,
  // nothing is sent.
  LoadOperation(v1::SessionRequest load, Contents contents, int64_t piece_bytes, Loaded loaded)
      : load_(std::move(load)),
        contents_(std::move(contents)),
        piece_bytes_(piece_bytes),
        loaded_(std::move(loaded)) {}

  // The first round.
  std::vector<OutgoingRequest> Begin() const;

  absl::Status Take(size_t piece, const RequestAnswer& answer) override;
  absl::StatusOr<std::vector<OutgoingRequest>> Next() override;
  void Finish(const absl::Status& status) override;

  // REQUIRES: it is done.
  absl::StatusOr<Done>& result() { return result_; }

 private:
  // A blob that the device lacks.
  struct Missing {
    Digest digest;
    Blob contents;
    int64_t size = 0;         // Bytes that the device has.
    bool is_started = false;  // It has said so.
    int64_t furthest = -1;    // The most that it ever had.
  };

  absl::Status TakeLoad(const RequestAnswer& answer);
  absl::Status TakeBlob(size_t piece, const RequestAnswer& answer);
  // The next pieces of a blob: one until it is known where to go on, then all.
  void AppendWrites(size_t blob, std::vector<OutgoingRequest>& requests);

  const v1::SessionRequest load_;
  const Contents contents_;
  const int64_t piece_bytes_;
  Loaded loaded_;
  bool is_loaded_ = false;
  // Blobs that the device lacked at one time.
  absl::flat_hash_set<Digest> sent_;
  // Of this round.
  std::vector<Missing> missing_;
  std::vector<size_t> blob_of_;  // Of each request.
  bool went_on_ = false;
  int idle_rounds_ = 0;
  absl::StatusOr<Done> result_;
};

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_SESSION_LOAD_OPERATION_H_
