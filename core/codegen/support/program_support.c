/* Linked into every program's code: the one exported function, and what generated kernels and the
 * compiler's own code generator call, in terms of the imports of kernel_abi.h.
 *
 * With SLIPWAY_STATIC_IMPORTS for a program that is linked into another: that one defines the imports, and nothing
 * has to be asked for, so that there is no variable.
 *
 * Compiled once for each architecture, freestanding: nothing here may need a C library.
 */
#include <stddef.h>
#include <stdint.h>

#include "core/kernel_abi/kernel_abi.h"

#ifdef SLIPWAY_STATIC_IMPORTS

__attribute__((visibility("hidden"))) extern const slipway_imports slipway_program_imports;
static const slipway_imports* const program_imports = &slipway_program_imports;

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
