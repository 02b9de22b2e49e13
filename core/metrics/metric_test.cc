#include "core/metrics/metric.h"

#include <cmath>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

MetricFamily Gauge(double value) {
  return {.name = "g",
          .help = "A value.",
          .kind = MetricKind::kGauge,
          .samples = {{.labels = {}, .value = value, .histogram = {}}}};
}

std::string LineOf(double value) {
  const std::string text = RenderMetrics({Gauge(value)});
  const size_t line = text.rfind("\ng ") + 3;
  return text.substr(line, text.size() - line - 1);
}

// As the format's own document writes them.
TEST(MetricTest, WritesFamiliesInTheTextFormat) {
  const MetricFamily requests = {
      .name = "http_requests_total",
      .help = "The total number of HTTP requests.",
      .kind = MetricKind::kCounter,
      .samples = {{.labels = {{"method", "post"}, {"code", "200"}}, .value = 1027, .histogram = {}},
                  {.labels = {{"method", "post"}, {"code", "400"}}, .value = 3, .histogram = {}}}};
  const MetricFamily duration = {.name = "http_request_duration_seconds",
                                 .help = "A histogram of the request duration.",
                                 .kind = MetricKind::kHistogram,
                                 .samples = {{.labels = {{"a", "b"}},
                                              .value = 0,
                                              .histogram = {.bounds = {0.05, 0.1, 1},
                                                            .counts = {24054, 9390, 100534, 10342},
                                                            .sum = 53423.5}}}};
  EXPECT_EQ(RenderMetrics({requests, duration}),
            "# HELP http_requests_total The total number of HTTP requests.\n"
            "# TYPE http_requests_total counter\n"
            "http_requests_total{method=\"post\",code=\"200\"} 1027\n"
            "http_requests_total{method=\"post\",code=\"400\"} 3\n"
            "# HELP http_request_duration_seconds A histogram of the request duration.\n"
            "# TYPE http_request_duration_seconds histogram\n"
            "http_request_duration_seconds_bucket{a=\"b\",le=\"0.05\"} 24054\n"
            "http_request_duration_seconds_bucket{a=\"b\",le=\"0.1\"} 33444\n"
            "http_request_duration_seconds_bucket{a=\"b\",le=\"1\"} 133978\n"
            "http_request_duration_seconds_bucket{a=\"b\",le=\"+Inf\"} 144320\n"
            "http_request_duration_seconds_sum{a=\"b\"} 53423.5\n"
            "http_request_duration_seconds_count{a=\"b\"} 144320\n");
}

TEST(MetricTest, EscapesWhatWouldEndALabelOrALine) {
  MetricFamily family = Gauge(1);
  family.help = "C:\\DIR \"quoted\"\nsecond";
  family.samples[0].labels = {
      {"path", "C:\\DIR\\FILE"}, {"error", "no \"x\"\nfound"}, {"odd", "a\xff"}};
  EXPECT_EQ(RenderMetrics({family}),
            "# HELP g C:\\\\DIR \"quoted\"\\nsecond\n"
            "# TYPE g gauge\n"
            "g{path=\"C:\\\\DIR\\\\FILE\",error=\"no \\\"x\\\"\\nfound\",odd=\"a?\"} 1\n");
}

TEST(MetricTest, WritesNumbersThatReadBack) {
  EXPECT_EQ(LineOf(0), "0");
  EXPECT_EQ(LineOf(-3), "-3");
  EXPECT_EQ(LineOf(53687091200), "53687091200");
  EXPECT_EQ(LineOf(0.1), "0.1");
  EXPECT_EQ(LineOf(1.0 / 3), "0.33333333333333331");
  EXPECT_EQ(LineOf(1e300), "1e+300");
  EXPECT_EQ(LineOf(std::numeric_limits<double>::infinity()), "+Inf");
  EXPECT_EQ(LineOf(-std::numeric_limits<double>::infinity()), "-Inf");
  EXPECT_EQ(LineOf(std::nan("")), "NaN");
}

TEST(MetricTest, LeavesOutAFamilyWithoutSamples) {
  MetricFamily empty = Gauge(1);
  empty.samples.clear();
  EXPECT_EQ(RenderMetrics({empty}), "");
}

}  // namespace
}  // namespace slipway
