// Company: an authority that is not Slipway's, and certificates and keys as it would make them.
#ifndef SLIPWAY_TESTS_COMMON_COMPANY_H_
#define SLIPWAY_TESTS_COMMON_COMPANY_H_

#include <memory>
#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace slipway::testing {

// Dies where OpenSSL cannot do something.
class Company {
 public:
  Company();
  ~Company();

  // PEM.
  const std::string& authority() const { return authority_; }

  // Key and certificate in PEM, valid from `begin` on for an hour. `names` is its alternative names in the notation of
  // x509v3_config(5): "DNS:localhost,IP:127.0.0.1", "URI:urn:slipway:user:ada". For servers and clients alike.
  std::string Certificate(const std::string& names, absl::Time begin = absl::Now()) const;

 private:
  struct Parts;
  const std::unique_ptr<Parts> parts_;
  std::string authority_;
};

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_COMMON_COMPANY_H_
