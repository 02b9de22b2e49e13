/* Two processes: one that runs programs, confined, and one that watches over it, tells how it ended, and ends it with the stream. */
#include <asm/signal.h>
#include <linux/poll.h>
#include <linux/prctl.h>
#include <linux/wait.h>
#include <stddef.h>

#include "core/bare_runner/confinement.h"
#include "core/bare_runner/runner.h"
#include "core/bare_runner/system.h"

#define POLL_HUNG_UP 0x10        /* POLLHUP */
#define POLL_READ_HUNG_UP 0x2000 /* POLLRDHUP */

static uint64_t text_bytes(const char* text) {
  uint64_t bytes = 0;
  while (text[bytes] != 0) ++bytes;
  return bytes;
}

static int is_equal(const char* a, const char* b) {
  return text_bytes(a) == text_bytes(b) && memcmp(a, b, text_bytes(a)) == 0;
}

static int complain(const char* text) {
  BARE_CALL3(__NR_write, 2, text, text_bytes(text));
  return 2;
}

/* A number that fills the whole word, below 2^63; -1 for any other. */
static int64_t read_number(const char* text) {
  int64_t number = 0;
  if (*text == 0) return -1;
  for (; *text != 0; ++text) {
    if (*text < '0' || *text > '9' || number > (INT64_MAX - 9) / 10) return -1;
    number = number * 10 + (*text - '0');
  }
  return number;
}

static int run_programs(const slipway_bare_hello* described, uint64_t memory_bytes, int is_wholly,
                        volatile bare_shared* shared, int parent) {
  slipway_bare_hello hello = *described;
  BARE_CALL2(__NR_prctl, PR_SET_PDEATHSIG, SIGKILL);
  if (BARE_CALL0(__NR_getppid) != parent) return 1;
  static bare_sensors sensors;
  bare_open_sensors("", &sensors);
  hello.missing = bare_confine(memory_bytes);
  if (is_wholly && hello.missing != 0) {
    static const char kMissing[] = "this system has no filter for system calls (seccomp)\n";
    const struct {
      const char* text;
      size_t bytes;
    } part = {kMissing, sizeof(kMissing) - 1};
    BARE_CALL3(__NR_writev, 2, &part, 1);
    return SLIPWAY_BARE_UNCONFINED;
  }
  return bare_serve(&hello, memory_bytes, &sensors, shared);
}

/* Waits for the child's end or that of the stream, and then ends the child. Returns what wait4 says of it. */
static int watch(int child, int child_alive) {
  struct pollfd ends[2] = {{0, POLL_READ_HUNG_UP, 0}, {child_alive, 0, 0}};
  int status = 0;
  for (;;) {
    const long ready = BARE_CALL5(__NR_ppoll, ends, 2, NULL, NULL, 8);
    if (ready < 0 && ready != -4 /* EINTR */) break;
    if (ready > 0 && (ends[0].revents & (POLL_READ_HUNG_UP | POLL_HUNG_UP)) != 0) {
      /* The child may have all it needs to end by itself, but need not. */
      BARE_CALL2(__NR_kill, child, SIGKILL);
      break;
    }
    if (ready > 0 && ends[1].revents != 0) break;
    /* What else may be said of the stream (an error) the child finds out. */
    if (ready > 0 && ends[0].revents != 0) ends[0].fd = -1;
  }
  while (BARE_CALL4(__NR_wait4, child, &status, 0, NULL) == -4) {
  }
  return status;
}

static int tell_end(int status, const bare_shared* shared) {
  const int number = status & 0x7f;
  const int code = number == 0 ? status >> 8 & 0xff : 0;
  if (status == 0) return 0;
  const slipway_bare_reply end = {0, shared->command, code, (uint32_t)number, 0};
  if (!shared->is_cut) bare_send_reply(SLIPWAY_BARE_END, &end, NULL, 0);
  return number == 0 ? code : 128 + number;
}

int bare_main(int argc, char** argv, const unsigned long* auxiliary) {
  if (argc != 3) return complain("a bare runner is started by slipway-agent --exec-prefix\n");
  const int is_wholly = is_equal(argv[1], "wholly");
  const int64_t memory_bytes = read_number(argv[2]);
  if (memory_bytes < 0) return complain("the limit on memory is no number\n");
  slipway_bare_hello hello;
  bare_describe(auxiliary, &hello);
  /* A write to a stream that has ended is an error, and no signal. */
  const unsigned long ignore[6] = {1 /* SIG_IGN */}; /* The rest, however it is ordered, is zero. */
  BARE_CALL4(__NR_rt_sigaction, SIGPIPE, ignore, NULL, 8);
  bare_shared* const shared = bare_map_shared(bare_page_bytes());
  int alive[2];
  if (shared == NULL || BARE_CALL2(__NR_pipe2, alive, 0) != 0) {
    return complain("no memory is left\n");
  }
  shared->command = UINT32_MAX;
  const long parent = BARE_CALL0(__NR_getpid);
  const long child = BARE_CALL5(__NR_clone, SIGCHLD, 0, 0, 0, 0);
  if (child < 0) return complain("no process can be started\n");
  if (child == 0) {
    /* It holds the pipe's other end for as long as it lives. */
    BARE_CALL1(__NR_close, alive[0]);
    bare_exit(run_programs(&hello, (uint64_t)memory_bytes, is_wholly, shared, (int)parent));
  }
  BARE_CALL1(__NR_close, alive[1]);
  return tell_end(watch((int)child, alive[0]), shared);
}
