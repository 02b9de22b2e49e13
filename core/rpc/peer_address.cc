#include "core/rpc/peer_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstdint>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace slipway {
namespace {

std::string Join(const void* address, size_t size, uint16_t network_port) {
  std::string joined(static_cast<const char*>(address), size);
  joined.append(reinterpret_cast<const char*>(&network_port), sizeof(network_port));
  return joined;
}

std::string JoinIpv6(const in6_addr& address, uint16_t network_port) {
  const char* const bytes = reinterpret_cast<const char*>(&address);
  if (IN6_IS_ADDR_V4MAPPED(&address)) return Join(bytes + 12, 4, network_port);
  return Join(bytes, sizeof(address), network_port);
}

}  // namespace

std::string PeerAddress(const sockaddr_storage& name) {
  if (name.ss_family == AF_INET) {
    const auto& address = reinterpret_cast<const sockaddr_in&>(name);
    return Join(&address.sin_addr, sizeof(address.sin_addr), address.sin_port);
  }
  if (name.ss_family != AF_INET6) return "";
  const auto& address = reinterpret_cast<const sockaddr_in6&>(name);
  return JoinIpv6(address.sin6_addr, address.sin6_port);
}

std::string PeerAddressOf(absl::string_view grpc_peer) {
  const size_t colon = grpc_peer.rfind(':');
  uint32_t port = 0;
  if (colon == absl::string_view::npos || !absl::SimpleAtoi(grpc_peer.substr(colon + 1), &port) ||
      port > 65'535) {
    return "";
  }
  absl::string_view host = grpc_peer.substr(0, colon);
  const uint16_t network_port = htons(static_cast<uint16_t>(port));
  if (absl::ConsumePrefix(&host, "ipv4:")) {
    in_addr address;
    if (inet_pton(AF_INET, std::string(host).c_str(), &address) != 1) return "";
    return Join(&address, sizeof(address), network_port);
  }
  if (!absl::ConsumePrefix(&host, "ipv6:")) return "";
  // gRPC writes it as a URI, with brackets escaped.
  if (!absl::ConsumePrefix(&host, "%5B")) absl::ConsumePrefix(&host, "[");
  if (!absl::ConsumeSuffix(&host, "%5D")) absl::ConsumeSuffix(&host, "]");
  in6_addr address;
  // A scope, "%25eth0", names no other address.
  const std::string text(host.substr(0, host.find('%')));
  if (inet_pton(AF_INET6, text.c_str(), &address) != 1) return "";
  return JoinIpv6(address, network_port);
}

std::string MachineOf(const sockaddr_storage& name) {
  std::string address = PeerAddress(name);
  if (!address.empty()) address.resize(address.size() - sizeof(in_port_t));
  return address;
}

std::string MachineOf(absl::string_view text) {
  sockaddr_storage name = {};
  const std::string host(text);
  if (inet_pton(AF_INET, host.c_str(), &reinterpret_cast<sockaddr_in&>(name).sin_addr) == 1) {
    name.ss_family = AF_INET;
  } else if (inet_pton(AF_INET6, host.c_str(), &reinterpret_cast<sockaddr_in6&>(name).sin6_addr) ==
             1) {
    name.ss_family = AF_INET6;
  }
  return MachineOf(name);
}

std::string GrpcPeerOf(const sockaddr_storage& name) {
  char text[INET6_ADDRSTRLEN];
  if (name.ss_family == AF_INET) {
    const auto& address = reinterpret_cast<const sockaddr_in&>(name);
    inet_ntop(AF_INET, &address.sin_addr, text, sizeof(text));
    return absl::StrCat("ipv4:", text, ":", ntohs(address.sin_port));
  }
  if (name.ss_family != AF_INET6) return "";
  const auto& address = reinterpret_cast<const sockaddr_in6&>(name);
  if (IN6_IS_ADDR_V4MAPPED(&address.sin6_addr)) {
    inet_ntop(AF_INET, address.sin6_addr.s6_addr + 12, text, sizeof(text));
    return absl::StrCat("ipv4:", text, ":", ntohs(address.sin6_port));
  }
  inet_ntop(AF_INET6, &address.sin6_addr, text, sizeof(text));
  return absl::StrCat("ipv6:%5B", text, "%5D:", ntohs(address.sin6_port));
}

std::string CountedFor(const sockaddr_storage& name) {
  if (name.ss_family == AF_INET) {
    const in_addr address = reinterpret_cast<const sockaddr_in&>(name).sin_addr;
    if ((ntohl(address.s_addr) >> 24) == IN_LOOPBACKNET) return "";
    return std::string(reinterpret_cast<const char*>(&address), sizeof(address));
  }
  if (name.ss_family != AF_INET6) return "";
  const in6_addr& address = reinterpret_cast<const sockaddr_in6&>(name).sin6_addr;
  const char* const bytes = reinterpret_cast<const char*>(&address);
  if (IN6_IS_ADDR_LOOPBACK(&address)) return "";
  if (!IN6_IS_ADDR_V4MAPPED(&address)) return std::string(bytes, 8);
  if (static_cast<unsigned char>(bytes[12]) == IN_LOOPBACKNET) return "";
  return std::string(bytes + 12, 4);
}

}  // namespace slipway
