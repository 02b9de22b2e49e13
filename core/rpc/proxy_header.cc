#include "core/rpc/proxy_header.h"

#include <netinet/in.h>
#include <string.h>

#include <algorithm>
#include <cstdint>

namespace slipway {
namespace {

constexpr absl::string_view kSignature("\r\n\r\n\0\r\nQUIT\n", 12);
// Signature, version and command, family and protocol, length of what follows.
constexpr size_t kFixedBytes = 16;

constexpr uint8_t kLocal = 0x20;    // Version 2: the proxy's own.
constexpr uint8_t kProxied = 0x21;  // Version 2: somebody's.
constexpr uint8_t kTcp4 = 0x11;
constexpr uint8_t kTcp6 = 0x21;
// Both addresses, then both ports; the source comes first.
constexpr size_t kTcp4Bytes = 2 * 4 + 2 * 2;
constexpr size_t kTcp6Bytes = 2 * 16 + 2 * 2;

uint8_t ByteAt(absl::string_view bytes, size_t at) { return static_cast<uint8_t>(bytes[at]); }

}  // namespace

ProxyHeaderView ReadProxyHeader(absl::string_view bytes) {
  const size_t known = std::min(bytes.size(), kSignature.size());
  if (bytes.substr(0, known) != kSignature.substr(0, known)) return {};
  if (bytes.size() < kFixedBytes) {
    return {.kind = ProxyHeaderKind::kIncomplete, .wanted = kFixedBytes};
  }
  const uint8_t command = ByteAt(bytes, 12);
  const uint8_t family = ByteAt(bytes, 13);
  const size_t rest = size_t{ByteAt(bytes, 14)} << 8 | ByteAt(bytes, 15);
  const size_t size = kFixedBytes + rest;
  if ((command != kLocal && command != kProxied) || size > kMaxProxyHeaderBytes) return {};
  const size_t addresses = family == kTcp4 ? kTcp4Bytes : family == kTcp6 ? kTcp6Bytes : 0;
  if (command == kProxied && (addresses == 0 || rest < addresses)) return {};
  if (bytes.size() < size) return {.kind = ProxyHeaderKind::kIncomplete, .wanted = size};
  ProxyHeaderView view = {.kind = ProxyHeaderKind::kWhole, .size = size};
  if (command == kLocal) return view;
  const char* const at = bytes.data() + kFixedBytes;
  if (family == kTcp4) {
    auto& source = reinterpret_cast<sockaddr_in&>(view.source);
    source.sin_family = AF_INET;
    memcpy(&source.sin_addr, at, 4);
    memcpy(&source.sin_port, at + 8, 2);
  } else {
    auto& source = reinterpret_cast<sockaddr_in6&>(view.source);
    source.sin6_family = AF_INET6;
    memcpy(&source.sin6_addr, at, 16);
    memcpy(&source.sin6_port, at + 32, 2);
  }
  return view;
}

}  // namespace slipway
