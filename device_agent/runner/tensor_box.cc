#include "device_agent/runner/tensor_box.h"

#include <string.h>

#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

// Rows of the box: where each begins in the whole tensor, in elements, and how many elements a row has. The innermost
// dimensions that the box takes whole are part of a row.
struct Rows {
  std::vector<int64_t> extents;  // Of the dimensions outside of a row.
  std::vector<int64_t> strides;  // Theirs, in elements of the whole tensor.
  int64_t first = 0;
  int64_t row = 1;
};

absl::StatusOr<Rows> RowsOf(const Shape& whole, absl::Span<const int64_t> begin,
                            absl::Span<const int64_t> shape) {
  if (begin.size() != whole.size() || shape.size() != whole.size()) {
    return absl::InvalidArgumentError(absl::StrCat("a box of rank ", begin.size(), " and ",
                                                   shape.size(), " in a tensor of rank ",
                                                   whole.size()));
  }
  for (size_t i = 0; i < whole.size(); ++i) {
    if (begin[i] < 0 || shape[i] < 0 || shape[i] > whole[i] || begin[i] > whole[i] - shape[i]) {
      return absl::InvalidArgumentError(
          absl::StrCat("dimension ", i, " of the box, ", begin[i], " and ", shape[i],
                       " from there, leaves the tensor's ", whole[i]));
    }
  }
  Rows rows;
  int64_t stride = 1;
  bool in_row = true;
  for (size_t i = whole.size(); i-- > 0;) {
    rows.first += begin[i] * stride;
    if (in_row) {
      rows.row *= shape[i];
    } else {
      rows.extents.insert(rows.extents.begin(), shape[i]);
      rows.strides.insert(rows.strides.begin(), stride);
    }
    in_row = in_row && shape[i] == whole[i];
    stride *= whole[i];
  }
  return rows;
}

// Calls copy(index of the row's first element in the whole, index in the box) for every row.
template <typename Copy>
void ForEachRow(const Rows& rows, Copy copy) {
  std::vector<int64_t> index(rows.extents.size(), 0);
  for (const int64_t extent : rows.extents) {
    if (extent == 0) return;
  }
  int64_t at = rows.first;
  for (int64_t in_box = 0;; in_box += rows.row) {
    copy(at, in_box);
    size_t d = index.size();
    while (d > 0) {
      --d;
      at += rows.strides[d];
      if (++index[d] < rows.extents[d]) break;
      at -= rows.strides[d] * rows.extents[d];
      index[d] = 0;
      if (d == 0) return;
    }
    if (index.empty()) return;
  }
}

}  // namespace

absl::StatusOr<Tensor> CopyBox(const Tensor& from, absl::Span<const int64_t> begin,
                               absl::Span<const int64_t> shape) {
  SLIPWAY_ASSIGN_OR_RETURN(const Rows rows, RowsOf(from.shape(), begin, shape));
  SLIPWAY_ASSIGN_OR_RETURN(Tensor box,
                           Tensor::Create({from.dtype(), Shape(shape.begin(), shape.end())}));
  const int64_t size = ByteSize(from.dtype());
  if (box.num_elements() == 0) return box;
  const char* const source = from.bytes().data();
  char* const target = box.mutable_bytes();
  ForEachRow(rows, [&](int64_t at, int64_t in_box) {
    memcpy(target + in_box * size, source + at * size, static_cast<size_t>(rows.row * size));
  });
  return box;
}

absl::Status AssignBox(const Tensor& from, absl::Span<const int64_t> begin, Tensor& to) {
  if (from.dtype() != to.dtype()) {
    return absl::InvalidArgumentError(absl::StrCat("a tensor ", ToString(from.type()),
                                                   " is assigned to one ", ToString(to.type())));
  }
  SLIPWAY_ASSIGN_OR_RETURN(const Rows rows, RowsOf(to.shape(), begin, from.shape()));
  if (from.num_elements() == 0) return absl::OkStatus();
  const int64_t size = ByteSize(from.dtype());
  const char* const source = from.bytes().data();
  char* const target = to.mutable_bytes();
  // The tensor may be assigned to itself, from its first element on alone.
  ForEachRow(rows, [&](int64_t at, int64_t in_box) {
    memmove(target + at * size, source + in_box * size, static_cast<size_t>(rows.row * size));
  });
  return absl::OkStatus();
}

}  // namespace slipway
