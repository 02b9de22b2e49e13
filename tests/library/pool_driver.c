/* Loops of a library's pool, as many as make races seen: NAME is the library's. Says nothing and returns 0, or says what is wrong. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define JOINED(a, b) a##b
#define NAMED(a, b) JOINED(a, b)
#define POOL(what) NAMED(NAME, _pool##what)
#include HEADER

enum { COUNT = 300, LOOPS = 400, CALLERS = 3 };

static POOL() pool;

/* What no two threads may touch at once without being told so. */
typedef struct counts {
  int of_turn[COUNT];
  int of_worker[THREADS];
} counts;

static void count(void* data, int32_t turn, int32_t worker) {
  counts* const c = data;
  ++c->of_turn[turn];
  ++c->of_worker[worker];
}

static int fail(const char* what) {
  fprintf(stderr, "%s\n", what);
  return 1;
}

static int run_loops(void) {
  counts c;
  int i, turn;
  for (i = 0; i < LOOPS; ++i) {
    const int turns = i % 7 == 0 ? i % COUNT : 2 + i % 5;
    int sum = 0;
    memset(&c, 0, sizeof(c));
    POOL(_parallel_for)(&pool, count, &c, turns);
    for (turn = 0; turn < COUNT; ++turn) {
      if (c.of_turn[turn] != (turn < turns)) return fail("a turn was not done once");
    }
    for (turn = 0; turn < THREADS; ++turn) sum += c.of_worker[turn];
    if (sum != turns) return fail("workers did another number of turns");
  }
  return 0;
}

static void* call_loops(void* data) {
  *(int*)data = run_loops();
  return 0;
}

int main(void) {
  int threads, i;
  if (POOL(_start)(&pool, 0, 0) != EINVAL || POOL(_start)(&pool, THREADS + 1, 0) != EINVAL) {
    return fail("a number of threads that cannot be was taken");
  }
  for (threads = 1; threads <= THREADS; ++threads) {
    pthread_t callers[CALLERS];
    int results[CALLERS];
    if (POOL(_start)(&pool, threads, 0) != 0) return fail("no threads");
    if (run_loops() != 0) return 1;
    for (i = 0; i < CALLERS; ++i) pthread_create(&callers[i], 0, call_loops, &results[i]);
    for (i = 0; i < CALLERS; ++i) pthread_join(callers[i], 0);
    for (i = 0; i < CALLERS; ++i) {
      if (results[i] != 0) return 1;
    }
    POOL(_end)(&pool);
  }
  return 0;
}
