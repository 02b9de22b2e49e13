/* A program for WebAssembly with threads whose kernels go wrong on another thread than the one that runs the program, for module_threads_test.mjs.
 *
 * Each kernel runs a loop of 8 tasks, and has one output, i32[8]. A task on the program's own thread waits until another has come, which has its
 * stack elsewhere.
 */
#include <stdint.h>

#include "core/kernel_abi/kernel_abi.h"

#define IMPORT(name) __attribute__((import_module("slipway"), import_name(name)))
IMPORT("parallel_for")
int32_t parallel_for(slipway_context*, slipway_task, int32_t min, int32_t extent, uint8_t* closure);
IMPORT("allocate") void* allocate(slipway_context*, uint64_t bytes);
IMPORT("release") void release(slipway_context*, void* memory);
IMPORT("error") void error(slipway_context*, const char* message);

typedef struct {
  int32_t* out;
  int32_t came;
  int32_t (*wrong)(slipway_context*);
} closure_of;

static int32_t goes_well(slipway_context* context) {
  (void)context;
  return 0;
}

static int32_t fails(slipway_context* context) {
  error(context, "the other says no");
  return 9;
}

static int32_t refuses(slipway_context* context) {
  error(context, "the other takes no such number");
  return SLIPWAY_INVALID_ARGUMENT;
}

static int32_t traps(slipway_context* context) {
  (void)context;
  __builtin_trap();
}

static int32_t wants_all_memory(slipway_context* context) {
  while (allocate(context, 1 << 20) != 0) {
  }
  error(context, "out of scratch memory");
  __builtin_trap();
}

static int32_t overflows(slipway_context* context) {
  (void)context;
  volatile uint8_t most[SLIPWAY_MODULE_STACK_BYTES - 512];
  /* As numbers, by which a compiler sees nothing wrong. */
  for (uintptr_t below = 0; below < 1024; ++below) {
    *(volatile uint8_t*)((uintptr_t)most - below) = 1;
  }
  return 0;
}

static int32_t adds(slipway_context* context, int32_t index, uint8_t* closure) {
  (void)context;
  __atomic_fetch_add((int32_t*)closure, index, __ATOMIC_RELAXED);
  return 0;
}

/* A loop within a task, and memory of every size. */
static int32_t nests(slipway_context* context) {
  int32_t sum = 0;
  int32_t result = parallel_for(context, adds, 1, 100, (uint8_t*)&sum);
  void* small = allocate(context, 1);
  void* large = allocate(context, 300000);
  if (small == large) result = 10;
  release(context, large);
  release(context, small);
  return result != 0 ? result : sum == 5050 ? 0 : 11;
}

static int32_t task(slipway_context* context, int32_t index, uint8_t* bytes) {
  closure_of* closure = (closure_of*)bytes;
  const int32_t is_other = (uintptr_t)__builtin_frame_address(0) > SLIPWAY_MODULE_STACK_BYTES;
  closure->out[index] = 1 + is_other;
  if (!is_other) {
    while (__atomic_load_n(&closure->came, __ATOMIC_ACQUIRE) == 0) {
    }
    return 0;
  }
  __atomic_store_n(&closure->came, 1, __ATOMIC_RELEASE);
  return closure->wrong(context);
}

static int32_t run(void** args, int32_t (*wrong)(slipway_context*)) {
  const slipway_buffer* out = (const slipway_buffer*)args[1];
  closure_of closure = {(int32_t*)out->host, 0, wrong};
  return parallel_for(*(slipway_context**)args[0], task, 0, 8, (uint8_t*)&closure);
}

#define KERNEL(name) \
  static int32_t run_##name(void** args) { return run(args, name); }
KERNEL(goes_well)
KERNEL(fails)
KERNEL(refuses)
KERNEL(traps)
KERNEL(wants_all_memory)
KERNEL(overflows)
KERNEL(nests)

static const slipway_kernel_entry kernels[] = {
    {run_goes_well, 1, 0},        {run_fails, 1, 0},     {run_refuses, 1, 0}, {run_traps, 1, 0},
    {run_wants_all_memory, 1, 0}, {run_overflows, 1, 0}, {run_nests, 1, 0}};
static const slipway_kernel_table table = {SLIPWAY_ABI_VERSION,
                                           sizeof(kernels) / sizeof(kernels[0]), kernels};

__attribute__((export_name("slipway_program_query"))) const slipway_kernel_table* query(
    uint32_t abi_version, const slipway_imports* imports) {
  (void)imports;
  return abi_version == SLIPWAY_ABI_VERSION ? &table : 0;
}
