// Whoever calls whatever with whatever bytes: the server answers or refuses, and serves on.
//
// Inputs: see rpc_seeds.h.
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/strings/string_view.h"
#include "core/base/log.h"
#include "tests/fuzz/grpc_fuzzed_server.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // What calls leave behind is bounded by this.
  constexpr int kCallsOfAServer = 64;
  static std::unique_ptr<slipway::testing::FuzzedServer> server;
  static int calls = 0;
  if (calls == 0) slipway::InitLog("", slipway::LogLevel::kError);
  if (size == 0) return 0;
  if (calls++ % kCallsOfAServer == 0) {
    server.reset();
    server = std::make_unique<slipway::testing::FuzzedServer>();
  }
  server->Take(absl::string_view(reinterpret_cast<const char*>(data), size)).IgnoreError();
  server->CheckServes();
  return 0;
}
