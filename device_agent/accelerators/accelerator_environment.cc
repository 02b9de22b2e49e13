#include "device_agent/accelerators/accelerator_environment.h"

#include <stdlib.h>

namespace slipway {

std::vector<std::pair<std::string, std::string>> AcceleratorEnvironment() {
  std::vector<std::pair<std::string, std::string>> environment;
  for (const char* variable : {"LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"}) {
    if (const char* value = getenv(variable)) environment.emplace_back(variable, value);
  }
  return environment;
}

}  // namespace slipway
