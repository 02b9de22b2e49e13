#include "core/base/processors/thread_processor.h"

#include <sched.h>

namespace slipway {

int ThreadProcessor() { return sched_getcpu(); }

void LeaveProcessors(absl::Span<const int> taken) {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  if (sched_getaffinity(0, sizeof(usable), &usable) != 0) return;
  cpu_set_t others = usable;
  for (int processor : taken) {
    if (processor >= 0 && processor < CPU_SETSIZE) CPU_CLR(processor, &others);
  }
  if (CPU_COUNT(&others) == 0) return;
  // Narrowing the set moves the thread at once.
  if (sched_setaffinity(0, sizeof(others), &others) != 0) return;
  sched_setaffinity(0, sizeof(usable), &usable);
}

}  // namespace slipway
