/* What kernels written by hand in C include, one source file a program:
 *
 *   #include "core/kernel_abi/kernel_source.h"
 *
 *   static int32_t negate(void** args) {
 *     const float* x = (const float*)slipway_tensor(args, 0)->host;
 *     float* y = (float*)slipway_tensor(args, 1)->host;
 *     for (int64_t i = 0; i < slipway_elements(args, 1); ++i) y[i] = -x[i];
 *     return SLIPWAY_OK;
 *   }
 *
 *   SLIPWAY_KERNELS({negate, 2, 0})
 *
 * `slipway pack` makes an artifact of such a file (client/README.md). Like kernel_abi.h it needs <stdint.h> alone, and
 * there is no C library.
 */
#ifndef SLIPWAY_CORE_KERNEL_ABI_KERNEL_SOURCE_H_
#define SLIPWAY_CORE_KERNEL_ABI_KERNEL_SOURCE_H_

#include "core/kernel_abi/kernel_abi.h"

/* GCC makes calls of memset and memcpy of loops, also where there is no C library. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-loop-distribute-patterns")
#endif

/* What the runtime offers; set before the first kernel is called. */
static const slipway_imports* slipway_runtime;

/* What the imports want to know the call by. */
static inline slipway_context* slipway_call(void** args) { return *(slipway_context**)args[0]; }

/* Tensor `index` of the kernel, inputs first. Dense, with dim[0] the innermost extent. */
static inline slipway_buffer* slipway_tensor(void** args, int32_t index) {
  return (slipway_buffer*)args[index + 1];
}

/* How many elements it has. */
static inline int64_t slipway_elements(void** args, int32_t index) {
  const slipway_buffer* tensor = slipway_tensor(args, index);
  int64_t elements = 1;
  for (int32_t d = 0; d < tensor->dimensions; ++d) elements *= tensor->dim[d].extent;
  return elements;
}

/* The table of kernels and the one exported function, at the end of the file: a row {function, tensors, 0} for each
 * kernel. */
#define SLIPWAY_KERNELS(...)                                                                \
  static const slipway_kernel_entry slipway_rows[] = {__VA_ARGS__};                         \
  static const slipway_kernel_table slipway_table = {                                       \
      SLIPWAY_ABI_VERSION, sizeof(slipway_rows) / sizeof(slipway_rows[0]), slipway_rows};   \
  __attribute__((visibility("default"))) const slipway_kernel_table* slipway_program_query( \
      uint32_t abi_version, const slipway_imports* imports) {                               \
    if (abi_version != SLIPWAY_ABI_VERSION) return 0;                                       \
    slipway_runtime = imports;                                                              \
    return &slipway_table;                                                                  \
  }

#endif /* SLIPWAY_CORE_KERNEL_ABI_KERNEL_SOURCE_H_ */
