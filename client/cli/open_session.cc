#include "client/cli/open_session.h"

#include <algorithm>
#include <memory>
#include <stop_token>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "client/cli/exit_code.h"
#include "client/cli/model_flags.h"
#include "client/cli/progress.h"
#include "client/cli/tag_flags.h"
#include "core/base/status_macros.h"
#include "core/base/text_table.h"

namespace slipway::cli {
namespace {

// Who must act when a session cannot be opened: as for jobs, a device that does not come counts as unreachable.
absl::Status WithCode(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kPermissionDenied:
      return WithExitCode(status, ExitCode::kWrongCall);
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kDeadlineExceeded:
      return WithExitCode(status, ExitCode::kUnreachable);
    default:
      return status;
  }
}

ProgressText WaitingText(int64_t ahead, const std::string& holder) {
  ProgressText text;
  text.stage =
      absl::StrCat("waiting for the device: ", ahead == 0 ? "next" : absl::StrCat(ahead, " ahead"),
                   holder.empty() ? "" : absl::StrCat(", held by ", Printable(holder)));
  return text;
}

}  // namespace

void SessionFlags::AddTo(FlagSet& flags) {
  flags.Add(
      "device", &device, "ID|SELECTOR",
      "The device, or any that matches, such as \"arch=arm-64 memory>=4GiB label:lab=berlin\"; "
      "else any.");
  flags.Add("target", &target, "TARGET", "What the device must run programs of; else anything.");
  flags.Add("purpose", &purpose, "TEXT", "What it is for; others who wait for the device see it.");
  flags.Add("tag", &tags, "KEY=VALUE", kTagHelp);
  flags.Add("wait", &wait, "TIME", "Longest time to wait while others hold the device; 0s: none.");
  flags.Add("idle", &idle, "TIME",
            "The device is free again when nothing was heard of this command for so long.");
  flags.Add("longest", &longest, "TIME",
            "The device is free again after this time in any case, at most 24h; a device that is "
            "reserved for others soon wants less.");
  flags.Add("priority", &priority, -1000, 1000, "N",
            "Of jobs that wait for the same device, higher ones go first.");
}

absl::StatusOr<LeaseName> ParseLease(const std::string& text) {
  const size_t colon = text.find(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == text.size()) {
    return WrongCall(
        "flag \"--lease\" takes SESSION:TICKET, as \"slipway lease take\" prints them");
  }
  return LeaseName{.session = text.substr(0, colon), .ticket = text.substr(colon + 1)};
}

absl::StatusOr<ResumedSession> OpenSession(Environment& environment, const ServerPlace& place,
                                           const SessionFlags& flags, const std::string& lease,
                                           std::function<void(const std::string&)> on_log) {
  LeaseName name;
  if (!lease.empty()) {
    SLIPWAY_ASSIGN_OR_RETURN(name, ParseLease(lease));
  }
  SessionOptions options;
  options.address = place.address;
  options.proof = place.proof;
  options.device = flags.device;
  if (!flags.target.empty()) {
    SLIPWAY_ASSIGN_OR_RETURN(options.target, CanonicalTarget(flags.target));
  }
  options.purpose = flags.purpose;
  SLIPWAY_ASSIGN_OR_RETURN(options.tags, TagsOf(flags.tags));
  options.wait = flags.wait;
  options.idle = flags.idle;
  options.longest = flags.longest;
  options.priority = static_cast<int>(flags.priority);
  options.patience = std::min(options.patience, options.idle);
  options.on_log = std::move(on_log);
  std::stop_source stop;
  options.stop = stop.get_token();
  Progress progress(environment);
  // A last word may come when nobody waits any more; what it refers to is then held by the session alone.
  struct Waiting {
    absl::Mutex mutex;
    Progress* progress;
  };
  const auto waiting = std::make_shared<Waiting>();
  waiting->progress = &progress;
  options.on_waiting = [waiting](int64_t ahead, const std::string& holder) {
    absl::MutexLock lock(&waiting->mutex);
    if (waiting->progress != nullptr) waiting->progress->Show(WaitingText(ahead, holder));
  };
  if (environment.interrupts != nullptr) {
    environment.interrupts->SetHandler([&stop] { stop.request_stop(); });
  }
  absl::StatusOr<ResumedSession> opened;
  if (lease.empty()) {
    absl::StatusOr<Session> session = Session::Open(options);
    if (session.ok()) {
      opened = ResumedSession{.session = *std::move(session), .programs = {}, .tensors = {}};
    } else {
      opened = session.status();
    }
  } else {
    opened = Session::Resume(options, name.session, name.ticket);
  }
  if (environment.interrupts != nullptr) environment.interrupts->SetHandler(nullptr);
  absl::MutexLock lock(&waiting->mutex);
  waiting->progress = nullptr;
  if (!opened.ok()) return WithCode(opened.status());
  return opened;
}

absl::StatusOr<Session> OpenDevice(Environment& environment, Connection& connection,
                                   const SessionFlags& flags) {
  SLIPWAY_RETURN_IF_ERROR(connection.EnsureDevice(flags.target));
  absl::StatusOr<ResumedSession> opened =
      OpenSession(environment, connection.place(), flags, /*lease=*/"", nullptr);
  // While it was opened they were another's; what comes next is the client's again.
  if (environment.interrupts != nullptr) {
    environment.interrupts->SetHandler([client = &connection.client()] { client->Interrupt(); });
  }
  SLIPWAY_RETURN_IF_ERROR(opened.status());
  return std::move(opened->session);
}

}  // namespace slipway::cli
