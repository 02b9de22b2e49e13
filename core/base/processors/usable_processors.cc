#include "core/base/processors/usable_processors.h"

#include <sched.h>
#include <unistd.h>

namespace slipway {

std::vector<int> UsableProcessors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const bool is_known = sched_getaffinity(0, sizeof(set), &set) == 0;
  std::vector<int> usable;
  for (int cpu = 0; cpu < (is_known ? CPU_SETSIZE : sysconf(_SC_NPROCESSORS_ONLN)); ++cpu) {
    if (!is_known || CPU_ISSET(cpu, &set)) usable.push_back(cpu);
  }
  return usable;
}

}  // namespace slipway
