// Small programs for tests.
#ifndef SLIPWAY_CORE_ARTIFACT_TEST_MANIFEST_H_
#define SLIPWAY_CORE_ARTIFACT_TEST_MANIFEST_H_

#include <string>

#include "proto/slipway/v1/artifact.pb.h"

namespace slipway {

// The blobs it names. The code is not code.
std::string TestCode();
std::string TestConstants();

// out = in + constant, by one kernel and a copy, all of version 1 of the format.
//
// x: f32[2, 8] -> y: f32[2, 8], for x86-64-linux. Step 0 writes value 2, in the
// arena, from value 0 (x) and value 1 (a constant f32[8]); step 1 copies value 2
// to value 3 (y).
v1::Manifest TestManifest();

// Uses everything that came with version 2: a shape that is found out, a branch, a loop, a GPU with a space and
// queues of its own, several entries. For x86-64-linux with two GPUs; the code is not code.
v1::Manifest TestManifest2();

}  // namespace slipway

#endif  // SLIPWAY_CORE_ARTIFACT_TEST_MANIFEST_H_
