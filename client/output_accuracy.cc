#include "client/output_accuracy.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "core/base/status_macros.h"

namespace slipway {

absl::Status AccuracyObserver::Add(const Tensor& expected, const Tensor& actual) {
  if (expected.type() != actual.type()) {
    return absl::InvalidArgumentError(
        absl::StrCat(ToString(actual.type()), " was given, not ", ToString(expected.type())));
  }
  if (expected.dtype() == DataType::kFloat32) {
    SLIPWAY_RETURN_IF_ERROR(AddFloats(expected, actual));
  } else {
    const absl::string_view a = expected.bytes();
    const absl::string_view b = actual.bytes();
    const size_t each = expected.num_elements() == 0 ? 1 : a.size() / expected.num_elements();
    for (size_t i = 0; i < a.size(); i += each) alike_ += a.substr(i, each) == b.substr(i, each);
    counted_ += expected.num_elements();
  }
  elements_ += expected.num_elements();
  return absl::OkStatus();
}

absl::Status AccuracyObserver::AddFloats(const Tensor& expected, const Tensor& actual) {
  has_floats_ = true;
  const absl::Span<const float> e = expected.values<float>();
  const absl::Span<const float> a = actual.values<float>();
  for (size_t i = 0; i < e.size(); ++i) {
    if (!std::isfinite(e[i])) continue;
    if (!std::isfinite(a[i])) {
      return absl::InvalidArgumentError(absl::StrCat("element ", i, " is ", a[i], ", not ", e[i]));
    }
    const double difference = double{a[i]} - e[i];
    largest_difference_ = std::max(largest_difference_, std::abs(difference));
    largest_expected_ = std::max(largest_expected_, std::abs(double{e[i]}));
    squares_difference_ += difference * difference;
    squares_expected_ += double{e[i]} * e[i];
    squares_actual_ += double{a[i]} * a[i];
    product_ += double{e[i]} * a[i];
  }
  CountRows(expected, actual);
  return absl::OkStatus();
}

void AccuracyObserver::CountRows(const Tensor& expected, const Tensor& actual) {
  Shape shape = expected.shape();
  while (shape.size() > 2 && shape.back() == 1) shape.pop_back();
  if (shape.size() != 2 || shape.back() < 2) return;
  const auto columns = static_cast<size_t>(shape.back());
  const absl::Span<const float> e = expected.values<float>();
  const absl::Span<const float> a = actual.values<float>();
  const auto largest = [columns](absl::Span<const float> values, size_t row) {
    const absl::Span<const float> all = values.subspan(row, columns);
    return std::max_element(all.begin(), all.end()) - all.begin();
  };
  for (size_t row = 0; row < e.size(); row += columns) {
    alike_ += largest(e, row) == largest(a, row);
    ++counted_;
  }
}

OutputAccuracy AccuracyObserver::Result(const std::string& name) const {
  OutputAccuracy result;
  result.name = name;
  result.elements = elements_;
  if (has_floats_) {
    OutputAccuracy::Errors errors;
    errors.absolute = largest_difference_;
    errors.relative = largest_expected_ > 0 ? largest_difference_ / largest_expected_ : 0;
    if (squares_difference_ > 0 && squares_expected_ > 0) {
      errors.decibels = 10 * std::log10(squares_expected_ / squares_difference_);
    }
    const double norms = std::sqrt(squares_expected_) * std::sqrt(squares_actual_);
    if (norms > 0) {
      errors.cosine = product_ / norms;
    } else if (squares_difference_ > 0) {
      errors.cosine = 0;
    }
    result.errors = errors;
  }
  if (counted_ > 0) {
    result.agreement = static_cast<double>(alike_) / static_cast<double>(counted_);
  }
  return result;
}

}  // namespace slipway
