// Sequences and optionals in the files of a case, as packs (core/operators/sequence.h).
#ifndef SLIPWAY_TESTS_CONFORMANCE_PACKED_DATA_H_
#define SLIPWAY_TESTS_CONFORMANCE_PACKED_DATA_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/operators/sequence.h"
#include "core/tensor/comparison.h"
#include "core/tensor/tensor.h"

namespace slipway {

// A SequenceProto or OptionalProto of ONNX.
absl::StatusOr<Tensor> ParsePackedData(absl::string_view bytes, PackKind kind);

// CheckClose of each element where a pack is expected.
absl::Status CheckCloseData(const Tensor& actual, const Tensor& expected,
                            const Tolerance& tolerance);

}  // namespace slipway

#endif  // SLIPWAY_TESTS_CONFORMANCE_PACKED_DATA_H_
