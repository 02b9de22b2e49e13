#include "core/rpc/tls_settings.h"

#include <openssl/bio.h>
#include <openssl/conf.h>
#include <openssl/ssl.h>

#include <memory>

namespace slipway {
namespace {

// The form of openssl.cnf: config(5), SSL_CONF_cmd(3).
constexpr char kSettings[] = R"(
openssl_conf = process
[process]
ssl_conf = ssl
[ssl]
system_default = every_connection
[every_connection]
MinProtocol = TLSv1.3
CipherString = DEFAULT:@SECLEVEL=2
NumTickets = 0
)";

}  // namespace

absl::Status ApplyTlsSettings() {
  // Its own file first, so that it does not come later and undo this.
  if (OPENSSL_init_ssl(0, nullptr) != 1) return absl::InternalError("OpenSSL does not start");
  const std::unique_ptr<BIO, decltype(&BIO_free_all)> text(BIO_new_mem_buf(kSettings, -1),
                                                           &BIO_free_all);
  const std::unique_ptr<CONF, decltype(&NCONF_free)> settings(NCONF_new(nullptr), &NCONF_free);
  if (text == nullptr || settings == nullptr ||
      NCONF_load_bio(settings.get(), text.get(), nullptr) <= 0 ||
      CONF_modules_load(settings.get(), nullptr, 0) <= 0) {
    return absl::InternalError("OpenSSL does not take the settings of this process");
  }
  return absl::OkStatus();
}

}  // namespace slipway
