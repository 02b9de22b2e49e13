#include "core/runtime/drivers/attached/bare_stream.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

ssize_t SendSome(int stream, absl::string_view bytes) {
  const ssize_t sent = send(stream, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  return sent < 0 && errno == ENOTSOCK ? write(stream, bytes.data(), bytes.size()) : sent;
}

}  // namespace

absl::StatusOr<slipway_bare_hello> ParseBareHello(absl::string_view bytes) {
  uint32_t protocol = 0;
  if (bytes.size() < sizeof(protocol)) return absl::InvalidArgumentError("a hello is cut off");
  std::memcpy(&protocol, bytes.data(), sizeof(protocol));
  if (protocol != SLIPWAY_BARE_PROTOCOL) {
    return absl::FailedPreconditionError(absl::StrCat("the bare runner speaks protocol ", protocol,
                                                      ", this agent ", SLIPWAY_BARE_PROTOCOL,
                                                      ": take both of one version"));
  }
  slipway_bare_hello hello;
  if (bytes.size() != sizeof(hello)) return absl::InvalidArgumentError("a hello is cut off");
  std::memcpy(&hello, bytes.data(), sizeof(hello));
  hello.model[sizeof(hello.model) - 1] = 0;
  hello.system[sizeof(hello.system) - 1] = 0;
  return hello;
}

absl::Status BareStream::Tell(uint32_t kind, std::vector<absl::string_view> parts) {
  std::lock_guard<std::mutex> lock(mutex_);
  return Send(kind, std::move(parts));
}

absl::StatusOr<BareStream::Reply> BareStream::Ask(uint32_t kind,
                                                  std::vector<absl::string_view> parts,
                                                  const std::function<void(const BareEnd&)>& died) {
  std::lock_guard<std::mutex> lock(mutex_);
  died_ = &died;
  const absl::Status sent = Send(kind, std::move(parts));
  absl::StatusOr<Reply> reply = sent.ok() ? Receive(kind) : sent;
  died_ = nullptr;
  return reply;
}

void BareStream::TakeEnd() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (end_.ok()) Receive(SLIPWAY_BARE_END).IgnoreError();
}

absl::Status BareStream::Send(uint32_t kind, std::vector<absl::string_view> parts) {
  SLIPWAY_RETURN_IF_ERROR(end_);
  slipway_bare_header header = {kind, 0};
  for (const absl::string_view part : parts) header.bytes += static_cast<uint32_t>(part.size());
  parts.insert(parts.begin(), BytesOf(header));
  for (absl::string_view part : parts) {
    while (!part.empty()) {
      const ssize_t sent = SendSome(stream_.get(), part);
      if (sent > 0) {
        part.remove_prefix(static_cast<size_t>(sent));
      } else if (errno != EINTR) {
        // Why it has ended may still be there to be read.
        return Receive(SLIPWAY_BARE_END).status();
      }
    }
  }
  return absl::OkStatus();
}

absl::Status BareStream::ReceiveAll(void* to, size_t bytes) {
  auto* at = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t got = read(stream_.get(), at, bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return End({});
    at += got;
    bytes -= static_cast<size_t>(got);
  }
  return absl::OkStatus();
}

absl::StatusOr<BareStream::Reply> BareStream::Receive(uint32_t kind) {
  slipway_bare_header header;
  SLIPWAY_RETURN_IF_ERROR(ReceiveAll(&header, sizeof(header)));
  if ((header.kind != kind && header.kind != SLIPWAY_BARE_END) ||
      header.bytes < sizeof(slipway_bare_reply) || header.bytes > SLIPWAY_BARE_MAX_BODY) {
    return End({.text = "it answers what was not asked"});
  }
  Reply reply;
  SLIPWAY_RETURN_IF_ERROR(ReceiveAll(&reply.head, sizeof(reply.head)));
  reply.data.resize(header.bytes - sizeof(reply.head));
  SLIPWAY_RETURN_IF_ERROR(ReceiveAll(reply.data.data(), reply.data.size()));
  if (header.kind != SLIPWAY_BARE_END) return reply;
  return End({.is_told = true,
              .exit_code = reply.head.result,
              .signal = static_cast<int>(reply.head.flags),
              .command = reply.head.command,
              .text = absl::Utf8SafeCEscape(reply.data)});
}

absl::Status BareStream::End(const BareEnd& end) {
  if (died_ != nullptr && *died_) (*died_)(end);
  if (ended_) ended_(end);
  if (!end.is_told) {
    end_ = absl::UnavailableError(
        absl::StrCat("the attached device is lost", end.text.empty() ? "" : ": ", end.text));
  } else {
    end_ = absl::AbortedError(absl::StrCat(
        "the bare runner ended: ", end.signal != 0 ? absl::StrCat("killed by signal ", end.signal)
                                   : !end.text.empty()
                                       ? absl::StrCat("this host breaks the protocol: ", end.text)
                                       : absl::StrCat("exit code ", end.exit_code)));
  }
  return end_;
}

absl::StatusOr<slipway_bare_state> ReadBareState(BareStream& stream) {
  SLIPWAY_ASSIGN_OR_RETURN(const BareStream::Reply reply, stream.Ask(SLIPWAY_BARE_STATE, {}));
  slipway_bare_state state;
  if (reply.data.size() != sizeof(state)) {
    return absl::InternalError("the attached device tells its state in another number of bytes");
  }
  std::memcpy(&state, reply.data.data(), sizeof(state));
  state.governor[sizeof(state.governor) - 1] = 0;
  return state;
}

}  // namespace slipway
