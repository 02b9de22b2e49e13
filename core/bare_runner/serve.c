/* The process that runs programs: requests, in order, on its one thread. */
#include <linux/mman.h>
#include <stddef.h>

#include "core/bare_runner/blocks.h"
#include "core/bare_runner/commands.h"
#include "core/bare_runner/kernel_context.h"
#include "core/bare_runner/runner.h"
#include "core/bare_runner/system.h"

#define STREAM_IN 0
#define STREAM_OUT 1
/* Large pages are asked for from there on. */
#define LARGE_BYTES ((uint64_t)2 << 20)
/* Smaller memory is cut out of pieces of so many bytes, in sizes each twice as large as the one before, from 64 on. */
#define PIECE_BYTES ((uint64_t)64 << 10)
#define SMALL_SIZES 10 /* 64 ... 32768 */

/* The greeting of every attached device (device_agent/attached/stream_greeting.h). */
static const char kGreeting[] = "slipway-attached-device \x01\x03\x04\x11\x13\x7f\xff\r\n\n\r";

typedef struct free_memory {
  struct free_memory* next;
} free_memory;

/* What is opened by OPEN. */
typedef struct queues {
  struct slipway_context* context; /* Null: none. */
  slipway_context* kernel_context; /* What args[0] points to. */
  uint8_t* list;                   /* The commands of the last RUN, and what was read of them. */
  uint8_t* room;
  uint32_t list_bytes;
  uint32_t commands;
  uint64_t generation; /* Of blocks and codes, when they were read. */
} queues;

static bare_blocks blocks;
static free_memory* small_free[SMALL_SIZES];
static bare_module modules[SLIPWAY_BARE_MAX_CODES];
static bare_code codes[SLIPWAY_BARE_MAX_CODES];
static queues opened[SLIPWAY_BARE_MAX_QUEUES];
static uint64_t memory_limit;
static const bare_sensors* sensors;
static volatile bare_shared* shared;
static uint8_t body[SLIPWAY_BARE_MAX_BODY] __attribute__((aligned(64)));

/* --- The stream --- */

/* 0 where it has ended. */
static int receive(void* to, uint64_t bytes) {
  uint8_t* at = to;
  while (bytes > 0) {
    const long got = BARE_CALL3(__NR_read, STREAM_IN, at, bytes);
    if (got == -4 /* EINTR */) continue;
    if (got <= 0) return 0;
    at += got;
    bytes -= (uint64_t)got;
  }
  return 1;
}

int bare_send(const void* first, uint64_t first_bytes, const void* second, uint64_t second_bytes) {
  struct {
    const uint8_t* bytes;
    size_t count;
  } parts[2] = {{first, (size_t)first_bytes}, {second, (size_t)second_bytes}};
  if (shared != NULL) shared->is_cut = 1;
  while (parts[0].count + parts[1].count > 0) {
    const long sent = BARE_CALL3(__NR_writev, STREAM_OUT, parts, 2);
    if (sent == -4 /* EINTR */) continue;
    if (sent <= 0) return 0;
    size_t left = (size_t)sent;
    for (int i = 0; i < 2; ++i) {
      const size_t done = left < parts[i].count ? left : parts[i].count;
      parts[i].bytes += done;
      parts[i].count -= done;
      left -= done;
    }
  }
  if (shared != NULL) shared->is_cut = 0;
  return 1;
}

int bare_send_reply(uint32_t kind, const slipway_bare_reply* reply, const void* data,
                    uint64_t data_bytes) {
  struct {
    slipway_bare_header header;
    slipway_bare_reply reply;
  } message = {{kind, (uint32_t)(sizeof(*reply) + data_bytes)}, *reply};
  return bare_send(&message, sizeof(message), data, data_bytes);
}

static int succeed(uint32_t kind, const void* data, uint64_t bytes) {
  const slipway_bare_reply reply = {0, 0, 0, 0, 0};
  return bare_send_reply(kind, &reply, data, bytes);
}

static uint64_t text_bytes(const char* text) {
  uint64_t bytes = 0;
  while (text[bytes] != 0) ++bytes;
  return bytes;
}

static int fail(uint32_t kind, uint32_t code, const char* text) {
  const slipway_bare_reply reply = {code, 0, 0, 0, 0};
  return bare_send_reply(kind, &reply, text, text_bytes(text));
}

/* The request breaks a rule: says which one to whoever reads what is printed, and ends the process. */
static _Noreturn void break_off(const char* rule) {
  /* A filter lets this process write to its stream alone: the text is part of the reply before its end. */
  const slipway_bare_reply reply = {BARE_INTERNAL, 0, 0, 0, 0};
  bare_send_reply(SLIPWAY_BARE_END, &reply, rule, text_bytes(rule));
  bare_exit(SLIPWAY_BARE_BROKEN);
}

/* --- Memory --- */

static uint32_t small_size_of(uint64_t bytes) {
  uint32_t size = 0;
  while (size < SMALL_SIZES && ((uint64_t)64 << size) < bytes) ++size;
  return size;
}

static uint64_t pages_of(uint64_t bytes) {
  const uint64_t page = bare_page_bytes();
  return (bytes + page - 1) & ~(page - 1);
}

static int make_room_for_block(void) {
  if (blocks.count < blocks.room) return 1;
  if (blocks.room == SLIPWAY_BARE_MAX_BLOCKS) return 0;
  const uint32_t room = blocks.room == 0 ? 256 : blocks.room * 2;
  bare_block* table = bare_map(room * sizeof(bare_block));
  if (table == NULL) return 0;
  memcpy(table, blocks.table, blocks.count * sizeof(bare_block));
  if (blocks.table != NULL) bare_unmap(blocks.table, blocks.room * sizeof(bare_block));
  blocks.table = table;
  blocks.room = room;
  return 1;
}

static void* allocate(uint64_t bytes) {
  if (bytes > (uint64_t)1 << 46) return NULL;
  const uint32_t size = small_size_of(bytes);
  if (size == SMALL_SIZES) {
    void* memory = bare_map(pages_of(bytes));
    /* Advice; where it is not taken, the memory is as good. */
    if (memory != NULL && bytes >= LARGE_BYTES) {
      BARE_CALL3(__NR_madvise, memory, pages_of(bytes), MADV_HUGEPAGE);
    }
    return memory;
  }
  if (small_free[size] == NULL) {
    uint8_t* piece = bare_map(PIECE_BYTES);
    if (piece == NULL) return NULL;
    for (uint64_t at = PIECE_BYTES; at > 0; at -= (uint64_t)64 << size) {
      free_memory* part = (free_memory*)(piece + at - ((uint64_t)64 << size));
      part->next = small_free[size];
      small_free[size] = part;
    }
  }
  free_memory* taken = small_free[size];
  small_free[size] = taken->next;
  return taken;
}

static int do_allocate(const slipway_bare_range* range) {
  void* memory = make_room_for_block() ? allocate(range->bytes) : NULL;
  if (memory == NULL) return fail(SLIPWAY_BARE_ALLOCATE, BARE_RESOURCE_EXHAUSTED, "");
  bare_add_block(&blocks, (uint64_t)(uintptr_t)memory, range->bytes);
  const slipway_bare_range given = {(uint64_t)(uintptr_t)memory, range->bytes};
  return succeed(SLIPWAY_BARE_ALLOCATE, &given, sizeof(given));
}

static void do_free(const slipway_bare_range* range) {
  if (!bare_remove_block(&blocks, range->address, range->bytes)) {
    break_off("memory is freed that was not given out");
  }
  void* memory = (void*)(uintptr_t)range->address;
  const uint32_t size = small_size_of(range->bytes);
  if (size == SMALL_SIZES) {
    bare_unmap(memory, pages_of(range->bytes));
  } else {
    ((free_memory*)memory)->next = small_free[size];
    small_free[size] = memory;
  }
}

static void check_range(const slipway_bare_range* range) {
  if (!bare_is_in_block(&blocks, range->address, range->bytes)) {
    break_off("memory is named that was not given out");
  }
}

/* --- Code --- */

static int do_load(const slipway_bare_load* load) {
  check_range(&load->elf);
  if (load->code >= SLIPWAY_BARE_MAX_CODES || modules[load->code].memory != NULL ||
      load->kernels > SLIPWAY_BARE_MAX_KERNELS) {
    break_off("code is loaded under a number that it cannot have");
  }
  uint32_t status = 0;
  const char* error =
      bare_load((const uint8_t*)(uintptr_t)load->elf.address, load->elf.bytes, load->abi,
                load->kernels, &modules[load->code], &codes[load->code], &status);
  if (error != NULL) return fail(SLIPWAY_BARE_LOAD, status, error);
  int32_t* counts = (int32_t*)body;
  for (uint32_t i = 0; i < load->kernels; ++i) {
    counts[i] = codes[load->code].kernels[i].argument_count;
  }
  return succeed(SLIPWAY_BARE_LOAD, counts, load->kernels * sizeof(int32_t));
}

static void do_unload(uint64_t code) {
  if (code >= SLIPWAY_BARE_MAX_CODES || modules[code].memory == NULL) {
    break_off("code is unloaded that is not there");
  }
  bare_unload(&modules[code]);
  memset(&codes[code], 0, sizeof(codes[code]));
  ++blocks.generation;
}

/* --- Queues --- */

static uint64_t context_bytes(void) { return pages_of(sizeof(struct slipway_context)); }

static void close_queues(queues* q) {
  if (q->context != NULL) {
    bare_close_pool(&q->context->pool);
    bare_free_scratch(q->context);
    bare_unmap(q->context, context_bytes());
  }
  if (q->list != NULL) bare_unmap(q->list, SLIPWAY_BARE_MAX_BODY);
  if (q->room != NULL) bare_unmap(q->room, BARE_COMMAND_ROOM(SLIPWAY_BARE_MAX_BODY));
  memset(q, 0, sizeof(*q));
}

static int do_open(const slipway_bare_open* open) {
  if (open->queues >= SLIPWAY_BARE_MAX_QUEUES || opened[open->queues].context != NULL ||
      open->threads < 1 || open->threads > SLIPWAY_BARE_MAX_THREADS) {
    break_off("queues are opened under a number, or with threads, that they cannot have");
  }
  queues* q = &opened[open->queues];
  q->context = bare_map(context_bytes());
  q->list = bare_map(SLIPWAY_BARE_MAX_BODY);
  q->room = bare_map(BARE_COMMAND_ROOM(SLIPWAY_BARE_MAX_BODY));
  if (q->context == NULL || q->list == NULL || q->room == NULL ||
      !bare_open_pool(&q->context->pool, open->threads)) {
    close_queues(q);
    return fail(SLIPWAY_BARE_OPEN, BARE_RESOURCE_EXHAUSTED, "");
  }
  q->context->scratch_limit = open->scratch_bytes;
  q->kernel_context = q->context;
  return succeed(SLIPWAY_BARE_OPEN, NULL, 0);
}

static void do_close(uint64_t number) {
  if (number >= SLIPWAY_BARE_MAX_QUEUES || opened[number].context == NULL) {
    break_off("queues are closed that are not open");
  }
  close_queues(&opened[number]);
}

static void read_commands(queues* q) {
  const bare_held held = {&blocks, codes, SLIPWAY_BARE_MAX_CODES, &q->kernel_context};
  const char* error = bare_read_commands(q->list, q->list_bytes, q->commands, &held, q->room);
  if (error != NULL) break_off(error);
  q->generation = blocks.generation;
}

static int do_run(const slipway_bare_run* run, uint32_t list_bytes) {
  if (run->queues >= SLIPWAY_BARE_MAX_QUEUES || opened[run->queues].context == NULL) {
    break_off("a list is for queues that are not open");
  }
  queues* q = &opened[run->queues];
  if (run->commands > 0) {
    memcpy(q->list, run + 1, list_bytes);
    q->list_bytes = list_bytes;
    q->commands = run->commands;
    read_commands(q);
  } else if (q->commands == 0 || list_bytes != 0) {
    break_off("a list is to be run again that there is not");
  } else if (q->generation != blocks.generation) {
    read_commands(q);
  }
  slipway_bare_reply reply = {0, 0, 0, 0, 0};
  struct slipway_context* context = q->context;
  const bare_command* command = (const bare_command*)q->room;
  const uint64_t begin = bare_now_ns();
  for (uint32_t i = 0; i < q->commands; ++i, ++command) {
    shared->command = i;
    if (command->function == NULL) {
      memmove((void*)(uintptr_t)command->to, (const void*)(uintptr_t)command->from, command->bytes);
      continue;
    }
    bare_clear_context(context);
    const int32_t result = command->function(command->arguments);
    if (result == 0) continue;
    reply.code = BARE_INTERNAL;
    reply.command = i;
    reply.result = result;
    reply.flags = context->has_refused ? SLIPWAY_BARE_REFUSED_SCRATCH : 0;
    break;
  }
  reply.duration_ns = bare_now_ns() - begin;
  shared->command = UINT32_MAX;
  const char* text = reply.code == 0 ? "" : context->error;
  return bare_send_reply(SLIPWAY_BARE_RUN, &reply, text, text_bytes(text));
}

static int do_facts(void) {
  unsigned long usage[18] = {0}; /* struct rusage: two times, then ru_maxrss in KiB. */
  BARE_CALL2(__NR_getrusage, 0, usage);
  const slipway_bare_facts facts = {(uint64_t)usage[4] * 1024, bare_free_bytes(), blocks.bytes,
                                    memory_limit};
  return succeed(SLIPWAY_BARE_FACTS, &facts, sizeof(facts));
}

static int do_state(void) {
  uint32_t processor = UINT32_MAX;
  BARE_CALL3(__NR_getcpu, &processor, NULL, NULL);
  slipway_bare_state state;
  bare_read_sensors(sensors, processor, &state);
  state.load_millis = bare_load_millis();
  return succeed(SLIPWAY_BARE_STATE, &state, sizeof(state));
}

/* --- Requests --- */

/* Of each kind: the least and the most bytes of its body. */
static const struct {
  uint32_t least;
  uint32_t most;
} kSizes[] = {
    [SLIPWAY_BARE_ALLOCATE] = {sizeof(slipway_bare_range), sizeof(slipway_bare_range)},
    [SLIPWAY_BARE_FREE] = {sizeof(slipway_bare_range), sizeof(slipway_bare_range)},
    [SLIPWAY_BARE_WRITE] = {sizeof(slipway_bare_range), SLIPWAY_BARE_MAX_BODY},
    [SLIPWAY_BARE_READ] = {sizeof(slipway_bare_range), sizeof(slipway_bare_range)},
    [SLIPWAY_BARE_LOAD] = {sizeof(slipway_bare_load), sizeof(slipway_bare_load)},
    [SLIPWAY_BARE_UNLOAD] = {sizeof(uint64_t), sizeof(uint64_t)},
    [SLIPWAY_BARE_OPEN] = {sizeof(slipway_bare_open), sizeof(slipway_bare_open)},
    [SLIPWAY_BARE_CLOSE] = {sizeof(uint64_t), sizeof(uint64_t)},
    [SLIPWAY_BARE_RUN] = {sizeof(slipway_bare_run), SLIPWAY_BARE_MAX_BODY},
    [SLIPWAY_BARE_FACTS] = {0, 0},
    [SLIPWAY_BARE_STATE] = {0, 0},
};

/* Writes are received where they belong. 0 where the stream has ended. */
static int do_write(uint32_t bytes) {
  slipway_bare_range range;
  if (!receive(&range, sizeof(range))) return 0;
  if (range.bytes != bytes - sizeof(range)) break_off("a write is cut off");
  check_range(&range);
  return receive((void*)(uintptr_t)range.address, range.bytes);
}

static int do_read(const slipway_bare_range* range) {
  check_range(range);
  if (range->bytes > SLIPWAY_BARE_MAX_PIECE) break_off("too much is read at once");
  return succeed(SLIPWAY_BARE_READ, (const void*)(uintptr_t)range->address, range->bytes);
}

/* 0 where the stream has ended. */
static int serve_one(void) {
  slipway_bare_header header;
  if (!receive(&header, sizeof(header))) return 0;
  if (header.kind == 0 || header.kind >= sizeof(kSizes) / sizeof(kSizes[0]) ||
      header.bytes < kSizes[header.kind].least || header.bytes > kSizes[header.kind].most) {
    break_off("a request is of no known kind or size");
  }
  if (header.kind == SLIPWAY_BARE_WRITE) return do_write(header.bytes);
  if (!receive(body, header.bytes)) return 0;
  switch (header.kind) {
    case SLIPWAY_BARE_ALLOCATE:
      return do_allocate((const slipway_bare_range*)body);
    case SLIPWAY_BARE_FREE:
      do_free((const slipway_bare_range*)body);
      return 1;
    case SLIPWAY_BARE_READ: {
      const slipway_bare_range range = *(const slipway_bare_range*)body;
      return do_read(&range);
    }
    case SLIPWAY_BARE_LOAD: {
      const slipway_bare_load load = *(const slipway_bare_load*)body;
      return do_load(&load);
    }
    case SLIPWAY_BARE_UNLOAD:
      do_unload(*(const uint64_t*)body);
      return 1;
    case SLIPWAY_BARE_OPEN:
      return do_open((const slipway_bare_open*)body);
    case SLIPWAY_BARE_CLOSE:
      do_close(*(const uint64_t*)body);
      return 1;
    case SLIPWAY_BARE_RUN:
      return do_run((const slipway_bare_run*)body,
                    header.bytes - (uint32_t)sizeof(slipway_bare_run));
    case SLIPWAY_BARE_FACTS:
      return do_facts();
    default:
      return do_state();
  }
}

int bare_serve(const slipway_bare_hello* hello, uint64_t limit, const bare_sensors* from,
               volatile bare_shared* with) {
  shared = with;
  sensors = from;
  memory_limit = limit;
  if (!bare_send(kGreeting, sizeof(kGreeting) - 1, hello, sizeof(*hello))) return 0;
  while (serve_one()) {
  }
  return 0;
}
