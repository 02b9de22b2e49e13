#include "core/bare_runner/system.h"

#include <limits.h>
#include <linux/futex.h>
#include <linux/mman.h>
#include <linux/time.h>

/* Seconds since the machine began: 32 bits are enough. */
typedef struct clock_time {
  long seconds;
  long nanoseconds;
} clock_time;

static uint64_t nanoseconds(clock_time time) {
  return (uint64_t)time.seconds * 1000000000u + (uint64_t)time.nanoseconds;
}

uint64_t bare_now_ns(void) {
  clock_time now = {0, 0};
  BARE_CALL2(__NR_clock_gettime, CLOCK_MONOTONIC, &now);
  return nanoseconds(now);
}

uint64_t bare_clock_resolution_ns(void) {
  clock_time resolution = {0, 0};
  BARE_CALL2(__NR_clock_getres, CLOCK_MONOTONIC, &resolution);
  return nanoseconds(resolution);
}

static void* map(uint64_t bytes, int how) {
  if (bytes > LONG_MAX) return NULL;
  const long memory =
      bare_call(__NR_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE, how | MAP_ANONYMOUS, -1, 0);
  return memory < 0 && memory > -4096 ? NULL : (void*)memory;
}

void* bare_map(uint64_t bytes) { return map(bytes, MAP_PRIVATE); }
void* bare_map_shared(uint64_t bytes) { return map(bytes, MAP_SHARED); }

void bare_unmap(void* memory, uint64_t bytes) { BARE_CALL2(__NR_munmap, memory, bytes); }

void bare_wait(uint32_t* word, uint32_t value) {
  BARE_CALL4(__NR_futex, word, FUTEX_WAIT_PRIVATE, value, 0);
}

void bare_wake_all(uint32_t* word) { BARE_CALL3(__NR_futex, word, FUTEX_WAKE_PRIVATE, 0x7fffffff); }

/* The kernel wakes by a futex that is not private. */
void bare_await_thread(uint32_t* id) {
  for (uint32_t now; (now = __atomic_load_n(id, __ATOMIC_ACQUIRE)) != 0;) {
    BARE_CALL4(__NR_futex, id, FUTEX_WAIT, now, 0);
  }
}

_Noreturn void bare_exit(int code) {
  for (;;) BARE_CALL1(__NR_exit_group, code);
}

void bare_lock(uint32_t* lock) {
  uint32_t free = 0;
  if (__atomic_compare_exchange_n(lock, &free, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return;
  while (__atomic_exchange_n(lock, 2, __ATOMIC_ACQUIRE) != 0) bare_wait(lock, 2);
}

void bare_unlock(uint32_t* lock) {
  if (__atomic_exchange_n(lock, 0, __ATOMIC_RELEASE) == 2) {
    BARE_CALL3(__NR_futex, lock, FUTEX_WAKE_PRIVATE, 1);
  }
}

/* Plain loops, which the compiler would otherwise make calls of themselves. */
__attribute__((no_builtin)) void* memcpy(void* to, const void* from, size_t bytes) {
  return memmove(to, from, bytes);
}

__attribute__((no_builtin)) void* memmove(void* to, const void* from, size_t bytes) {
  uint8_t* t = to;
  const uint8_t* f = from;
#if defined(__x86_64__)
  if (t <= f || t >= f + bytes) {
    __asm__ volatile("rep movsb" : "+D"(t), "+S"(f), "+c"(bytes) : : "memory");
    return to;
  }
#endif
  typedef uint64_t __attribute__((aligned(1), may_alias)) word;
  if (t <= f) {
    for (; bytes >= 8; bytes -= 8, t += 8, f += 8) *(word*)t = *(const word*)f;
    for (; bytes > 0; --bytes) *t++ = *f++;
  } else {
    while (bytes >= 8) {
      bytes -= 8;
      *(word*)(t + bytes) = *(const word*)(f + bytes);
    }
    while (bytes > 0) {
      --bytes;
      t[bytes] = f[bytes];
    }
  }
  return to;
}

__attribute__((no_builtin)) void* memset(void* to, int value, size_t bytes) {
  uint8_t* t = to;
  for (; bytes > 0; --bytes) *t++ = (uint8_t)value;
  return to;
}

__attribute__((no_builtin)) int memcmp(const void* a, const void* b, size_t bytes) {
  const uint8_t* x = a;
  const uint8_t* y = b;
  for (; bytes > 0; --bytes, ++x, ++y) {
    if (*x != *y) return *x < *y ? -1 : 1;
  }
  return 0;
}
