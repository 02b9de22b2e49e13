// Metrics: named numbers of a process, and the text in which others read them.
//
// There is no registry: whoever shows metrics makes the whole list, from values that were read at one time.
#ifndef SLIPWAY_CORE_METRICS_METRIC_H_
#define SLIPWAY_CORE_METRICS_METRIC_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "core/metrics/histogram.h"

namespace slipway {

enum class MetricKind { kCounter, kGauge, kHistogram };

struct MetricLabel {
  std::string name;
  // Any text. One of few that this program names itself, never what a caller, model or peer sent: each makes a series that whoever
  // reads metrics keeps.
  std::string value;
};

// One series.
struct MetricSample {
  std::vector<MetricLabel> labels;
  double value = 0;           // Of a counter or gauge.
  HistogramCounts histogram;  // Of a histogram.
};

// All series of one name.
struct MetricFamily {
  std::string name;  // Of letters, digits and _; that of a counter ends in _total.
  std::string help;  // A sentence.
  MetricKind kind = MetricKind::kGauge;
  std::vector<MetricSample> samples;
};

// What RenderMetrics makes, for HTTP.
inline constexpr char kMetricsContentType[] = "text/plain; version=0.0.4; charset=utf-8";

// The text format of Prometheus, version 0.0.4 (prometheus.io/docs/instrumenting/exposition_formats), which every version of it and
// other collectors read. A family without samples is left out. REQUIRES: well-formed names.
std::string RenderMetrics(absl::Span<const MetricFamily> families);

}  // namespace slipway

#endif  // SLIPWAY_CORE_METRICS_METRIC_H_
