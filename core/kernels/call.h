// Call: what a kernel that is linked into artifacts is called with.
//
// Such a kernel is a slipway_kernel of core/kernel_abi, so that one function serves the reference and compiled
// programs. args[0] points to the context, args[1] to its parameters, then follow the inputs and the outputs that the
// node has, all dense. The parameters are a tensor of i64, written by core/reference/callable_kernel.h:
//   the number of the operator's inputs and of its outputs, a Type for each of these (kNone where the node omits it),
//   then the numbers that the kernel's comment lists.
// Extents are read from the buffers alone: a kernel is the same for all shapes.
//
// Freestanding: sources built on this are compiled for the targets of artifacts too (defs.bzl), where there is no C and
// no C++ library. They include the compiler's own headers and each other, call nothing from outside but the functions
// below, and take their mathematics from math.h.
#ifndef SLIPWAY_CORE_KERNELS_CALL_H_
#define SLIPWAY_CORE_KERNELS_CALL_H_

#include <stdint.h>

#include "core/kernel_abi/kernel_abi.h"
#include "core/kernels/types.h"

extern "C" {
// The imports of kernel_abi.h. In artifacts core/codegen/support/program_support.c defines them, elsewhere
// core/reference/callable_kernel.cc.
void* slipway_allocate(void* context, uint64_t bytes);
void slipway_release(void* context, void* memory);
void slipway_error(void* context, const char* message);
}

namespace slipway::kernels {

// A tensor that a kernel reads or writes.
class Operand {
 public:
  Operand() = default;  // One that the node omits.
  Operand(Type type, const slipway_buffer* buffer) : type_(type), buffer_(buffer) {}

  bool present() const { return buffer_ != nullptr; }
  Type type() const { return type_; }
  int rank() const { return buffer_->dimensions; }
  // Dimension 0 is the outermost one.
  int64_t extent(int dimension) const { return buffer_->dim[rank() - 1 - dimension].extent; }
  // The product of the extents of dimensions [first, last).
  int64_t Product(int first, int last) const {
    int64_t product = 1;
    for (int d = first; d < last; ++d) product *= extent(d);
    return product;
  }
  int64_t elements() const { return Product(0, rank()); }
  // REQUIRES: T is what type() says, or has its size where elements are only moved.
  template <typename T>
  T* data() const {
    return reinterpret_cast<T*>(buffer_->host);
  }

 private:
  Type type_ = Type::kNone;
  const slipway_buffer* buffer_ = nullptr;
};

class Call {
 public:
  explicit Call(void** arguments)
      : context_(*static_cast<void**>(arguments[0])), buffers_(arguments + 1) {
    parameters_ = reinterpret_cast<const int64_t*>(Buffer(0)->host);
  }

  int num_inputs() const { return static_cast<int>(parameters_[0]); }
  int num_outputs() const { return static_cast<int>(parameters_[1]); }
  // Whether the node has the output.
  bool makes(int i) const { return i < num_outputs() && parameters_[2 + num_inputs() + i] != 0; }
  // Inputs and outputs by their place in the operator's signature.
  Operand input(int i) const { return i < num_inputs() ? At(i) : Operand(); }
  Operand output(int i) const { return i < num_outputs() ? At(num_inputs() + i) : Operand(); }

  // The kernel's own parameters.
  int64_t Integer(int i) const { return Integers()[i]; }
  double Real(int i) const { return __builtin_bit_cast(double, Integers()[i]); }
  const int64_t* Integers() const { return parameters_ + 2 + num_inputs() + num_outputs(); }

  // For a function that says what extents outputs will have, before there are any: its only output, behind the inputs,
  // an i64[].
  Operand numbers() const {
    int buffer = 1;
    for (int i = 0; i < num_inputs(); ++i) buffer += parameters_[2 + i] != 0;
    return Operand(Type::kInt64, Buffer(buffer));
  }
  // Of one that finds all extents: for the next of them, of `number` before it, whether it is wanted. The parameters end with
  // a flag for each extent and the number of these.
  bool wants(int64_t number) const {
    const int64_t* end = parameters_ + Buffer(0)->dim[0].extent - 1;
    return number < *end && end[number - *end] != 0;
  }
  // For one that finds a single number, the extent of each dimension that the type rule leaves unknown. Returns success.
  int32_t Count(int64_t extent) const {
    *numbers().data<int64_t>() = extent;
    return 0;
  }

  // Says what is wrong with the inputs; return its result. `message` has no more to name than what is wrong: who calls knows
  // the node.
  int32_t Fail(const char* message) const {
    slipway_error(context_, message);
    return SLIPWAY_INVALID_ARGUMENT;
  }

  void* context() const { return context_; }
  // The same in the context that a task was given.
  Call In(void* context) const {
    Call call = *this;
    call.context_ = context;
    return call;
  }

 private:
  const slipway_buffer* Buffer(int i) const {
    return static_cast<const slipway_buffer*>(buffers_[i]);
  }
  Operand At(int operand) const {
    const int64_t* types = parameters_ + 2;
    if (types[operand] == 0) return Operand();
    int buffer = 1;
    for (int i = 0; i < operand; ++i) buffer += types[i] != 0;
    return Operand(static_cast<Type>(types[operand]), Buffer(buffer));
  }

  void* context_;
  void** buffers_;
  const int64_t* parameters_;
};

// Memory for the length of a call, 64-byte aligned. Test it: null where there is none left.
template <typename T>
class Scratch {
 public:
  Scratch(const Call& call, int64_t elements)
      : context_(call.context()),
        data_(static_cast<T*>(slipway_allocate(
            context_, static_cast<uint64_t>(elements > 0 ? elements : 1) * sizeof(T)))) {}
  ~Scratch() {
    if (data_ != nullptr) slipway_release(context_, data_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  explicit operator bool() const { return data_ != nullptr; }
  T* get() const { return data_; }
  T& operator[](int64_t i) const { return data_[i]; }

 private:
  void* context_;
  T* data_;
};
inline constexpr char kOutOfScratch[] = "out of scratch memory";

// function(T()) with the element type T of `type`; the function returns what the kernel does. What is not in the list
// fails: type rules keep it away.
template <typename Function>
int32_t DispatchFloat(const Call& call, Type type, Function function) {
  switch (type) {
    case Type::kFloat32:
      return function(float());
    case Type::kFloat64:
      return function(double());
    case Type::kFloat16:
      return function(Float16());
    case Type::kBfloat16:
      return function(Bfloat16());
    default:
      return call.Fail("there is no kernel for elements of this type");
  }
}

template <typename Function>
int32_t DispatchInteger(const Call& call, Type type, Function function) {
  switch (type) {
    case Type::kInt8:
      return function(int8_t());
    case Type::kInt16:
      return function(int16_t());
    case Type::kInt32:
      return function(int32_t());
    case Type::kInt64:
      return function(int64_t());
    case Type::kUint8:
      return function(uint8_t());
    case Type::kUint16:
      return function(uint16_t());
    case Type::kUint32:
      return function(uint32_t());
    case Type::kUint64:
      return function(uint64_t());
    default:
      return call.Fail("there is no kernel for elements of this type");
  }
}

template <typename Function>
int32_t DispatchNumber(const Call& call, Type type, Function function) {
  switch (type) {
    case Type::kFloat32:
    case Type::kFloat64:
    case Type::kFloat16:
    case Type::kBfloat16:
      return DispatchFloat(call, type, function);
    default:
      return DispatchInteger(call, type, function);
  }
}

// DispatchNumber and bool.
template <typename Function>
int32_t DispatchAny(const Call& call, Type type, Function function) {
  if (type == Type::kBool) return function(bool());
  return DispatchNumber(call, type, function);
}

// For kernels that only move elements: function(T()) with an unsigned type of the element's size, or Bits128.
template <typename Function>
int32_t DispatchSize(const Call& call, Type type, Function function) {
  switch (ByteSize(type)) {
    case 1:
      return function(uint8_t());
    case 2:
      return function(uint16_t());
    case 4:
      return function(uint32_t());
    case 8:
      return function(uint64_t());
    case 16:
      return function(Bits128());
    default:
      return call.Fail("there is no kernel for elements of this type");
  }
}

// An element of an operand of indices (i32 or i64), as a number. Kernels check it before use.
inline int64_t IndexAt(const Operand& indices, int64_t i) {
  return indices.type() == Type::kInt32 ? indices.data<const int32_t>()[i]
                                        : indices.data<const int64_t>()[i];
}

// Such an element as an axis of something of this rank, counted from its end where it is negative; -1 for one that it has not.
inline int AxisAt(const Operand& axes, int64_t i, int rank) {
  int64_t axis = IndexAt(axes, i);
  if (axis < 0) axis += rank;
  return axis < 0 || axis >= rank ? -1 : static_cast<int>(axis);
}

}  // namespace slipway::kernels

#endif  // SLIPWAY_CORE_KERNELS_CALL_H_
