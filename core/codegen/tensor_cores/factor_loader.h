// One of the two matrices of a product on its way from the device's memory to what a group shares, step by step of the depth.
#ifndef SLIPWAY_CORE_CODEGEN_TENSOR_CORES_FACTOR_LOADER_H_
#define SLIPWAY_CORE_CODEGEN_TENSOR_CORES_FACTOR_LOADER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "core/codegen/tensor_cores/kernel_frame.h"
#include "core/codegen/tensor_cores/matrix_product.h"
#include "core/codegen/tensor_cores/shared_layout.h"

namespace slipway {

// Which of the two.
struct Factor {
  const ProductTensor& tensor;
  bool is_left = false;  // Whose rows lie across the depth.
  int64_t extent = 0;    // Across the depth,
  int across = 0;        // and of that a tile's part.
  const SlidingWindow* window = nullptr;

  int64_t across_stride() const { return is_left ? RowStride() : tensor.columns; }
  int64_t depth_stride() const { return is_left ? tensor.columns : RowStride(); }

 private:
  int64_t RowStride() const { return tensor.rows.strides.empty() ? 0 : tensor.rows.strides[0]; }
};

// Writes the parts of the text that move a factor. All are written once, in this order: Start; what brings the first step; and for the loop GoOn and what
// brings the step behind.
class FactorLoader {
 public:
  virtual ~FactorLoader() = default;

  SharedLayout layout;

  // Whether it goes to shared memory by itself, while instances do other things: Copy in place of Load and Store.
  virtual bool is_copied() const { return false; }
  // What holds for all steps, which begins with the first; `first_across` is a register, as are all of the following.
  virtual void Start(const std::string& first_across) = 0;
  // To the next step.
  virtual void GoOn() = 0;
  // The step comes to registers.
  virtual void Load() {}
  // And from there, rounded, to a slot, whose offset this is.
  virtual void Store(const std::string& /*slot*/) {}
  // The step comes to a slot, where a predicate holds.
  virtual void Copy(const std::string& /*slot*/, const std::string& /*predicate*/) {}
};

// The one for a factor: copies of what needs no rounding, vectors where they lie along rows, else element by element, neighbours by neighbouring instances.
std::unique_ptr<FactorLoader> MakeFactorLoader(KernelFrame& frame, const Factor& factor);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_TENSOR_CORES_FACTOR_LOADER_H_
