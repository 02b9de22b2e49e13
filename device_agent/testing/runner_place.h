// Where a test's runners run: what holds here holds on a device that is attached.
#ifndef SLIPWAY_DEVICE_AGENT_TESTING_RUNNER_PLACE_H_
#define SLIPWAY_DEVICE_AGENT_TESTING_RUNNER_PLACE_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "device_agent/attached/attached_device.h"
#include "gtest/gtest.h"

namespace slipway {

enum class RunnerPlace { kHere, kAttached };

// TSan is told in tests alone what the locks of Abseil do (//tests/tsan), and a link to a device has threads that use them.
#if __has_feature(thread_sanitizer)
inline const auto kRunnerPlaces = ::testing::Values(RunnerPlace::kHere);
#else
inline const auto kRunnerPlaces = ::testing::Values(RunnerPlace::kHere, RunnerPlace::kAttached);
#endif

inline std::string NameOfPlace(const ::testing::TestParamInfo<RunnerPlace>& place) {
  return place.param == RunnerPlace::kHere ? "Here" : "Attached";
}

// Of a device that another shell reaches, with a home folder of its own.
inline std::string StandInPrefix(const std::string& home) {
  return absl::StrCat("device_agent/testing/stand_in_shell.sh ", home);
}

inline AttachedDevice StandInDevice(const std::string& home) {
  AttachedDevice device;
  device.exec_prefix = StandInPrefix(home);
  return device;
}

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_TESTING_RUNNER_PLACE_H_
