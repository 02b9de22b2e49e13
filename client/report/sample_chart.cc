#include "client/report/sample_chart.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "core/base/text_table.h"

namespace slipway {
namespace {

constexpr double kWidth = 720;
constexpr double kHeight = 180;
constexpr double kBottom = 150;  // Of what is drawn; the axis is below.
constexpr double kLeft = 8;
constexpr double kRight = kWidth - 8;
// Points that are drawn one by one; of more, the lowest and the highest of neighbours.
constexpr size_t kMostPoints = 600;

std::string Number(double value) { return absl::StrFormat("%.2f", value); }
std::string TimeText(double ns) { return FormatTime(absl::Nanoseconds(ns)); }

double Scale(double value, double low, double high, double from, double to) {
  return high > low ? from + (value - low) / (high - low) * (to - from) : (from + to) / 2;
}

void BeginChart(const std::string& title, HtmlWriter& html) {
  html.Begin("svg", {{"viewBox", absl::StrCat("0 0 ", kWidth, " ", kHeight)},
                     {"role", "img"},
                     {"aria-label", title}});
  html.Element("title", title);
}

void Line(double x1, double y1, double x2, double y2, const char* style, HtmlWriter& html) {
  html.Begin("line", {{"x1", Number(x1)},
                      {"y1", Number(y1)},
                      {"x2", Number(x2)},
                      {"y2", Number(y2)},
                      {"class", style}});
  html.End();
}

void Label(double x, double y, const char* anchor, const std::string& text, HtmlWriter& html) {
  html.Element("text", text, {{"x", Number(x)}, {"y", Number(y)}, {"text-anchor", anchor}});
}

std::string BeyondText(const SampleRange& range) {
  if (range.beyond == 0) return "";
  return absl::StrCat("; ", range.beyond, range.beyond == 1 ? " sample is" : " samples are",
                      " above ", TimeText(range.high));
}

}  // namespace

SampleRange RangeOf(absl::Span<const double> samples_ns) {
  std::vector<double> sorted(samples_ns.begin(), samples_ns.end());
  std::sort(sorted.begin(), sorted.end());
  const auto at = [&](double share) {
    return sorted[static_cast<size_t>(share * static_cast<double>(sorted.size() - 1))];
  };
  SampleRange range = {.low = sorted.front(), .high = sorted.back()};
  const double far = at(0.5) + 6 * (at(0.9) - at(0.1));
  // The largest sample that is not far out, so that the range ends where something is.
  const auto end = std::upper_bound(sorted.begin(), sorted.end(), far);
  range.beyond = sorted.end() - end;
  if (end != sorted.begin()) range.high = *(end - 1);
  return range;
}

std::vector<int64_t> Histogram(absl::Span<const double> samples_ns, const SampleRange& range) {
  const double rice = std::ceil(2 * std::cbrt(static_cast<double>(samples_ns.size())));
  std::vector<int64_t> parts(static_cast<size_t>(std::clamp(rice, 8.0, 60.0)));
  const double width = range.high - range.low;
  for (const double sample : samples_ns) {
    if (sample > range.high) continue;
    const double share = width > 0 ? (sample - range.low) / width : 0.5;
    const auto part = static_cast<size_t>(share * static_cast<double>(parts.size()));
    ++parts[std::min(part, parts.size() - 1)];
  }
  return parts;
}

void DrawHistogram(absl::Span<const double> samples_ns, double median_ns, HtmlWriter& html) {
  const SampleRange range = RangeOf(samples_ns);
  const std::vector<int64_t> parts = Histogram(samples_ns, range);
  const auto most = static_cast<double>(*std::max_element(parts.begin(), parts.end()));
  BeginChart(absl::StrCat("distribution of ", samples_ns.size(), " samples from ",
                          TimeText(range.low), " to ", TimeText(range.high),
                          ", half of them up to ", TimeText(median_ns), BeyondText(range)),
             html);
  const double step = (kRight - kLeft) / static_cast<double>(parts.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    const double height = static_cast<double>(parts[i]) / most * (kBottom - 22);
    html.Begin("rect", {{"x", Number(kLeft + static_cast<double>(i) * step + 0.5)},
                        {"y", Number(kBottom - height)},
                        {"width", Number(step - 1)},
                        {"height", Number(height)},
                        {"class", "bar"}});
    html.End();
  }
  const double median = Scale(median_ns, range.low, range.high, kLeft, kRight);
  Line(median, 16, median, kBottom, "mark", html);
  Label(median, 12,
        median > kWidth * 0.8   ? "end"
        : median < kWidth * 0.2 ? "start"
                                : "middle",
        absl::StrCat("p50 ", TimeText(median_ns)), html);
  Line(kLeft, kBottom, kRight, kBottom, "axis", html);
  Label(kLeft, kHeight - 10, "start", TimeText(range.low), html);
  Label(kRight, kHeight - 10, "end", absl::StrCat(TimeText(range.high), BeyondText(range)), html);
  html.End();
}

void DrawSeries(absl::Span<const double> samples_ns, absl::Span<const SampleStamp> stamps,
                HtmlWriter& html) {
  std::vector<bool> doubtful;
  int64_t doubts = 0;
  for (const SampleStamp& stamp : stamps) {
    const bool is_doubtful = stamp.disturbed || stamp.throttled;
    const size_t left = samples_ns.size() - doubtful.size();
    const auto count = std::min(left, static_cast<size_t>(std::max<int64_t>(0, stamp.samples)));
    doubtful.insert(doubtful.end(), count, is_doubtful);
    if (is_doubtful) doubts += static_cast<int64_t>(count);
  }
  doubtful.resize(samples_ns.size());
  const SampleRange range = RangeOf(samples_ns);
  BeginChart(absl::StrCat("the samples in the order of time, ", doubts,
                          " of them while others took processor time or something throttled"),
             html);
  const size_t group = (samples_ns.size() + kMostPoints - 1) / kMostPoints;
  for (size_t i = 0; i < samples_ns.size(); i += group) {
    const size_t end = std::min(i + group, samples_ns.size());
    const auto [low, high] = std::minmax_element(samples_ns.begin() + static_cast<int64_t>(i),
                                                 samples_ns.begin() + static_cast<int64_t>(end));
    const bool is_doubtful = std::find(doubtful.begin() + static_cast<int64_t>(i),
                                       doubtful.begin() + static_cast<int64_t>(end),
                                       true) != doubtful.begin() + static_cast<int64_t>(end);
    const double x = samples_ns.size() == 1
                         ? kWidth / 2
                         : Scale(static_cast<double>(i), 0,
                                 static_cast<double>(samples_ns.size() - 1), kLeft + 3, kRight - 3);
    const auto y = [&](double ns) {
      return ns > range.high ? 12 : Scale(ns, range.low, range.high, kBottom - 6, 22);
    };
    // A line of no length is a point, by its round ends.
    Line(x, y(*low), x, y(*high), is_doubtful ? "point doubtful" : "point", html);
  }
  Line(kLeft, kBottom, kRight, kBottom, "axis", html);
  Label(kLeft, kHeight - 10, "start", "first sample", html);
  Label(kRight, kHeight - 10, "end",
        absl::StrCat("last; lowest ", TimeText(range.low), ", highest ",
                     range.beyond > 0 ? absl::StrCat("below the top ", TimeText(range.high))
                                      : TimeText(range.high)),
        html);
  html.End();
}

}  // namespace slipway
