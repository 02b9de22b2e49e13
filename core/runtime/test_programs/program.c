/* Code of a program for tests: kernels that behave, and kernels that do not. Compiled as the
 * compiler's own code is: freestanding, nothing undefined. */
#include "core/kernel_abi/kernel_abi.h"

static const slipway_imports* imports;

static slipway_context* context_of(void** args) { return *(slipway_context**)args[0]; }
static slipway_buffer* argument(void** args, int i) { return (slipway_buffer*)args[1 + i]; }

static int64_t count(const slipway_buffer* buffer) {
  int64_t n = 1;
  for (int i = 0; i < buffer->dimensions; ++i) n *= buffer->dim[i].extent;
  return n;
}

struct add_row {
  const float* x;
  const float* bias;
  float* out;
  int32_t columns;
};

static int32_t add_one_row(slipway_context* context, int32_t row, uint8_t* closure) {
  const struct add_row* a = (const struct add_row*)closure;
  /* Through scratch memory, so that it is used from many threads. */
  float* copy = imports->allocate(context, a->columns * sizeof(float));
  if (!copy) return 1;
  for (int32_t c = 0; c < a->columns; ++c) copy[c] = a->bias[c];
  for (int32_t c = 0; c < a->columns; ++c) {
    a->out[row * a->columns + c] = a->x[row * a->columns + c] + copy[c];
  }
  imports->release(context, copy);
  return 0;
}

/* x f32[rows, columns], bias f32[columns] -> x + bias */
static int32_t add(void** args) {
  slipway_buffer* x = argument(args, 0);
  struct add_row a = {(const float*)x->host, (const float*)argument(args, 1)->host,
                      (float*)argument(args, 2)->host, x->dim[0].extent};
  return imports->parallel_for(context_of(args), add_one_row, x->dim[1].min, x->dim[1].extent,
                               (uint8_t*)&a);
}

/* The ones below take x and bias and give an output, as add does. */
static int32_t fail(void** args) {
  imports->error(context_of(args), "this kernel always fails");
  return 7;
}

static int32_t crash(void** args) {
  (void)args;
  *(volatile int*)8 = 1;
  return 0;
}

static int32_t loop(void** args) {
  volatile uint64_t turns = 0;
  (void)args;
  for (;;) ++turns;
  return 0;
}

static int32_t eat_memory(void** args) {
  for (;;) {
    volatile char* memory = imports->allocate(context_of(args), 64 << 20);
    if (!memory) break;
    for (int i = 0; i < 64 << 20; i += 4096) memory[i] = 1;
  }
  imports->error(context_of(args), "no scratch memory left");
  return 9;
}

/* Takes some milliseconds for every 1 in the first element of x; gives the number of turns. */
static int32_t slow(void** args) {
  volatile double sum = 0;
  const int64_t turns = (int64_t)(*(const float*)argument(args, 0)->host * 1e6f);
  float* out = (float*)argument(args, 2)->host;
  for (int64_t i = 0; i < turns; ++i) sum += (double)i;
  for (int64_t i = 0; i < count(argument(args, 2)); ++i) out[i] = (float)turns;
  return 0;
}

/* Gives how often it has been called since the code was loaded. */
static int32_t count_calls(void** args) {
  static float calls;
  float* out = (float*)argument(args, 2)->host;
  ++calls;
  for (int64_t i = 0; i < count(argument(args, 2)); ++i) out[i] = calls;
  return 0;
}

static const slipway_kernel_entry kernels[] = {
    {add, 3, 0},        {fail, 3, 0}, {crash, 3, 0},       {loop, 3, 0},
    {eat_memory, 3, 0}, {slow, 3, 0}, {count_calls, 3, 0},
};

/* The version it is built for. */
#ifndef ABI
#define ABI SLIPWAY_ABI_VERSION
#endif

static const slipway_kernel_table table = {
#ifdef OTHER_ABI
    ABI + 1,
#else
    ABI,
#endif
    sizeof(kernels) / sizeof(kernels[0]), kernels};

#ifdef NO_QUERY
#define QUERY slipway_program_ask
#else
#define QUERY slipway_program_query
#endif

__attribute__((visibility("default"))) const slipway_kernel_table* QUERY(
    uint32_t abi_version, const slipway_imports* from_runtime) {
  if (abi_version != ABI) return 0;
  imports = from_runtime;
  return &table;
}
