// An engine that also keeps what it makes.
#ifndef SLIPWAY_TESTS_CONFORMANCE_RECORDING_ENGINE_H_
#define SLIPWAY_TESTS_CONFORMANCE_RECORDING_ENGINE_H_

#include <memory>
#include <string>

#include "tests/conformance/engine.h"

namespace slipway {

// Runs `engine`, and writes the outputs of the last run as `folder`/output_N.pb.
std::unique_ptr<Engine> RecordOutputs(std::unique_ptr<Engine> engine, std::string folder);

}  // namespace slipway

#endif  // SLIPWAY_TESTS_CONFORMANCE_RECORDING_ENGINE_H_
