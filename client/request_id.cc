#include "client/request_id.h"

#include "absl/strings/str_cat.h"
#include "core/rpc/token.h"

namespace slipway {

std::string NewRequestId() { return absl::StrCat("c", NewSecret()); }

}  // namespace slipway
