#include "core/bare_runner/confinement.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/mman.h>
#include <linux/prctl.h>
#include <linux/resource.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>

#include "core/bare_runner/protocol.h"
#include "core/bare_runner/system.h"

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#elif defined(__arm__)
#define ARCHITECTURE AUDIT_ARCH_ARM
#elif defined(__riscv)
#define ARCHITECTURE AUDIT_ARCH_RISCV64
#endif

#define LOAD(member) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
/* The lower half of an argument, which is little-endian. */
#define LOAD_ARGUMENT(i) \
  BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args) + 8 * (i))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define REFUSE BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1 /* EPERM */)
/* The call of that number, whatever its arguments. */
#define CALL(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##number, 0, 1), ALLOW
/* With argument i equal to `value`: six instructions, of which the last belongs to no call. */
#define CALL_WITH(number, i, value)                                           \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##number, 0, 4), LOAD_ARGUMENT(i), \
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, 1), ALLOW, REFUSE
/* With argument i having all bits of `all`. */
#define CALL_WITH_ALL(number, i, all)                                         \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##number, 0, 5), LOAD_ARGUMENT(i), \
      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, (all)),                             \
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (all), 0, 1), ALLOW, REFUSE
/* Memory that is both written and run is refused. */
#define CALL_FOR_MEMORY(number)                                               \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##number, 0, 5), LOAD_ARGUMENT(2), \
      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, PROT_WRITE | PROT_EXEC),            \
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PROT_WRITE | PROT_EXEC, 1, 0), ALLOW, REFUSE

static const struct sock_filter kFilter[] = {
    LOAD(arch),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
    REFUSE,
    LOAD(nr),
    /* Threads that wait for each other, and the time. */
    CALL(futex),
    CALL(clock_gettime),
    CALL(sched_yield),
    /* The stream. */
    CALL_WITH(read, 0, 0),
    CALL_WITH(writev, 0, 1),
    /* Memory, and code in it. */
    CALL_FOR_MEMORY(mmap),
    CALL_FOR_MEMORY(mprotect),
    CALL(munmap),
    CALL(madvise),
#ifdef BARE_NR_FLUSH_CODE
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, BARE_NR_FLUSH_CODE, 0, 1),
    ALLOW,
#endif
    /* What it and the machine have used. */
    CALL(getrusage),
    CALL(sysinfo),
    CALL(getcpu),
    /* Of what was opened before: sensors.h; the stream has no offsets. */
    CALL(pread64),
    /* Threads, no processes; and ends. */
    CALL_WITH_ALL(clone, 0, CLONE_THREAD | CLONE_VM | CLONE_SIGHAND),
    CALL(exit),
    CALL(exit_group),
    CALL(rt_sigreturn),
    CALL(restart_syscall),
    REFUSE,
};

static void limit(int resource, uint64_t most) {
  const struct rlimit64 { uint64_t now, most; } limits = {most, most};
  BARE_CALL4(__NR_prlimit64, 0, resource, &limits, 0);
}

uint32_t bare_confine(uint64_t memory_bytes) {
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, 0);
  if (memory_bytes != 0) limit(RLIMIT_AS, memory_bytes);
  uint32_t missing = 0;
  if (BARE_CALL5(__NR_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    missing |= SLIPWAY_BARE_NO_NEW_PRIVILEGES;
  }
  const struct sock_fprog program = {sizeof(kFilter) / sizeof(kFilter[0]),
                                     (struct sock_filter*)kFilter};
  if (BARE_CALL5(__NR_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0) {
    missing |= SLIPWAY_BARE_NO_SYSTEM_CALL_FILTER;
  }
  return missing;
}
