/* Linked into every program's code: the one exported function, and what generated kernels and the
 * compiler's own code generator call, in terms of the imports of kernel_abi.h.
 *
 * With SLIPWAY_STATIC_IMPORTS for a program that is linked into another: that one defines the imports, and nothing
 * has to be asked for, so that there is no variable. For WebAssembly the imports are the module's.
 *
 * Compiled once for each architecture, freestanding: nothing here may need a C library.
 */
#include <stddef.h>
#include <stdint.h>

#include "core/kernel_abi/kernel_abi.h"

/* halide_buffer_t as generated code has it, where pointers have 64 bits and where they have 32. */
_Static_assert(offsetof(slipway_buffer, host) == 8 + sizeof(void*), "layout");
_Static_assert(offsetof(slipway_buffer, flags) == 8 + 2 * sizeof(void*), "layout");
_Static_assert(offsetof(slipway_buffer, type) == 16 + 2 * sizeof(void*), "layout");
_Static_assert(offsetof(slipway_buffer, dim) == 24 + 2 * sizeof(void*), "layout");
_Static_assert(sizeof(slipway_buffer) == 24 + 4 * sizeof(void*), "layout");

#ifdef SLIPWAY_STATIC_IMPORTS

__attribute__((visibility("hidden"))) extern const slipway_imports slipway_program_imports;
static const slipway_imports* const program_imports = &slipway_program_imports;

#elif defined(__wasm__)

#define IMPORT(name) __attribute__((import_module("slipway"), import_name(name)))
IMPORT("parallel_for")
int32_t import_parallel_for(slipway_context* context, slipway_task task, int32_t min,
                            int32_t extent, uint8_t* closure);
IMPORT("allocate") void* import_allocate(slipway_context* context, uint64_t bytes);
IMPORT("release") void import_release(slipway_context* context, void* memory);
IMPORT("error") void import_error(slipway_context* context, const char* message);

static const slipway_imports module_imports = {import_parallel_for, import_allocate, import_release,
                                               import_error};
static const slipway_imports* const program_imports = &module_imports;

/* Made by core/codegen/wasm_table_object. */
extern const slipway_kernel_table slipway_program_kernels;

__attribute__((visibility("default"))) const slipway_kernel_table* slipway_program_query(
    uint32_t abi_version, const slipway_imports* imports) {
  (void)imports;
  return abi_version == SLIPWAY_ABI_VERSION ? &slipway_program_kernels : 0;
}

/* What the compiler makes of a product of two 64-bit numbers that has to be known whole. */

typedef unsigned __int128 wide;

static wide whole_product(uint64_t a, uint64_t b) {
  const uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
  const uint64_t low = a0 * b0;
  const uint64_t middle = a1 * b0 + (low >> 32);
  const uint64_t other = a0 * b1 + (uint32_t)middle;
  const uint64_t high = a1 * b1 + (middle >> 32) + (other >> 32);
  return (wide)high << 64 | (other << 32 | (uint32_t)low);
}

wide __multi3(wide a, wide b) {
  const uint64_t a0 = (uint64_t)a, a1 = (uint64_t)(a >> 64);
  const uint64_t b0 = (uint64_t)b, b1 = (uint64_t)(b >> 64);
  return whole_product(a0, b0) + ((wide)(a1 * b0 + a0 * b1) << 64);
}

#else

/* Made by core/codegen/table_object. */
extern const slipway_kernel_table slipway_program_kernels;

static const slipway_imports* program_imports;

__attribute__((visibility("default"))) const slipway_kernel_table* slipway_program_query(
    uint32_t abi_version, const slipway_imports* imports) {
  if (abi_version != SLIPWAY_ABI_VERSION || imports == 0) return 0;
  program_imports = imports;
  return &slipway_program_kernels;
}

#endif

/* What callable kernels import (core/kernels/call.h, parallel.h). */

void* slipway_allocate(void* context, uint64_t bytes) {
  return program_imports->allocate((slipway_context*)context, bytes);
}

void slipway_release(void* context, void* memory) {
  program_imports->release((slipway_context*)context, memory);
}

void slipway_error(void* context, const char* message) {
  program_imports->error((slipway_context*)context, message);
}

int32_t slipway_parallel_for(void* context, int32_t (*task)(void*, int32_t, uint8_t*), int32_t min,
                             int32_t extent, uint8_t* closure) {
  return program_imports->parallel_for((slipway_context*)context, (slipway_task)task, min, extent,
                                       closure);
}

/* Halide's runtime, as much of it as kernels call. `context` is the kernel's args[0]. */

int halide_do_par_for(void* context, int (*task)(void*, int, uint8_t*), int min, int extent,
                      uint8_t* closure) {
  return program_imports->parallel_for((slipway_context*)context, (slipway_task)task, min, extent,
                                       closure);
}

void* halide_malloc(void* context, size_t bytes) {
  void* memory = program_imports->allocate((slipway_context*)context, bytes);
  if (memory == 0) {
    /* Kernels have no way back from here: they are compiled without checks. */
    program_imports->error((slipway_context*)context, "out of scratch memory");
    __builtin_trap();
  }
  return memory;
}

void halide_free(void* context, void* memory) {
  if (memory != 0) program_imports->release((slipway_context*)context, memory);
}

/* What LLVM makes of loops that copy or clear. */

void* memset(void* to, int value, size_t bytes) {
  unsigned char* bytes_to = to;
  for (size_t i = 0; i < bytes; ++i) bytes_to[i] = (unsigned char)value;
  return to;
}

void* memcpy(void* restrict to, const void* restrict from, size_t bytes) {
  unsigned char* bytes_to = to;
  const unsigned char* bytes_from = from;
  for (size_t i = 0; i < bytes; ++i) bytes_to[i] = bytes_from[i];
  return to;
}

void* memmove(void* to, const void* from, size_t bytes) {
  unsigned char* bytes_to = to;
  const unsigned char* bytes_from = from;
  if (bytes_to < bytes_from) {
    for (size_t i = 0; i < bytes; ++i) bytes_to[i] = bytes_from[i];
  } else {
    for (size_t i = bytes; i > 0; --i) bytes_to[i - 1] = bytes_from[i - 1];
  }
  return to;
}

/* Rounding: x86-64 without SSE4.1 has no instruction for it. From 2^23 on every float is whole. */

static float whole_or(float x, float rounded) {
  const float magnitude = x < 0 ? -x : x;
  return magnitude < 8388608.0f ? rounded : x; /* NaN too takes the second way. */
}

static int32_t to_int(float x) { return x > -8388608.0f && x < 8388608.0f ? (int32_t)x : 0; }

float truncf(float x) { return whole_or(x, (float)to_int(x)); }

float floorf(float x) {
  const float whole = (float)to_int(x);
  return whole_or(x, whole > x ? whole - 1.0f : whole);
}

float ceilf(float x) {
  const float whole = (float)to_int(x);
  return whole_or(x, whole < x ? whole + 1.0f : whole);
}
