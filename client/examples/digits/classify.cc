// The client library in one screen: compiles the digits model, reads the ten images on a device.
//
//   slipwayd & slipway-agent &
//   bazel-bin/client/examples/classify_digits 127.0.0.1:7411 client/examples/digits
#include <algorithm>
#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/client.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/tensor/npy.h"

namespace slipway {
namespace {

absl::Status Classify(const std::string& server, const std::string& folder) {
  SLIPWAY_ASSIGN_OR_RETURN(const auto client, Client::Connect({.server = server}));
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<Device> devices, client->ListDevices());
  if (devices.empty()) return absl::UnavailableError("the server has no device");
  const Device& device = devices.front();

  // Compiled once; the second time the server has it.
  SLIPWAY_ASSIGN_OR_RETURN(const Compilation compilation,
                           client->Compile(folder + "/digits.onnx", {.target = device.target}));
  for (int digit = 0; digit < 10; ++digit) {
    SLIPWAY_ASSIGN_OR_RETURN(const std::string bytes,
                             ReadFile(absl::StrCat(folder, "/images/", digit, ".npy"), 1 << 20));
    SLIPWAY_ASSIGN_OR_RETURN(const Tensor image, ParseNpy(bytes));
    SLIPWAY_ASSIGN_OR_RETURN(
        const std::vector<NamedTensor> outputs,
        client->Run(compilation.artifact, {{"image", image}}, {.device = device.id}));
    const auto scores = outputs.front().tensor.values<float>();
    const auto best = std::max_element(scores.begin(), scores.end()) - scores.begin();
    printf("%d is read as %d\n", digit, static_cast<int>(best));
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace slipway

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: classify_digits SERVER FOLDER\n");
    return 2;
  }
  const absl::Status status = slipway::Classify(argv[1], argv[2]);
  if (!status.ok()) fprintf(stderr, "classify_digits: %s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
