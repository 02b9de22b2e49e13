#include "core/runtime/drivers/cuda/testing/fake_settings.h"

#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace slipway::fake_cuda {

void Violation(const std::string& what) {
  fprintf(stderr, "a fake of NVIDIA: %s\n", what.c_str());
  abort();
}

std::string Setting(const std::string& key, const std::string& otherwise) {
  const char* const text = getenv("SLIPWAY_FAKE_CUDA");
  std::istringstream words(text == nullptr ? "" : text);
  std::string word;
  while (words >> word) {
    const size_t sign = word.find('=');
    if (word.substr(0, sign) == key) return word.substr(sign + 1);
  }
  return otherwise;
}

int64_t Number(const std::string& key, int64_t otherwise) {
  return std::stoll(Setting(key, std::to_string(otherwise)));
}

void Trace(const std::string& line) {
  const char* const path = getenv("SLIPWAY_FAKE_CUDA_TRACE");
  if (path == nullptr) return;
  FILE* const file = fopen(path, "a");
  if (file == nullptr) Violation("cannot write its trace");
  fprintf(file, "%s\n", line.c_str());
  fclose(file);
}

}  // namespace slipway::fake_cuda
