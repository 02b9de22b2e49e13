// A tensor in one line, and the files tensors are written to.
#ifndef SLIPWAY_CLIENT_CLI_TENSOR_SUMMARY_H_
#define SLIPWAY_CLIENT_CLI_TENSOR_SUMMARY_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "core/tensor/tensor.h"

namespace slipway::cli {

// Over the elements that are numbers and not NaN; unset when there are none.
struct TensorStatistics {
  std::optional<double> min, max, mean;
  int64_t largest_at = 0;  // Index, row-major, of the first largest element.
  int64_t nan_count = 0;
};
// Complex tensors have no statistics.
TensorStatistics Statistics(const Tensor& tensor);

// "min -1, max 2, mean 0.5, largest at 2: 0.5 -1 2"
std::string Summary(const Tensor& tensor);

// A file name for an output: letters, digits, ".", "_" and "-" stay, every other byte becomes %XX, as does a
// leading "."; a name that would be too long ends in a part of its digest. Different names give different
// files. Without suffix.
std::string FileNameFor(absl::string_view output);

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_TENSOR_SUMMARY_H_
