// slipway jobs: what the server was asked to do.
#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/cli/arguments.h"
#include "client/cli/connection.h"
#include "client/cli/exit_code.h"
#include "client/cli/follow.h"
#include "client/cli/lists/job_news.h"
#include "client/cli/render.h"
#include "client/cli/tag_flags.h"
#include "client/cli/verbs.h"
#include "client/cli/watch.h"
#include "core/base/status_macros.h"

namespace slipway::cli {
namespace {

// The values that `texts` name; a wrong call, with those that there are, for another.
template <typename Value>
absl::StatusOr<std::vector<Value>> ValuesOf(const char* flag, const std::vector<std::string>& texts,
                                            std::initializer_list<Value> all) {
  std::vector<Value> values;
  for (const std::string& text : texts) {
    const auto value =
        std::find_if(all.begin(), all.end(), [&](Value known) { return Name(known) == text; });
    if (value == all.end()) {
      std::string known;
      for (const Value one : all) absl::StrAppend(&known, known.empty() ? "" : ", ", Name(one));
      return WrongCall(absl::StrCat("flag \"--", flag, "\" takes ", known, ", not \"", text, "\""));
    }
    values.push_back(*value);
  }
  return values;
}

// Prints what is new until it is interrupted.
absl::Status Watch(Environment& environment, Client& client, JobListOptions options,
                   bool with_owners) {
  JobNews news;
  const absl::Time since = options.since;
  return WatchUntilInterrupted(environment, client, [&]() -> absl::Status {
    options.since = std::max(since, news.since());
    SLIPWAY_ASSIGN_OR_RETURN(std::vector<Job> jobs, client.ListJobs(options));
    for (const Job& job : news.Take(std::move(jobs))) {
      environment.out << RenderJobLine(job, with_owners);
    }
    // From now on whatever comes.
    options.limit = std::numeric_limits<int>::max();
    return absl::OkStatus();
  });
}

}  // namespace

absl::Status Jobs(Environment& environment, Arguments arguments) {
  ConnectionFlags connection_flags;
  JobListOptions options;
  int64_t limit = 20;
  std::vector<std::string> states, kinds, tags;
  absl::Duration since;
  bool json = false;
  bool watch = false;
  FlagSet flags("slipway jobs [flags]", "Lists jobs, newest first: all that pass every filter.");
  flags.Add("limit", &limit, 1, 1'000'000, "N", "Most jobs listed.");
  flags.Add(
      "state", &states, "STATE",
      "In this state: queued, assigned, running, succeeded, failed or cancelled. Repeatable.");
  flags.Add("kind", &kinds, "KIND",
            "Of this kind: compilation, run, benchmark or session. Repeatable.");
  flags.Add("device", &options.device, "ID", "On this device or worker, or waiting for it.");
  flags.Add("tag", &tags, "KEY=VALUE", "With this tag. Repeatable: with all of them.");
  flags.Add("subject", &options.subject, "TEXT",
            "About this: TEXT is in the name of the model or in the purpose of the session.");
  flags.Add("since", &since, "TIME", "Accepted no longer ago, such as 24h.");
  flags.Add("owner", &options.owner, "NAME", "Of this owner; others' are for administrators.");
  flags.Add("all", &options.of_everybody, "List the jobs of everybody; for administrators.");
  flags.Add(
      "watch", &watch,
      "Go on with a line for each change, until interrupted; also while the server restarts.");
  flags.Add("json", &json, "Print JSON.");
  connection_flags.AddTo(flags, /*can_be_local=*/false);
  SLIPWAY_ASSIGN_OR_RETURN(const auto names, ParseArguments(environment, flags, arguments, {}));
  if (!names.has_value()) return absl::OkStatus();
  if (watch && json) return WrongCall("\"--watch\" prints lines, and no \"--json\"");
  options.limit = static_cast<int>(limit);
  SLIPWAY_ASSIGN_OR_RETURN(
      options.states, ValuesOf("state", states,
                               {JobState::kQueued, JobState::kAssigned, JobState::kRunning,
                                JobState::kSucceeded, JobState::kFailed, JobState::kCancelled}));
  SLIPWAY_ASSIGN_OR_RETURN(options.kinds, ValuesOf("kind", kinds,
                                                   {JobKind::kCompilation, JobKind::kRun,
                                                    JobKind::kBenchmark, JobKind::kSession}));
  SLIPWAY_ASSIGN_OR_RETURN(options.tags, TagsOf(tags));
  if (since > absl::ZeroDuration()) options.since = absl::Now() - since;
  const bool with_owners = options.of_everybody || !options.owner.empty();

  SLIPWAY_ASSIGN_OR_RETURN(const auto connection, Connection::Open(environment, connection_flags));
  if (watch) return Watch(environment, connection->client(), options, with_owners);
  const absl::StatusOr<std::vector<Job>> jobs = connection->client().ListJobs(options);
  SLIPWAY_RETURN_IF_ERROR(RefusedRequest(jobs.status()));
  environment.out << (json ? RenderJobsJson(*jobs) : RenderJobs(*jobs, with_owners));
  return absl::OkStatus();
}

}  // namespace slipway::cli
