/* Kernels that small programs are put together from (small_kernels.h). Built as the compiler's own code is:
 * freestanding, nothing undefined. */
#include "core/kernel_abi/kernel_abi.h"

static const slipway_imports* imports;

static slipway_context* context_of(void** args) { return *(slipway_context**)args[0]; }
static slipway_buffer* argument(void** args, int i) { return (slipway_buffer*)args[1 + i]; }
static float* floats(void** args, int i) { return (float*)argument(args, i)->host; }
static int64_t* integers(void** args, int i) { return (int64_t*)argument(args, i)->host; }

static int64_t count(const slipway_buffer* buffer) {
  int64_t n = 1;
  for (int i = 0; i < buffer->dimensions; ++i) n *= buffer->dim[i].extent;
  return n;
}

static int32_t add(void** args) {
  const int64_t n = count(argument(args, 2));
  const int64_t step = count(argument(args, 1)) == 1 ? 0 : 1;
  for (int64_t i = 0; i < n; ++i) {
    floats(args, 2)[i] = floats(args, 0)[i] + floats(args, 1)[i * step];
  }
  return 0;
}

static int32_t fail(void** args) {
  imports->error(context_of(args), "this kernel always fails");
  return 7;
}

static int32_t window_sum(void** args) {
  const int64_t batch = argument(args, 0)->dim[1].extent;
  const int64_t width = argument(args, 0)->dim[0].extent;
  const int64_t out_width = argument(args, 1)->dim[0].extent;
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t j = 0; j < out_width; ++j) {
      const float* x = floats(args, 0) + b * width + 2 * j;
      floats(args, 1)[b * out_width + j] = x[0] + x[1] + x[2];
    }
  }
  return 0;
}

static int32_t count_positive(void** args) {
  const int64_t n = count(argument(args, 0));
  int64_t found = 0;
  for (int64_t i = 0; i < n; ++i) found += floats(args, 0)[i] > 0;
  integers(args, 1)[0] = found;
  return 0;
}

static int32_t positions(void** args) {
  const int64_t n = count(argument(args, 0));
  const int64_t room = count(argument(args, 1));
  int64_t found = 0;
  for (int64_t i = 0; i < n && found < room; ++i) {
    if (floats(args, 0)[i] > 0) integers(args, 1)[found++] = i;
  }
  return found == room ? 0 : 1;
}

static int32_t below(void** args) {
  argument(args, 2)->host[0] = floats(args, 0)[0] < floats(args, 1)[0];
  return 0;
}

static int32_t append(void** args) {
  const int64_t n = count(argument(args, 0));
  for (int64_t i = 0; i < n; ++i) floats(args, 2)[i] = floats(args, 0)[i];
  floats(args, 2)[n] = (float)integers(args, 1)[0];
  return 0;
}

static int32_t fail_at_3(void** args) {
  if (integers(args, 0)[0] == 3) {
    imports->error(context_of(args), "three is too many");
    return 3;
  }
  floats(args, 1)[0] = (float)integers(args, 0)[0];
  return 0;
}

static int32_t always(void** args) {
  argument(args, 1)->host[0] = 1;
  return 0;
}

/* In the order of SmallKernel. */
static const slipway_kernel_entry kernels[] = {
    {add, 3, 0},   {fail, 3, 0},   {window_sum, 2, 0}, {count_positive, 2, 0}, {positions, 2, 0},
    {below, 3, 0}, {append, 3, 0}, {fail_at_3, 2, 0},  {always, 2, 0},
};

static const slipway_kernel_table table = {SLIPWAY_ABI_VERSION,
                                           sizeof(kernels) / sizeof(kernels[0]), kernels};

__attribute__((visibility("default"))) const slipway_kernel_table* slipway_program_query(
    uint32_t abi_version, const slipway_imports* from_runtime) {
  if (abi_version != SLIPWAY_ABI_VERSION) return 0;
  imports = from_runtime;
  return &table;
}
