// What selectors cost a decision of the scheduler: 500 devices, 6,000 jobs that wait with 100 distinct selectors which match none of
// the devices that are free, or some (goal: microseconds; each selector is held against a device once).
//
//   bazel run //tests/bench:selector_bench
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/clock.h"
#include "core/selector/device_attributes.h"
#include "core/target/target.h"
#include "server/devices/device_need.h"
#include "server/scheduler/scheduler.h"

namespace slipway::bench {
namespace {

constexpr int kDevices = 500;
constexpr int kJobs = 6'000;
constexpr int kSelectors = 100;
constexpr char kTarget[] = "x86-64-v3-linux";

std::vector<server::Supply> MakeDevices() {
  std::vector<server::Supply> devices;
  for (int i = 0; i < kDevices; ++i) {
    DeviceAttributes attributes;
    const std::string id = absl::StrCat("device-", i);
    attributes.texts[DeviceAttribute::kId] = {id};
    attributes.texts[DeviceAttribute::kArch] = {"x86-64"};
    attributes.texts[DeviceAttribute::kFeature] = {"avx", "avx2", "bmi2", "f16c", "fma", "sse4.2"};
    attributes.numbers[DeviceAttribute::kMemory] = int64_t{i % 16 + 1} << 30;
    attributes.labels = {{"lab", absl::StrCat("lab-", i % 10)}, {"rack", absl::StrCat(i % 40)}};
    server::DeviceSupply supply{id, {.target = *ParseTarget(kTarget)}};
    supply.attributes = std::make_shared<const DeviceAttributes>(std::move(attributes));
    devices.push_back(std::move(supply));
  }
  return devices;
}

void Wait(int job, const std::string& selector, server::WaitingJobs& waiting) {
  waiting.Put({.id = absl::StrCat(1'000'000 + job),
               .owner = absl::StrCat("owner ", job % 50),
               .need = *server::ReadDeviceNeed(selector, {.target = *ParseTarget(kTarget)}),
               .not_before = absl::UnixEpoch()});
  waiting.Release(absl::UnixEpoch());
}

// All devices look for work; prints what a look takes.
void Look(const char* what, const std::vector<server::Supply>& devices,
          const server::WaitingJobs& waiting) {
  const SystemClock clock;
  absl::Duration total;
  absl::Duration longest;
  int found = 0;
  for (const server::Supply& device : devices) {
    const absl::Duration begin = clock.Monotonic();
    found += waiting.Pick(device, {}).has_value() ? 1 : 0;
    const absl::Duration took = clock.Monotonic() - begin;
    total += took;
    longest = std::max(longest, took);
  }
  std::printf("%s: %.2f us a decision, at most %.1f us; %d of %d devices found work\n", what,
              absl::ToDoubleMicroseconds(total / kDevices), absl::ToDoubleMicroseconds(longest),
              found, kDevices);
}

void Main() {
  const std::vector<server::Supply> devices = MakeDevices();
  server::WaitingJobs unmatched;
  for (int job = 0; job < kJobs; ++job) {
    Wait(job, absl::StrCat("feature=avx2 memory>=", job % kSelectors + 100, "GiB label:lab=lab-*"),
         unmatched);
  }
  Look("6,000 jobs that no device matches, first look", devices, unmatched);
  Look("6,000 jobs that no device matches, again", devices, unmatched);
  Wait(kJobs, "feature=avx2 label:rack=7", unmatched);
  Look("and one that 13 match, first look", devices, unmatched);
  Look("and one that 13 match, again", devices, unmatched);
  server::WaitingJobs matched;
  for (int job = 0; job < kJobs; ++job) {
    Wait(job,
         absl::StrCat("feature=avx2 memory>=", job % 16 + 1, "GiB label:lab=lab-",
                      job % kSelectors % 10),
         matched);
  }
  Look("6,000 jobs that some match, first look", devices, matched);
  Look("6,000 jobs that some match, again", devices, matched);
}

}  // namespace
}  // namespace slipway::bench

int main() {
  slipway::bench::Main();
  return 0;
}
