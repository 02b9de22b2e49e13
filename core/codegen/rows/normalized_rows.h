// NormalizedRows: a group that is one softmax or normalization of rows that lie together, or side by side, and goes on with each element, as numbers alone: what a template is
// filled in with.
#ifndef SLIPWAY_CORE_CODEGEN_ROWS_NORMALIZED_ROWS_H_
#define SLIPWAY_CORE_CODEGEN_ROWS_NORMALIZED_ROWS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "core/codegen/tensor_cores/element_steps.h"
#include "core/codegen/tensor_cores/indexing.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"
#include "core/tensor/dtype.h"

namespace slipway {

// Element (row, place) lies at rows(row) + places(place) of the group's input.
struct RowTensor {
  int input = 0;
  Indexing rows;
  Indexing places;
  DataType dtype = DataType::kFloat32;  // Or i8 or u8.
};

// Rows that lie side by side: neighbours of a plane, which a tensor has one of for each place of a row.
struct TurnedRows {
  int64_t plane = 1;              // How many rows have one.
  bool result_is_turned = false;  // The result lies so, too; else its rows lie together.
};

struct NormalizedRows {
  enum class Kind {
    kSoftmax,
    kCentered,  // (x - mean) / sqrt(variance + epsilon): LayerNormalization, GroupNormalization, InstanceNormalization.
    kSquares,   // x / sqrt(mean of squares + epsilon): RMSNormalization.
  };
  Kind kind = Kind::kSoftmax;
  int64_t rows = 1;
  int64_t size = 1;  // Of a row.
  int x = 0;         // By number of the group's input.
  std::optional<TurnedRows> turned;
  float epsilon = 0;
  // What is done to each element then: scale and bias of a normalization, and what is behind it.
  std::vector<RowTensor> tensors;  // That steps read.
  std::vector<ElementStep> steps;
  ElementStep::Operand result;
  DataType dtype = DataType::
      kFloat32;  // Of the result; or i8 or u8, in whose range the last step's numbers are.
};

// UNIMPLEMENTED says what of the group is no such thing, or is longer than RowDivisions have room for. Before it there may be a Transpose that brings the second dimension behind all others, and at the end one
// that brings it back.
absl::StatusOr<NormalizedRows> DecodeNormalizedRows(const Graph& body,
                                                    const OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_ROWS_NORMALIZED_ROWS_H_
