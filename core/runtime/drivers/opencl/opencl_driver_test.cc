#include "core/runtime/drivers/opencl/opencl_driver.h"

#include <dirent.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/base/files.h"
#include "core/runtime/testing/driver_test_suite.h"
#include "core/runtime/testing/held_tensor.h"
#include "tests/common/status_matchers.h"

namespace slipway {

using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Status = absl::StatusCode;

namespace {

constexpr char kSource[] = R"(
kernel void add(global const float* a, global const float* b, global float* out, long n_a, long n_b,
                long n) {
  size_t i = get_global_id(0) + get_global_size(0) * get_global_id(1);
  if (i < n) out[i] = a[i] + b[i];
}
kernel void extents(global const float* a, global float* out, long a0, long a1) {
  out[0] = a0;
  out[1] = a1;
}
kernel void three_alone(global float* out) __attribute__((reqd_work_group_size(3, 1, 1)));
kernel void three_alone(global float* out) { out[get_global_id(0)] = 1; }
)";

// PoCL keeps files of its own.
void GivePoclAFolder() { setenv("POCL_CACHE_DIR", ::testing::TempDir().c_str(), 1); }

v1::Code Code(const std::vector<std::string>& entries) {
  v1::Code code;
  code.set_kind(v1::Code::KIND_OPENCL_SOURCE);
  for (const std::string& entry : entries) code.add_entries(entry);
  code.set_kernel_count(static_cast<uint32_t>(entries.size()));
  return code;
}

std::shared_ptr<ComputeDevice> Open(const std::string& cache_folder = "") {
  GivePoclAFolder();
  absl::StatusOr<std::shared_ptr<ComputeDevice>> device =
      MakeOpenClDriver({.cache_folder = cache_folder})->Open(0);
  EXPECT_OK(device.status());
  return device.ok() ? *device : nullptr;
}

DriverUnderTest OpenCl() {
  DriverUnderTest test;
  test.name = "OpenCl";
  test.open = [] { return Open(); };
  test.code = Code({"add"});
  test.code_bytes = kSource;
  test.unknown_kind = v1::Code::KIND_PTX;
  test.has_launch_sizes = true;
  return test;
}

INSTANTIATE_TEST_SUITE_P(OpenCl, DriverTest, ::testing::Values(OpenCl()),
                         [](const auto& info) { return info.param.name; });

TEST(OpenClDevice, EntriesGetExtentsOutermostFirst) {
  const auto device = Open();
  ASSERT_OK_AND_ASSIGN(const auto code, device->LoadCode(Code({"extents"}), 1, kSource));
  ASSERT_OK_AND_ASSIGN(const auto queues, device->NewQueues({}));
  HeldTensor a(*device, {5, 7});
  HeldTensor out(*device, {2});
  ASSERT_OK_AND_ASSIGN(const auto launch,
                       queues->Prepare(*code, 0, {&a.buffer, &out.buffer}, "extents"));
  ASSERT_OK(queues->Launch(0, *launch, {}));
  ASSERT_OK(queues->Finish());
  EXPECT_THAT(out.Read(), ::testing::ElementsAre(7, 5));
}

TEST(OpenClDevice, MoreExtentsThanThereAreAreRefused) {
  const auto device = Open();
  ASSERT_OK_AND_ASSIGN(const auto code, device->LoadCode(Code({"extents"}), 1, kSource));
  ASSERT_OK_AND_ASSIGN(const auto queues, device->NewQueues({}));
  HeldTensor a(*device, {1});
  HeldTensor scalar(*device, {});
  EXPECT_THAT(queues->Prepare(*code, 0, {&a.buffer, &scalar.buffer}, "step"),
              StatusIs(Status::kInvalidArgument, HasSubstr("step: entry 'extents'")));
}

TEST(OpenClDevice, ChecksSizesAgainstTheDeviceAndTheEntry) {
  const auto device = Open();
  ASSERT_OK_AND_ASSIGN(const auto code, device->LoadCode(Code({"three_alone"}), 1, kSource));
  ASSERT_OK_AND_ASSIGN(const auto queues, device->NewQueues({}));
  HeldTensor out(*device, {6});
  ASSERT_OK_AND_ASSIGN(const auto launch, queues->Prepare(*code, 0, {&out.buffer}, "the step"));
  const auto refused = [&](const LaunchSizes& sizes) {
    EXPECT_THAT(queues->Launch(0, *launch, sizes),
                StatusIs(Status::kInvalidArgument, HasSubstr("the step")));
  };
  refused({.groups = {2, 1, 1}, .group = {4, 1, 1}});
  refused({.groups = {1, 1, 1}, .group = {int64_t{1} << 40, 1, 1}});
  refused({.groups = {int64_t{1} << 31, int64_t{1} << 31, 8}, .group = {1, 1, 1}});
  refused({.groups = {1, 1, -1}, .group = {3, 1, 1}});
  refused({.groups = {1, 1, 1}, .group = {3, 1, 1}, .shared_bytes = 8});
  ASSERT_OK(queues->Launch(0, *launch, {.groups = {2, 1, 1}, .group = {3, 1, 1}}));
  ASSERT_OK(queues->Finish());
  EXPECT_THAT(out.Read(), ::testing::Each(1));
}

TEST(OpenClDevice, TellsWhatTheCompilerSays) {
  const auto device = Open();
  EXPECT_THAT(device->LoadCode(Code({"f"}), 1, "kernel void f() { return nobody_knows_me; }"),
              StatusIs(Status::kInvalidArgument, HasSubstr("nobody_knows_me")));
  // Whatever it says, it does not fill a message.
  std::string worse = "kernel void f() {\n";
  for (int i = 0; i < 1000; ++i) worse += "  nobody_knows_me" + std::to_string(i) + "();\n";
  const absl::Status status = device->LoadCode(Code({"f"}), 1, worse + "}").status();
  EXPECT_THAT(status, StatusIs(Status::kInvalidArgument));
  EXPECT_LT(status.message().size(), 8000u);
  EXPECT_THAT(device->LoadCode(Code({"f"}), 1, ""), StatusIs(Status::kInvalidArgument));
}

TEST(OpenClDevice, NamesAnEntryThatTheTextDoesNotHave) {
  EXPECT_THAT(Open()->LoadCode(Code({"add", "winograd"}), 1, kSource),
              StatusIs(Status::kInvalidArgument, HasSubstr("'winograd'")));
}

TEST(OpenClDriver, CountsItsDevices) {
  GivePoclAFolder();
  ASSERT_OK_AND_ASSIGN(const auto devices, ListOpenClDevices());
  EXPECT_FALSE(devices.empty());
  EXPECT_THAT(MakeOpenClDriver()->Open(static_cast<int>(devices.size())),
              StatusIs(Status::kFailedPrecondition, HasSubstr("devices, not")));
}

std::vector<std::string> FilesIn(const std::string& folder) {
  std::vector<std::string> files;
  DIR* const open = opendir(folder.c_str());
  if (open == nullptr) return files;
  while (const dirent* entry = readdir(open)) {
    if (entry->d_name[0] != '.') files.push_back(JoinPath(folder, entry->d_name));
  }
  closedir(open);
  return files;
}

// Loads the program and adds with it.
void CheckAdds(ComputeDevice& device) {
  ASSERT_OK_AND_ASSIGN(const auto code, device.LoadCode(Code({"add"}), 1, kSource));
  EXPECT_OK(code->CheckArguments(0, 2, 1));
  EXPECT_THAT(code->CheckArguments(0, 1, 1), StatusIs(Status::kInvalidArgument));
  ASSERT_OK_AND_ASSIGN(const auto queues, device.NewQueues({}));
  HeldTensor out(device, {1});
  out.Write({2});
  ASSERT_OK_AND_ASSIGN(const auto launch,
                       queues->Prepare(*code, 0, {&out.buffer, &out.buffer, &out.buffer}, "add"));
  ASSERT_OK(queues->Launch(0, *launch, {}));
  ASSERT_OK(queues->Finish());
  EXPECT_THAT(out.Read(), ::testing::ElementsAre(4));
}

TEST(OpenClDevice, KeepsWhatItHasBuilt) {
  ASSERT_OK_AND_ASSIGN(const TemporaryFolder folder, TemporaryFolder::Create("binaries"));
  const std::string cache = JoinPath(folder.path(), "opencl");
  CheckAdds(*Open(cache));
  ASSERT_EQ(FilesIn(cache).size(), 1u);
  const std::string path = FilesIn(cache)[0];
  ASSERT_OK_AND_ASSIGN(const std::string kept, ReadFile(path, 64 << 20));
  EXPECT_GT(kept.size(), 200u);
  // From the file.
  CheckAdds(*Open(cache));
  // What somebody has written there is not looked at, and replaced.
  ASSERT_OK(WriteFileAtomically(path, kept.substr(0, kept.size() / 2), false));
  CheckAdds(*Open(cache));
  ASSERT_OK_AND_ASSIGN(const std::string again, ReadFile(path, 64 << 20));
  EXPECT_GT(again.size(), kept.size() / 2);
}

}  // namespace
}  // namespace slipway
