#include "core/rpc/grpc_renewal.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include "absl/time/clock.h"
#include "core/base/log.h"
#include "core/base/status_macros.h"
#include "core/identity/certificate.h"
#include "core/identity/identity_file.h"
#include "core/rpc/renewal.h"
#include "proto/slipway/v1/identity.grpc.pb.h"

namespace slipway {
namespace {

// The machine may have slept, and its clock been set, so the time is looked at as often.
constexpr absl::Duration kLookEvery = absl::Hours(1);

class RenewalThread final : public Renewal {
 public:
  RenewalThread(std::string server, CallerProof proof)
      : server_(std::move(server)),
        proof_(std::move(proof)),
        thread_([this](std::stop_token stop) { Run(std::move(stop)); }) {}

 private:
  void Run(std::stop_token stop) const {
    std::mutex mutex;
    std::condition_variable_any stopped;
    while (!stop.stop_requested()) {
      const absl::Status status = RenewIfDue(stop);
      if (!status.ok() && !stop.stop_requested()) {
        Log(LogLevel::kWarning, "the identity is not renewed",
            {{"file", proof_.identity_file}, {"why", status.message()}});
      }
      std::unique_lock lock(mutex);
      stopped.wait_for(lock, stop, absl::ToChronoMilliseconds(kLookEvery), [] { return false; });
    }
  }

  absl::Status RenewIfDue(const std::stop_token& stop) const {
    SLIPWAY_ASSIGN_OR_RETURN(const absl::Time due, RenewalTime(proof_.identity_file));
    if (absl::Now() < due || stop.stop_requested()) return absl::OkStatus();
    Calls calls(server_, proof_);
    SLIPWAY_RETURN_IF_ERROR(Renew(calls, proof_.identity_file));
    Log(LogLevel::kInfo, "the identity is renewed", {{"file", proof_.identity_file}});
    return absl::OkStatus();
  }

  const std::string server_;
  const CallerProof proof_;
  std::jthread thread_;
};

}  // namespace

absl::StatusOr<absl::Time> RenewalTime(const std::string& identity_file) {
  SLIPWAY_ASSIGN_OR_RETURN(const Identity identity, ReadIdentity(identity_file));
  SLIPWAY_ASSIGN_OR_RETURN(const CertificateFacts facts, ReadCertificate(identity.certificate));
  return facts.not_after - (facts.not_after - facts.not_before) / 3;
}

absl::Status Renew(Calls& calls, const std::string& identity_file) {
  SLIPWAY_ASSIGN_OR_RETURN(const Identity old, ReadIdentity(identity_file));
  SLIPWAY_ASSIGN_OR_RETURN(CertificateRequest request, NewCertificateRequest());
  v1::RenewRequest asked;
  asked.set_request(request.request);
  v1::RenewResponse answer;
  const auto stub = v1::IdentityService::NewStub(calls.channel());
  SLIPWAY_RETURN_IF_ERROR(calls.Once(kCallDeadline, {}, [&](grpc::ClientContext& context) {
    return stub->Renew(&context, asked, &answer);
  }));
  SLIPWAY_RETURN_IF_ERROR(CheckKeyFits(request.key, answer.certificate()));
  return WriteIdentity(identity_file, {.key = std::move(request.key),
                                       .certificate = answer.certificate(),
                                       .authority = old.authority});
}

std::unique_ptr<Renewal> Renewal::Start(const std::string& server, const CallerProof& proof) {
  // What somebody else has given, he renews.
  if (proof.identity_file.empty() || !proof.authority_file.empty()) return nullptr;
  return std::make_unique<RenewalThread>(server, proof);
}

}  // namespace slipway
