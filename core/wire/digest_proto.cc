#include "core/wire/digest_proto.h"

#include "absl/status/status.h"

namespace slipway {

v1::Digest ToProto(const Digest& digest) {
  v1::Digest proto;
  proto.set_sha256(digest.hex());
  proto.set_size_bytes(digest.size_bytes());
  return proto;
}

absl::StatusOr<Digest> FromProto(const v1::Digest& proto) {
  if (proto.sha256().empty()) return absl::InvalidArgumentError("digest is not set");
  return Digest::FromHex(proto.sha256(), proto.size_bytes());
}

}  // namespace slipway
