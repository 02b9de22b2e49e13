// Small programs with real code, well-behaved and not, for tests of whatever runs programs.
#ifndef SLIPWAY_CORE_RUNTIME_TEST_PROGRAMS_TEST_PROGRAMS_H_
#define SLIPWAY_CORE_RUNTIME_TEST_PROGRAMS_TEST_PROGRAMS_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "core/artifact/artifact.h"
#include "proto/slipway/v1/artifact.pb.h"

namespace slipway {

// What the one kernel of a program does.
enum class TestKernel : uint32_t {
  kAdd = 0,  // Adds the bias to x.
  kFail,     // Ends with result 7 and a message.
  kCrash,    // Writes to address 8.
  kLoop,     // Never ends.
  kEatMemory,
  kSlow,   // Takes some milliseconds for every 1 in x[0].
  kCount,  // y is how often it has been called since it was loaded.
};

// How its code speaks to the runtime: as it should, for this version of the kernel ABI; as it should, for a
// version to come; with a table of another version than it is asked for; not at all.
enum class TestAbi { kGood, kVersion2, kVersion3, kOtherAbi, kNoQuery };

// The code itself, a shared object of kTestKernelCount kernels.
absl::string_view TestCodeBytes(TestAbi abi);
inline constexpr uint32_t kTestKernelCount = 7;

// x: f32[2, 8] -> y: f32[2, 8] for x86-64-linux; the bias f32[8] is a constant, 0 to 7. Step 0,
// "Kernel", writes to the arena, step 1, "Copy", from there to y.
Artifact TestProgram(TestKernel kernel, TestAbi abi = TestAbi::kGood);

// The manifest of such a program, to be changed before Artifact::Create.
v1::Manifest TestProgramManifest(TestKernel kernel, TestAbi abi = TestAbi::kGood);

// The blobs of all of these programs. NOT_FOUND for any other.
absl::StatusOr<Blob> GetTestProgramBlob(const Digest& digest);

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_TEST_PROGRAMS_TEST_PROGRAMS_H_
