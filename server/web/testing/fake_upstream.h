// FakePageServer: a server behind the page that says what a test wants.
#ifndef SLIPWAY_SERVER_WEB_TESTING_FAKE_UPSTREAM_H_
#define SLIPWAY_SERVER_WEB_TESTING_FAKE_UPSTREAM_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "core/base/blob.h"
#include "core/base/digest.h"
#include "proto/slipway/v1/agent.pb.h"
#include "proto/slipway/v1/server.pb.h"
#include "server/web/upstream.h"

namespace slipway::web {

// Thread-safe. Calls that nobody answers get an empty answer.
class FakePageServer {
 public:
  using Answer = std::function<absl::Status(const google::protobuf::Message& request,
                                            google::protobuf::Message& response)>;
  // What it knows; tokens of others are UNAUTHENTICATED.
  static constexpr char kUser[] = "user-token";
  static constexpr char kAdministrator[] = "admin-token";

  // Answers a method of that name, "slipway.v1.JobService.GetJob". `Request` and `Response` are its messages.
  template <typename Request, typename Response>
  void On(const std::string& method,
          std::function<absl::Status(const Request&, Response&)> answer) {
    absl::MutexLock lock(&mutex_);
    answers_[method] = [answer](const google::protobuf::Message& request,
                                google::protobuf::Message& response) {
      return answer(dynamic_cast<const Request&>(request), dynamic_cast<Response&>(response));
    };
  }
  // What each call fails with from now on; OK: with nothing.
  void SetStatus(absl::Status status) {
    absl::MutexLock lock(&mutex_);
    status_ = std::move(status);
  }
  Digest AddBlob(std::string bytes) {
    absl::MutexLock lock(&mutex_);
    const Digest digest = Digest::Of(bytes);
    blobs_[digest.ToString()] = Blob::Own(std::move(bytes));
    return digest;
  }
  bool HasBlob(const Digest& digest) const {
    absl::MutexLock lock(&mutex_);
    return blobs_.count(digest.ToString()) > 0;
  }
  std::vector<std::string> calls() const {
    absl::MutexLock lock(&mutex_);
    return calls_;
  }

  ConnectUpstream Connector() {
    return [this](const std::string& token) -> absl::StatusOr<std::shared_ptr<Upstream>> {
      if (token != kUser && token != kAdministrator) return absl::UnauthenticatedError("unknown");
      return std::make_shared<Connection>(this, token);
    };
  }

 private:
  class NoCall final : public RunningCall {
    void Stop() override {}
  };

  class Connection final : public Upstream {
   public:
    Connection(FakePageServer* server, std::string token)
        : server_(*server), token_(std::move(token)) {}

    absl::Status Call(absl::string_view method, const google::protobuf::Message& request,
                      google::protobuf::Message& response) override {
      Answer answer;
      {
        absl::MutexLock lock(&server_.mutex_);
        if (!server_.status_.ok()) return server_.status_;
        server_.calls_.push_back(absl::StrCat(token_, " ", method));
        const auto found = server_.answers_.find(std::string(method));
        if (found != server_.answers_.end()) answer = found->second;
      }
      if (absl::StrContains(method, "IdentityService") && token_ != kAdministrator) {
        return absl::PermissionDeniedError("for administrators");
      }
      if (answer == nullptr && absl::EndsWith(method, ".GetServerInfo")) {
        slipway::v1::ServerCaller& caller =
            *dynamic_cast<slipway::v1::ServerInfo&>(response).mutable_caller();
        caller.set_owner(token_ == kAdministrator ? "ada" : "bob");
        caller.add_roles(slipway::v1::ROLE_USER);
        if (token_ == kAdministrator) caller.add_roles(slipway::v1::ROLE_ADMIN);
      }
      return answer == nullptr ? absl::OkStatus() : answer(request, response);
    }

    absl::StatusOr<Blob> ReadBlob(const Digest& digest, int64_t) override {
      absl::MutexLock lock(&server_.mutex_);
      const auto found = server_.blobs_.find(digest.ToString());
      if (found == server_.blobs_.end()) return absl::NotFoundError("no such blob");
      return found->second;
    }

    absl::Status SendBlob(const Digest&, const Blob& blob) override {
      server_.AddBlob(std::string(blob.bytes()));
      return absl::OkStatus();
    }

    std::shared_ptr<RunningCall> WatchJob(const std::string& id, int64_t after_revision,
                                          std::function<void(const slipway::v1::Job&)> changed,
                                          std::function<void(const absl::Status&)> ended) override {
      slipway::v1::Job job;
      job.set_id(id);
      job.set_revision(after_revision + 1);
      changed(job);
      ended(absl::OkStatus());
      return std::make_shared<NoCall>();
    }

    std::shared_ptr<RunningCall> BeginSync(
        slipway::v1::AgentState state, absl::Duration,
        std::function<void(absl::StatusOr<slipway::v1::DesiredAgentState>)> ended) override {
      slipway::v1::DesiredAgentState wanted;
      const absl::Status status = Call("slipway.v1.AgentService.Sync", state, wanted);
      if (status.ok()) {
        ended(std::move(wanted));
      } else {
        ended(status);
      }
      return std::make_shared<NoCall>();
    }

   private:
    FakePageServer& server_;
    const std::string token_;
  };

  mutable absl::Mutex mutex_;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, Answer> answers_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, Blob> blobs_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> calls_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace slipway::web

#endif  // SLIPWAY_SERVER_WEB_TESTING_FAKE_UPSTREAM_H_
