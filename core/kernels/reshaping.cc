#include "core/kernels/reshaping.h"

#include "core/kernels/call.h"

using namespace slipway::kernels;  // NOLINT

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
