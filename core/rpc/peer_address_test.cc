#include "core/rpc/peer_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstdint>
#include <string>
#include <tuple>

#include "gtest/gtest.h"

namespace slipway {
namespace {

std::string Ipv4(const char* host, int port) {
  sockaddr_storage name = {};
  auto& address = reinterpret_cast<sockaddr_in&>(name);
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  inet_pton(AF_INET, host, &address.sin_addr);
  return PeerAddress(name);
}

std::string Ipv6(const char* host, int port) {
  sockaddr_storage name = {};
  auto& address = reinterpret_cast<sockaddr_in6&>(name);
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(static_cast<uint16_t>(port));
  inet_pton(AF_INET6, host, &address.sin6_addr);
  return PeerAddress(name);
}

TEST(PeerAddress, IsTheSameOfSocketAndCall) {
  EXPECT_EQ(PeerAddressOf("ipv4:127.0.0.1:40001"), Ipv4("127.0.0.1", 40001));
  EXPECT_EQ(PeerAddressOf("ipv6:%5B::1%5D:40001"), Ipv6("::1", 40001));
  EXPECT_EQ(PeerAddressOf("ipv6:[fe80::1%25eth0]:7"), Ipv6("fe80::1", 7));
  EXPECT_EQ(PeerAddressOf("ipv6:%5B::ffff:127.0.0.1%5D:9"), Ipv4("127.0.0.1", 9));
  EXPECT_EQ(PeerAddressOf("ipv4:127.0.0.1:9"), Ipv6("::ffff:127.0.0.1", 9));
}

TEST(PeerAddress, TellsHostsAndPortsApart) {
  EXPECT_NE(Ipv4("127.0.0.1", 1), Ipv4("127.0.0.1", 2));
  EXPECT_NE(Ipv4("127.0.0.1", 1), Ipv4("127.0.0.2", 1));
  EXPECT_NE(Ipv6("::1", 1), Ipv6("::2", 1));
}

TEST(PeerAddress, IsNamedAsGrpcDoes) {
  for (const auto& [host, port, name] : {std::tuple("::1", 40001, "ipv6:%5B::1%5D:40001"),
                                         std::tuple("::ffff:192.0.2.7", 9, "ipv4:192.0.2.7:9")}) {
    sockaddr_storage socket = {};
    auto& address = reinterpret_cast<sockaddr_in6&>(socket);
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(static_cast<uint16_t>(port));
    inet_pton(AF_INET6, host, &address.sin6_addr);
    EXPECT_EQ(GrpcPeerOf(socket), name);
    EXPECT_EQ(PeerAddressOf(GrpcPeerOf(socket)), PeerAddress(socket));
  }
  sockaddr_storage socket = {};
  auto& address = reinterpret_cast<sockaddr_in&>(socket);
  address.sin_family = AF_INET;
  address.sin_port = htons(7);
  inet_pton(AF_INET, "192.0.2.7", &address.sin_addr);
  EXPECT_EQ(GrpcPeerOf(socket), "ipv4:192.0.2.7:7");
  socket.ss_family = AF_UNIX;
  EXPECT_EQ(GrpcPeerOf(socket), "");
}

TEST(PeerAddress, IsEmptyForOthers) {
  sockaddr_storage unix_name = {};
  unix_name.ss_family = AF_UNIX;
  EXPECT_EQ(PeerAddress(unix_name), "");
  for (const char* const text :
       {"", "unix:", "unix:/run/slipway", "ipv4:", "ipv4:1.2.3:4", "ipv4:1.2.3.4:65536",
        "ipv4:1.2.3.4:x", "ipv6:%5Bg::%5D:1", "1.2.3.4:5"}) {
    EXPECT_EQ(PeerAddressOf(text), "") << text;
  }
}

TEST(PeerAddress, MachinesHaveNoPorts) {
  sockaddr_storage name = {};
  auto& four = reinterpret_cast<sockaddr_in&>(name);
  four.sin_family = AF_INET;
  four.sin_port = htons(5);
  four.sin_addr.s_addr = htonl(0x01020304);
  EXPECT_EQ(MachineOf(name), MachineOf("1.2.3.4"));
  EXPECT_EQ(MachineOf(name), MachineOf("::ffff:1.2.3.4"));
  EXPECT_NE(MachineOf(name), MachineOf("1.2.3.5"));
  EXPECT_NE(MachineOf("::1"), "");
  for (const char* none : {"", "1.2.3", "localhost", "1.2.3.4:5", "[::1]"}) {
    EXPECT_EQ(MachineOf(none), "") << none;
  }
}

}  // namespace
}  // namespace slipway
