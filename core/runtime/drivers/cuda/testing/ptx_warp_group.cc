#include "core/runtime/drivers/cuda/testing/ptx_warp_group.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "core/runtime/drivers/cuda/testing/fake_world.h"
#include "core/runtime/drivers/cuda/testing/ptx_numbers.h"

namespace slipway::fake_cuda {
namespace {

constexpr size_t kRows = 64;
constexpr size_t kPieceBytes = 16;
// The swizzle's: rows of 128 bytes, 8 of which repeat.
constexpr uint64_t kRowBytes = 128;
constexpr uint64_t kPatternBytes = 8 * kRowBytes;
// Of the depth, in each product.
constexpr size_t kDepthBytes = 32;

[[noreturn]] void Unknown(const PtxInstruction& instruction) {
  Violation("PTX that it does not know: " + instruction.text);
}

struct Numbers {
  const char* type;
  size_t bytes;
  float (*number)(uint32_t bits);
};
constexpr Numbers kNumbers[] = {{"f16", 2, FromF16}, {"bf16", 2, FromBf16}, {"tf32", 4, FromTf32}};

// "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {d}, a, b, p, 1, 1, 0, 0".
struct Product {
  const Numbers* numbers = nullptr;
  size_t columns = 0;
  size_t depth() const { return kDepthBytes / numbers->bytes; }
};

Product ReadProduct(const PtxInstruction& instruction) {
  const std::vector<std::string>& words = instruction.words;
  if (words.size() != 8 || words[5] != "f32" || words[6] != words[7]) Unknown(instruction);
  Product product;
  const auto* const found = std::find_if(std::begin(kNumbers), std::end(kNumbers),
                                         [&](const Numbers& row) { return words[6] == row.type; });
  if (found == std::end(kNumbers)) Unknown(instruction);
  product.numbers = found;
  product.columns = words[4].size() > 4 ? strtoul(&words[4][4], nullptr, 10) : 0;
  const std::string shape =
      "m64n" + std::to_string(product.columns) + "k" + std::to_string(product.depth());
  if (words[4] != shape || product.columns < 8 || product.columns > 256 ||
      product.columns % 8 != 0) {
    Unknown(instruction);
  }
  const bool can_turn = product.numbers->bytes == 2;
  if (instruction.operands.size() != (can_turn ? 8u : 6u) ||
      instruction.operands[0].parts.size() != product.columns / 2) {
    Unknown(instruction);
  }
  return product;
}

// What is one and the same for all instances.
uint64_t ReadOfAll(PtxInstance* lanes, const PtxInstruction& instruction, size_t operand) {
  const PtxOperand& wanted = instruction.operands[operand];
  const uint64_t first = lanes[0].Read(wanted);
  for (size_t i = 1; i < kPtxWarpGroup; ++i) {
    if (lanes[i].Read(wanted) != first) {
      Violation("instances of a warp group differ about operand " + std::to_string(operand) + ": " +
                instruction.text);
    }
  }
  return first;
}

// A factor's place, as a descriptor says it.
class Factor {
 public:
  // `across` are its rows, or columns, across the depth.
  Factor(uint64_t bits, size_t across, const Product& product, bool is_turned,
         const PtxInstruction& instruction)
      : start_((bits & 0x3FFF) << 4),
        leading_((bits >> 16 & 0x3FFF) << 4),
        stride_((bits >> 32 & 0x3FFF) << 4),
        across_(across),
        product_(product),
        is_turned_(is_turned),
        instruction_(instruction) {
    constexpr uint64_t kReserved =
        uint64_t{0x3} << 14 | uint64_t{0x3} << 30 | uint64_t{0x7} << 46 | uint64_t{0x3FF} << 52;
    constexpr uint64_t kSwizzledBy128 = 1;
    if ((bits & kReserved) != 0) Refuse("sets bits that mean nothing");
    if (bits >> 62 != kSwizzledBy128) Unknown(instruction);
    if ((bits >> 49 & 7) != 0)
      Unknown(instruction);  // Patterns that begin elsewhere than at their size.
    if (stride_ % kPatternBytes != 0) Refuse("has patterns that do not begin at 1024 bytes");
    if (is_turned_) {
      if (start_ % kPatternBytes != 0) Refuse("does not begin at 1024 bytes");
      if (across > RowNumbers() && (leading_ == 0 || leading_ % kPatternBytes != 0)) {
        Refuse("has patterns that do not begin at 1024 bytes");
      }
    } else {
      if (start_ % kPatternBytes + kDepthBytes > kRowBytes)
        Refuse("does not begin in its first row");
      if (leading_ != kPieceBytes) Refuse("has a leading offset, which is to be 1");
    }
  }

  // By row, or column, and depth; `pieces` is told of what is read.
  std::vector<float> Read(PtxShared& shared, std::vector<uint64_t>& pieces) const {
    const size_t depth = product_.depth();
    std::vector<float> numbers(across_ * depth);
    const size_t outer = is_turned_ ? depth : across_;
    const size_t inner_bytes = (is_turned_ ? across_ : depth) * product_.numbers->bytes;
    for (size_t row = 0; row < outer; ++row) {
      for (size_t byte = 0; byte < inner_bytes; byte += kPieceBytes) {
        const uint64_t address = AddressOf(row, byte);
        const uint8_t* const piece = shared.BeginProduct(address, kPieceBytes, instruction_.text);
        pieces.push_back(address);
        for (size_t i = 0; i < kPieceBytes / product_.numbers->bytes; ++i) {
          uint32_t bits = 0;
          memcpy(&bits, piece + i * product_.numbers->bytes, product_.numbers->bytes);
          const size_t inner = byte / product_.numbers->bytes + i;
          numbers[is_turned_ ? inner * depth + row : row * depth + inner] =
              product_.numbers->number(bits);
        }
      }
    }
    return numbers;
  }

 private:
  [[noreturn]] void Refuse(const std::string& what) const {
    Violation("a descriptor that " + what + ": " + instruction_.text);
  }
  size_t RowNumbers() const { return kRowBytes / product_.numbers->bytes; }

  // Rows go along the depth, or across it where the factor is turned. Eight of them follow each other, the next eight are `stride` away; what of a turned row
  // is beyond 128 bytes lies `leading` away.
  uint64_t AddressOf(size_t row, size_t byte) const {
    uint64_t address = start_ + row / 8 * stride_ + row % 8 * kRowBytes;
    address += is_turned_ ? byte / kRowBytes * leading_ + byte % kRowBytes : byte;
    // Of the address itself, wherever the factor begins.
    return kPtxShared + (address ^ (address / kRowBytes % 8 * kPieceBytes));
  }

  const uint64_t start_;  // The low bits of an address, all that matter.
  const uint64_t leading_;
  const uint64_t stride_;
  const size_t across_;
  const Product product_;
  const bool is_turned_;
  const PtxInstruction& instruction_;
};

float Sign(uint64_t scale, const PtxInstruction& instruction) {
  const auto value = static_cast<int64_t>(scale);
  if (value != 1 && value != -1) Unknown(instruction);
  return static_cast<float>(value);
}

}  // namespace

void PtxWarpGroup::DoTogether(PtxInstance* lanes, PtxShared& shared) {
  const PtxInstruction& instruction = lanes[0].meeting();
  const std::string& name = instruction.words.at(1);
  if (name == "mma_async") return Multiply(lanes, shared);
  if (instruction.text == "wgmma.fence.sync.aligned") {
    for (size_t i = 0; i < kPtxWarpGroup; ++i) lanes[i].FenceProducts();
  } else if (instruction.text == "wgmma.commit_group.sync.aligned") {
    committed_.push_back(std::exchange(open_, {}));
    for (size_t i = 0; i < kPtxWarpGroup; ++i) lanes[i].CommitProducts();
  } else if (name == "wait_group") {
    Await(lanes, shared);
  } else {
    Unknown(instruction);
  }
}

void PtxWarpGroup::Multiply(PtxInstance* lanes, PtxShared& shared) {
  const PtxInstruction& instruction = lanes[0].meeting();
  const Product product = ReadProduct(instruction);
  const size_t depth = product.depth();
  const auto turns = [&](size_t operand) {
    return operand < instruction.operands.size() && ReadOfAll(lanes, instruction, operand) != 0;
  };
  const Factor left(ReadOfAll(lanes, instruction, 1), kRows, product, turns(6), instruction);
  const Factor right(ReadOfAll(lanes, instruction, 2), product.columns, product, turns(7),
                     instruction);
  const bool adds = ReadOfAll(lanes, instruction, 3) != 0;
  const float sign = Sign(ReadOfAll(lanes, instruction, 4), instruction) *
                     Sign(ReadOfAll(lanes, instruction, 5), instruction);
  const std::vector<float> a = left.Read(shared, open_);
  const std::vector<float> b = right.Read(shared, open_);
  const std::vector<PtxOperand>& sums = instruction.operands[0].parts;
  for (size_t lane = 0; lane < kPtxWarpGroup; ++lane) {
    for (size_t i = 0; i < sums.size(); ++i) {
      // Each warp has 16 rows; of 8 columns a lane has two, in two rows.
      const size_t row = lane / 32 * 16 + lane % 32 / 4 + i / 2 % 2 * 8;
      const size_t column = i / 4 * 8 + lane % 4 * 2 + i % 2;
      const float before = lanes[lane].AddTo(sums[i], static_cast<int>(product.columns));
      float sum = adds ? before : 0;
      const float* const x = &a[row * depth];
      const float* const y = &b[column * depth];
      for (size_t k = 0; k < depth; ++k) sum += sign * x[k] * y[k];
      lanes[lane].Added(sums[i], sum);
    }
  }
}

// "wgmma.wait_group.sync.aligned 1".
void PtxWarpGroup::Await(PtxInstance* lanes, PtxShared& shared) {
  const PtxInstruction& instruction = lanes[0].meeting();
  if (instruction.operands.size() != 1) Unknown(instruction);
  const uint64_t left = instruction.operands[0].number;
  while (committed_.size() > left) {
    for (const uint64_t piece : committed_.front()) shared.EndProduct(piece, kPieceBytes);
    committed_.pop_front();
  }
  for (size_t i = 0; i < kPtxWarpGroup; ++i) lanes[i].AwaitProducts(left);
}

}  // namespace slipway::fake_cuda
