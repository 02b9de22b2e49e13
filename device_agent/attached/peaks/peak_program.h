/* What the host and its peak program agree on. */
#ifndef SLIPWAY_DEVICE_AGENT_ATTACHED_PEAKS_PEAK_PROGRAM_H_
#define SLIPWAY_DEVICE_AGENT_ATTACHED_PEAKS_PEAK_PROGRAM_H_

#include <stdint.h>

/* Its kernels. Each takes a slipway_peak_call as a tensor of bytes, and memory as one. */
enum {
  SLIPWAY_PEAK_SUMS = 0, /* `times` rounds of the loop in each task. */
  SLIPWAY_PEAK_READ = 1, /* Each task reads its part of the memory `times` times. */
  SLIPWAY_PEAK_FILL = 2, /* Each task writes to each page of its part. */
  SLIPWAY_PEAK_KERNELS = 3
};

typedef struct slipway_peak_call {
  int64_t loop; /* By its row in core/target/peak_rows.h. */
  int64_t times;
  int64_t tasks; /* One a thread. */
  int64_t bytes; /* Of a task's part of the memory, a multiple of SLIPWAY_READ_STEP. */
} slipway_peak_call;

#endif /* SLIPWAY_DEVICE_AGENT_ATTACHED_PEAKS_PEAK_PROGRAM_H_ */
