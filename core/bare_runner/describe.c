#include <elf.h>
#include <stddef.h>

#include "core/bare_runner/runner.h"
#include "core/bare_runner/system.h"

#define READ_ONLY 0
#define CURRENT_FOLDER (-100) /* AT_FDCWD */

static uint64_t page_bytes = 4096;

uint64_t bare_page_bytes(void) { return page_bytes; }

static uint64_t find(const unsigned long* auxiliary, unsigned long kind) {
  for (; auxiliary[0] != AT_NULL; auxiliary += 2) {
    if (auxiliary[0] == kind) return auxiliary[1];
  }
  return 0;
}

/* Appends to what is there, as much as there is room for. */
static void append(char* text, uint64_t room, const char* more) {
  uint64_t at = 0;
  while (text[at] != 0) ++at;
  for (; at + 1 < room && *more != 0; ++at) text[at] = *more++;
  text[at] = 0;
}

static void set_system(slipway_bare_hello* hello) {
  /* struct new_utsname of <linux/utsname.h>. */
  struct {
    char system[65], node[65], release[65], version[65], machine[65], domain[65];
  } names;
  memset(&names, 0, sizeof(names));
  BARE_CALL1(__NR_uname, &names);
  append(hello->system, sizeof(hello->system), names.system);
  append(hello->system, sizeof(hello->system), " ");
  append(hello->system, sizeof(hello->system), names.release);
}

static void set_processors(slipway_bare_hello* hello) {
  static uint32_t processors[256];
  const long bytes = BARE_CALL3(__NR_sched_getaffinity, 0, sizeof(processors), processors);
  for (long i = 0; i < bytes / 4; ++i) {
    for (uint32_t bits = processors[i]; bits != 0; bits &= bits - 1) ++hello->processors;
  }
  if (hello->processors == 0) hello->processors = 1;
}

/* struct sysinfo of <linux/sysinfo.h>, whose name is a function's elsewhere. */
typedef struct memory_facts {
  long uptime;
  unsigned long loads[3];
  unsigned long total, free, shared, buffered, total_swap, free_swap;
  uint16_t processes, padding;
  unsigned long total_high, free_high;
  uint32_t unit;
  uint8_t rest[16];
} memory_facts;

/* A board's name, of its device tree. */
static void set_model(slipway_bare_hello* hello) {
  const long file =
      BARE_CALL4(__NR_openat, CURRENT_FOLDER, "/sys/firmware/devicetree/base/model", READ_ONLY, 0);
  if (file < 0) return;
  BARE_CALL3(__NR_read, file, hello->model, sizeof(hello->model) - 1);
  BARE_CALL1(__NR_close, file);
}

#if defined(__x86_64__)
#include <cpuid.h>

#define TILE_DATA 18
#define TILE_STATE (UINT64_C(3) << 17)
#define REQUEST_PERMISSION 0x1023 /* ARCH_REQ_XCOMP_PERM */

static uint64_t pair(uint32_t low, uint32_t high) { return (uint64_t)high << 32 | low; }

static void set_features(const unsigned long* auxiliary, slipway_bare_hello* hello) {
  (void)auxiliary;
  uint32_t a = 0, b = 0, c = 0, d = 0;
  uint32_t leaf_1_c = 0, leaf_7_b = 0, leaf_7_1_a = 0, leaf_80000001_c = 0;
  if (__get_cpuid(1, &a, &b, &c, &d)) leaf_1_c = c;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
    leaf_7_b = b;
    hello->features[1] = pair(c, d);
    if (a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d)) leaf_7_1_a = a;
  }
  if (__get_cpuid(0x80000001, &a, &b, &c, &d)) leaf_80000001_c = c;
  hello->features[0] = pair(leaf_1_c, leaf_7_b);
  hello->features[2] = pair(leaf_7_1_a, leaf_80000001_c);
  if (leaf_1_c & 1u << 27) { /* Otherwise XGETBV is an illegal instruction. */
    uint32_t low = 0, high = 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    hello->features[3] = pair(low, high);
    /* Tile registers are for processes that have asked for them, and their children. */
    if ((hello->features[3] & TILE_STATE) != 0 &&
        BARE_CALL2(__NR_arch_prctl, REQUEST_PERMISSION, TILE_DATA) != 0) {
      hello->features[3] &= ~TILE_STATE;
    }
  }
  if (hello->model[0] != 0) return;
  uint32_t name[12];
  for (uint32_t i = 0; i < 3; ++i) {
    if (!__get_cpuid(0x80000002 + i, &name[i * 4], &name[i * 4 + 1], &name[i * 4 + 2],
                     &name[i * 4 + 3])) {
      return;
    }
  }
  memcpy(hello->model, name, sizeof(name));
}
#else
static void set_features(const unsigned long* auxiliary, slipway_bare_hello* hello) {
  hello->features[0] = find(auxiliary, AT_HWCAP);
  hello->features[1] = find(auxiliary, AT_HWCAP2);
}
#endif

void bare_describe(const unsigned long* auxiliary, slipway_bare_hello* hello) {
  const uint64_t page = find(auxiliary, AT_PAGESZ);
  if (page != 0) page_bytes = page;
  memset(hello, 0, sizeof(*hello));
  hello->protocol = SLIPWAY_BARE_PROTOCOL;
  hello->machine = bare_machine();
  hello->oldest_abi = SLIPWAY_OLDEST_ABI_VERSION;
  hello->newest_abi = SLIPWAY_ABI_VERSION;
  memory_facts facts;
  memset(&facts, 0, sizeof(facts));
  BARE_CALL1(__NR_sysinfo, &facts);
  hello->memory_bytes = (uint64_t)facts.total * (facts.unit == 0 ? 1 : facts.unit);
  hello->clock_resolution_ns = bare_clock_resolution_ns();
  set_system(hello);
  set_processors(hello);
  set_model(hello);
  set_features(auxiliary, hello);
}

uint64_t bare_load_millis(void) {
  memory_facts facts;
  memset(&facts, 0, sizeof(facts));
  BARE_CALL1(__NR_sysinfo, &facts);
  return ((uint64_t)facts.loads[0] * 1000) >> 16;
}

uint64_t bare_free_bytes(void) {
  memory_facts facts;
  memset(&facts, 0, sizeof(facts));
  BARE_CALL1(__NR_sysinfo, &facts);
  return ((uint64_t)facts.free + facts.buffered) * (facts.unit == 0 ? 1 : facts.unit);
}
