#include "core/bare_runner/blocks.h"

#include <string.h>

/* The number of blocks that begin at `address` or before. */
static uint32_t count_up_to(const bare_blocks* blocks, uint64_t address) {
  uint32_t low = 0, high = blocks->count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (blocks->table[middle].address <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

void bare_add_block(bare_blocks* blocks, uint64_t address, uint64_t bytes) {
  const uint32_t place = count_up_to(blocks, address);
  memmove(blocks->table + place + 1, blocks->table + place,
          (blocks->count - place) * sizeof(bare_block));
  blocks->table[place].address = address;
  blocks->table[place].bytes = bytes;
  blocks->bytes += bytes;
  ++blocks->count;
}

int bare_remove_block(bare_blocks* blocks, uint64_t address, uint64_t bytes) {
  const uint32_t place = count_up_to(blocks, address);
  if (place == 0) return 0;
  const bare_block* block = &blocks->table[place - 1];
  if (block->address != address || block->bytes != bytes) return 0;
  memmove(blocks->table + place - 1, blocks->table + place,
          (blocks->count - place) * sizeof(bare_block));
  blocks->bytes -= bytes;
  --blocks->count;
  ++blocks->generation;
  return 1;
}

int bare_is_in_block(const bare_blocks* blocks, uint64_t address, uint64_t bytes) {
  const uint32_t place = count_up_to(blocks, address);
  if (place == 0) return 0;
  const bare_block* block = &blocks->table[place - 1];
  const uint64_t offset = address - block->address;
  return offset <= block->bytes && bytes <= block->bytes - offset;
}
