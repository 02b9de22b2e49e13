// Extents: what extents outputs have where values of inputs decide about them. Freestanding: see call.h.
//
// A kernel that has such outputs has a function that finds all of their extents (an ExtentsFunction). It serves twice: as
// the callable function named _extents, which writes them down before there are outputs, and as the kernel's own check of
// the outputs it is given.
#ifndef SLIPWAY_CORE_KERNELS_EXTENTS_H_
#define SLIPWAY_CORE_KERNELS_EXTENTS_H_

#include <stdint.h>

#include "core/kernels/call.h"
#include "core/kernels/numbers.h"

namespace slipway::kernels {

inline constexpr int64_t kMostExtent = 2147483647;  // What core/kernel_abi can say.
inline constexpr char kBadExtent[] = "an extent would be negative or more than 2^31 - 1";
inline constexpr char kOtherExtents[] = "the result has other extents than the inputs make";

// Takes extents, output after output, the outermost dimension of each first.
class Extents {
 public:
  // That writes those that are wanted to `numbers`, of which there is room for `room`; or where that is null compares all
  // with what the outputs of the call have.
  Extents(const Call& call, int64_t* numbers, int64_t room)
      : call_(call), numbers_(numbers), room_(room) {}

  // The next extent of output `output`. Nothing happens for one that the node omits.
  void Add(int output, int64_t extent) {
    if (!call_.makes(output)) return;
    if (extent < 0 || extent > kMostExtent) is_bad_ = true;
    if (output != output_) dimension_ = 0;
    output_ = output;
    if (numbers_ == nullptr) {
      const Operand y = call_.output(output);
      fits_ = fits_ && dimension_ < y.rank() && y.extent(dimension_) == extent;
      ++dimension_;
    } else if (call_.wants(count_++) && written_ < room_) {
      numbers_[written_++] = extent;
    }
  }

  // What is wrong with them; null where nothing is.
  const char* Wrong() const {
    if (is_bad_) return kBadExtent;
    return fits_ && written_ == room_ ? nullptr : kOtherExtents;
  }

 private:
  const Call& call_;
  int64_t* numbers_;
  int64_t room_;
  int64_t count_ = 0;
  int64_t written_ = 0;
  int output_ = -1;
  int dimension_ = 0;
  bool is_bad_ = false;
  bool fits_ = true;
};

// Adds every extent of every output. Returns what is wrong with the inputs, null where nothing is.
using ExtentsFunction = const char* (*)(const Call&, Extents&);

// The function named _extents of a kernel: its only output, behind the inputs, is an i64[] of those that are wanted.
inline int32_t WriteExtents(const Call& call, ExtentsFunction function) {
  Extents extents(call, call.numbers().data<int64_t>(), call.numbers().extent(0));
  const char* wrong = function(call, extents);
  if (wrong == nullptr) wrong = extents.Wrong();
  return wrong == nullptr ? 0 : call.Fail(wrong);
}

// Of a kernel that was given its outputs: why they cannot be. Null where all extents are what they should be.
inline const char* WrongExtents(const Call& call, ExtentsFunction function) {
  Extents extents(call, nullptr, 0);
  const char* wrong = function(call, extents);
  return wrong == nullptr ? extents.Wrong() : wrong;
}

// The whole number that an operand of one number says, of any type, without its fraction. -1 where it is negative or NaN,
// more than kMostExtent where it is that.
inline int64_t CountOf(const Operand& number) {
  const double count = NumberAt(number, 0);
  if (!(count >= 0)) return -1;
  return count <= static_cast<double>(kMostExtent) ? static_cast<int64_t>(count) : kMostExtent + 1;
}

}  // namespace slipway::kernels

#endif  // SLIPWAY_CORE_KERNELS_EXTENTS_H_
