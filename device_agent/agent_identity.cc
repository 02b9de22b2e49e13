#include "device_agent/agent_identity.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/random/random.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/artifact/versions.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/base/version.h"
#include "core/wire/benchmark_spec.h"

namespace slipway {
namespace {

constexpr size_t kMaxIdBytes = 64;
// Of session.proto.
constexpr int kSessionVersion = 1;
constexpr size_t kMaxNameBytes = 48;
constexpr int64_t kMaxTextBytes = 1 << 20;

bool IsIdStart(char c) { return absl::ascii_islower(c) || absl::ascii_isdigit(c); }
bool IsIdPart(char c) { return IsIdStart(c) || c == '.' || c == '_' || c == '-'; }

}  // namespace

absl::Status CheckAgentId(absl::string_view id) {
  bool is_good = !id.empty() && id.size() <= kMaxIdBytes && IsIdStart(id[0]);
  for (const char c : id) is_good = is_good && IsIdPart(c);
  if (is_good) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("\"", absl::Utf8SafeCEscape(id), "\" is no agent id: 1 to ", kMaxIdBytes,
                   " of a-z, 0-9, \".\", \"_\" and \"-\", beginning with a letter or digit"));
}

std::string IdFromHostName(absl::string_view host_name) {
  std::string id;
  for (const char c : absl::AsciiStrToLower(host_name)) {
    if (id.empty() ? IsIdStart(c) : IsIdPart(c)) id.push_back(c);
  }
  id.resize(std::min(id.size(), kMaxNameBytes));
  return id.empty() ? "device" : id;
}

absl::StatusOr<std::string> KeepAgentId(const std::string& state_folder,
                                        const std::string& wanted) {
  const std::string path = JoinPath(state_folder, "agent_id");
  const absl::StatusOr<std::string> kept = ReadFile(path, kMaxTextBytes);
  if (!kept.ok() && !absl::IsNotFound(kept.status())) return kept.status();
  std::string id = wanted;
  if (id.empty() && kept.ok()) id = std::string(absl::StripAsciiWhitespace(*kept));
  if (id.empty()) {
    utsname system;
    uname(&system);
    absl::BitGen random;
    id = absl::StrCat(IdFromHostName(system.nodename), "-",
                      absl::Hex(absl::Uniform<uint16_t>(random), absl::kZeroPad4));
  }
  SLIPWAY_RETURN_IF_ERROR(CheckAgentId(id));
  if (!kept.ok() || absl::StripAsciiWhitespace(*kept) != id) {
    SLIPWAY_RETURN_IF_ERROR(WriteFileAtomically(path, id + "\n", /*durable=*/true));
  }
  return id;
}

v1::AgentState MakeIdentity(const std::string& agent_id, v1::DeviceDescription device) {
  v1::AgentState state;
  state.set_agent_id(agent_id);
  absl::BitGen random;
  state.set_instance_id(absl::StrCat(absl::Hex(absl::Uniform<uint64_t>(random), absl::kZeroPad16)));
  state.set_version(kVersion);
  state.set_min_protocol(kMinProtocol);
  state.set_max_protocol(kMaxProtocol);
  state.set_min_abi(static_cast<int32_t>(kSpokenAbis.lowest));
  state.set_max_abi(static_cast<int32_t>(kSpokenAbis.highest));
  state.set_min_format(static_cast<int32_t>(kReadFormats.lowest));
  state.set_max_format(static_cast<int32_t>(kReadFormats.highest));
  state.set_max_session(kSessionVersion);
  state.set_max_benchmark(kBenchmarkVersion);
  device.set_id(agent_id);
  *state.add_devices() = std::move(device);
  return state;
}

}  // namespace slipway
