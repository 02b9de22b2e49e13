// Sessions in one screen: reads handwritten digits on a device, then times the network there.
//
//   slipway-agent --listen unix:board &
//   slipway compile client/examples/digits/digits.onnx -o digits.slip
//   bazel-bin/client/examples/read_digits unix:board digits.slip client/examples/digits
#include <algorithm>
#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/session.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/tensor/npy.h"

namespace slipway {
namespace {

absl::Status ReadDigits(const std::string& address, const std::string& slip,
                        const std::string& folder) {
  SLIPWAY_ASSIGN_OR_RETURN(Session session,
                           Session::Open({.address = address, .purpose = "an example"}));
  SLIPWAY_ASSIGN_OR_RETURN(const RemoteProgram network, session.LoadFile(slip));
  RemoteTensor image;
  for (int digit = 0; digit < 10; ++digit) {
    SLIPWAY_ASSIGN_OR_RETURN(const std::string bytes,
                             ReadFile(absl::StrCat(folder, "/images/", digit, ".npy"), 1 << 20));
    SLIPWAY_ASSIGN_OR_RETURN(const Tensor pixels, ParseNpy(bytes));
    SLIPWAY_ASSIGN_OR_RETURN(image, session.Put(pixels, "image"));
    SLIPWAY_ASSIGN_OR_RETURN(const std::vector<RemoteTensor> outputs, network.Call({&image}));
    SLIPWAY_ASSIGN_OR_RETURN(const Tensor scores, outputs[0].Get());
    const auto values = scores.values<float>();
    printf("%d is read as %d\n", digit,
           static_cast<int>(std::max_element(values.begin(), values.end()) - values.begin()));
  }
  SLIPWAY_ASSIGN_OR_RETURN(const BenchmarkResult timed, network.Time({&image}));
  const int64_t least = *std::min_element(timed.samples_ns.begin(), timed.samples_ns.end());
  printf("a call takes %.1f us on %s\n",
         static_cast<double>(least) / static_cast<double>(timed.iterations_per_sample) / 1000,
         session.device().c_str());
  return session.Close();
}

}  // namespace
}  // namespace slipway

int main(int argc, char** argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: read_digits ADDRESS SLIP FOLDER\n");
    return 2;
  }
  const absl::Status status = slipway::ReadDigits(argv[1], argv[2], argv[3]);
  if (!status.ok()) fprintf(stderr, "read_digits: %s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
