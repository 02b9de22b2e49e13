#include "core/runtime/drivers/cuda/testing/ptx_warp.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "core/runtime/drivers/cuda/testing/fake_world.h"
#include "core/runtime/drivers/cuda/testing/ptx_numbers.h"

namespace slipway::fake_cuda {
namespace {

[[noreturn]] void Unknown(const PtxInstruction& instruction) {
  Violation("PTX that it does not know: " + instruction.text);
}

// How an instruction has its factors.
struct Factors {
  const char* words;  // Of its name: shape, order, types.
  int depth;
  int in_register;  // Numbers.
  float (*number)(uint32_t bits);
};

constexpr Factors kFactors[] = {
    {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 8, 1, FromTf32},
    {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", 8, 2, FromF16},
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 16, 2, FromF16},
    {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 16, 2, FromBf16},
};

std::string NameOf(const PtxInstruction& instruction) {
  return instruction.text.substr(0, instruction.text.find_first_of(" \t"));
}

const std::vector<PtxOperand>& Registers(const PtxInstruction& instruction, size_t operand,
                                         size_t count) {
  const std::vector<PtxOperand>& registers = instruction.operands.at(operand).parts;
  if (registers.size() != count) Unknown(instruction);
  return registers;
}

// d = a * b + c, of 16 x 8 numbers.
void MultiplyMatrices(PtxInstance* lanes, const PtxInstruction& instruction) {
  const auto* const found =
      std::find_if(std::begin(kFactors), std::end(kFactors),
                   [name = NameOf(instruction)](const Factors& row) { return name == row.words; });
  if (found == std::end(kFactors)) Unknown(instruction);
  const int in_register = found->in_register;
  const auto registers_of_b = static_cast<size_t>(found->depth / in_register / 4);
  const auto& d = Registers(instruction, 0, 4);
  const auto& a = Registers(instruction, 1, 2 * registers_of_b);
  const auto& b = Registers(instruction, 2, registers_of_b);
  const auto& c = Registers(instruction, 3, 4);
  std::array<std::array<float, 16>, 16> left = {};  // By row and depth.
  std::array<std::array<float, 16>, 8> right = {};  // By column and depth.
  for (size_t lane = 0; lane < kPtxWarp; ++lane) {
    const size_t row = lane / 4;
    for (size_t r = 0; r < registers_of_b; ++r) {
      const size_t depth = (lane % 4 + 4 * r) * static_cast<size_t>(in_register);
      for (int e = 0; e < in_register; ++e) {
        const auto number = [&](const PtxOperand& operand) {
          const auto bits = static_cast<uint32_t>(lanes[lane].Read(operand));
          return found->number(in_register == 1 ? bits : bits >> (16 * e) & 0xFFFF);
        };
        const size_t at = depth + static_cast<size_t>(e);
        left[row][at] = number(a[2 * r]);
        left[row + 8][at] = number(a[2 * r + 1]);
        right[row][at] = number(b[r]);
      }
    }
  }
  for (size_t lane = 0; lane < kPtxWarp; ++lane) {
    std::array<float, 4> sums = {};
    for (size_t i = 0; i < 4; ++i) {
      const auto bits = static_cast<uint32_t>(lanes[lane].Read(c[i]));
      memcpy(&sums[i], &bits, sizeof(bits));
      const auto& row = left[lane / 4 + 8 * (i / 2)];
      const auto& column = right[2 * (lane % 4) + i % 2];
      for (size_t k = 0; k < static_cast<size_t>(found->depth); ++k) sums[i] += row[k] * column[k];
    }
    for (size_t i = 0; i < 4; ++i) {
      uint32_t bits = 0;
      memcpy(&bits, &sums[i], sizeof(bits));
      lanes[lane].Write(d[i], bits);
    }
  }
}

// "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16": of 1, 2 or 4 matrices of 8 x 8, whose rows' addresses so many eights of lanes have.
void LoadMatrices(PtxInstance* lanes, const PtxInstruction& instruction, PtxShared& shared) {
  constexpr size_t kRowBytes = 16;
  const std::vector<PtxOperand>& to = instruction.operands.at(0).parts;
  const std::string count = "x" + std::to_string(to.size());
  const std::string name = "ldmatrix.sync.aligned.m8n8." + count;
  const bool is_transposed = NameOf(instruction) == name + ".trans.shared.b16";
  if (!is_transposed && NameOf(instruction) != name + ".shared.b16") Unknown(instruction);
  if (to.size() != 1 && to.size() != 2 && to.size() != 4) Unknown(instruction);
  std::vector<std::array<std::array<uint16_t, 8>, 8>> matrices(to.size());
  for (size_t lane = 0; lane < 8 * to.size(); ++lane) {
    const uint64_t address = lanes[lane].Address(instruction.operands.at(1));
    memcpy(matrices[lane / 8][lane % 8].data(),
           shared.Read(lanes[lane].place(), address, kRowBytes, instruction.text), kRowBytes);
  }
  for (size_t lane = 0; lane < kPtxWarp; ++lane) {
    const size_t row = lane / 4;
    const size_t column = 2 * (lane % 4);
    for (size_t i = 0; i < to.size(); ++i) {
      const auto& matrix = matrices[i];
      const uint32_t low = is_transposed ? matrix[column][row] : matrix[row][column];
      const uint32_t high = is_transposed ? matrix[column + 1][row] : matrix[row][column + 1];
      lanes[lane].Write(to[i], high << 16 | low);
    }
  }
}

// "shfl.sync.bfly.b32 to, from, which, 31, -1": from a lane of the whole warp, or its own where there is none.
void TakeFromLane(PtxInstance* lanes, const PtxInstruction& instruction) {
  const std::string name = NameOf(instruction);
  const auto& operands = instruction.operands;
  if (operands.size() != 5) Unknown(instruction);
  std::array<uint64_t, kPtxWarp> values = {};
  for (size_t lane = 0; lane < kPtxWarp; ++lane) {
    values[lane] = lanes[lane].Read(operands[1]);
    const uint64_t last = name == "shfl.sync.up.b32" ? 0 : kPtxWarp - 1;
    if (lanes[lane].Read(operands[3]) != last ||
        static_cast<uint32_t>(lanes[lane].Read(operands[4])) != ~uint32_t{0}) {
      Unknown(instruction);
    }
  }
  for (size_t lane = 0; lane < kPtxWarp; ++lane) {
    const uint64_t which = lanes[lane].Read(operands[2]) % kPtxWarp;
    uint64_t from = lane;
    if (name == "shfl.sync.bfly.b32") {
      from = lane ^ which;
    } else if (name == "shfl.sync.idx.b32") {
      from = which;
    } else if (name == "shfl.sync.down.b32") {
      from = lane + which;
    } else if (name == "shfl.sync.up.b32") {
      from = lane - which;
    } else {
      Unknown(instruction);
    }
    lanes[lane].Write(operands[0], values[from < kPtxWarp ? from : lane]);
  }
}

}  // namespace

void DoTogether(PtxInstance* lanes, PtxShared& shared) {
  const PtxInstruction& instruction = lanes[0].meeting();
  const std::string& name = instruction.words[0];
  if (name == "mma") {
    MultiplyMatrices(lanes, instruction);
  } else if (name == "ldmatrix") {
    LoadMatrices(lanes, instruction, shared);
  } else if (name == "shfl") {
    TakeFromLane(lanes, instruction);
  } else {
    Unknown(instruction);
  }
}

}  // namespace slipway::fake_cuda
