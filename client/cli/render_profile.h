// The times of steps, and how far each is from what its device does at most.
#ifndef SLIPWAY_CLIENT_CLI_RENDER_PROFILE_H_
#define SLIPWAY_CLIENT_CLI_RENDER_PROFILE_H_

#include <string>
#include <vector>

#include "client/types.h"
#include "core/base/json_writer.h"

namespace slipway::cli {

struct StepProfile {
  std::vector<StepTime> steps;      // In the program's order.
  std::vector<MachinePeaks> peaks;  // Of the device; empty where it does not tell.
  int threads = 0;                  // 0 where the device does not tell.
  std::vector<AcceleratorPeaks> accelerators = {};
};

// What the columns of RenderProfile are, for the help of verbs and commands.
extern const char kProfileHelp[];

// A row for each step, in the order of the profile, below kProfileColumns; "-" where something is not known.
inline constexpr const char* kProfileColumns[] = {"STEP",   ">TIME",    ">SHARE", ">FLOPS",
                                                  ">BYTES", ">REACHED", "LIMIT",  "OPERATORS"};
std::vector<std::vector<std::string>> ProfileRows(const StepProfile& profile);
// How far all steps together are from the limits, a line; or why that is not known.
std::string ProfileTotal(const StepProfile& profile);

// The slowest steps, for people, and in total how far they all are from the limits; "-" where something is not known.
std::string RenderProfile(const StepProfile& profile);
// All of them: "steps", and "limit_ns" where there is one.
void ProfileJson(JsonWriter& json, const StepProfile& profile);

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_RENDER_PROFILE_H_
