/* Kernels for tests of a bare runner: some behave, others try what they must not. Built as the compiler's own code is. */
#include "core/kernel_abi/kernel_abi.h"

static const slipway_imports* imports;

static slipway_context* context_of(void** args) { return *(slipway_context**)args[0]; }
static slipway_buffer* argument(void** args, int i) { return (slipway_buffer*)args[1 + i]; }

struct rows {
  const float* x;
  float* y;
  int32_t columns;
};

/* Adds the row's number, by way of scratch memory and a loop within the loop. */
static int32_t one(slipway_context* context, int32_t index, uint8_t* closure) {
  (void)context;
  ++*(int32_t*)(closure + (unsigned)index * 64);
  return 0;
}

static int32_t one_row(slipway_context* context, int32_t row, uint8_t* closure) {
  const struct rows* rows = (const struct rows*)closure;
  uint8_t* counts = imports->allocate(context, 4 * 64);
  if (!counts) return 1;
  for (int i = 0; i < 4; ++i) *(int32_t*)(counts + i * 64) = row - 1;
  if (imports->parallel_for(context, one, 0, 4, counts) != 0) return 2;
  for (int32_t c = 0; c < rows->columns; ++c) {
    rows->y[row * rows->columns + c] =
        rows->x[row * rows->columns + c] + (float)*(int32_t*)(counts + c % 4 * 64);
  }
  imports->release(context, counts);
  return 0;
}

/* x f32[rows, columns] -> y of the same shape, y = x + the number of the row */
static int32_t add_row_numbers(void** args) {
  const slipway_buffer* x = argument(args, 0);
  struct rows rows = {(const float*)x->host, (float*)argument(args, 1)->host, x->dim[0].extent};
  return imports->parallel_for(context_of(args), one_row, 0, x->dim[1].extent, (uint8_t*)&rows);
}

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

static int32_t eat_scratch(void** args) {
  while (imports->allocate(context_of(args), 1 << 20)) {
  }
  imports->error(context_of(args), "no scratch memory left");
  return 9;
}

/* y i64[1] = the system call whose number and first three arguments x i64[4] has, as the kernel answers it. */
static int32_t call_system(void** args) {
  const int64_t* x = (const int64_t*)argument(args, 0)->host;
  int64_t result = 0;
#if defined(__x86_64__)
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(x[0]), "D"(x[1]), "S"(x[2]), "d"(x[3])
                   : "rcx", "r11", "memory");
#endif
  *(int64_t*)argument(args, 1)->host = result;
  return 0;
}

static const slipway_kernel_entry kernels[] = {
    {add_row_numbers, 2, 0}, {fail, 0, 0},        {crash, 0, 0}, {loop, 0, 0},
    {eat_scratch, 0, 0},     {call_system, 2, 0},
};

static const slipway_kernel_table table = {SLIPWAY_ABI_VERSION,
                                           sizeof(kernels) / sizeof(kernels[0]), kernels};

__attribute__((visibility("default"))) const slipway_kernel_table* slipway_program_query(
    uint32_t abi_version, const slipway_imports* from_runtime) {
  if (abi_version != SLIPWAY_ABI_VERSION) return 0;
  imports = from_runtime;
  return &table;
}
