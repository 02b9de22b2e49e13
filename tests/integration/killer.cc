#include "tests/integration/killer.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway::testing {
namespace {

constexpr Party kParties[] = {Party::kServer,      Party::kAgent,  Party::kWorker,
                              Party::kCompilation, Party::kRunner, Party::kClient};
constexpr absl::Duration kLongestStop = absl::Seconds(9);
// The first to be continued ends a pause.
constexpr absl::Duration kTick = absl::Milliseconds(20);

}  // namespace

absl::string_view Name(Party party) {
  switch (party) {
    case Party::kServer:
      return "server";
    case Party::kAgent:
      return "agent";
    case Party::kWorker:
      return "worker";
    case Party::kCompilation:
      return "compilation";
    case Party::kRunner:
      return "runner";
    case Party::kClient:
      return "client";
  }
  return "";
}

Killer::Killer(Cluster& cluster, Options options)
    : cluster_(cluster), options_(std::move(options)), random_(options_.seed) {
  thread_ = std::thread([this] { Work(); });
}

void Killer::Stop() {
  if (!thread_.joinable()) return;
  stop_.Notify();
  thread_.join();
}

void Killer::Work() {
  const absl::Time end = absl::Now() + options_.strike_for;
  std::exponential_distribution<double> pause(1 / absl::ToDoubleSeconds(options_.mean_pause));
  absl::Time next = absl::Now();
  while (absl::Now() < end && !stop_.WaitForNotificationWithTimeout(kTick)) {
    const absl::Time now = absl::Now();
    ContinueThose(now);
    if (now < next) continue;
    next = now + absl::Seconds(pause(random_));
    const bool server_is_stopped = std::any_of(stopped_.begin(), stopped_.end(), [this](size_t i) {
      return strikes_[i].party == Party::kServer;
    });
    if (server_is_stopped || !options_.may_strike || options_.may_strike()) StrikeOne();
  }
  ContinueThose(absl::InfiniteFuture());
}

void Killer::StrikeOne() {
  Strike strike;
  strike.party = kParties[random_() % std::size(kParties)];
  strike.is_kill = random_() % 2 == 0;
  const uint64_t which = random_();
  const absl::Duration stop = kLongestStop * std::uniform_real_distribution<>()(random_);
  const std::vector<pid_t> pids = PidsOf(strike.party);
  if (pids.empty()) return;
  const size_t victim = which % pids.size();
  strike.pid = pids[victim];
  if (strike.party == Party::kAgent) strike.device = absl::StrCat("agent", victim);
  // One that is stopped can only be killed.
  const auto before = std::find_if(stopped_.begin(), stopped_.end(),
                                   [&](size_t i) { return strikes_[i].pid == strike.pid; });
  if (before != stopped_.end()) {
    if (!strike.is_kill) return;
    strikes_[*before].until = absl::Now();
    stopped_.erase(before);
  }
  strike.from = strike.until = absl::Now();
  std::cout << absl::FormatTime("%H:%M:%E3S ", strike.from, absl::LocalTimeZone())
            << (strike.is_kill ? "kill " : "stop ") << Name(strike.party) << " " << strike.device
            << " " << strike.pid;
  if (!strike.is_kill) std::cout << " for " << absl::FormatDuration(stop);
  std::cout << std::endl;
  if (!strike.is_kill) {
    strike.until += stop;
    if (kill(strike.pid, SIGSTOP) != 0) return;
    stopped_.push_back(strikes_.size());
  } else if (strike.party == Party::kServer) {
    Restart(strike, cluster_.server());
  } else if (strike.party == Party::kAgent) {
    Restart(strike, cluster_.agent(static_cast<int>(victim)));
  } else if (kill(strike.pid, SIGKILL) != 0) {
    return;
  }
  strikes_.push_back(strike);
}

void Killer::Restart(Strike& strike, ServiceProcess& process) {
  process.Kill();
  // It may take some seconds until the server believes that it is the same agent.
  EXPECT_OK(strike.party == Party::kServer ? process.Start() : process.Launch());
  strike.until = absl::Now();
}

void Killer::Continue(Strike& strike) {
  kill(strike.pid, SIGCONT);
  strike.until = absl::Now();
}

void Killer::ContinueThose(absl::Time until) {
  const auto is_over = [&](size_t i) {
    if (strikes_[i].until > until) return false;
    Continue(strikes_[i]);
    return true;
  };
  stopped_.erase(std::remove_if(stopped_.begin(), stopped_.end(), is_over), stopped_.end());
}

std::vector<pid_t> Killer::PidsOf(Party party) const {
  std::vector<pid_t> pids;
  if (party == Party::kServer) return {cluster_.server().pid()};
  if (party == Party::kAgent) {
    for (int i = 0; i < cluster_.agents(); ++i) pids.push_back(cluster_.agent(i).pid());
    return pids;
  }
  const std::vector<RunningProcess> all = cluster_.Processes();
  const auto parent_of = [&](const RunningProcess& process) -> absl::string_view {
    for (const RunningProcess& other : all) {
      if (other.pid == process.parent) return other.program;
    }
    return "";
  };
  for (const RunningProcess& process : all) {
    const absl::string_view program = process.program;
    const absl::string_view parent = parent_of(process);
    const bool is_one =
        party == Party::kWorker ? program == "slipway-compile-worker" && parent == "slipwayd"
        : party == Party::kCompilation
            ? program == "slipway-compile-worker" && parent == "slipway-compile-worker"
        : party == Party::kRunner
            ? program == "slipway-agent" && parent == "slipway-agent"
            : program == options_.client_program && process.parent == getpid();
    if (is_one) pids.push_back(process.pid);
  }
  return pids;
}

}  // namespace slipway::testing
