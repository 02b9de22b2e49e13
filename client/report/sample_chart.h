// The samples of a benchmark as pictures. Pure.
#ifndef SLIPWAY_CLIENT_REPORT_SAMPLE_CHART_H_
#define SLIPWAY_CLIENT_REPORT_SAMPLE_CHART_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "client/report/html_writer.h"
#include "client/types.h"

namespace slipway {

// What of the samples is drawn: from the smallest to a little beyond where nearly all are, so that one that is far out does not
// squeeze the others. Nanoseconds of a call.
struct SampleRange {
  double low = 0;
  double high = 0;
  int64_t beyond = 0;  // Samples above it.
};
// REQUIRES: there are some; the same for the others.
SampleRange RangeOf(absl::Span<const double> samples_ns);

// How many samples lie in each of some equal parts of the range; those beyond are in none. The number of parts is
// twice the cube root of that of the samples (Rice's rule), 8 to 60.
std::vector<int64_t> Histogram(absl::Span<const double> samples_ns, const SampleRange& range);

// A histogram with the median marked; and the samples in the order of time, those that were disturbed or throttled, by
// `stamps` where there are some, in another colour. Each is an <svg> with a title for who cannot see it.
void DrawHistogram(absl::Span<const double> samples_ns, double median_ns, HtmlWriter& html);
void DrawSeries(absl::Span<const double> samples_ns, absl::Span<const SampleStamp> stamps,
                HtmlWriter& html);

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_REPORT_SAMPLE_CHART_H_
