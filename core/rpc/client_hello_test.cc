#include "core/rpc/client_hello.h"

#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace slipway {
namespace {

struct Wish {
  int oldest = TLS1_3_VERSION;
  int newest = TLS1_3_VERSION;
  std::vector<std::string> protocols = {kHttp2Protocol};
  std::string host;
};

// What OpenSSL's client sends first.
std::string HelloOf(const Wish& wish) {
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()),
                                                                  &SSL_CTX_free);
  SSL_CTX_set_min_proto_version(context.get(), wish.oldest);
  SSL_CTX_set_max_proto_version(context.get(), wish.newest);
  const std::unique_ptr<SSL, decltype(&SSL_free)> ssl(SSL_new(context.get()), &SSL_free);
  std::string protocols;
  for (const std::string& protocol : wish.protocols) {
    protocols += static_cast<char>(protocol.size()) + protocol;
  }
  if (!protocols.empty()) {
    SSL_set_alpn_protos(ssl.get(), reinterpret_cast<const unsigned char*>(protocols.data()),
                        static_cast<unsigned>(protocols.size()));
  }
  if (!wish.host.empty()) SSL_set_tlsext_host_name(ssl.get(), wish.host.c_str());
  BIO* const in = BIO_new(BIO_s_mem());
  BIO* const out = BIO_new(BIO_s_mem());
  SSL_set_bio(ssl.get(), in, out);
  SSL_connect(ssl.get());
  char* data = nullptr;
  const long size = BIO_get_mem_data(out, &data);
  return std::string(data, static_cast<size_t>(size));
}

// The same message in records of `size` bytes.
std::string InRecordsOf(const std::string& hello, size_t size) {
  const std::string message = hello.substr(5);
  std::string records;
  for (size_t at = 0; at < message.size(); at += size) {
    const std::string part = message.substr(at, size);
    records += hello.substr(0, 3);
    records += static_cast<char>(part.size() >> 8);
    records += static_cast<char>(part.size() & 0xff);
    records += part;
  }
  return records;
}

TEST(ClientHello, TellsCallsFromJoining) {
  EXPECT_EQ(ReadClientHello(HelloOf({})).kind, HelloKind::kCall);
  EXPECT_EQ(ReadClientHello(HelloOf({.host = "slipway-server"})).kind, HelloKind::kCall);
  EXPECT_EQ(ReadClientHello(HelloOf({.protocols = {kJoinProtocol}})).kind, HelloKind::kJoin);
  EXPECT_EQ(ReadClientHello(HelloOf({.protocols = {"grpc-exp", "h2"}})).kind, HelloKind::kCall);
  EXPECT_EQ(ReadClientHello(HelloOf({.oldest = TLS1_2_VERSION})).kind, HelloKind::kCall);
}

TEST(ClientHello, SaysByWhatNameTheServerIsCalled) {
  EXPECT_EQ(ReadClientHello(HelloOf({.host = "slipway-server"})).server_name, "slipway-server");
  EXPECT_EQ(ReadClientHello(HelloOf({.host = "build.example"})).server_name, "build.example");
  EXPECT_EQ(ReadClientHello(HelloOf({})).server_name, "");
}

TEST(ClientHello, RefusesOtherProtocolsAndVersions) {
  EXPECT_EQ(ReadClientHello(HelloOf({.protocols = {"http/1.1"}})).kind, HelloKind::kRefused);
  EXPECT_EQ(ReadClientHello(HelloOf({.protocols = {}})).kind, HelloKind::kRefused);
  EXPECT_EQ(ReadClientHello(HelloOf({.oldest = TLS1_2_VERSION, .newest = TLS1_2_VERSION})).kind,
            HelloKind::kRefused);
  EXPECT_EQ(ReadClientHello("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").kind, HelloKind::kRefused);
  EXPECT_EQ(ReadClientHello("GET / HTTP/1.1\r\n").kind, HelloKind::kRefused);
}

TEST(ClientHello, SaysHowMuchIsMissing) {
  const std::string whole = HelloOf({});
  for (size_t size = 0; size < whole.size(); ++size) {
    const HelloView view = ReadClientHello(whole.substr(0, size));
    ASSERT_EQ(view.kind, HelloKind::kIncomplete) << size;
    ASSERT_GT(view.wanted, size);
    ASSERT_EQ(view.wanted, size < 5 ? 5 : whole.size());
  }
  EXPECT_EQ(ReadClientHello(whole + "more").kind, HelloKind::kCall);
}

TEST(ClientHello, JoinsRecords) {
  const std::string whole = HelloOf({.protocols = {kJoinProtocol}});
  for (const size_t size : {1, 3, 4, 100}) {
    const std::string records = InRecordsOf(whole, size);
    EXPECT_EQ(ReadClientHello(records).kind, HelloKind::kJoin) << size;
    EXPECT_EQ(ReadClientHello(records.substr(0, records.size() - 1)).kind, HelloKind::kIncomplete);
  }
}

TEST(ClientHello, EndsWhatIsTooLong) {
  // A message of 16 MiB, and one of many small records.
  EXPECT_EQ(ReadClientHello(std::string("\x16\x03\x01\x00\x04\x01\xff\xff\xff", 9)).kind,
            HelloKind::kRefused);
  std::string records;
  for (int i = 0; i < 2'000; ++i) records += std::string("\x16\x03\x01\x00\x01\x01", 6);
  EXPECT_EQ(ReadClientHello(records).kind, HelloKind::kRefused);
}

TEST(ClientHello, SurvivesEveryChangedByte) {
  const std::string whole = HelloOf({});
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const int value : {0, 1, 127, 255}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(value);
      const HelloView view = ReadClientHello(changed);
      if (view.kind == HelloKind::kIncomplete) EXPECT_LE(view.wanted, kMaxClientHelloBytes + 5);
    }
  }
}

}  // namespace
}  // namespace slipway
