// What the texts of all kernels on tensor cores have in common: where tensors lie, and which numbers are multiplied.
#ifndef SLIPWAY_CORE_CODEGEN_TENSOR_CORES_KERNEL_TEXT_H_
#define SLIPWAY_CORE_CODEGEN_TENSOR_CORES_KERNEL_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "core/codegen/device_kernel.h"
#include "core/codegen/tensor_cores/indexing.h"
#include "core/codegen/tensor_cores/ptx_writer.h"
#include "core/tensor/dtype.h"
#include "core/tensor/precision.h"

namespace slipway {

inline constexpr int kElementBytes =
    4;  // In the device's memory, but for constants that are narrow.
// What an instance moves at once at most, and what a row of ldmatrix has.
inline constexpr int kVectorBytes = 16;
inline constexpr int kVector = kVectorBytes / kElementBytes;

// Numbers as tensor cores have them, in shared memory and in registers. Whatever they are, one mma takes 32 bytes of the depth, and ldmatrix brings
// it these where rows go along the depth.
struct NumberForm {
  Precision precision;
  DataType dtype;  // Of constants that are such numbers already.
  int bytes;
  const char* rounded;   // Words of two, or of one: "cvt.rn.f16x2.f32".
  const char* multiply;  // 16 rows by 8 columns.
  const char* type;      // Of both factors where warp groups multiply.

  bool is_narrow() const { return bytes < kElementBytes; }
};
inline constexpr int kMmaRows = 16;
inline constexpr int kMmaColumns = 8;
inline constexpr int kMmaDepthBytes = 32;

// The memory that a group shares: what an entry declares, and what a launch gives.
inline constexpr char kSharedName[] = "steps";
inline constexpr char kGivenName[] = "given_steps";

// Null for what is no precision of tensor cores'.
const NumberForm* FindNumberForm(Precision precision);

inline std::string Number(int64_t number) { return absl::StrCat(number); }
inline int64_t Parts(int64_t whole, int64_t part) { return (whole + part - 1) / part; }

// Writes parts of an entry's text: where tensors lie.
struct EntryText {
  const std::string entry;
  PtxWriter& w;

  // Adds what the index says of `number`, a register, to `offset`, in elements: never more than 2^29, as tensors are smaller than 2^31 bytes.
  std::string Plus(std::string offset, const Indexing& index, std::string number);

  // What a parameter of the entry says, in whatever memory that is.
  std::string Base(int parameter);
  // Of an element of a parameter, a register or a number.
  std::string Address(int parameter, const std::string& element, int bytes = kElementBytes);
  // A predicate: tensors of these parameters, one at least, all begin where a vector may.
  std::string AreAligned(absl::Span<const int> parameters);

  // What has been written as a kernel of this one entry, from so many inputs to one output.
  DeviceKernel Kernel(size_t inputs, int64_t groups, int instances) const;
};

// The same where tensor cores multiply.
struct KernelText : EntryText {
  const NumberForm& form;

  // Numbers of f32 as tensor cores want them, in words.
  std::vector<std::string> Rounded(const std::vector<std::string>& values);

  // Neighbours in shared memory from an address on.
  void StoreShared(const std::string& address, int64_t offset,
                   const std::vector<std::string>& words);
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_TENSOR_CORES_KERNEL_TEXT_H_
