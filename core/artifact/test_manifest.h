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

// A product of matrices on a GPU, for x86-64-linux,cuda-sm80: x: f32[3, 4] -> y: f32[3, 5] = relu(x * w + bias), w: f32[4, 5], bias: f32[5].
//
// Step 0 copies value 0 (x) to value 2; steps 1 and 2, launches, make value 4 of it, of value 1 (w, a constant) and of value 5 (bias, a constant), by value 3
// in between; step 3 copies value 4 to value 6 (y).
v1::Manifest TestProductManifest();
// What describes steps 1 and 2.
v1::ProgramNotes::VendorStep TestVendorStep();
// The same as if they were a convolution of the 12 numbers of x, a plane of 3 x 4, by 5 windows of 2 x 2, every other row and each column.
v1::ProgramNotes::VendorStep TestVendorConvolution();

}  // namespace slipway

#endif  // SLIPWAY_CORE_ARTIFACT_TEST_MANIFEST_H_
