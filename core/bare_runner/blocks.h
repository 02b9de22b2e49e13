/* Which memory a runner has given out: every address that a host names is held against it. */
#ifndef SLIPWAY_CORE_BARE_RUNNER_BLOCKS_H_
#define SLIPWAY_CORE_BARE_RUNNER_BLOCKS_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bare_block {
  uint64_t address;
  uint64_t bytes;
} bare_block;

/* Ascending, in memory that the caller gives. Begins as zeros. */
typedef struct bare_blocks {
  bare_block* table;
  uint32_t count;
  uint32_t room;
  uint64_t bytes;      /* Of all together. */
  uint64_t generation; /* Another one whenever a block goes. */
} bare_blocks;

/* REQUIRES: count < room, and that it overlaps none. */
void bare_add_block(bare_blocks* blocks, uint64_t address, uint64_t bytes);
/* 0 where no block is exactly that. */
int bare_remove_block(bare_blocks* blocks, uint64_t address, uint64_t bytes);
/* Whether the bytes lie in one block; none lie at the end of one, too. */
int bare_is_in_block(const bare_blocks* blocks, uint64_t address, uint64_t bytes);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* SLIPWAY_CORE_BARE_RUNNER_BLOCKS_H_ */
