// FakeRunner: what a device does for a session, over tensors of the host and one toy program.
#ifndef SLIPWAY_CLIENT_TESTING_FAKE_RUNNER_H_
#define SLIPWAY_CLIENT_TESTING_FAKE_RUNNER_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/cord.h"
#include "core/base/digest.h"
#include "core/tensor/tensor.h"
#include "proto/slipway/v1/session.pb.h"

namespace slipway::testing {

// Not thread-safe.
class FakeRunner {
 public:
  FakeRunner() = default;
  // With these blobs.
  explicit FakeRunner(std::map<std::string, std::string> blobs) : blobs_(std::move(blobs)) {}

  // Carries a request out: all but calls of "wait" and "print", which are as "copy" here. `data` is that of the request,
  // then that of the response.
  v1::SessionResponse Do(const v1::SessionRequest& request, absl::Cord& data,
                         const std::vector<Digest>& needed_blobs);

  // By hexadecimal digest: what is there of each.
  std::map<std::string, std::string>& blobs() { return blobs_; }
  // Above all handles that there ever were.
  uint64_t next_handle() const { return next_handle_; }
  int64_t tensors() const { return static_cast<int64_t>(tensors_.size()); }

 private:
  absl::Status Carry(const v1::SessionRequest& request, absl::Cord& data,
                     const std::vector<Digest>& needed_blobs, v1::SessionResponse& response);
  absl::Status Load(const v1::SessionRequest::Load& load, const std::vector<Digest>& needed_blobs,
                    v1::SessionResponse::Loaded& loaded);
  absl::Status WriteBlob(const v1::SessionRequest::WriteBlob& write, const absl::Cord& data,
                         v1::SessionResponse& response);
  absl::Status Allocate(const v1::SessionRequest::Allocate& allocate);
  absl::Status Slice(const v1::SessionRequest::Slice& slice);
  absl::Status Assign(const v1::SessionRequest::Assign& assign);
  absl::Status Call(const v1::SessionRequest::Call& call, v1::SessionResponse::Called& called);
  absl::Status Free(const v1::SessionRequest::Free& free);
  absl::StatusOr<Tensor*> Find(uint64_t handle);
  absl::StatusOr<char*> Part(uint64_t handle, int64_t offset, int64_t size);

  void Note(uint64_t handle, const std::string& name);
  void List(const v1::SessionRequest::List& list, v1::SessionResponse::Listed& listed) const;

  uint64_t next_handle_ = 1;
  std::map<uint64_t, Tensor> tensors_;
  std::map<uint64_t, std::string> names_;  // Of tensors and programs.
  std::set<uint64_t> programs_;
  std::map<std::string, std::string> blobs_;
};

}  // namespace slipway::testing

#endif  // SLIPWAY_CLIENT_TESTING_FAKE_RUNNER_H_
