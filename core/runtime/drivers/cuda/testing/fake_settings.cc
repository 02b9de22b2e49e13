#include "core/runtime/drivers/cuda/testing/fake_settings.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace slipway::fake_cuda {
namespace {

// What the file "settings" beside this library says; nothing where there is none.
std::string SettingsBesideThis() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&SettingsBesideThis), &info) == 0) return "";
  const std::string library = info.dli_fname;
  std::ifstream file(library.substr(0, library.rfind('/') + 1) + "settings");
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

void Violation(const std::string& what) {
  fprintf(stderr, "a fake of NVIDIA: %s\n", what.c_str());
  abort();
}

std::string Setting(const std::string& key, const std::string& otherwise) {
  // Once a process: what is confined later opens no files.
  static const std::string beside = SettingsBesideThis();
  const char* const text = getenv("SLIPWAY_FAKE_CUDA");
  std::istringstream words(text == nullptr ? beside : text);
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
