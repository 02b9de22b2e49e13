#include "core/rpc/tls_settings.h"

#include <openssl/ssl.h>

#include <memory>

#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

TEST(TlsSettings, HoldForWhateverIsSetUpAfterwards) {
  ASSERT_OK(ApplyTlsSettings());
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_server_method()),
                                                                  &SSL_CTX_free);
  ASSERT_NE(context, nullptr);
  EXPECT_EQ(SSL_CTX_get_min_proto_version(context.get()), TLS1_3_VERSION);
  EXPECT_EQ(SSL_CTX_get_num_tickets(context.get()), 0u);
  EXPECT_EQ(SSL_CTX_get_security_level(context.get()), 2);
}

}  // namespace
}  // namespace slipway
