/* What the system says of the machine's state: clocks, heat and load. Files are opened ahead, since a confined process opens none, and read
 * again whenever it is asked for. */
#ifndef SLIPWAY_CORE_BARE_RUNNER_SENSORS_H_
#define SLIPWAY_CORE_BARE_RUNNER_SENSORS_H_

#include "core/bare_runner/protocol.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BARE_MAX_CLOCKS 64 /* Of the first processors. */
#define BARE_MAX_ZONES 64

/* Descriptors; -1 where there is no such file. */
typedef struct bare_sensors {
  int clocks[BARE_MAX_CLOCKS]; /* Files of cpufreq, by processor. */
  int governors[BARE_MAX_CLOCKS];
  int zones[BARE_MAX_ZONES]; /* Of heat. */
} bare_sensors;

/* Opens what there is below `root`, which is in front of "/sys"; empty for the machine's own. */
void bare_open_sensors(const char* root, bare_sensors* sensors);

/* Reads all of it for a processor. What is not told, or is nothing that can be, stays 0. */
void bare_read_sensors(const bare_sensors* sensors, uint32_t processor, slipway_bare_state* state);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* SLIPWAY_CORE_BARE_RUNNER_SENSORS_H_ */
