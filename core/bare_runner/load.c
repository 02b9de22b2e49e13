#include <elf.h>
#include <linux/mman.h>
#include <stddef.h>

#include "core/bare_runner/code_image.h"
#include "core/bare_runner/kernel_context.h"
#include "core/bare_runner/runner.h"
#include "core/bare_runner/system.h"

uint32_t bare_machine(void) {
#if defined(__x86_64__)
  return EM_X86_64;
#elif defined(__aarch64__)
  return EM_AARCH64;
#elif defined(__arm__)
  return EM_ARM;
#elif defined(__riscv)
  return EM_RISCV;
#endif
}

/* Makes what was written as data visible as instructions; by the program itself on arm-64 (Arm Architecture Reference Manual, B2.4.4). */
static void synchronize_instructions(const uint8_t* begin, uint64_t bytes) {
#if defined(__aarch64__)
  uint64_t type;
  __asm__ volatile("mrs %0, ctr_el0" : "=r"(type));
  const uint64_t data_line = (uint64_t)4 << (type >> 16 & 15);
  const uint64_t code_line = (uint64_t)4 << (type & 15);
  const uint64_t first = (uint64_t)(uintptr_t)begin;
  for (uint64_t at = first & ~(data_line - 1); at < first + bytes; at += data_line) {
    __asm__ volatile("dc cvau, %0" : : "r"(at) : "memory");
  }
  __asm__ volatile("dsb ish" : : : "memory");
  for (uint64_t at = first & ~(code_line - 1); at < first + bytes; at += code_line) {
    __asm__ volatile("ic ivau, %0" : : "r"(at) : "memory");
  }
  __asm__ volatile("dsb ish\n isb" : : : "memory");
#elif defined(BARE_NR_FLUSH_CODE)
  BARE_CALL3(BARE_NR_FLUSH_CODE, begin, begin + bytes, 0);
#else
  (void)begin;
  (void)bytes;
#endif
}

static int protect(const bare_image* image, uint8_t* memory) {
  const uint64_t page = bare_page_bytes();
  for (uint32_t i = 0; i < image->segment_count; ++i) {
    const bare_segment* segment = &image->segments[i];
    const uint64_t begin = segment->address & ~(page - 1);
    const uint64_t end = (segment->address + segment->bytes + page - 1) & ~(page - 1);
    const int rights =
        PROT_READ | (segment->is_written ? PROT_WRITE : 0) | (segment->is_run ? PROT_EXEC : 0);
    if (segment->is_run) synchronize_instructions(memory + begin, end - begin);
    if (BARE_CALL3(__NR_mprotect, memory + begin, end - begin, rights) != 0) return 0;
  }
  return image->relro_begin == image->relro_end ||
         BARE_CALL3(__NR_mprotect, memory + image->relro_begin,
                    image->relro_end - image->relro_begin, PROT_READ) == 0;
}

static const char* check_table(const slipway_kernel_table* table, uint32_t abi, uint32_t kernels) {
  if (table == NULL || table->abi_version != abi) {
    return "the code does not speak the kernel ABI that its manifest says it is built for; compile "
           "the model again";
  }
  if (table->kernel_count != kernels) {
    return "the code has another number of kernels than the manifest says";
  }
  for (uint32_t i = 0; i < kernels; ++i) {
    if (table->kernels[i].function == NULL) return "a kernel of the code is null";
  }
  return NULL;
}

const char* bare_load(const uint8_t* elf, uint64_t bytes, uint32_t abi, uint32_t kernels,
                      bare_module* module, bare_code* code, uint32_t* status) {
  *status = BARE_UNIMPLEMENTED;
  if (abi < SLIPWAY_OLDEST_ABI_VERSION || abi > SLIPWAY_ABI_VERSION) {
    return "the code is built for a kernel ABI that this runner does not speak";
  }
  *status = BARE_INVALID_ARGUMENT;
  bare_image image;
  const char* error = bare_read_image(elf, bytes, bare_machine(), bare_page_bytes(), &image);
  if (error != NULL) return error;
  *status = BARE_RESOURCE_EXHAUSTED;
  module->memory = bare_map(image.bytes);
  module->bytes = image.bytes;
  if (module->memory == NULL) return "there is no memory left for the code";
  bare_write_image(&image, elf, module->memory);
  *status = BARE_INTERNAL;
  error = protect(&image, module->memory) ? NULL : "the system does not let code be run";
  if (error == NULL) {
    *status = BARE_INVALID_ARGUMENT;
    const slipway_query_function query =
        (slipway_query_function)(uintptr_t)(module->memory + image.query);
    const slipway_kernel_table* table = query(abi, &bare_imports);
    error = check_table(table, abi, kernels);
    if (error == NULL) {
      code->kernels = table->kernels;
      code->count = kernels;
      return NULL;
    }
  }
  bare_unload(module);
  return error;
}

void bare_unload(bare_module* module) {
  if (module->memory != NULL) bare_unmap(module->memory, module->bytes);
  module->memory = NULL;
}
