#include "server/names.h"

#include <sys/random.h>

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "server/limits.h"

namespace slipway::server {
namespace {

constexpr char kCrockford[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
constexpr int kIdCharacters = 26;
constexpr absl::string_view kLocalWorkerPrefix = "local-";
constexpr absl::string_view kJobPrefix = "job/";
constexpr absl::string_view kAgentPrefix = "agent/";
constexpr absl::string_view kWorkerPrefix = "worker/";

std::string Encode(uint64_t millis, uint64_t high, uint64_t low) {
  // 130 bits in 26 characters of 5; the two highest are 0.
  unsigned __int128 upper = (static_cast<unsigned __int128>(millis) << 16) | high;  // 64 bits.
  std::string text(kIdCharacters, '0');
  unsigned __int128 value = (upper << 64) | low;
  for (int i = kIdCharacters - 1; i >= 0; --i) {
    text[i] = kCrockford[static_cast<int>(value & 31)];
    value >>= 5;
  }
  return text;
}

// What a message shows of a name that a peer made up.
std::string Shown(absl::string_view name) {
  constexpr size_t kMost = 80;
  return absl::StrCat("'", absl::CHexEscape(name.substr(0, kMost)),
                      name.size() > kMost ? "...'" : "'");
}

}  // namespace

IdGenerator::IdGenerator(std::function<uint64_t()> random) : random_(std::move(random)) {}

std::string IdGenerator::Next(absl::Time now) {
  absl::MutexLock lock(&mu_);
  const uint64_t millis = static_cast<uint64_t>(absl::ToUnixMillis(now)) & 0xffffffffffff;
  if (millis > last_millis_) {
    last_millis_ = millis;
    last_high_ = random_() & 0xffff;
    last_low_ = random_();
  } else if (++last_low_ == 0 && (last_high_ = (last_high_ + 1) & 0xffff) == 0) {
    ++last_millis_;
  }
  return Encode(last_millis_, last_high_, last_low_);
}

std::string FirstIdAt(absl::Time now) {
  constexpr int64_t kLastMillis = 0xffffffffffff;
  const int64_t millis = absl::ToUnixMillis(now);
  return Encode(static_cast<uint64_t>(std::min(std::max<int64_t>(millis, 0), kLastMillis)), 0, 0);
}

uint64_t SystemRandom() {
  // Not std::random_device, which asks the processor what it is each time: some 100 us on a virtual machine.
  uint64_t random = 0;
  // So few bytes come at once.
  while (getrandom(&random, sizeof(random), 0) != sizeof(random)) {
  }
  return random;
}

absl::Status CheckJobId(absl::string_view id) {
  bool valid = id.size() == kIdCharacters && id[0] <= '7';
  for (char c : id)
    valid = valid && absl::string_view(kCrockford).find(c) != absl::string_view::npos;
  if (valid) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "job id ", Shown(id), " is malformed: 26 characters of Crockford's base 32 wanted"));
}

absl::Status CheckRequestId(absl::string_view id) {
  if (id.empty()) {
    return absl::InvalidArgumentError("request_id is missing: choose a new one for every new work");
  }
  bool printable = true;
  for (char c : id) printable = printable && absl::ascii_isprint(c);
  if (printable && id.size() <= kMaxRequestIdBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("request_id ", Shown(id), " is not 1 to ",
                                                 kMaxRequestIdBytes,
                                                 " printable ASCII characters"));
}

absl::Status CheckPeerId(absl::string_view what, absl::string_view id) {
  bool valid = !id.empty() && id.size() <= kMaxPeerIdBytes;
  for (size_t i = 0; valid && i < id.size(); ++i) {
    const char c = id[i];
    const bool letter = absl::ascii_islower(c) || absl::ascii_isdigit(c);
    valid = letter || (i > 0 && (c == '.' || c == '_' || c == '-'));
  }
  if (valid) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(what, " ", Shown(id),
                                                 " is malformed: [a-z0-9][a-z0-9._-]* of at most ",
                                                 kMaxPeerIdBytes, " bytes wanted"));
}

std::string LocalWorkerId(int index) { return absl::StrCat(kLocalWorkerPrefix, index); }

std::string JobKey(absl::string_view job_id) { return absl::StrCat(kJobPrefix, job_id); }
std::string AgentKey(absl::string_view agent_id) { return absl::StrCat(kAgentPrefix, agent_id); }
std::string WorkerKey(absl::string_view worker_id) {
  return absl::StrCat(kWorkerPrefix, worker_id);
}

absl::string_view KindOfKey(absl::string_view key) { return key.substr(0, key.find('/')); }

absl::string_view IdOfKey(absl::string_view key) { return key.substr(key.find('/') + 1); }

std::string PeerName(absl::string_view key) {
  return absl::StrCat(KindOfKey(key), " '", IdOfKey(key), "'");
}

bool IsLocalWorker(absl::string_view key) {
  return absl::ConsumePrefix(&key, kWorkerPrefix) && absl::StartsWith(key, kLocalWorkerPrefix);
}

}  // namespace slipway::server
