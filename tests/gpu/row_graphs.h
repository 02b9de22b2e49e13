// Small graphs of rows that are normalized.
#ifndef SLIPWAY_TESTS_GPU_ROW_GRAPHS_H_
#define SLIPWAY_TESTS_GPU_ROW_GRAPHS_H_

#include <ostream>

#include "absl/types/span.h"
#include "core/codegen/rows/row_division.h"

namespace slipway::testing {

struct RowGraph {
  const char* name;
  const char* text;
  int size;  // Of a row.
  RowLayout layout = RowLayout::kTogether;
};

absl::Span<const RowGraph> RowGraphs();

// For GoogleTest.
inline std::ostream& operator<<(std::ostream& out, const RowGraph& graph) {
  return out << graph.name;
}

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_GPU_ROW_GRAPHS_H_
