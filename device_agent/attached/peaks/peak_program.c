/* What a device is sent to find out what its processor does at most: the loops of core/target as kernels. Times are those of
 * the list that calls one. */
#include "device_agent/attached/peaks/peak_program.h"

#include "core/kernel_abi/kernel_source.h"
#include "core/target/read_loops.h"
#include "core/target/sum_loops.h"

#define SUMS_ROW(function, type, is_run_by, operations) function,
#define READ_ROW(function, is_run_by) function,

static void (*const sums_loops[])(int64_t rounds) = {SLIPWAY_OWN_LOOPS(SUMS_ROW)};
static uint64_t (*const read_loops[])(const char* data,
                                      int64_t bytes) = {SLIPWAY_OWN_READS(READ_ROW)};

typedef struct call {
  const slipway_peak_call* what;
  uint8_t* data;
} call;

static int32_t add(slipway_context* context, int32_t index, uint8_t* closure) {
  const slipway_peak_call* const what = ((const call*)(const void*)closure)->what;
  (void)context;
  (void)index;
  sums_loops[what->loop](what->times);
  return SLIPWAY_OK;
}

static int32_t read(slipway_context* context, int32_t index, uint8_t* closure) {
  const call* const c = (const call*)(const void*)closure;
  const char* const part = (const char*)c->data + index * c->what->bytes;
  volatile uint64_t sum = 0;
  int64_t i;
  (void)context;
  for (i = 0; i < c->what->times; ++i) sum = read_loops[c->what->loop](part, c->what->bytes);
  (void)sum;
  return SLIPWAY_OK;
}

static int32_t fill(slipway_context* context, int32_t index, uint8_t* closure) {
  const call* const c = (const call*)(const void*)closure;
  volatile uint8_t* const part = c->data + index * c->what->bytes;
  int64_t i;
  (void)context;
  /* One byte a page is enough to have it. */
  for (i = 0; i < c->what->bytes; i += 1024) part[i] = 1;
  return SLIPWAY_OK;
}

static int32_t run(void** args, slipway_task task) {
  call c;
  c.what = (const slipway_peak_call*)(const void*)slipway_tensor(args, 0)->host;
  c.data = slipway_tensor(args, 1)->host;
  return slipway_runtime->parallel_for(slipway_call(args), task, 0, (int32_t)c.what->tasks,
                                       (uint8_t*)&c);
}

static int32_t sums_kernel(void** args) { return run(args, add); }
static int32_t read_kernel(void** args) { return run(args, read); }
static int32_t fill_kernel(void** args) { return run(args, fill); }

SLIPWAY_KERNELS({sums_kernel, 2, 0}, {read_kernel, 2, 0}, {fill_kernel, 2, 0})
