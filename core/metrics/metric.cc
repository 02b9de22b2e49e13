#include "core/metrics/metric.h"

#include <cmath>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "core/base/utf8.h"

namespace slipway {
namespace {

// Counts and byte sizes up to here are exact as doubles.
constexpr double kExact = 9007199254740992;  // 2^53

absl::string_view KindName(MetricKind kind) {
  switch (kind) {
    case MetricKind::kCounter:
      return "counter";
    case MetricKind::kGauge:
      return "gauge";
    case MetricKind::kHistogram:
      return "histogram";
  }
  return "untyped";
}

std::string EscapedHelp(absl::string_view text) {
  return absl::StrReplaceAll(ToUtf8(text), {{"\\", "\\\\"}, {"\n", "\\n"}});
}

std::string EscapedLabel(absl::string_view text) {
  return absl::StrReplaceAll(ToUtf8(text), {{"\\", "\\\\"}, {"\"", "\\\""}, {"\n", "\\n"}});
}

std::string NumberText(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  if (value == std::floor(value) && std::abs(value) < kExact) {
    return absl::StrCat(static_cast<int64_t>(value));
  }
  // The shortest that reads back as the same.
  std::string text = absl::StrFormat("%.15g", value);
  if (std::stod(text) != value) text = absl::StrFormat("%.17g", value);
  return text;
}

std::string LabelsText(std::vector<MetricLabel> labels) {
  if (labels.empty()) return "";
  return absl::StrCat("{",
                      absl::StrJoin(labels, ",",
                                    [](std::string* out, const MetricLabel& label) {
                                      absl::StrAppend(out, label.name, "=\"",
                                                      EscapedLabel(label.value), "\"");
                                    }),
                      "}");
}

void AppendHistogram(const std::string& name, const MetricSample& sample, std::string& text) {
  const HistogramCounts& histogram = sample.histogram;
  std::vector<MetricLabel> labels = sample.labels;
  labels.push_back({.name = "le", .value = ""});
  int64_t count = 0;
  for (size_t i = 0; i < histogram.counts.size(); ++i) {
    count += histogram.counts[i];
    labels.back().value = i < histogram.bounds.size() ? NumberText(histogram.bounds[i]) : "+Inf";
    absl::StrAppend(&text, name, "_bucket", LabelsText(labels), " ", count, "\n");
  }
  const std::string own = LabelsText(sample.labels);
  absl::StrAppend(&text, name, "_sum", own, " ", NumberText(histogram.sum), "\n");
  absl::StrAppend(&text, name, "_count", own, " ", count, "\n");
}

}  // namespace

std::string RenderMetrics(absl::Span<const MetricFamily> families) {
  std::string text;
  for (const MetricFamily& family : families) {
    if (family.samples.empty()) continue;
    absl::StrAppend(&text, "# HELP ", family.name, " ", EscapedHelp(family.help), "\n# TYPE ",
                    family.name, " ", KindName(family.kind), "\n");
    for (const MetricSample& sample : family.samples) {
      if (family.kind == MetricKind::kHistogram) {
        AppendHistogram(family.name, sample, text);
      } else {
        absl::StrAppend(&text, family.name, LabelsText(sample.labels), " ",
                        NumberText(sample.value), "\n");
      }
    }
  }
  return text;
}

}  // namespace slipway
