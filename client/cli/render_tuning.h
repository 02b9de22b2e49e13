// What tuning found, as text and as JSON.
#ifndef SLIPWAY_CLIENT_CLI_RENDER_TUNING_H_
#define SLIPWAY_CLIENT_CLI_RENDER_TUNING_H_

#include <string>

#include "client/tuning/tuning.h"
#include "core/base/json_writer.h"

namespace slipway::cli {

struct TuningReport {
  std::string device;
  int threads = 1;
  std::string file;  // That has what was found.
  TuningResult result;
};

// Kernels whose schedules are not the compiler's, those that take longest first, and the whole.
std::string RenderTuning(const TuningReport& report);
// "tuning": all kernels that were tuned; the fields stand in client/README.md.
void TuningJson(JsonWriter& json, const TuningReport& report);

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_RENDER_TUNING_H_
