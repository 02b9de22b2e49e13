#include <string>

#include "client/cli/render.h"
#include "client/server_status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/json.h"

namespace slipway::cli {
namespace {

using ::slipway::testing::IsJson;
using ::testing::HasSubstr;

ServerStatus Busy() {
  ServerStatus status;
  status.version = "0.1.0";
  status.uptime = absl::Seconds(90);
  status.log_level = "info";
  status.jobs = {{"compilation", "queued", 2}, {"run", "running", 1}, {"run", "queued", 3}};
  status.waiting = {{WaitsFor::kWorker, 2, absl::Seconds(12)},
                    {WaitsFor::kAnyDevice, 1, absl::Milliseconds(500)}};
  status.max_queued_jobs = 50'000;
  status.devices_busy = 1;
  status.devices_lost = 2;
  status.workers_present = 1;
  status.worker_places = 1;
  status.worker_places_taken = 1;
  status.memory_bytes = 100 << 20;
  status.memory_limit_bytes = int64_t{8} << 30;
  status.descriptors = 45;
  status.max_descriptors = 1'024;
  status.connections = 3;
  status.max_connections = 768;
  status.blob_bytes = 1 << 20;
  status.blob_quota_bytes = int64_t{50} << 30;
  status.disk_free_bytes = int64_t{200} << 30;
  status.counters = {{"jobs_accepted", 6}};
  return status;
}

TEST(RenderStatusTest, TellsWhatAServerIsDoingAndWhyJobsWait) {
  EXPECT_EQ(
      RenderStatus(Busy()),
      "the server does what it is asked for\n"
      "  version       0.1.0\n"
      "  up for        90.0 s\n"
      "  compilations  2 waiting, 0 given away, 0 running\n"
      "  runs          3 waiting, 0 given away, 1 running\n"
      "  benchmarks    0 waiting, 0 given away, 0 running\n"
      "  sessions      0 waiting, 0 given away, 0 running\n"
      "  devices       0 idle, 1 busy, 2 lost\n"
      "  workers       1 there, 1 of 1 places taken, 0 lost\n"
      "  memory        100 MiB of 8.0 GiB\n"
      "  connections   3 of 768\n"
      "  descriptors   45 of 1024\n"
      "  blobs         1.0 MiB of 50.0 GiB, 200 GiB free on the disk\n"
      "  log shows     info\n"
      "2 jobs wait for a worker, the first for 12.0 s: every place on a worker is taken, of 1\n"
      "1 job waits for any device, the first for 500 ms: every device that is there is "
      "busy, of 1\n"
      "of each of them: slipway queue\n");
}

TEST(RenderStatusTest, WhatLacksComesFirst) {
  ServerStatus status = Busy();
  status.refusals = {{"memory", "too\nmuch"}, {"store", "the disk is full"}};
  EXPECT_FALSE(status.is_healthy());
  EXPECT_THAT(RenderStatus(status),
              ::testing::StartsWith("the server does not begin everything it is asked for\n"
                                    "  memory: too\\x0amuch\n"
                                    "  store: the disk is full\n"));
}

TEST(RenderStatusTest, SaysWhyAsFarAsSumsTell) {
  ServerStatus status;
  const auto why = [&status](WaitsFor need) {
    return WhyWaiting({.need = need, .count = 1}, status);
  };
  EXPECT_THAT(why(WaitsFor::kWorker), HasSubstr("no worker is there"));
  EXPECT_THAT(why(WaitsFor::kAnyDevice), HasSubstr("no device is there"));
  EXPECT_THAT(why(WaitsFor::kUnknown), HasSubstr("older"));
  status.workers_present = 1;
  status.worker_places = 2;
  status.worker_places_taken = 1;
  EXPECT_THAT(why(WaitsFor::kWorker), HasSubstr("do not compile for"));
  status.devices_idle = 2;
  EXPECT_THAT(why(WaitsFor::kAnyDevice), HasSubstr("none of the 2 idle devices"));
  EXPECT_THAT(why(WaitsFor::kNamedDevice), HasSubstr("busy, lost or not there"));
}

TEST(RenderStatusTest, Json) {
  ServerStatus status = Busy();
  status.refusals = {{"store", "the disk is full"}};
  EXPECT_THAT(RenderStatusJson(status), IsJson(R"({"schema_version": 1, "healthy": false,
      "refusals": [{"cause": "store", "message": "the disk is full"}],
      "version": "0.1.0", "uptime_ns": 90000000000, "log_level": "info",
      "jobs": [{"kind": "compilation", "state": "queued", "count": 2},
               {"kind": "run", "state": "running", "count": 1},
               {"kind": "run", "state": "queued", "count": 3}],
      "max_queued_jobs": 50000,
      "waiting": [{"need": "worker", "count": 2, "longest_ns": 12000000000,
                   "why": "every place on a worker is taken, of 1"},
                  {"need": "any device", "count": 1, "longest_ns": 500000000,
                   "why": "every device that is there is busy, of 1"}],
      "devices_idle": 0, "devices_busy": 1, "devices_lost": 2,
      "workers_present": 1, "workers_lost": 0, "worker_places": 1, "worker_places_taken": 1,
      "memory_bytes": 104857600, "memory_limit_bytes": 8589934592,
      "connections": 3, "max_connections": 768, "descriptors": 45, "max_descriptors": 1024,
      "waiting_calls": 0, "blob_bytes": 1048576, "blob_quota_bytes": 53687091200,
      "disk_free_bytes": 214748364800, "counters": {"jobs_accepted": 6}})"));
}

}  // namespace
}  // namespace slipway::cli
