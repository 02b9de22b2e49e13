// Which processors this process may use.
#ifndef SLIPWAY_CORE_BASE_PROCESSORS_USABLE_PROCESSORS_H_
#define SLIPWAY_CORE_BASE_PROCESSORS_USABLE_PROCESSORS_H_

#include <vector>

namespace slipway {

// Their numbers, by its affinity, which containers and taskset narrow; one or more, rising.
std::vector<int> UsableProcessors();

}  // namespace slipway

#endif  // SLIPWAY_CORE_BASE_PROCESSORS_USABLE_PROCESSORS_H_
