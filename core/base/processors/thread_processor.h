// Which processor the calling thread runs on, and that it runs elsewhere.
#ifndef SLIPWAY_CORE_BASE_PROCESSORS_THREAD_PROCESSOR_H_
#define SLIPWAY_CORE_BASE_PROCESSORS_THREAD_PROCESSOR_H_

#include "absl/types/span.h"

namespace slipway {

// Its number; -1 where the system doesn't tell. The system may move the thread at any time.
int ThreadProcessor();

// The calling thread goes on on a processor that it may use and that is none of `taken`; it stays where there is none, or where the
// system forbids it. What it may use is afterwards what it was. Three calls of the system, some 10 us.
void LeaveProcessors(absl::Span<const int> taken);

}  // namespace slipway

#endif  // SLIPWAY_CORE_BASE_PROCESSORS_THREAD_PROCESSOR_H_
