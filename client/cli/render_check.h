// What is shown of a check against the reference.
#ifndef SLIPWAY_CLIENT_CLI_RENDER_CHECK_H_
#define SLIPWAY_CLIENT_CLI_RENDER_CHECK_H_

#include <string>

#include "client/output_check.h"
#include "core/base/json_writer.h"

namespace slipway::cli {

// A row for each output, and what it comes to.
std::string RenderCheck(const OutputCheck& check);
// "check": an object.
void CheckJson(JsonWriter& json, const OutputCheck& check);

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_RENDER_CHECK_H_
