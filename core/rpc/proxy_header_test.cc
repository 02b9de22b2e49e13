#include "core/rpc/proxy_header.h"

#include <string>

#include "core/rpc/peer_address.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

std::string Header(int command, int family, const std::string& rest) {
  std::string header("\r\n\r\n\0\r\nQUIT\n", 12);
  header += static_cast<char>(command);
  header += static_cast<char>(family);
  header += static_cast<char>(rest.size() >> 8);
  header += static_cast<char>(rest.size() & 0xff);
  return header + rest;
}

// From 1.2.3.4:258 to 5.6.7.8:443.
const std::string kFour("\1\2\3\4\5\6\7\10\1\2\1\273", 12);
// From [::1]:258.
const std::string kSix = std::string(15, '\0') + '\1' + std::string(16, '\0') + "\1\2\1\273";

TEST(ProxyHeader, SaysWhereAConnectionComesFrom) {
  const std::string four = Header(0x21, 0x11, kFour);
  const ProxyHeaderView view = ReadProxyHeader(four + "what follows");
  ASSERT_EQ(view.kind, ProxyHeaderKind::kWhole);
  EXPECT_EQ(view.size, four.size());
  EXPECT_EQ(GrpcPeerOf(view.source), "ipv4:1.2.3.4:258");
  EXPECT_EQ(GrpcPeerOf(ReadProxyHeader(Header(0x21, 0x21, kSix)).source), "ipv6:%5B::1%5D:258");
}

TEST(ProxyHeader, PassesOverWhatProxiesAdd) {
  const std::string header = Header(0x21, 0x11, kFour + std::string("\4\0\2ab", 5));
  const ProxyHeaderView view = ReadProxyHeader(header + "x");
  ASSERT_EQ(view.kind, ProxyHeaderKind::kWhole);
  EXPECT_EQ(view.size, header.size());
  EXPECT_EQ(GrpcPeerOf(view.source), "ipv4:1.2.3.4:258");
}

TEST(ProxyHeader, AProxysOwnConnectionsComeFromNobody) {
  for (const std::string& header :
       {Header(0x20, 0, ""), Header(0x20, 0x11, kFour), Header(0x20, 0, "abc")}) {
    const ProxyHeaderView view = ReadProxyHeader(header);
    ASSERT_EQ(view.kind, ProxyHeaderKind::kWhole);
    EXPECT_EQ(view.source.ss_family, AF_UNSPEC);
    EXPECT_EQ(view.size, header.size());
  }
}

TEST(ProxyHeader, SaysHowMuchIsMissing) {
  const std::string whole = Header(0x21, 0x21, kSix);
  for (size_t size = 0; size < whole.size(); ++size) {
    const ProxyHeaderView view = ReadProxyHeader(whole.substr(0, size));
    ASSERT_EQ(view.kind, ProxyHeaderKind::kIncomplete) << size;
    EXPECT_EQ(view.wanted, size < 16 ? 16 : whole.size());
  }
}

TEST(ProxyHeader, RefusesAllElse) {
  for (const std::string& bytes :
       {std::string("PROXY TCP4 1.2.3.4 5.6.7.8 258 443\r\n"), std::string("\x16\x03\x01"),
        Header(0x11, 0x11, kFour), Header(0x22, 0x11, kFour), Header(0x31, 0x11, kFour),
        Header(0x21, 0x12, kFour), Header(0x21, 0x31, kFour), Header(0x21, 0, ""),
        Header(0x21, 0x11, kFour.substr(1)), Header(0x21, 0x21, kFour),
        Header(0x21, 0x11, kFour + std::string(600, 'x')),
        Header(0x20, 0, std::string(600, 'x'))}) {
    EXPECT_EQ(ReadProxyHeader(bytes).kind, ProxyHeaderKind::kRefused);
  }
  // At once, and not when all of it has come.
  EXPECT_EQ(ReadProxyHeader(Header(0x21, 0x11, std::string(60'000, 'x')).substr(0, 16)).kind,
            ProxyHeaderKind::kRefused);
}

}  // namespace
}  // namespace slipway
