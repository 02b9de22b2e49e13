#include "core/rpc/client_hello.h"

#include <cstdint>
#include <optional>
#include <string>

namespace slipway {
namespace {

constexpr uint8_t kHandshakeRecord = 22;
constexpr uint8_t kClientHelloMessage = 1;
constexpr uint16_t kTls13 = 0x0304;
constexpr uint16_t kServerNameExtension = 0;
constexpr uint16_t kAlpnExtension = 16;
constexpr uint16_t kSupportedVersionsExtension = 43;
constexpr size_t kRecordHeaderBytes = 5;
constexpr size_t kMaxRecordBytes = 1 << 14;
constexpr size_t kMessageHeaderBytes = 4;

// Reads numbers and vectors one after the other; what is not there is nullopt.
class Reader {
 public:
  explicit Reader(absl::string_view bytes) : bytes_(bytes) {}

  std::optional<size_t> Number(size_t size) {
    const std::optional<absl::string_view> bytes = Bytes(size);
    if (!bytes.has_value()) return std::nullopt;
    size_t number = 0;
    for (const char byte : *bytes) number = number << 8 | static_cast<uint8_t>(byte);
    return number;
  }
  std::optional<absl::string_view> Bytes(size_t size) {
    if (size > bytes_.size()) return std::nullopt;
    const absl::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }
  // What follows a length of `size` bytes.
  std::optional<absl::string_view> Vector(size_t size) {
    const std::optional<size_t> length = Number(size);
    return length.has_value() ? Bytes(*length) : std::nullopt;
  }
  bool empty() const { return bytes_.empty(); }

 private:
  absl::string_view bytes_;
};

bool OffersTls13(absl::string_view extension) {
  Reader versions(Reader(extension).Vector(1).value_or(""));
  while (const std::optional<size_t> version = versions.Number(2)) {
    if (*version == kTls13) return true;
  }
  return false;
}

// The protocol that is offered alone, or first: nobody who calls offers others.
absl::string_view FirstProtocol(absl::string_view extension) {
  Reader protocols(Reader(extension).Vector(2).value_or(""));
  return protocols.Vector(1).value_or("");
}

// The name of a host that is asked for first; there is one at most.
absl::string_view ServerName(absl::string_view extension) {
  constexpr size_t kHostName = 0;
  Reader names(Reader(extension).Vector(2).value_or(""));
  return names.Number(1) == kHostName ? names.Vector(2).value_or("") : absl::string_view();
}

HelloView ViewOf(absl::string_view message) {
  Reader hello(message);
  const bool has_head = hello.Bytes(2).has_value() &&
                        hello.Bytes(32).has_value() &&  // Version, random.
                        hello.Vector(1).has_value() &&  // Session id.
                        hello.Vector(2).has_value() &&  // Cipher suites.
                        hello.Vector(1).has_value();    // Compression.
  if (!has_head) return {};
  const std::optional<absl::string_view> all = hello.Vector(2);
  if (!all.has_value() || !hello.empty()) return {};
  Reader extensions(*all);
  bool has_version = false;
  absl::string_view protocol;
  absl::string_view server_name;
  while (!extensions.empty()) {
    const std::optional<size_t> type = extensions.Number(2);
    const std::optional<absl::string_view> extension = extensions.Vector(2);
    if (!type.has_value() || !extension.has_value()) return {};
    if (*type == kSupportedVersionsExtension) has_version = OffersTls13(*extension);
    if (*type == kAlpnExtension) protocol = FirstProtocol(*extension);
    if (*type == kServerNameExtension) server_name = ServerName(*extension);
  }
  if (!has_version) return {};
  if (protocol == kJoinProtocol) return {.kind = HelloKind::kJoin};
  // gRPC of some years ago offers "grpc-exp" before "h2".
  if (protocol != kHttp2Protocol && protocol != "grpc-exp") return {};
  return {.kind = HelloKind::kCall, .server_name = std::string(server_name)};
}

}  // namespace

HelloView ReadClientHello(absl::string_view bytes) {
  // A message may be cut into records: what is in them is joined.
  std::string message;
  size_t wanted_message = kMessageHeaderBytes;
  size_t read = 0;
  for (;;) {
    if (message.size() >= kMessageHeaderBytes) {
      Reader header(message);
      if (header.Number(1) != kClientHelloMessage) return {};
      wanted_message = kMessageHeaderBytes + *header.Number(3);
      if (wanted_message > kMaxClientHelloBytes) return {};
      if (message.size() >= wanted_message) {
        return ViewOf(absl::string_view(message).substr(kMessageHeaderBytes,
                                                        wanted_message - kMessageHeaderBytes));
      }
    }
    const absl::string_view rest = bytes.substr(read);
    if (!rest.empty() && static_cast<uint8_t>(rest[0]) != kHandshakeRecord) return {};
    if (rest.size() < kRecordHeaderBytes) {
      return {.kind = HelloKind::kIncomplete, .wanted = read + kRecordHeaderBytes};
    }
    Reader record(rest);
    record.Bytes(1);
    if (*record.Number(1) != 3) return {};
    record.Bytes(1);
    const size_t length = *record.Number(2);
    if (length == 0 || length > kMaxRecordBytes) return {};
    if (read + kRecordHeaderBytes + length > kMaxClientHelloBytes) return {};
    const std::optional<absl::string_view> fragment = record.Bytes(length);
    read += kRecordHeaderBytes + length;
    if (!fragment.has_value()) return {.kind = HelloKind::kIncomplete, .wanted = read};
    message.append(fragment->data(), fragment->size());
  }
}

}  // namespace slipway
