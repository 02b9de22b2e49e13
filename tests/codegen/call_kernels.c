/* Calls kernels of a program of this machine's architecture, for a test that runs on another one and has an emulator:
 *     call_kernels PROGRAM.so CALLS RESULTS
 * CALLS and RESULTS are files of 64-bit numbers, least byte first, and bytes of tensors:
 *     CALLS    number of calls; of each: kernel, number of arguments; of each argument: whether it is an input, type code, bits,
 *              number of dimensions, their extents, innermost first, number of bytes; then, of an input, the bytes
 *     RESULTS  of each call, the bytes of what is no input
 * Arguments and scratch memory lie before pages that fault, and what is beside them is watched, as in program_memory.h.
 * Says on stderr which call is made, and what went wrong; exits with 1 then. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/kernel_abi/kernel_abi.h"

enum { kMaxArguments = 64, kMaxDimensions = 16, kAlignment = 64, kFront = 64, kMaxBlocks = 4096 };
static const unsigned char kUntouched = 0xA5;

static void fail(const char* what) {
  fprintf(stderr, "call_kernels: %s\n", what);
  exit(1);
}

static int64_t read_number(FILE* file) {
  uint8_t bytes[8];
  if (fread(bytes, 1, sizeof(bytes), file) != sizeof(bytes)) fail("the file of calls ends early");
  uint64_t number = 0;
  for (int i = 7; i >= 0; --i) number = number << 8 | bytes[i];
  return (int64_t)number;
}

static int64_t read_within(FILE* file, int64_t lowest, int64_t highest) {
  const int64_t number = read_number(file);
  if (number < lowest || number > highest) fail("a number in the file of calls is out of range");
  return number;
}

/* `data` is `bytes` long; front and rest are kUntouched, and the page behind the rest faults. */
typedef struct {
  unsigned char* map;
  size_t map_bytes;
  unsigned char* data;
  size_t bytes;
  unsigned char* end;
} block;

static block make_block(size_t bytes) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  const size_t inside = (rounded + kFront + page - 1) / page * page;
  block made;
  made.map_bytes = inside + page;
  made.map = mmap(0, made.map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made.map == MAP_FAILED) fail("no memory");
  made.end = made.map + inside;
  if (mprotect(made.end, page, PROT_NONE) != 0) fail("cannot guard memory");
  made.data = made.end - rounded;
  made.bytes = bytes;
  memset(made.map, kUntouched, inside);
  return made;
}

static int is_intact(const block* one) {
  for (const unsigned char* at = one->map; at < one->data; ++at) {
    if (*at != kUntouched) return 0;
  }
  for (const unsigned char* at = one->data + one->bytes; at < one->end; ++at) {
    if (*at != kUntouched) return 0;
  }
  return 1;
}

static void free_block(const block* one) { munmap(one->map, one->map_bytes); }

static block scratch[kMaxBlocks];
static int scratch_count;

static int32_t parallel_for(slipway_context* context, slipway_task task, int32_t min,
                            int32_t extent, uint8_t* closure) {
  /* The last one first: no iteration may count on those before it. */
  for (int32_t i = min + extent; i-- > min;) {
    const int32_t result = task(context, i, closure);
    if (result != 0) return result;
  }
  return 0;
}

static void* allocate(slipway_context* context, uint64_t bytes) {
  (void)context;
  if (scratch_count == kMaxBlocks) return 0;
  scratch[scratch_count] = make_block((size_t)bytes);
  return scratch[scratch_count++].data;
}

static void release(slipway_context* context, void* memory) {
  (void)context;
  for (int i = 0; i < scratch_count; ++i) {
    if (scratch[i].data != memory) continue;
    if (!is_intact(&scratch[i])) fail("the kernel wrote beside its scratch memory");
    free_block(&scratch[i]);
    scratch[i] = scratch[--scratch_count];
    return;
  }
  fail("the kernel released what it was not given");
}

static void error(slipway_context* context, const char* message) {
  (void)context;
  fprintf(stderr, "call_kernels: the kernel says: %s\n", message);
}

static const slipway_imports imports = {parallel_for, allocate, release, error};

static void make_call(const slipway_kernel_table* table, FILE* calls, FILE* results) {
  const int64_t kernel = read_within(calls, 0, (int64_t)table->kernel_count - 1);
  const int64_t count = read_within(calls, 0, kMaxArguments);
  block blocks[kMaxArguments];
  int is_input[kMaxArguments];
  slipway_buffer buffers[kMaxArguments];
  slipway_dimension dimensions[kMaxArguments][kMaxDimensions];
  slipway_context* context = 0;
  void* arguments[kMaxArguments + 1] = {&context};
  memset(buffers, 0, sizeof(buffers));
  for (int64_t i = 0; i < count; ++i) {
    is_input[i] = (int)read_within(calls, 0, 1);
    slipway_buffer* buffer = &buffers[i];
    buffer->type.code = (uint8_t)read_within(calls, 0, 255);
    buffer->type.bits = (uint8_t)read_within(calls, 0, 255);
    buffer->type.lanes = 1;
    buffer->dimensions = (int32_t)read_within(calls, 0, kMaxDimensions);
    int32_t stride = 1;
    for (int d = 0; d < buffer->dimensions; ++d) {
      const int32_t extent = (int32_t)read_within(calls, 0, INT32_MAX);
      dimensions[i][d] = (slipway_dimension){0, extent, stride, 0};
      stride *= extent > 1 ? extent : 1;
    }
    buffer->dim = dimensions[i];
    blocks[i] = make_block((size_t)read_within(calls, 0, INT32_MAX));
    buffer->host = blocks[i].data;
    if (is_input[i] && fread(blocks[i].data, 1, blocks[i].bytes, calls) != blocks[i].bytes) {
      fail("the file of calls ends early");
    }
    arguments[i + 1] = buffer;
  }
  if (table->kernels[kernel].argument_count != count) fail("wrong number of arguments");
  if (table->kernels[kernel].function(arguments) != SLIPWAY_OK) fail("the kernel failed");
  if (scratch_count != 0) fail("the kernel kept scratch memory");
  for (int64_t i = 0; i < count; ++i) {
    if (!is_intact(&blocks[i])) fail("the kernel wrote beside an argument");
    if (!is_input[i] && fwrite(blocks[i].data, 1, blocks[i].bytes, results) != blocks[i].bytes) {
      fail("cannot write results");
    }
    free_block(&blocks[i]);
  }
}

int main(int argc, char** argv) {
  if (argc != 4) fail("usage: call_kernels PROGRAM.so CALLS RESULTS");
  void* program = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (program == 0) fail(dlerror());
  slipway_query_function query;
  *(void**)&query = dlsym(program, SLIPWAY_QUERY_SYMBOL);
  if (query == 0) fail("the program has no " SLIPWAY_QUERY_SYMBOL);
  const slipway_kernel_table* table = query(SLIPWAY_ABI_VERSION, &imports);
  if (table == 0) fail("the program does not speak this version of the kernel ABI");
  FILE* calls = fopen(argv[2], "rb");
  FILE* results = fopen(argv[3], "wb");
  if (calls == 0 || results == 0) fail("cannot open the files");
  const int64_t count = read_number(calls);
  for (int64_t i = 0; i < count; ++i) {
    fprintf(stderr, "call_kernels: call %lld\n", (long long)i);
    make_call(table, calls, results);
  }
  if (fclose(results) != 0) fail("cannot write results");
  return 0;
}
