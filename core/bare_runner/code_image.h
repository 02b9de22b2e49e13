/* Code of kind ELF, read and checked before any of it is mapped: where it goes in memory, and what is written there. */
#ifndef SLIPWAY_CORE_BARE_RUNNER_CODE_IMAGE_H_
#define SLIPWAY_CORE_BARE_RUNNER_CODE_IMAGE_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BARE_MAX_SEGMENTS 16
#define BARE_MAX_IMAGE_BYTES ((uint64_t)1 << 30)

/* A part of the image with rights of its own. Its pages are no other segment's. */
typedef struct bare_segment {
  uint64_t address; /* From the image's begin. */
  uint64_t bytes;
  uint64_t file_offset;
  uint64_t file_bytes; /* The rest is zero. */
  int is_written;
  int is_run; /* Never both. */
} bare_segment;

/* A table in the file. */
typedef struct bare_table {
  uint64_t offset;
  uint64_t bytes;
} bare_table;

typedef struct bare_image {
  uint64_t bytes;                           /* Whole pages. */
  bare_segment segments[BARE_MAX_SEGMENTS]; /* Ascending. */
  uint32_t segment_count;
  /* Written once, before the code runs; empty where begin is end. Whole pages of a segment that is written. */
  uint64_t relro_begin;
  uint64_t relro_end;
  bare_table relocations; /* With an addend each, but where files have 32 bits. */
  bare_table relr;
  uint64_t query; /* Address of SLIPWAY_QUERY_SYMBOL. */
} bare_image;

/* Reads the file for `machine` (e_machine of ELF) and pages of so many bytes, a power of two. Returns null, or why it cannot be loaded: a
 * shared object without needed libraries, initializers and thread-local variables is wanted, all of whose relocations are relative, and no
 * memory both written and run. */
const char* bare_read_image(const uint8_t* elf, uint64_t elf_bytes, uint32_t machine,
                            uint64_t page_bytes, bare_image* image);

/* Writes the image to `memory`, which has image->bytes, zeroed. REQUIRES: bare_read_image took this file. */
void bare_write_image(const bare_image* image, const uint8_t* elf, uint8_t* memory);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* SLIPWAY_CORE_BARE_RUNNER_CODE_IMAGE_H_ */
