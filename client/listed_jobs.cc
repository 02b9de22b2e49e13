#include "client/listed_jobs.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace slipway {
namespace {

template <typename Value>
bool IsAmong(const std::vector<Value>& values, const Value& value) {
  return values.empty() || std::find(values.begin(), values.end(), value) != values.end();
}

}  // namespace

absl::Status CheckPasses(const JobListOptions& options, const Job& job) {
  const bool has_tags = std::all_of(options.tags.begin(), options.tags.end(), [&](const Tag& tag) {
    return std::find(job.tags.begin(), job.tags.end(), tag) != job.tags.end();
  });
  const bool is_there = options.device.empty() || job.assignee == options.device ||
                        (job.assignee.empty() && job.device == options.device);
  if (has_tags && is_there && IsAmong(options.kinds, job.kind) &&
      (options.owner.empty() || job.owner == options.owner) && job.create_time >= options.since &&
      absl::StrContains(absl::AsciiStrToLower(job.subject),
                        absl::AsciiStrToLower(options.subject))) {
    return absl::OkStatus();
  }
  return absl::UnimplementedError(
      "the server is from before it could filter jobs, and lists all: update it, or ask for all");
}

}  // namespace slipway
