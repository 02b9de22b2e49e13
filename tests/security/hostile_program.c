/* A program that tries to get out of the process that runs it: one kernel for each escape. Freestanding like any program, it
 * calls the kernel of the system by itself. Each takes x, whose first element is the number of a process that it may attack,
 * and gives 1 for what it was allowed, 0 for what it was not. */
#include "core/kernel_abi/kernel_source.h"
#include "tests/security/escapes.h"

#define SYS_mmap 9
#define SYS_ftruncate 77
#define SYS_getdents64 217
#define SYS_openat 257
#define SYS_memfd_create 319
#define SYS_exit 60
#define SYS_nanosleep 35
#define SYS_clone 56

static long call6(long number, long a, long b, long c, long d, long e, long f) {
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}
static long call(long number, long a, long b, long c, long d) {
  return call6(number, a, b, c, d, 0, 0);
}

enum { kHere = -100, kReadOnly = 0, kWriteOnly = 1, kReadWrite = 2, kCreate = 0100 };
enum { kFault = -14, kNoEntry = -2 };

static long open_path(const char* path, long flags) {
  return call(SYS_openat, kHere, (long)path, flags, 0600);
}

static long open_file(long other) {
  (void)other;
  return open_path("/etc/passwd", kReadOnly) >= 0;
}

static long open_memory(long other) {
  (void)other;
  return open_path("/proc/self/mem", kReadWrite) >= 0;
}

static long open_process(long other) {
  char path[64] = "/proc/";
  char digits[24];
  int count = 0;
  int at = 6;
  const char* const name = "/environ";
  for (; other > 0; other /= 10) digits[count++] = (char)('0' + other % 10);
  while (count > 0) path[at++] = digits[--count];
  for (int i = 0; name[i]; ++i) path[at++] = name[i];
  path[at] = 0;
  return open_path(path, kReadOnly) >= 0;
}

static long list_folder(long other) {
  char entries[1024];
  const long folder = open_path("/proc/self/task", 0200000);
  (void)other;
  return folder >= 0 && call(SYS_getdents64, folder, (long)entries, sizeof(entries), 0) > 0;
}

static long make_file(long other) {
  (void)other;
  return open_path("/tmp/slipway_hostile_program", kWriteOnly | kCreate) >= 0;
}

/* Of what is not there: the system looked for it. */
static long remove_file(long other) {
  (void)other;
  return call(87, (long)"/tmp/slipway_hostile_program_not_there", 0, 0, 0) == kNoEntry;
}

static long change_file(long other) {
  (void)other;
  return call(90, (long)"/tmp/slipway_hostile_program_not_there", 0777, 0, 0) == kNoEntry;
}

static long make_socket(long other) {
  (void)other;
  return call(41, 2, 1, 0, 0) >= 0;
}

static long connect_out(long other) {
  /* 127.0.0.1, port 9; without a connection, so that nobody need listen. */
  const unsigned char address[16] = {2, 0, 0, 9, 127, 0, 0, 1};
  const long socket = call(41, 2, 2, 0, 0);
  (void)other;
  return socket >= 0 && call(42, socket, (long)address, sizeof(address), 0) == 0;
}

static long make_pair(long other) {
  int ends[2];
  (void)other;
  return call(53, 1, 1, 0, (long)ends) == 0;
}

static long start_process(long other) {
  const long child = call(57, 0, 0, 0, 0);
  (void)other;
  if (child == 0) call(SYS_exit, 0, 0, 0, 0);
  return child > 0;
}

static long start_process_hidden(long other) {
  uint64_t arguments[8] = {0, 0, 0, 0, 17};
  const long child = call(435, (long)arguments, sizeof(arguments), 0, 0);
  (void)other;
  if (child == 0) call(SYS_exit, 0, 0, 0, 0);
  return child > 0;
}

static long run_file(long other) {
  const char* const nothing[1] = {0};
  (void)other;
  return call(59, (long)"/not_there", (long)nothing, (long)nothing, 0) == kNoEntry;
}

static long trace_process(long other) { return call(101, 0x4206, other, 0, 0) == 0; }
static long kill_process(long other) { return call(62, other, 0, 0, 0) == 0; }
static long kill_thread(long other) { return call(234, other, other, 0, 0) == 0; }

/* Signal 0 only asks whether it may. */
static long kill_group(long other) {
  (void)other;
  return call(62, -1, 0, 0, 0) == 0;
}

static long own_by_process(long other) { return call(72, 1, 8, other, 0) == 0; }
static long hold_process(long other) { return call(434, other, 0, 0, 0) >= 0; }

/* At an address where nothing is: who gets so far was allowed. */
static long touch_memory(long number, long other) {
  char byte = 0;
  const uint64_t here[2] = {(uint64_t)&byte, 1};
  const uint64_t there[2] = {8, 1};
  return call6(number, other, (long)here, 1, (long)there, 1, 0) == kFault;
}
static long read_memory(long other) { return touch_memory(310, other); }
static long write_memory(long other) { return touch_memory(311, other); }

static long limit_process(long other) {
  uint64_t limit[2];
  return call(302, other, 7, 0, (long)limit) == 0;
}

static long leave_session(long other) {
  (void)other;
  return call(109, 0, 0, 0, 0) == 0 || call(112, 0, 0, 0, 0) > 0;
}

static long outlive_parent(long other) {
  (void)other;
  return call(157, 1, 0, 0, 0) == 0;
}

static long enter_namespace(long other) {
  (void)other;
  return call(272, 0x10000000, 0, 0, 0) == 0;
}

static long make_ring(long other) {
  char parameters[120] = {0};
  (void)other;
  return call(425, 1, (long)parameters, 0, 0) >= 0;
}

static long make_shared_memory(long other) {
  const long id = call(29, 0, 4096, 01600, 0);
  (void)other;
  if (id >= 0) call(31, id, 0, 0, 0);
  return id >= 0;
}

/* Without a filter, so that it is not taken; but looked at. */
static long load_filter(long other) {
  (void)other;
  return call(317, 1, 0, 0, 0) == kFault;
}

enum { kThreads = 3000, kStack = 4096 };

/* Sleeps on a stack of its own until the process ends. */
static long start_thread(char* stack_end) {
  long result;
  const long flags = 0x00000100 | 0x00000200 | 0x00000400 | 0x00000800 | 0x00010000;
  __asm__ volatile(
      "syscall\n\t"
      "test %%rax, %%rax\n\t"
      "jnz 2f\n\t"
      "1: mov $35, %%eax\n\t"
      "lea -64(%%rsp), %%rdi\n\t"
      "movq $1000, (%%rdi)\n\t"
      "movq $0, 8(%%rdi)\n\t"
      "xor %%esi, %%esi\n\t"
      "syscall\n\t"
      "jmp 1b\n\t"
      "2:"
      : "=a"(result)
      : "a"(SYS_clone), "D"(flags), "S"(stack_end), "d"(0)
      : "rcx", "r11", "memory");
  return result;
}

static long thread_bomb(long other) {
  static char stacks[kThreads][kStack];
  (void)other;
  for (int i = 0; i < kThreads; ++i) {
    if (start_thread(stacks[i] + kStack) < 0) return 0;
  }
  return 1;
}

/* A pebibyte is on no device. */
static long memory_bomb(long other) {
  (void)other;
  for (int i = 0; i < 1024; ++i) {
    const long at = call6(SYS_mmap, 0, 1L << 36, 3, 0x4022, -1, 0);
    if (at < 0 && at > -4096) return 0;
  }
  return 1;
}

static long file_bomb(long other) {
  (void)other;
  for (int i = 0; i < 64; ++i) {
    const long file = call(SYS_memfd_create, (long)"", 0, 0, 0);
    if (file < 0 || call(SYS_ftruncate, file, 1L << 28, 0, 0) < 0) return 0;
  }
  return 1;
}

#define KERNEL(name, what)                                              \
  static int32_t kernel_##name(void** args) {                           \
    const float* const x = (const float*)slipway_tensor(args, 0)->host; \
    *(float*)slipway_tensor(args, 2)->host = (float)name((long)x[0]);   \
    return SLIPWAY_OK;                                                  \
  }
SLIPWAY_ESCAPES(KERNEL)

/* Not an escape by itself: it never ends, and hears no signal that it can be deaf to. */
static int32_t deaf(void** args) {
  (void)args;
  for (long i = 1; i < 65; ++i) {
    const uint64_t ignore[4] = {1};
    call(13, i, (long)ignore, 0, 8);
  }
  for (volatile uint64_t turns = 0;; ++turns) {
  }
  return SLIPWAY_OK;
}

#define ROW(name, what) {kernel_##name, 3, 0},
SLIPWAY_KERNELS(SLIPWAY_ESCAPES(ROW){deaf, 3, 0})
