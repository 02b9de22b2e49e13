// A small program for tests: out = in + constant, by one kernel and a copy.
#ifndef SLIPWAY_CORE_ARTIFACT_TEST_MANIFEST_H_
#define SLIPWAY_CORE_ARTIFACT_TEST_MANIFEST_H_

#include <string>

#include "proto/slipway/v1/artifact.pb.h"

namespace slipway {

// The blobs it names. The code is not code.
std::string TestCode();
std::string TestConstants();

// x: f32[2, 8] -> y: f32[2, 8], for x86-64-linux. Step 0 writes value 2, in the
// arena, from value 0 (x) and value 1 (a constant f32[8]); step 1 copies value 2
// to value 3 (y).
v1::Manifest TestManifest();

}  // namespace slipway

#endif  // SLIPWAY_CORE_ARTIFACT_TEST_MANIFEST_H_
