#include "core/rpc/grpc_call_counts.h"

#include <grpc/grpc.h>
#include <grpc/support/alloc.h>

#include <algorithm>
#include <functional>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace slipway {
namespace {

// gRPC's own words, JSON without blanks whose keys stand in a fixed order.
std::string Take(char* message) {
  std::string text = message == nullptr ? "" : message;
  gpr_free(message);
  return text;
}

// The string that stands under the key, or the empty one.
absl::string_view TextOf(absl::string_view json, absl::string_view key) {
  const std::string begin = absl::StrCat("\"", key, "\":\"");
  const size_t at = json.find(begin);
  if (at == absl::string_view::npos) return "";
  json.remove_prefix(at + begin.size());
  return json.substr(0, json.find('"'));
}

// Every number of that key, in the order in which they stand.
std::vector<int64_t> NumbersOf(absl::string_view json, absl::string_view key) {
  std::vector<int64_t> numbers;
  const std::string begin = absl::StrCat("\"", key, "\":\"");
  for (size_t at = json.find(begin); at != absl::string_view::npos; at = json.find(begin, at + 1)) {
    int64_t number = 0;
    const absl::string_view rest = json.substr(at + begin.size());
    if (absl::SimpleAtoi(rest.substr(0, rest.find('"')), &number)) numbers.push_back(number);
  }
  return numbers;
}

// All numbers of that key in a list that comes page by page; `page` asks for those from a number on.
std::vector<int64_t> AllOf(absl::string_view key,
                           const std::function<std::string(int64_t from)>& page) {
  std::vector<int64_t> all;
  for (;;) {
    const std::string text = page(all.empty() ? 0 : all.back() + 1);
    const std::vector<int64_t> more = NumbersOf(text, key);
    all.insert(all.end(), more.begin(), more.end());
    if (more.empty() || absl::StrContains(text, "\"end\":true")) return all;
  }
}

}  // namespace

std::vector<int64_t> CountedServers() {
  return AllOf("serverId", [](int64_t from) { return Take(grpc_channelz_get_servers(from)); });
}

int64_t ChannelzNumber(absl::string_view json, absl::string_view key) {
  int64_t number = 0;
  return absl::SimpleAtoi(TextOf(json, key), &number) ? number : 0;
}

SocketCalls ReadSocketMessage(absl::string_view json) {
  SocketCalls calls;
  // "chttp2 ipv4:127.0.0.1:1234"
  const absl::string_view name = TextOf(json, "name");
  calls.address = std::string(name.substr(name.find(' ') + 1));
  absl::Base64Unescape(TextOf(json, "remote_certificate"), &calls.certificate);
  calls.broken_off = ChannelzNumber(json, "streamsFailed");
  calls.open = ChannelzNumber(json, "streamsStarted") - ChannelzNumber(json, "streamsSucceeded") -
               calls.broken_off;
  return calls;
}

int64_t CallsInVain(absl::Span<const int64_t> servers) {
  int64_t calls = 0;
  for (const int64_t server : servers) {
    const std::string text = Take(grpc_channelz_get_server(server));
    calls += ChannelzNumber(text, "callsStarted") - ChannelzNumber(text, "callsSucceeded");
  }
  return calls;
}

std::vector<SocketCalls> ReadSocketCalls() {
  std::vector<SocketCalls> all;
  for (const int64_t server : CountedServers()) {
    const std::vector<int64_t> sockets = AllOf("socketId", [server](int64_t from) {
      return Take(grpc_channelz_get_server_sockets(server, from, 0));
    });
    for (const int64_t socket : sockets) {
      // One that has gone meanwhile has nothing to say.
      const std::string text = Take(grpc_channelz_get_socket(socket));
      if (!text.empty()) all.push_back(ReadSocketMessage(text));
    }
  }
  return all;
}

}  // namespace slipway
