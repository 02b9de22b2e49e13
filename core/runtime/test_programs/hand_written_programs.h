// Programs put together by hand that use, all together, everything the manifest can say.
#ifndef SLIPWAY_CORE_RUNTIME_TEST_PROGRAMS_HAND_WRITTEN_PROGRAMS_H_
#define SLIPWAY_CORE_RUNTIME_TEST_PROGRAMS_HAND_WRITTEN_PROGRAMS_H_

#include <string>
#include <vector>

#include "core/runtime/test_programs/program_builder.h"
#include "core/tensor/tensor.h"

namespace slipway {

struct HandWrittenProgram {
  // For files: "free_width".
  std::string name;
  ProgramBuilder builder;
  // A call of its entry, in the signature's order: what is given, and what must come out.
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
};

// All of the following, for hosts that ProgramBuilder knows.
std::vector<HandWrittenProgram> HandWrittenPrograms(const std::string& host = kTestHost);

// --- Sizes (symbolic_programs.cc). ---

// y = the sums of three elements of x, every second one, and 100 more; x is f32[batch, width] and z, unused but for
// its shape, f32[width of y].
HandWrittenProgram FreeWidth(const std::string& host = kTestHost);
// Where x is positive: the number of places is counted by a step, and shapes what follows.
HandWrittenProgram FoundShape(const std::string& host = kTestHost);
// y = 5 x, by way of a buffer that the runtime places, with two values in it and a third over the first.
HandWrittenProgram SharedBuffer(const std::string& host = kTestHost);

// --- Control (control_programs.cc). ---

// if (c) y = 4 x, of the same length, else y = twice x with 7 at its end: branches decide shapes.
HandWrittenProgram Branches(const std::string& host = kTestHost);
// while (sum < limit) { sum += step; collect sum }: a number of turns that nobody knows before.
HandWrittenProgram While(const std::string& host = kTestHost);
// ONNX's Scan over rows of 12 bytes, which kernels could not read in place.
HandWrittenProgram Scan(const std::string& host = kTestHost);
// for i in 0..n: for j in 0..n: total = sum(total, one), by a branch that always takes the first way. Functions:
// sum, other, inner (a kernel and the branch), outer, main.
HandWrittenProgram NestedControl(const std::string& host = kTestHost);
// Entries "sum again" and "sum": a, b -> a + b.
HandWrittenProgram SeveralEntries(const std::string& host = kTestHost);

// --- Devices (device_programs.cc). ---

// y = x + x (CPU), to a GPU by queue 0, + bias there on queue 2, and back by queue 1, + 1 (CPU): five steps, each
// after the one before.
HandWrittenProgram ThereAndBack(const std::string& host = kTestHost);
// y = x + x by way of a GPU that runs OpenCL and one that runs PTX, whose memory the host touches; sizes and groups
// are computed.
HandWrittenProgram TwoGpus(const std::string& host = kTestHost);

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_TEST_PROGRAMS_HAND_WRITTEN_PROGRAMS_H_
