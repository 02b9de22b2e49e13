// "--precision": in which numbers a model is computed, and what has to be known for that.
#ifndef SLIPWAY_CLIENT_CLI_PRECISION_H_
#define SLIPWAY_CLIENT_CLI_PRECISION_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cli/connection.h"
#include "client/cli/model_flags.h"
#include "client/session.h"
#include "core/artifact/signature.h"

namespace slipway::cli {

// A wrong call for what no server is needed to find wrong, so that none is started: a target or precision that there is not, "--examples"
// that do not fit it, tags that are none.
absl::Status CheckModelFlags(const ModelFlags& flags);

// The flags for what runs on a device now, whatever target the model is compiled for in the end.
ModelFlags OnDevice(const ModelFlags& flags);

// Adds to `options` what the precision of the flags needs: for what is no int8 the wish alone, for int8 the ranges of values, which are seen by compiling
// the model at `path` in f32, for a device that is there, and calling it with the examples.
absl::Status ApplyPrecision(Environment& environment, Connection& connection,
                            const std::string& path, const ModelFlags& flags,
                            CompileOptions& options);

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_PRECISION_H_
