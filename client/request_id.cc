#include "client/request_id.h"

#include <random>

#include "absl/strings/str_cat.h"

namespace slipway {

std::string NewRequestId() {
  std::random_device random;
  std::string id = "c";
  for (int i = 0; i < 4; ++i) absl::StrAppend(&id, absl::Hex(random(), absl::kZeroPad8));
  return id;
}

}  // namespace slipway
