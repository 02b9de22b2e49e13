#include "core/kernels/reshaping.h"

#include "core/kernels/call.h"
#include "core/kernels/extents.h"
#include "core/kernels/places.h"

namespace slipway::kernels {
namespace {

const char* ReshapeExtents(const Call& call, Extents& extents) {
  constexpr const char* kOtherNumber = "the shape has another number of elements than x";
  const Operand x = call.input(0);
  const Operand shape = call.input(1);
  const bool copies_zeros = call.Integer(0) == 0;
  const auto rank = static_cast<int>(shape.elements());
  if (rank > kMostDimensions) return "the shape has too many dimensions";
  PerDimension y;
  int open = -1;
  bool is_empty = false;
  int64_t others = 1;
  for (int d = 0; d < rank; ++d) {
    y[d] = IndexAt(shape, d);
    if (y[d] == -1) {
      if (open >= 0) return "the shape holds -1 twice";
      open = d;
      continue;
    }
    if (y[d] == 0 && copies_zeros) {
      if (d >= x.rank()) return "0 copies an extent that x does not have";
      y[d] = x.extent(d);
    }
    if (y[d] < 0 || y[d] > kMostExtent) return kBadExtent;
    is_empty = is_empty || y[d] == 0;
    if (!is_empty && __builtin_mul_overflow(others, y[d], &others)) return kOtherNumber;
  }
  if (is_empty) others = 0;
  if (open >= 0) {
    if (others == 0 || x.elements() % others != 0) return kOtherNumber;
    y[open] = x.elements() / others;
  } else if (others != x.elements()) {
    return kOtherNumber;
  }
  for (int d = 0; d < rank; ++d) extents.Add(0, y[d]);
  return nullptr;
}

const char* SqueezeExtents(const Call& call, Extents& extents) {
  const Operand x = call.input(0);
  PerDimension squeezed;
  const char* wrong = NamedAxes(call.input(1), x.rank(), squeezed);
  for (int d = 0; d < x.rank() && wrong == nullptr; ++d) {
    if (squeezed[d] == 0) {
      extents.Add(0, x.extent(d));
    } else if (x.extent(d) != 1) {
      wrong = "an axis to squeeze has not the extent 1";
    }
  }
  return wrong;
}

const char* UnsqueezeExtents(const Call& call, Extents& extents) {
  const Operand x = call.input(0);
  const int rank = x.rank() + static_cast<int>(call.input(1).elements());
  PerDimension added;
  const char* wrong = NamedAxes(call.input(1), rank, added);
  int next = 0;
  for (int d = 0; d < rank && wrong == nullptr; ++d) {
    extents.Add(0, added[d] != 0 ? 1 : x.extent(next++));
  }
  return wrong;
}

int32_t CopyAs(const Call& call, ExtentsFunction function) {
  if (const char* wrong = WrongExtents(call, function)) return call.Fail(wrong);
  const Operand x = call.input(0);
  __builtin_memcpy(call.output(0).data<char>(), x.data<const char>(),
                   static_cast<uint64_t>(x.elements() * ByteSize(x.type())));
  return 0;
}

}  // namespace
}  // namespace slipway::kernels

using namespace slipway::kernels;  // NOLINT

int32_t slipway_Reshape(void** arguments) { return CopyAs(Call(arguments), ReshapeExtents); }
int32_t slipway_Reshape_extents(void** arguments) {
  return WriteExtents(Call(arguments), ReshapeExtents);
}
int32_t slipway_Squeeze(void** arguments) { return CopyAs(Call(arguments), SqueezeExtents); }
int32_t slipway_Squeeze_extents(void** arguments) {
  return WriteExtents(Call(arguments), SqueezeExtents);
}
int32_t slipway_Unsqueeze(void** arguments) { return CopyAs(Call(arguments), UnsqueezeExtents); }
int32_t slipway_Unsqueeze_extents(void** arguments) {
  return WriteExtents(Call(arguments), UnsqueezeExtents);
}

int32_t slipway_Shape(void** arguments) {
  const Call call(arguments);
  const int first = static_cast<int>(call.Integer(0));
  const Operand y = call.output(0);
  for (int d = 0; d < y.extent(0); ++d) y.data<int64_t>()[d] = call.input(0).extent(first + d);
  return 0;
}

int32_t slipway_Size(void** arguments) {
  const Call call(arguments);
  call.output(0).data<int64_t>()[0] = call.input(0).elements();
  return 0;
}
