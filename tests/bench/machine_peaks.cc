// What this machine can do at most, for tests/bench/compare: of each line of standard input, a number of bytes, how
// many multiply-adds of a type N threads do together, and how long they take to read so many bytes, each its part.
//
//   machine_peaks --threads N --type f32|bf16|int8
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/flags.h"
#include "core/base/json_writer.h"
#include "core/base/status_macros.h"
#include "core/target/arithmetic_peaks.h"
#include "core/target/memory_reading.h"
#include "core/target/target.h"

namespace slipway::bench {
namespace {

constexpr absl::Duration kEach = absl::Milliseconds(20);

std::string Measure(const std::string& type, int64_t bytes, int64_t threads) {
  const SystemClock clock;
  const double operations = MeasureArithmetic(type, static_cast<int>(threads), clock, kEach);
  const absl::Duration reading = MeasureReading(bytes, static_cast<int>(threads), clock, kEach);
  JsonWriter json;
  json.BeginObject();
  json.Text("target", HostTarget().ToString());
  json.Real("operations_per_second", operations);
  json.Integer("bytes", bytes);
  json.Real("read_ns", absl::ToDoubleNanoseconds(reading));
  json.EndObject();
  return json.Take();
}

absl::Status Main(int argc, char** argv) {
  int64_t threads = 1;
  std::string type = "f32";
  FlagSet flags("machine_peaks [flags]",
                "Measures what the machine can do, at each line it reads.");
  flags.Add("threads", &threads, 1, 1024, "N", "How many threads together.");
  flags.Add(
      "type", &type, "TYPE",
      "What is multiplied: bf16 or int8, where this machine has instructions for it, else f32");
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<std::string> arguments, flags.Parse(argc, argv));
  if (const std::string text = flags.TextAskedFor(); !text.empty()) {
    std::fputs(text.c_str(), stdout);
    return absl::OkStatus();
  }
  if (!arguments.empty()) return absl::InvalidArgumentError("takes no arguments; see --help");
  if (!absl::c_linear_search(MeasuredTypes(), type)) type = "f32";
  std::string line;
  while (std::getline(std::cin, line)) {
    int64_t bytes = 0;
    if (!absl::SimpleAtoi(line, &bytes) || bytes < 0 || bytes > (int64_t{1} << 36)) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", line, "\" is no number of bytes up to 64 GiB"));
    }
    std::fputs(Measure(type, bytes, threads).c_str(), stdout);
    std::fflush(stdout);
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace slipway::bench

int main(int argc, char** argv) {
  const absl::Status status = slipway::bench::Main(argc, argv);
  if (status.ok()) return 0;
  std::fprintf(stderr, "machine_peaks: %s\n", status.ToString().c_str());
  return 1;
}
