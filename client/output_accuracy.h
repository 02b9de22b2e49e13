// OutputAccuracy: how far what a program gives is from what another one gives for the same inputs.
#ifndef SLIPWAY_CLIENT_OUTPUT_ACCURACY_H_
#define SLIPWAY_CLIENT_OUTPUT_ACCURACY_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "core/tensor/tensor.h"

namespace slipway {

struct OutputAccuracy {
  std::string name;
  int64_t elements = 0;  // Compared, in all calls.
  // Of f32; absent for outputs of other types.
  struct Errors {
    double absolute = 0;  // The largest difference,
    double relative = 0;  // over the largest expected magnitude (0 where that is 0).
    std::optional<double>
        decibels;  // Of expected squares over those of differences; absent where there are none.
    double cosine = 1;  // Between all expected and all given elements; 0 where only one side is 0.
  };
  std::optional<Errors> errors;
  // Of f32 and two dimensions, ones behind them aside: the share of rows of two elements or more in which the same one is the
  // largest. Of other types: the share of elements that are equal.
  std::optional<double> agreement;
};

// Gathers the calls of one output. Not thread-safe.
class AccuracyObserver {
 public:
  // What the two gave in one call. INVALID_ARGUMENT when their types differ, or one of `actual` is not finite where the other's is.
  absl::Status Add(const Tensor& expected, const Tensor& actual);
  OutputAccuracy Result(const std::string& name) const;

 private:
  absl::Status AddFloats(const Tensor& expected, const Tensor& actual);
  void CountRows(const Tensor& expected, const Tensor& actual);

  int64_t elements_ = 0;
  bool has_floats_ = false;
  double largest_difference_ = 0;
  double largest_expected_ = 0;
  double squares_expected_ = 0;
  double squares_actual_ = 0;
  double squares_difference_ = 0;
  double product_ = 0;
  int64_t alike_ = 0;
  int64_t counted_ = 0;
};

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_OUTPUT_ACCURACY_H_
