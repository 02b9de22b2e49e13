// What strangers cost a server over TLS, and those whom it serves: for each kind of them (tests/security/strangers.h), who come
// as fast as they can for as long as is measured, to a server of its own,
//   - how many came a second, how many were there at a time and for how long: each that is shown out is followed by another;
//   - the server's memory before they came and at most (goal: 300 MB), its files and its processor time;
//   - how long an honest client waits for the server's answer over its connection, for a new connection, and for an answer of
//     the join door (goal: p99 1 s), and whether it is served at all.
// Strangers, server and honest client share the processors of one machine: so much harm is done by strangers that are as near
// as can be, and all of it counts.
//
//   bazel run //tests/bench:strangers_bench [-- --json --seconds 10 --kinds idle --kinds hello]
#include <dirent.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/client.h"
#include "core/base/clock.h"
#include "core/base/descriptor_limit.h"
#include "core/base/flags.h"
#include "core/base/json_writer.h"
#include "core/base/status_macros.h"
#include "core/base/subprocess.h"
#include "core/identity/certificate.h"
#include "core/identity/identity_file.h"
#include "core/identity/join_code.h"
#include "core/identity/role.h"
#include "core/rpc/knock.h"
#include "tests/common/cluster.h"
#include "tests/common/process_list.h"
#include "tests/security/strangers.h"

namespace slipway::bench {
namespace {

using testing::Cluster;
using testing::StrangerCounts;
using testing::StrangerKind;
using testing::Strangers;

constexpr char kNobody[] = "none";
// Wanted of those that cost a stranger nothing but a descriptor, and of the others. A server holds fewer.
constexpr int kMany = 19'800;
constexpr int kSome = 2'000;
constexpr int kFew = 256;
// What a process of strangers needs besides connections.
constexpr int kOtherFiles = 100;

// Between an honest client's calls, and between its connections and knocks.
constexpr absl::Duration kCallPause = absl::Milliseconds(5);
constexpr absl::Duration kConnectPause = absl::Milliseconds(50);
// It waits no longer.
constexpr absl::Duration kPatience = absl::Seconds(10);
// Until a server that has begun has done what it does first.
constexpr absl::Duration kSettle = absl::Seconds(1);
constexpr absl::Duration kLookEvery = absl::Milliseconds(250);

constexpr int64_t kGoalBytes = 300'000'000;
constexpr absl::Duration kGoalWait = absl::Seconds(1);

struct Flags {
  int64_t seconds = 10;
  std::vector<std::string> kinds;
  int64_t at_a_time = 0;
  int64_t server_files = 0;
  bool json = false;
  // What a process that this one starts does.
  std::string come;
  std::string address;
  std::string identity_file;
};

int WantedAtATime(StrangerKind kind) {
  switch (kind) {
    case StrangerKind::kIdle:
    case StrangerKind::kHello:
    case StrangerKind::kHalfHello:
      return kMany;
    case StrangerKind::kSilentJoin:
    case StrangerKind::kOtherAuthority:
      return kSome;
    case StrangerKind::kRapidReset:
    case StrangerKind::kWrongCode:
    case StrangerKind::kJoinedReset:
      return kFew;
  }
  return 0;
}

// Times of an honest client.
struct Waits {
  std::vector<absl::Duration> served;
  int64_t failed = 0;
  std::string failure;  // The last one.

  absl::Duration Percentile(int percent) const {
    if (served.empty()) return absl::InfiniteDuration();
    std::vector<absl::Duration> sorted = served;
    std::sort(sorted.begin(), sorted.end());
    return sorted[(sorted.size() - 1) * static_cast<size_t>(percent) / 100];
  }
};

struct Result {
  std::string kind;
  int at_a_time = 0;
  StrangerCounts strangers;
  absl::Duration took;
  int64_t bytes_before = 0;
  int64_t bytes_at_most = 0;
  int64_t files_at_most = 0;
  absl::Duration processor_time;
  Waits calls;
  Waits connections;
  Waits knocks;
  // When the strangers had gone.
  bool is_served_after = false;
  absl::Status end;
};

// Does the same again and again until `end`.
template <typename Step>
Waits Repeat(const absl::Notification& end, absl::Duration pause, const Step& step) {
  const SystemClock clock;
  Waits waits;
  do {
    const absl::Duration begin = clock.Monotonic();
    const absl::Status status = step();
    if (status.ok()) {
      waits.served.push_back(clock.Monotonic() - begin);
    } else {
      ++waits.failed;
      // The cause is in front of what may be done about it.
      waits.failure = std::string(status.message().substr(0, status.message().find(';')));
    }
  } while (!end.WaitForNotificationWithTimeout(pause));
  return waits;
}

int64_t OpenFiles(pid_t pid) {
  DIR* const folder = opendir(absl::StrCat("/proc/", pid, "/fd").c_str());
  if (folder == nullptr) return 0;
  int64_t count = 0;
  while (const dirent* const entry = readdir(folder)) count += entry->d_name[0] != '.';
  closedir(folder);
  return count;
}

absl::StatusOr<std::unique_ptr<Client>> Connect(const Cluster& cluster) {
  return Client::Connect(
      {.server = cluster.address(), .connect_timeout = kPatience, .retry_for = kPatience});
}

// The text by which the cluster's authority is known to who knocks at its door (core/identity/join_code.h).
absl::StatusOr<std::string> AuthorityOf(const Cluster& cluster) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::string path, IdentityPath(cluster.address(), Role::kUser));
  SLIPWAY_ASSIGN_OR_RETURN(const Identity identity, ReadIdentity(path));
  SLIPWAY_ASSIGN_OR_RETURN(const Digest fingerprint, FingerprintOf(identity.authority));
  return AuthorityText(fingerprint);
}

// How a process of strangers tells its counts.
std::string Told(const StrangerCounts& counts) {
  return absl::StrJoin(
      {counts.made, counts.failed, counts.most_open, counts.acted, counts.shown_out, counts.refused,
       counts.let_in, counts.sent_bytes, absl::ToInt64Microseconds(counts.lives),
       absl::ToInt64Microseconds(counts.longest_life)},
      " ");
}

absl::StatusOr<StrangerCounts> ParseTold(absl::string_view text) {
  std::vector<int64_t> numbers;
  for (const absl::string_view word :
       absl::StrSplit(text, absl::ByAnyChar(" \n"), absl::SkipEmpty())) {
    int64_t number = 0;
    if (absl::SimpleAtoi(word, &number)) numbers.push_back(number);
  }
  if (numbers.size() != 10) {
    return absl::InternalError(absl::StrCat("a process of strangers says: ", text));
  }
  return StrangerCounts{.made = numbers[0],
                        .failed = numbers[1],
                        .most_open = numbers[2],
                        .acted = numbers[3],
                        .shown_out = numbers[4],
                        .refused = numbers[5],
                        .let_in = numbers[6],
                        .sent_bytes = numbers[7],
                        .lives = absl::Microseconds(numbers[8]),
                        .longest_life = absl::Microseconds(numbers[9])};
}

absl::Status ComeFor(const Flags& flags) {
  RaiseDescriptorLimit();
  const std::optional<StrangerKind> kind = testing::StrangerNamed(flags.come);
  if (!kind.has_value()) return absl::InvalidArgumentError(flags.come);
  SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<Strangers> strangers,
                           Strangers::Come({.address = flags.address,
                                            .kind = *kind,
                                            .at_a_time = static_cast<int>(flags.at_a_time),
                                            .identity_file = flags.identity_file}));
  absl::SleepFor(absl::Seconds(flags.seconds));
  std::printf("%s\n", Told(strangers->Counts()).c_str());
  std::fflush(stdout);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Subprocess>> Send(const Flags& flags, const Result& result,
                                                 const std::string& address) {
  // Another one than the honest client's.
  SLIPWAY_ASSIGN_OR_RETURN(const std::string identity, IdentityPath(address, Role::kAgent));
  SubprocessOptions process;
  process.argv = {kOwnExecutable,
                  "--come",
                  result.kind,
                  "--address",
                  address,
                  "--identity-file",
                  identity,
                  "--at-a-time",
                  absl::StrCat(result.at_a_time),
                  "--seconds",
                  absl::StrCat(flags.seconds)};
  process.stdout_stream = ChildStream::Tail();
  return Subprocess::Start(process);
}

absl::StatusOr<Result> Measure(const Flags& flags, const std::string& kind) {
  const SystemClock clock;
  Result result{.kind = kind};
  SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<Cluster> cluster,
                           Cluster::Start({.agents = 0, .tcp = true}));
  if (flags.server_files > 0) {
    // Its port is known when it has been started once.
    cluster->server().Kill();
    cluster->server().options().limits.open_files = flags.server_files;
    SLIPWAY_RETURN_IF_ERROR(cluster->server().Start());
  }
  SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<Client> client, Connect(*cluster));
  SLIPWAY_ASSIGN_OR_RETURN(const std::string authority, AuthorityOf(*cluster));
  absl::SleepFor(kSettle);
  const pid_t pid = cluster->server().pid();
  testing::ForgetPeak(pid);
  result.bytes_before = testing::ResidentBytes(pid);
  const absl::Duration processor_before = testing::ProcessorTime(pid);

  std::unique_ptr<Subprocess> strangers;
  if (const std::optional<StrangerKind> stranger = testing::StrangerNamed(kind)) {
    const int wanted =
        flags.at_a_time > 0 ? static_cast<int>(flags.at_a_time) : WantedAtATime(*stranger);
    result.at_a_time = std::min(wanted, RaiseDescriptorLimit() - kOtherFiles);
    SLIPWAY_ASSIGN_OR_RETURN(strangers, Send(flags, result, cluster->address()));
  }
  const absl::Duration begin = clock.Monotonic();
  absl::Notification end;
  std::thread calls(
      [&] { result.calls = Repeat(end, kCallPause, [&] { return client->Info().status(); }); });
  std::thread connections([&] {
    result.connections = Repeat(end, kConnectPause, [&] { return Connect(*cluster).status(); });
  });
  std::thread knocks([&] {
    result.knocks = Repeat(end, kConnectPause, [&] {
      return KnockAtJoinDoor(cluster->address(), authority, "", absl::Now() + kPatience).status();
    });
  });
  while (clock.Monotonic() - begin < absl::Seconds(flags.seconds)) {
    absl::SleepFor(kLookEvery);
    result.files_at_most = std::max(result.files_at_most, OpenFiles(pid));
  }
  result.took = clock.Monotonic() - begin;
  result.processor_time = testing::ProcessorTime(pid) - processor_before;
  result.bytes_at_most = testing::PeakResidentBytes(pid);
  end.Notify();
  absl::Status sent;
  if (strangers != nullptr) {
    sent = strangers->Wait(kPatience).status();
    const absl::StatusOr<StrangerCounts> told = ParseTold(strangers->OutputTail());
    sent.Update(told.status());
    if (told.ok()) result.strangers = *told;
  }
  calls.join();
  connections.join();
  knocks.join();
  SLIPWAY_RETURN_IF_ERROR(sent);
  result.is_served_after = Connect(*cluster).ok();
  result.end = cluster->StopAll();
  return result;
}

double Megabytes(int64_t bytes) { return static_cast<double>(bytes) / 1e6; }

// What is worse than it should be; empty: nothing.
std::string Complaints(const Result& result) {
  std::vector<std::string> complaints;
  if (result.bytes_at_most > kGoalBytes) {
    complaints.push_back(absl::StrCat("the server took more than ", kGoalBytes / 1'000'000, " MB"));
  }
  const auto judge = [&complaints](const char* what, const Waits& waits) {
    if (waits.failed > 0) {
      complaints.push_back(
          absl::StrCat(waits.failed, " of ", what, " failed, the last one: ", waits.failure));
    }
    if (waits.Percentile(99) > kGoalWait) {
      complaints.push_back(
          absl::StrCat("the p99 of ", what, " is more than ", absl::FormatDuration(kGoalWait)));
    }
  };
  judge("calls", result.calls);
  judge("connections", result.connections);
  judge("knocks at the join door", result.knocks);
  const bool may_enter = result.kind == StrangerName(StrangerKind::kJoinedReset);
  if (result.strangers.let_in > 0 && !may_enter) {
    complaints.push_back(absl::StrCat(result.strangers.let_in, " strangers were let in"));
  }
  if (!result.is_served_after) complaints.push_back("nobody is served when they have gone");
  if (!result.end.ok()) complaints.push_back(std::string(result.end.message()));
  return absl::StrJoin(complaints, "; ");
}

// Lines of the same columns: who came, what the server took, what others waited (milliseconds).
void PrintHead() {
  const auto waits = [](const char* what) {
    return absl::StrFormat("%9s %7s %7s %7s", what, "p50", "p99", "max");
  };
  absl::PrintF("%-15s %7s %7s %6s %7s %7s %6s %6s %6s %5s %s %s %s\n", "", "WANTED", "MADE/S",
               "OPEN", "LIFE ms", "LONGEST", "MB", "PEAK", "FILES", "CPU", waits("CALLS"),
               waits("CONNECT"), waits("KNOCK"));
}

std::string WaitColumns(const Waits& waits) {
  const auto millis = [&waits](int percent) {
    const absl::Duration wait = waits.Percentile(percent);
    return wait == absl::InfiniteDuration()
               ? std::string("never")
               : absl::StrFormat("%.1f", absl::ToDoubleMilliseconds(wait));
  };
  const auto served = static_cast<int64_t>(waits.served.size());
  return absl::StrFormat("%9s %7s %7s %7s", absl::StrCat(served, "/", served + waits.failed),
                         millis(50), millis(99), millis(100));
}

void PrintRow(const Result& result) {
  const StrangerCounts& strangers = result.strangers;
  const absl::Duration life =
      strangers.lives / std::max(strangers.shown_out, static_cast<int64_t>(1));
  absl::PrintF(
      "%-15s %7d %7.0f %6d %7.0f %7.0f %6.1f %6.1f %6d %4.0f%% %s %s %s\n", result.kind,
      result.at_a_time, static_cast<double>(strangers.made) / absl::ToDoubleSeconds(result.took),
      strangers.most_open, absl::ToDoubleMilliseconds(life),
      absl::ToDoubleMilliseconds(strangers.longest_life), Megabytes(result.bytes_before),
      Megabytes(result.bytes_at_most), result.files_at_most,
      100 * absl::FDivDuration(result.processor_time, result.took), WaitColumns(result.calls),
      WaitColumns(result.connections), WaitColumns(result.knocks));
  if (const std::string complaints = Complaints(result); !complaints.empty()) {
    absl::PrintF("  %s\n", complaints);
  }
  std::fflush(stdout);
}

void WriteWaits(JsonWriter& json, const char* name, const Waits& waits) {
  json.BeginObject(name);
  json.Integer("served", static_cast<int64_t>(waits.served.size()));
  json.Integer("failed", waits.failed);
  json.Real("p50_ms", absl::ToDoubleMilliseconds(waits.Percentile(50)));
  json.Real("p99_ms", absl::ToDoubleMilliseconds(waits.Percentile(99)));
  json.Real("max_ms", absl::ToDoubleMilliseconds(waits.Percentile(100)));
  json.EndObject();
}

void PrintJson(const std::vector<Result>& results) {
  JsonWriter json;
  json.BeginObject();
  json.Integer("schema_version", 1);
  json.BeginArray("kinds");
  for (const Result& result : results) {
    const StrangerCounts& strangers = result.strangers;
    const double seconds = absl::ToDoubleSeconds(result.took);
    json.BeginObject();
    json.Text("kind", result.kind);
    json.Integer("wanted_at_a_time", result.at_a_time);
    json.Integer("open_at_most", strangers.most_open);
    json.Real("made_per_s", static_cast<double>(strangers.made) / seconds);
    json.Integer("failed", strangers.failed);
    json.Integer("acted", strangers.acted);
    json.Integer("shown_out", strangers.shown_out);
    json.Integer("refused", strangers.refused);
    json.Integer("let_in", strangers.let_in);
    json.Integer("sent_bytes", strangers.sent_bytes);
    json.Real("longest_life_ms", absl::ToDoubleMilliseconds(strangers.longest_life));
    json.Integer("server_rss_before_bytes", result.bytes_before);
    json.Integer("server_rss_peak_bytes", result.bytes_at_most);
    json.Integer("server_files_peak", result.files_at_most);
    json.Real("server_processors", absl::FDivDuration(result.processor_time, result.took));
    WriteWaits(json, "calls", result.calls);
    WriteWaits(json, "connections", result.connections);
    WriteWaits(json, "knocks", result.knocks);
    json.Bool("is_served_after", result.is_served_after);
    json.Text("complaints", Complaints(result));
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  std::printf("%s", json.Take().c_str());
}

absl::Status MeasureAll(const Flags& flags) {
  std::vector<std::string> kinds = flags.kinds;
  if (kinds.empty()) {
    kinds.push_back(kNobody);
    for (const StrangerKind kind : testing::kStrangerKinds) {
      kinds.emplace_back(testing::StrangerName(kind));
    }
    kinds.emplace_back(testing::StrangerName(StrangerKind::kJoinedReset));
  }
  if (!flags.json) {
    std::printf("%d files may be open in a process\n", RaiseDescriptorLimit());
    PrintHead();
  }
  std::vector<Result> results;
  for (const std::string& kind : kinds) {
    if (kind != kNobody && !testing::StrangerNamed(kind).has_value()) {
      return absl::InvalidArgumentError(absl::StrCat("there are no strangers \"", kind, "\""));
    }
    SLIPWAY_ASSIGN_OR_RETURN(Result result, Measure(flags, kind));
    if (!flags.json) PrintRow(result);
    results.push_back(std::move(result));
  }
  if (flags.json) PrintJson(results);
  return absl::OkStatus();
}

absl::Status Main(int argc, char** argv) {
  Flags flags;
  FlagSet set("strangers_bench [flags]", "Measures what strangers cost a server.");
  set.Add("seconds", &flags.seconds, 1, 3'600, "COUNT", "How long each kind is measured.");
  set.Add("kinds", &flags.kinds, "KIND",
          "Only these; \"none\" is nobody at all. May be given several times.");
  set.Add("at-a-time", &flags.at_a_time, 0, 1'000'000, "COUNT",
          "Strangers at a time; 0: as each kind has it.");
  set.Add("server-files", &flags.server_files, 0, 1'000'000, "COUNT",
          "How many files the server may have open; 0: as many as this process.");
  set.Add("json", &flags.json, "Print JSON.");
  set.Add("come", &flags.come, "KIND", "Be strangers; for processes that this one starts.");
  set.Add("address", &flags.address, "ADDRESS", "Where to.");
  set.Add("identity-file", &flags.identity_file, "FILE", "Who those are that have joined.");
  SLIPWAY_RETURN_IF_ERROR(set.Parse(argc, argv).status());
  if (const std::string text = set.TextAskedFor(); !text.empty()) {
    std::fputs(text.c_str(), stdout);
    return absl::OkStatus();
  }
  return flags.come.empty() ? MeasureAll(flags) : ComeFor(flags);
}

}  // namespace
}  // namespace slipway::bench

int main(int argc, char** argv) {
  const absl::Status status = slipway::bench::Main(argc, argv);
  if (status.ok()) return 0;
  std::fprintf(stderr, "strangers_bench: %s\n", status.ToString().c_str());
  return 1;
}
