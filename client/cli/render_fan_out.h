// What `slipway bench` prints of many devices: pure functions from values to text.
#ifndef SLIPWAY_CLIENT_CLI_RENDER_FAN_OUT_H_
#define SLIPWAY_CLIENT_CLI_RENDER_FAN_OUT_H_

#include <string>
#include <vector>

#include "client/cli/progress.h"
#include "client/fan_out.h"

namespace slipway::cli {

// The fastest first, with how many times as long the others take; then those that failed, and why.
std::string RenderFanOut(const std::string& model, const std::vector<FanOutRow>& rows);
// The fields and their meaning are listed in client/README.md; schema_version 1.
std::string RenderFanOutJson(const std::string& model, const std::vector<FanOutRow>& rows);

// What one device is at, "board-1: measure"; what all of them are at, "digits.onnx on 3 devices: 1 done, 1 failed, 1 waiting".
ProgressText DescribeRow(const FanOutRow& row);
ProgressText DescribeAll(const std::string& model, const std::vector<FanOutRow>& rows);

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_RENDER_FAN_OUT_H_
