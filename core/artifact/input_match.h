// The one place where tensors are matched to a program's inputs before it runs: by client, server and agent alike.
// What a run binds to them, extents that share symbols among it, is the runtime's to check. Messages name the input
// and what the program takes.
#ifndef SLIPWAY_CORE_ARTIFACT_INPUT_MATCH_H_
#define SLIPWAY_CORE_ARTIFACT_INPUT_MATCH_H_

#include <cstddef>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/artifact/signature.h"
#include "core/tensor/tensor.h"
#include "proto/slipway/v1/tensor.pb.h"

namespace slipway {

// OK when a tensor of this type may be given for `input`; else INVALID_ARGUMENT.
absl::Status CheckInput(const NamedType& input, const TensorType& type);

// Finds inputs by name. Not thread-safe.
class InputNames {
 public:
  // `inputs` must outlive this.
  explicit InputNames(absl::Span<const NamedType> inputs);

  // The position of the input called `name`. INVALID_ARGUMENT for a name that the program does not have, or that
  // was taken before.
  absl::StatusOr<size_t> Take(absl::string_view name);

 private:
  const absl::Span<const NamedType> inputs_;
  absl::flat_hash_map<absl::string_view, size_t> positions_;
  std::vector<bool> is_taken_;
};

// For each input the one of the tensors `given` that bears its name, or null. Each is checked as by
// CheckTensorProto. INVALID_ARGUMENT for an unknown or repeated name, and for another type.
absl::StatusOr<std::vector<const v1::Tensor*>> MatchInputs(
    absl::Span<const NamedType> inputs,
    const google::protobuf::RepeatedPtrField<v1::Tensor>& given);

}  // namespace slipway

#endif  // SLIPWAY_CORE_ARTIFACT_INPUT_MATCH_H_
