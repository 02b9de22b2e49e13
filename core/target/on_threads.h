// The same measurement on several threads at once. Private to this folder.
#ifndef SLIPWAY_CORE_TARGET_ON_THREADS_H_
#define SLIPWAY_CORE_TARGET_ON_THREADS_H_

#include <functional>

namespace slipway {

// Calls work(i) for every i below `threads`, at least 1, each on a thread of its own, 0 on the caller's, and waits.
void OnThreads(int threads, const std::function<void(int)>& work);

}  // namespace slipway

#endif  // SLIPWAY_CORE_TARGET_ON_THREADS_H_
