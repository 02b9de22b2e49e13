/* The contract between a compiled program's code and the runtime that loads it.
 *
 * A stand-alone C header: the compiler builds its support object from it for every target, and the
 * runtime includes it; it needs nothing but <stdint.h>.
 *
 * Code of kind CODE_ELF is a shared object with no undefined symbols and no needed libraries. It
 * exports one function, SLIPWAY_QUERY_SYMBOL. The runtime calls it once after loading; it stores the
 * imports and returns the table of kernels. Everything the code needs from outside, it reaches through
 * the imports.
 *
 * For wasm-32 the code is a WebAssembly module, whose kind is the same. It imports its memory as "env" "memory", and what
 * slipway_imports has as functions of these names and types from "slipway" (so that the query takes null for them). It exports
 * SLIPWAY_QUERY_SYMBOL, `__indirect_function_table`, by whose indices kernels and tasks are called, and two globals. Memory
 * before `__heap_base` is the code's own, its stack of SLIPWAY_MODULE_STACK_BYTES included, and less than these and the module's
 * bytes together; what follows is the runtime's. After a call that trapped, the runtime gives `__stack_pointer` the value it
 * had before. A module for a target with threads imports shared memory. Each thread instantiates it on the same one: the first
 * instance fills the code's own memory and keeps the stack there; in all others the runtime points `__stack_pointer` to the end of
 * SLIPWAY_MODULE_STACK_BYTES of its own before anything is called.
 *
 * Versioning:
 *  - SLIPWAY_ABI_VERSION is raised when the meaning or layout of anything here changes.
 *  - Code is built for one version, which the manifest's min_reader_abi says. It answers a query for that
 *    version with a table of that version, and for any other with a null pointer.
 *  - A runtime speaks a range, SLIPWAY_OLDEST_ABI_VERSION to SLIPWAY_ABI_VERSION. It asks code for the
 *    version the code was built for, never for its own newest, so that it loads code of every version in
 *    its range, however much older. Outside of the range it refuses before it maps any code, and names the
 *    versions of both sides.
 *  - Members are only added at the end of a struct, with a new version; none is reordered or removed. Code
 *    looks at no member that is newer than the version it was built for; a runtime reads what code hands out
 *    as its version has it.
 *  - Raising SLIPWAY_OLDEST_ABI_VERSION orphans artifacts: a decision for DESIGN.md. What is spoken is
 *    recorded in tests/testdata/skew and held to.
 *
 * Thread-safety: after the query returned, kernels may be called from any number of threads at once as
 * long as their contexts differ and no argument is written by two calls.
 */
#ifndef SLIPWAY_CORE_KERNEL_ABI_KERNEL_ABI_H_
#define SLIPWAY_CORE_KERNEL_ABI_KERNEL_ABI_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What this header describes: code built with it is of this version. */
#define SLIPWAY_ABI_VERSION 1
/* The oldest version that runtimes built with it speak. */
#define SLIPWAY_OLDEST_ABI_VERSION 1
#define SLIPWAY_QUERY_SYMBOL "slipway_program_query"
#define SLIPWAY_MODULE_STACK_BYTES 1048576

/* One dimension of a buffer: index i of [min, min + extent) lies `(i - min) * stride` elements from the
 * host pointer. All numbers count elements. `flags` is 0. */
typedef struct slipway_dimension {
  int32_t min;
  int32_t extent;
  int32_t stride;
  uint32_t flags;
} slipway_dimension;

/* Element type: what kind of number, its bits, and lanes (always 1 here). */
typedef struct slipway_element_type {
  uint8_t code; /* SLIPWAY_TYPE_* */
  uint8_t bits;
  uint16_t lanes;
} slipway_element_type;

enum {
  SLIPWAY_TYPE_INT = 0,
  SLIPWAY_TYPE_UINT = 1, /* bool is 8 bits of this, 0 or 1, in memory */
  SLIPWAY_TYPE_FLOAT = 2,
  SLIPWAY_TYPE_BFLOAT = 4
};

/* A tensor in memory. The layout is that of Halide 14's halide_buffer_t (checked where code is
 * generated), so that generated code reads it as it is. Dimensions are stored innermost first:
 * dim[0] is the last extent of the tensor's shape. Members not named below are zero. A kernel reads and
 * writes only [host, host + bytes of the tensor); host is aligned to 64 bytes. */
typedef struct slipway_buffer {
  uint64_t device;              /* 0 on the CPU */
  const void* device_interface; /* null on the CPU */
  uint8_t* host;
  uint64_t flags;
  slipway_element_type type;
  int32_t dimensions; /* 0 for a scalar */
  slipway_dimension* dim;
  void* padding;
} slipway_buffer;

/* What one call of a kernel is made under: opaque to the code, handed back to every import. */
typedef struct slipway_context slipway_context;

/* The body of a parallel loop: iteration `index` over `closure`. 0 is success. Code whose ProgramNotes
 * have kernel_task_scratch_bytes calls the imports in it with the context that it is given, which may be another than the loop's. */
typedef int32_t (*slipway_task)(slipway_context* context, int32_t index, uint8_t* closure);

/* What the runtime offers to the code. All functions are thread-safe. */
typedef struct slipway_imports {
  /* Runs task(context, i, closure) for every i in [min, min + extent), in any order, on any threads;
   * returns when all are done: 0, or the first non-zero result. May be called from within a task. */
  int32_t (*parallel_for)(slipway_context* context, slipway_task task, int32_t min, int32_t extent,
                          uint8_t* closure);
  /* Scratch memory for the length of a call, 64-byte aligned; null when there is none left. */
  void* (*allocate)(slipway_context* context, uint64_t bytes);
  void (*release)(slipway_context* context, void* memory);
  /* Records why a kernel is about to return non-zero. `message` is zero-terminated and copied. */
  void (*error)(slipway_context* context, const char* message);
} slipway_imports;

/* What a kernel returns. Any other value is a failure of the kernel itself. */
typedef enum slipway_result {
  SLIPWAY_OK = 0,
  SLIPWAY_INVALID_ARGUMENT =
      3 /* what inputs hold is nothing that the kernel can take; it says why by `error` */
} slipway_result;

/* A kernel. args[0] points to a `slipway_context*`; args[1..] point to slipway_buffer, inputs first, then
 * outputs, as many as the step that calls it names. Returns a slipway_result. */
typedef int32_t (*slipway_kernel)(void** args);

/* One row of the table of kernels. */
typedef struct slipway_kernel_entry {
  slipway_kernel function;
  int32_t argument_count; /* args without args[0] */
  int32_t reserved;       /* 0 */
} slipway_kernel_entry;

/* The table of kernels; a step names its kernel by the index in `kernels`. */
typedef struct slipway_kernel_table {
  uint32_t abi_version; /* The version the code was built for. */
  uint32_t kernel_count;
  const slipway_kernel_entry* kernels;
} slipway_kernel_table;

/* The one exported function. Null when `abi_version` is not the one the code was built for. `imports`, of
 * that version or a later one, must live as long as the code is loaded. */
typedef const slipway_kernel_table* (*slipway_query_function)(uint32_t abi_version,
                                                              const slipway_imports* imports);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* SLIPWAY_CORE_KERNEL_ABI_KERNEL_ABI_H_ */
