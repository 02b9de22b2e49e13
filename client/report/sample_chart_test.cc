#include "client/report/sample_chart.h"

#include <numeric>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// 100 samples of 1,000 to 1,099 ns.
std::vector<double> Samples() {
  std::vector<double> samples(100);
  std::iota(samples.begin(), samples.end(), 1'000);
  return samples;
}

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(SampleChartTest, OneThatIsFarOutDoesNotSqueezeTheOthers) {
  std::vector<double> samples = Samples();
  EXPECT_EQ(RangeOf(samples).beyond, 0);
  EXPECT_EQ(RangeOf(samples).high, 1'099);
  samples.push_back(1'000'000);
  const SampleRange range = RangeOf(samples);
  EXPECT_EQ(range.low, 1'000);
  EXPECT_EQ(range.high, 1'099);
  EXPECT_EQ(range.beyond, 1);
}

TEST(SampleChartTest, EqualSamplesHaveARangeToo) {
  const std::vector<double> samples(5, 7);
  const SampleRange range = RangeOf(samples);
  EXPECT_EQ(range.low, 7);
  EXPECT_EQ(range.high, 7);
  EXPECT_EQ(range.beyond, 0);
  const std::vector<int64_t> parts = Histogram(samples, range);
  EXPECT_EQ(parts.size(), 8u);
  EXPECT_EQ(parts[4], 5);
}

TEST(SampleChartTest, EverySampleOfTheRangeIsInOnePart) {
  std::vector<double> samples = Samples();
  samples.push_back(1'000'000);
  const std::vector<int64_t> parts = Histogram(samples, RangeOf(samples));
  EXPECT_EQ(parts.size(), 10u);
  EXPECT_EQ(std::accumulate(parts.begin(), parts.end(), int64_t{0}), 100);
  for (const int64_t part : parts) EXPECT_NEAR(static_cast<double>(part), 10, 1);
}

TEST(SampleChartTest, AHistogramSaysWhatItShows) {
  HtmlWriter html;
  DrawHistogram(Samples(), 1'050, html);
  const std::string svg = html.Take();
  EXPECT_EQ(Count(svg, "class=\"bar\""), 10u);
  EXPECT_THAT(svg, HasSubstr("<title>distribution of 100 samples from 1.00 us to 1.10 us, half of "
                             "them up to 1.05 us</title>"));
}

TEST(SampleChartTest, DisturbedSamplesStandOut) {
  HtmlWriter html;
  const std::vector<SampleStamp> stamps = {{.samples = 90}, {.samples = 10, .disturbed = true}};
  DrawSeries(Samples(), stamps, html);
  const std::string svg = html.Take();
  EXPECT_EQ(Count(svg, "class=\"point\""), 90u);
  EXPECT_EQ(Count(svg, "class=\"point doubtful\""), 10u);
}

TEST(SampleChartTest, ManySamplesAreFewPoints) {
  HtmlWriter html;
  DrawSeries(std::vector<double>(1'000'000, 5), {}, html);
  EXPECT_LE(Count(html.Take(), "class=\"point\""), 600u);
}

}  // namespace
}  // namespace slipway
