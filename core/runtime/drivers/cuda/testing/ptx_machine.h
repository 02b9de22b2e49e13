// Runs the instructions of PTX on the host, a group of instances after the other: as many of them as LLVM and we write for kernels of ours, as NVIDIA's
// reference of the language describes them. For tests: it is slow, and whatever it does not know, or no device could do, ends the process.
//
// Each instance runs to where it meets others: a warp of 32 (mma.sync, ldmatrix, shfl.sync), four of them (wgmma) or the group (bar.sync). All of them must
// come to one and the same instruction, or the process ends. cp.async has done nothing before its wait. What a group shares is watched: ptx_shared.h.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_TESTING_PTX_MACHINE_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_TESTING_PTX_MACHINE_H_

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace slipway::fake_cuda {

struct PtxType {
  char kind = 'b';  // 'b'its, 'u'nsigned, 's'igned, 'f'loat, 'p'redicate.
  int bits = 32;
};

// A register, a number, a special register, or several of them in braces; or what such a thing says of memory, "[%rd1+4]".
struct PtxOperand {
  enum class Kind { kRegister, kNumber, kInstance, kMany };
  Kind kind = Kind::kNumber;
  int index =
      0;  // Of a register; of an instance's number: 0 to 2 %tid, 3 to 5 %ctaid, 6 to 8 %ntid, 9 to 11 %nctaid.
  uint64_t number = 0;  // The number, or what is added to the register's address.
  bool is_not = false;  // Of a predicate.
  std::vector<PtxOperand> parts;
};

struct PtxInstruction {
  std::string text;                // For messages.
  std::vector<std::string> words;  // Of its name: "ld", "global", "nc", "f32".
  int guard = -1;                  // The predicate that it hangs on.
  bool guard_is = true;
  std::vector<PtxType> types;
  std::vector<PtxOperand> operands;
  size_t target = 0;  // Of a branch.
};

struct PtxFunction {
  std::vector<bool> is_pointer;  // By parameter: whether it is declared to be one (".ptr").
  std::vector<PtxInstruction> code;
  std::map<std::string, int> registers;
  size_t local_bytes = 0;   // Of an instance.
  size_t shared_bytes = 0;  // Of a group.
};

// Where what a group shares begins, of addresses of 32 bits that are its alone.
inline constexpr uint64_t kPtxShared = uint64_t{1} << 24;
// Where the functions' tables lie, in the order of the text; an instance's own memory, and its parameters.
inline constexpr uint64_t kPtxTables = uint64_t{1} << 60;
inline constexpr uint64_t kPtxLocal = uint64_t{1} << 61;
inline constexpr uint64_t kPtxParameters = uint64_t{1} << 62;

struct PtxProgram {
  std::map<std::string, PtxFunction> functions;
  std::vector<uint8_t> tables;
  // Of memory whose size launches say (".extern .shared"): it begins at no multiple of anything larger.
  size_t dynamic_alignment = 16;
};

// An error is the first thing that it does not know.
std::shared_ptr<const PtxProgram> ParsePtx(const std::string& text, std::string& error);

// The bytes at an address, of a device's memory. Ends the process where there are none.
using PtxMemory = std::function<uint8_t*(uint64_t address, size_t bytes)>;

// Which group of a launch, and their sizes; x first.
struct PtxPlace {
  std::array<uint32_t, 3> group;
  std::array<uint32_t, 3> instances;  // Of a group.
  std::array<uint32_t, 3> groups;
  size_t dynamic_shared_bytes = 0;  // That a group shares beyond what the function declares.
};

// Runs one group. `parameters` are 8 bytes each. `executed` says of each instruction of the function how many instances came to it, but for those whose predicate did not
// hold, and is added to. False where an instance ends in a trap.
bool RunPtxGroup(const PtxProgram& program, const PtxFunction& function,
                 const std::vector<uint64_t>& parameters, const PtxPlace& place,
                 const PtxMemory& memory, std::vector<uint64_t>& executed);

// "24 add.s32, 8 mma.sync": by the first two words of their names, how many instances came to instructions.
std::string ShowCounts(const PtxFunction& function, const std::vector<uint64_t>& executed);

}  // namespace slipway::fake_cuda

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_TESTING_PTX_MACHINE_H_
