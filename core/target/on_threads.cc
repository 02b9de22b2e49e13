#include "core/target/on_threads.h"

#include <thread>
#include <vector>

namespace slipway {

void OnThreads(int threads, const std::function<void(int)>& work) {
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(work, i);
  work(0);
  for (std::thread& other : others) other.join();
}

}  // namespace slipway
