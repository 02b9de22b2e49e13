/* What is left to the process that runs programs: memory, threads, the time, and its end of the stream. */
#ifndef SLIPWAY_CORE_BARE_RUNNER_CONFINEMENT_H_
#define SLIPWAY_CORE_BARE_RUNNER_CONFINEMENT_H_

#include <stdint.h>

/* Of this process and its threads, for good. `memory_bytes` of address space; 0: no limit. Returns the parts that the system does not
 * give: SLIPWAY_BARE_NO_*. */
uint32_t bare_confine(uint64_t memory_bytes);

#endif /* SLIPWAY_CORE_BARE_RUNNER_CONFINEMENT_H_ */
