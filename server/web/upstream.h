// Upstream: the server behind the page, as one who is signed in sees it. Nothing else of slipway-web speaks to it.
#ifndef SLIPWAY_SERVER_WEB_UPSTREAM_H_
#define SLIPWAY_SERVER_WEB_UPSTREAM_H_

#include <google/protobuf/message.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/base/blob.h"
#include "core/base/digest.h"
#include "proto/slipway/v1/agent.pb.h"
#include "proto/slipway/v1/job.pb.h"

namespace slipway::web {

// A call that goes on until it has ended or its owner stops it.
class RunningCall {
 public:
  virtual ~RunningCall() = default;
  // May be called from any thread, and more than once. Whoever waits for it is told the end soon.
  virtual void Stop() = 0;
};

// Thread-safe. All calls are made with the token of one who is signed in, each with a deadline.
class Upstream {
 public:
  virtual ~Upstream() = default;

  // `method` is "package.Service.Method". UNAVAILABLE when the server is away; otherwise what the server says.
  virtual absl::Status Call(absl::string_view method, const google::protobuf::Message& request,
                            google::protobuf::Message& response) = 0;

  // RESOURCE_EXHAUSTED for one of more than `max_bytes`.
  virtual absl::StatusOr<Blob> ReadBlob(const Digest& digest, int64_t max_bytes) = 0;
  // Sends it unless the server has it.
  virtual absl::Status SendBlob(const Digest& digest, const Blob& blob) = 0;

  // `changed` gets the job after each change, as JobService.WatchJob has it; `ended` is called once, last. Neither may wait.
  virtual std::shared_ptr<RunningCall> WatchJob(
      const std::string& id, int64_t after_revision,
      std::function<void(const slipway::v1::Job&)> changed,
      std::function<void(const absl::Status&)> ended) = 0;

  // AgentService.Sync. `ended` is called once, perhaps before this returns, and may not wait. DEADLINE_EXCEEDED after `deadline`.
  virtual std::shared_ptr<RunningCall> BeginSync(
      slipway::v1::AgentState state, absl::Duration deadline,
      std::function<void(absl::StatusOr<slipway::v1::DesiredAgentState>)> ended) = 0;
};

// For one who shows this token. UNAUTHENTICATED where it is none of the server's; UNAVAILABLE. May wait.
using ConnectUpstream =
    std::function<absl::StatusOr<std::shared_ptr<Upstream>>(const std::string& token)>;

}  // namespace slipway::web

#endif  // SLIPWAY_SERVER_WEB_UPSTREAM_H_
