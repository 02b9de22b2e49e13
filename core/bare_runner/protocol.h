/* What a host and a bare runner say to each other, over any stream of bytes.
 *
 * A bare runner carries out what a driver of devices on the host asks for (core/runtime/drivers/attached): it holds memory and code, and
 * runs lists of kernels and copies. Whatever a program is beyond that, its manifest, shapes, control flow and checks, the host knows alone.
 *
 * Both ends are little-endian. The runner speaks first: the greeting of every attached device (device_agent/attached/stream_greeting.h), and
 * behind it a slipway_bare_hello. From there on the host sends requests, each a slipway_bare_header and its body, and the runner a reply for each
 * kind that has one, in the order of the requests. A request that breaks a rule ends the runner with exit code SLIPWAY_BARE_BROKEN; so does a
 * reply the host, which then takes the device for lost.
 *
 * Numbers that stand for memory are addresses of the runner's process. It holds each against what it has given out.
 */
#ifndef SLIPWAY_CORE_BARE_RUNNER_PROTOCOL_H_
#define SLIPWAY_CORE_BARE_RUNNER_PROTOCOL_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised with any change here: both ends must have the same. */
#define SLIPWAY_BARE_PROTOCOL 3

/* Of a body, in both directions. */
#define SLIPWAY_BARE_MAX_BODY (256 * 1024)
/* Things that a runner holds at once. */
#define SLIPWAY_BARE_MAX_CODES 256
#define SLIPWAY_BARE_MAX_QUEUES 64
#define SLIPWAY_BARE_MAX_BLOCKS (1 << 20)
#define SLIPWAY_BARE_MAX_THREADS 1024
#define SLIPWAY_BARE_MAX_KERNELS 32768
#define SLIPWAY_BARE_MAX_DIMENSIONS 64
/* Of what a kernel says of its failure. */
#define SLIPWAY_BARE_MAX_TEXT 1024

/* Exit codes of the runner's process. */
enum {
  SLIPWAY_BARE_BROKEN = 70,
  SLIPWAY_BARE_UNCONFINED =
      71 /* A part of its confinement is missing, and it was told to have all. */
};

/* Parts of the confinement that this system does not give. */
enum {
  SLIPWAY_BARE_NO_SYSTEM_CALL_FILTER = 1,
  SLIPWAY_BARE_NO_NEW_PRIVILEGES = 2 /* Its absence is missing. */
};

/* What the device is. Texts end with a zero. */
typedef struct slipway_bare_hello {
  uint32_t protocol;
  uint32_t machine; /* As e_machine of ELF. */
  uint32_t oldest_abi;
  uint32_t newest_abi; /* Of kernels, core/kernel_abi. */
  uint32_t processors; /* That it may use. */
  uint32_t missing;
  uint64_t memory_bytes;        /* Of the machine. */
  uint64_t clock_resolution_ns; /* What its monotonic clock tells apart. */
  /* x86-64: CPUID 1 ecx and 7 ebx; 7 ecx and 7 edx; 7.1 eax and 0x80000001 ecx, the first in the lower half; XCR0.
   * The others: AT_HWCAP, AT_HWCAP2, 0, 0. */
  uint64_t features[4];
  char model[128];
  char system[128]; /* "Linux 5.15.0". */
} slipway_bare_hello;

typedef struct slipway_bare_header {
  uint32_t kind;
  uint32_t bytes; /* Of the body, at most SLIPWAY_BARE_MAX_BODY. */
} slipway_bare_header;

enum {
  SLIPWAY_BARE_ALLOCATE =
      1, /* slipway_bare_range, address 0. Reply: a range. 64-byte aligned, never at 0. */
  SLIPWAY_BARE_FREE = 2,  /* A range as it was allocated. No reply. */
  SLIPWAY_BARE_WRITE = 3, /* A range, and its bytes. No reply. */
  SLIPWAY_BARE_READ = 4,  /* A range of at most SLIPWAY_BARE_MAX_PIECE bytes. Reply: its bytes. */
  SLIPWAY_BARE_LOAD =
      5, /* slipway_bare_load. Reply: an int32 for each kernel, how many arguments it takes. */
  SLIPWAY_BARE_UNLOAD = 6, /* uint64: the code. No reply. */
  SLIPWAY_BARE_OPEN = 7,   /* slipway_bare_open. Reply: nothing more. */
  SLIPWAY_BARE_CLOSE = 8,  /* uint64: the queues. No reply. */
  SLIPWAY_BARE_RUN =
      9, /* slipway_bare_run, and commands. Reply: nothing more; text where a kernel failed. */
  SLIPWAY_BARE_FACTS = 10, /* Reply: slipway_bare_facts. */
  SLIPWAY_BARE_STATE = 11, /* Reply: slipway_bare_state. */
  SLIPWAY_BARE_END = 12    /* Of the runner, unasked, its last: how what ran the program ended. */
};

/* The body of every reply begins with it; `code` is 0 or one of absl::StatusCode, and what follows then is a text. */
typedef struct slipway_bare_reply {
  uint32_t code;
  uint32_t command; /* Of RUN: the one that failed. Of END: the one under way, UINT32_MAX: none. */
  int32_t result;   /* Of RUN: the kernel's, where it failed. Of END: the exit code. */
  uint32_t flags;   /* Of RUN: SLIPWAY_BARE_REFUSED_SCRATCH. Of END: the signal, or 0. */
  uint64_t
      duration_ns; /* Of RUN, on the device's monotonic clock: all commands, without the stream. */
} slipway_bare_reply;

enum { SLIPWAY_BARE_REFUSED_SCRATCH = 1 };

typedef struct slipway_bare_range {
  uint64_t address;
  uint64_t bytes;
} slipway_bare_range;

#define SLIPWAY_BARE_MAX_PIECE (SLIPWAY_BARE_MAX_BODY - (uint32_t)sizeof(slipway_bare_reply))

/* Code of kind ELF, which lies in allocated memory; it is copied. Ids of codes and of queues are the host's choice, below the number that a
 * runner holds, and free. */
typedef struct slipway_bare_load {
  uint64_t code;
  slipway_bare_range elf;
  uint32_t abi;
  uint32_t kernels;
} slipway_bare_load;

typedef struct slipway_bare_open {
  uint64_t queues;
  uint64_t scratch_bytes; /* That kernels may hold at a time. */
  uint32_t threads;       /* 1 to SLIPWAY_BARE_MAX_THREADS. */
  uint32_t reserved;      /* 0 */
} slipway_bare_open;

typedef struct slipway_bare_run {
  uint64_t queues;
  uint32_t
      commands; /* That follow. 0: the ones of the last RUN of these queues, of which there must be some. */
  uint32_t reserved; /* 0 */
} slipway_bare_run;

/* Commands of a list, each a multiple of 8 bytes, done one after the other; the first that fails is the last. */
enum { SLIPWAY_BARE_LAUNCH = 1, SLIPWAY_BARE_COPY = 2 };

typedef struct slipway_bare_launch {
  uint32_t kind; /* SLIPWAY_BARE_LAUNCH */
  uint32_t code;
  uint32_t kernel;
  uint32_t tensors; /* Exactly as many as the kernel takes follow. */
} slipway_bare_launch;

/* Followed by its dimensions, as slipway_dimension, innermost first. The tensor is dense: strides are products of extents. */
typedef struct slipway_bare_tensor {
  uint64_t address;
  uint8_t type; /* SLIPWAY_TYPE_* */
  uint8_t bits; /* 8, 16, 32, 64 or 128 */
  uint16_t lanes;
  uint32_t dimensions;
} slipway_bare_tensor;

/* The ends do not overlap unless they are equal. */
typedef struct slipway_bare_copy {
  uint32_t kind; /* SLIPWAY_BARE_COPY */
  uint32_t reserved;
  uint64_t from;
  uint64_t to;
  uint64_t bytes;
} slipway_bare_copy;

typedef struct slipway_bare_facts {
  uint64_t peak_bytes; /* Of the runner's memory, the most that was resident. */
  uint64_t free_bytes; /* Of the machine. */
  uint64_t allocated_bytes;
  uint64_t limit_bytes; /* Of address space; 0: none. */
} slipway_bare_facts;

/* Of the machine, now. 0 and empty: nobody tells. */
typedef struct slipway_bare_state {
  uint64_t frequency_khz;           /* Of the processor that requests are carried out on. */
  int64_t temperature_millicelsius; /* The highest of a thermal zone. */
  uint64_t load_millis;             /* Average over a minute. */
  char governor[32];                /* Of that frequency; ends with a zero. */
} slipway_bare_state;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* SLIPWAY_CORE_BARE_RUNNER_PROTOCOL_H_ */
