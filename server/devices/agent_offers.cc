#include "server/devices/agent_offers.h"

#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/wire/digest_proto.h"

namespace slipway::server {
namespace {

constexpr int64_t kMaxFileBytes = 1 << 20;

}  // namespace

absl::StatusOr<std::unique_ptr<AgentOffers>> AgentOffers::Open(std::string path) {
  std::unique_ptr<AgentOffers> offers(new AgentOffers(path));
  const absl::StatusOr<std::string> bytes = ReadFile(path, kMaxFileBytes);
  if (absl::IsNotFound(bytes.status())) return offers;
  if (!bytes.ok()) return bytes.status();
  AgentOfferRecords stored;
  bool is_sound = stored.ParseFromString(*bytes) &&
                  static_cast<size_t>(stored.records_size()) <= kMaxAgentOffers;
  absl::MutexLock lock(&offers->mu_);
  for (const AgentOfferRecord& record : stored.records()) {
    is_sound = is_sound && FromProto(record.offer().binary()).ok();
    offers->records_[record.offer().platform()] = record;
  }
  if (is_sound) return offers;
  return absl::DataLossError(absl::StrCat(
      "'", path, "' does not hold what agents are offered: remove it, and offer that anew"));
}

void AgentOffers::Follow(std::function<void(const std::vector<AgentOfferRecord>&)> take) {
  absl::MutexLock lock(&mu_);
  take_ = std::move(take);
  Tell();
}

void AgentOffers::Tell() {
  if (take_ == nullptr) return;
  std::vector<AgentOfferRecord> all;
  for (const auto& [platform, record] : records_) all.push_back(record);
  take_(all);
}

std::vector<Digest> AgentOffers::Binaries() const {
  absl::MutexLock lock(&mu_);
  std::vector<Digest> binaries;
  for (const auto& [platform, record] : records_) {
    binaries.push_back(*FromProto(record.offer().binary()));
  }
  return binaries;
}

absl::Status AgentOffers::Store(Records records) {
  AgentOfferRecords stored;
  for (const auto& [platform, record] : records) *stored.add_records() = record;
  SLIPWAY_RETURN_IF_ERROR(
      WriteFileAtomically(path_, stored.SerializeAsString(), /*durable=*/true, 0600));
  records_ = std::move(records);
  Tell();
  return absl::OkStatus();
}

absl::Status AgentOffers::Put(const AgentOfferRecord& record) {
  SLIPWAY_RETURN_IF_ERROR(FromProto(record.offer().binary()).status());
  absl::MutexLock lock(&mu_);
  Records records = records_;
  records[record.offer().platform()] = record;
  if (records.size() > kMaxAgentOffers) {
    return absl::ResourceExhaustedError(
        absl::StrCat("agents of ", kMaxAgentOffers,
                     " platforms are offered something, and there may be no more: withdraw one"));
  }
  return Store(std::move(records));
}

absl::StatusOr<AgentOfferRecord> AgentOffers::Remove(const std::string& platform) {
  absl::MutexLock lock(&mu_);
  Records records = records_;
  const auto it = records.find(platform);
  if (it == records.end()) {
    return absl::NotFoundError(absl::StrCat("agents of platform '", platform,
                                            "' are offered nothing; 'slipway offers' lists what "
                                            "there is"));
  }
  const AgentOfferRecord removed = it->second;
  records.erase(it);
  SLIPWAY_RETURN_IF_ERROR(Store(std::move(records)));
  return removed;
}

}  // namespace slipway::server
