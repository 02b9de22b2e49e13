#include "device_agent/agent_identity.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "absl/random/random.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/artifact/versions.h"
#include "core/base/files.h"
#include "core/base/machine_memory.h"
#include "core/base/status_macros.h"
#include "core/base/usable_processors.h"
#include "core/base/version.h"
#include "core/target/target.h"
#include "core/wire/benchmark_spec.h"
#include "core/wire/device_attributes_proto.h"
#include "device_agent/inventory.h"

namespace slipway {
namespace {

constexpr size_t kMaxIdBytes = 64;
// Of session.proto.
constexpr int kSessionVersion = 1;
constexpr size_t kMaxNameBytes = 48;
constexpr int64_t kMaxTextBytes = 1 << 20;

bool IsIdStart(char c) { return absl::ascii_islower(c) || absl::ascii_isdigit(c); }
bool IsIdPart(char c) { return IsIdStart(c) || c == '.' || c == '_' || c == '-'; }

// The value of the first line `key` SEPARATOR value of a file; empty when there is none.
std::string FindValue(const std::string& path, absl::string_view key, char separator) {
  const absl::StatusOr<std::string> text = ReadFile(path, kMaxTextBytes);
  if (!text.ok()) return "";
  for (const absl::string_view line : absl::StrSplit(*text, '\n')) {
    const std::vector<absl::string_view> parts =
        absl::StrSplit(line, absl::MaxSplits(separator, 1));
    if (parts.size() == 2 && absl::StripAsciiWhitespace(parts[0]) == key) {
      absl::string_view value = absl::StripAsciiWhitespace(parts[1]);
      absl::ConsumePrefix(&value, "\"");
      absl::ConsumeSuffix(&value, "\"");
      return absl::Utf8SafeCEscape(value);
    }
  }
  return "";
}

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

v1::DeviceDescription DescribeDevice(const std::string& id, const Labels& labels) {
  v1::DeviceDescription device;
  device.set_id(id);
  device.set_target(HostTarget().ToString());
  device.set_model(FindValue("/proc/cpuinfo", "model name", ':'));
  device.set_cores(static_cast<int>(UsableProcessors().size()));
  device.set_memory_bytes(MachineMemoryBytes());
  utsname system;
  uname(&system);
  device.set_os(absl::StrCat(FindValue("/etc/os-release", "PRETTY_NAME", '='), ", ", system.sysname,
                             " ", system.release));
  ToProto(labels, device.mutable_labels());
  return device;
}

v1::DeviceInventory TakeInventory(const std::string& cache_folder) {
  v1::DeviceInventory inventory = ReadInventory(/*root=*/"", UsableProcessors());
  AddStorage(cache_folder, inventory);
  return inventory;
}

v1::AgentState MakeIdentity(const std::string& agent_id, const Labels& labels) {
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
  *state.add_devices() = DescribeDevice(agent_id, labels);
  return state;
}

}  // namespace slipway
