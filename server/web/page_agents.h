// PageAgents: agents that are pages. This process speaks to the server for each, by the calls and with the token that any agent has.
//
// A page's report goes to the server as it is but for what this process answers for: versions, and the order of reports. What the server wants is
// kept here for the page, which is told by its stream of events that there is something. The stream is the page: when it ends, however that comes
// about, the server is told that the agent leaves.
#ifndef SLIPWAY_SERVER_WEB_PAGE_AGENTS_H_
#define SLIPWAY_SERVER_WEB_PAGE_AGENTS_H_

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "core/http/http_message.h"
#include "proto/slipway/v1/agent.pb.h"
#include "server/web/sessions.h"

namespace slipway::web {

// Thread-safe.
class PageAgents {
 public:
  struct Limits {
    size_t most = 256;
    size_t most_of_one = 32;  // Of one token.
  };
  // `forget` is called for who the server does not know any more; it must outlive this.
  PageAgents(const Limits& limits, std::function<void(const SignedIn&)> forget);
  // Waits a moment for those that leave. No stream is added any more.
  ~PageAgents();

  // OK if `state` names an instance that is not there yet and there is room for it. INVALID_ARGUMENT, ALREADY_EXISTS, RESOURCE_EXHAUSTED.
  absl::Status CheckPlace(const SignedIn& signed_in, const slipway::v1::AgentState& state);
  // Reports for the first time. Events: "wanted", when what is wanted may have changed; "problem", a Problem, when the server refused the
  // last report or is away. Each follows a report, the last one first.
  void Add(std::shared_ptr<const SignedIn> signed_in, slipway::v1::AgentState state,
           std::shared_ptr<HttpStream> stream);

  // NOT_FOUND where that instance has no stream of this token's.
  absl::Status Report(const SignedIn& signed_in, slipway::v1::AgentState state);
  // Ends its stream, for who leaves before his connection does. NOT_FOUND.
  absl::Status End(const SignedIn& signed_in, const std::string& instance_id);
  // What the server answered last: without manifests and statements, which are for those who read and know them.
  absl::StatusOr<slipway::v1::DesiredAgentState> Wanted(const SignedIn& signed_in,
                                                        const std::string& instance_id);

 private:
  class Agent;
  // How many are telling the server that they leave; may outlive this.
  struct Leaving {
    absl::Mutex mutex;
    int agents ABSL_GUARDED_BY(mutex) = 0;
  };
  using Key = std::pair<std::string, std::string>;  // Token, instance.
  absl::StatusOr<std::shared_ptr<Agent>> Find(const SignedIn& signed_in,
                                              const std::string& instance_id);
  void Gone(const Key& key);

  const Limits limits_;
  const std::function<void(const SignedIn&)> forget_;
  absl::Mutex mutex_;
  std::map<Key, std::shared_ptr<Agent>> agents_ ABSL_GUARDED_BY(mutex_);
  const std::shared_ptr<Leaving> leaving_ = std::make_shared<Leaving>();
};

}  // namespace slipway::web

#endif  // SLIPWAY_SERVER_WEB_PAGE_AGENTS_H_
