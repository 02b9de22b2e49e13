// LibraryValues: where the values of a program lie in a library.
#ifndef SLIPWAY_CLIENT_LIBRARY_LIBRARY_VALUES_H_
#define SLIPWAY_CLIENT_LIBRARY_LIBRARY_VALUES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/library/library_plan.h"
#include "core/artifact/artifact.h"
#include "core/base/blob.h"
#include "proto/slipway/v1/artifact.pb.h"

namespace slipway {

// Values have the manifest's numbers; those that are added follow. Not thread-safe.
class LibraryValues {
 public:
  // REQUIRES: all sizes are known, there is one memory space, and no buffer is dynamic. `artifact` outlives this.
  explicit LibraryValues(const Artifact& artifact);

  // Lets the external buffer that a value fills be at a place, whose type does not matter.
  void Bind(uint32_t value, LibraryValue place);
  // INVALID_ARGUMENT where it lies in an external buffer that is at no place.
  absl::StatusOr<LibraryValue> Of(uint32_t value);
  // What a constant of one i64 is; absent for all else.
  std::optional<int64_t> Number(uint32_t value) const;

  // Memory behind the manifest's arena, until it is given back: what is taken last, first.
  LibraryValue TakeMemory(TensorType type);
  int64_t taken_end() const { return taken_end_; }
  void GiveBack(int64_t taken_end) { taken_end_ = taken_end; }
  // Makes a value of the place.
  uint32_t Add(LibraryValue place);

  // Ends it: arena, weights and values, as a library has them. Errors of Of.
  absl::Status AddTo(LibraryPlan& plan);

 private:
  const Blob& BlobOf(const v1::Constant& constant) const;
  const v1::Buffer& BufferOf(uint32_t value) const;
  // Where a constant begins in the weights, which get its blob.
  int64_t PlaceConstant(const v1::Constant& constant);

  const Artifact& artifact_;
  const v1::Manifest& manifest_;
  std::map<std::string, int64_t> offset_of_;  // By the digest of a blob.
  std::map<uint32_t, LibraryValue> places_;   // By external buffer.
  std::vector<LibraryValue> added_;
  std::vector<Blob> weights_;
  int64_t weights_bytes_ = 0;
  int64_t taken_end_;
  int64_t arena_bytes_;
};

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_LIBRARY_LIBRARY_VALUES_H_
