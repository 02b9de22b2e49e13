#include "server/web/web_handler.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "client/model_files.h"
#include "core/base/blob.h"
#include "core/base/status_macros.h"
#include "core/wire/digest_proto.h"
#include "proto/slipway/v1/agent.pb.h"
#include "proto/slipway/v1/blob.pb.h"
#include "server/web/changes.h"
#include "server/web/openapi.h"
#include "server/web/own_answers.h"
#include "server/web/page.h"
#include "server/web/problem.h"
#include "server/web/transcode.h"
#include "server/web/web_api.pb.h"

namespace slipway::web {
namespace {

constexpr char kCookie[] = "slipway_session";
// Of who is let in: requests carry inputs of runs and records of schedules, a MiB each.
constexpr int64_t kMaxBodyBytes = 4 << 20;
constexpr int64_t kMaxSignInBytes = 4 << 10;
// Of an agent, whose benchmark has a million samples.
constexpr int64_t kMaxReportBytes = 16 << 20;
constexpr int64_t kMaxBlobBytes = 256 << 20;

bool IsApi(const Url& url) { return !url.path.empty() && url.path.front() == "api"; }

// The token that a program sends; empty where there is none.
std::string BearerOf(const HttpRequest& request) {
  absl::string_view value = request.Header("authorization");
  return absl::ConsumePrefix(&value, "Bearer ") ? std::string(value) : "";
}

absl::Status SignInFirst() {
  return absl::UnauthenticatedError(
      "sign in first: POST /api/v1/session with a token, or send it as \"Authorization: Bearer\"");
}

HttpResponse StreamAnswer(std::function<void(std::shared_ptr<HttpStream>)> begin) {
  return {.status = 200,
          // The last is for nginx, which gathers answers otherwise.
          .headers = {{"Content-Type", "text/event-stream"},
                      {"Cache-Control", "no-store"},
                      {"X-Accel-Buffering", "no"}},
          .body = "",
          .stream = std::move(begin)};
}

}  // namespace

WebHandler::WebHandler(const WebHandlerOptions& options, Sessions* sessions, LiveLists* lists,
                       UploadFolder* uploads)
    : options_(options),
      sessions_(*sessions),
      lists_(*lists),
      uploads_(*uploads),
      exports_({}),
      agents_({}, [this](const SignedIn& who) { sessions_.Forget(who); }) {}

void WebHandler::SetOrigins(PageOrigins origins) {
  absl::MutexLock lock(&mutex_);
  origins_ = std::move(origins);
}

PageOrigins WebHandler::Origins() const {
  absl::MutexLock lock(&mutex_);
  return origins_;
}

std::shared_ptr<const SignedIn> WebHandler::FindKnown(const HttpRequest& request) {
  const std::string token = BearerOf(request);
  return token.empty() ? sessions_.Find(request.Cookie(kCookie)) : sessions_.FindKnownToken(token);
}

HttpAdmission WebHandler::Admit(const HttpRequest& head) {
  HttpAdmission admission;
  const auto refuse = [&admission, this](const absl::Status& status) {
    admission.refusal = AnswerError(status);
    return std::move(admission);
  };
  // What comes with a token of its own, and from no page, no browser was made to send.
  const bool is_program = !BearerOf(head).empty() && head.Header("origin").empty();
  if (const absl::Status status = CheckOrigin(head, Origins()); !is_program && !status.ok()) {
    return refuse(status);
  }
  const absl::StatusOr<Url> url = ParseUrl(head.target);
  if (!url.ok()) return refuse(url.status());
  const bool is_read = head.method == "GET" || head.method == "HEAD";
  if (!IsApi(*url) || is_read) {
    admission.keeps_place = IsApi(*url) && FindKnown(head) != nullptr;
    return admission;
  }
  const absl::StatusOr<RoutedRequest> routed = FindRoute(head.method, *url);
  if (!routed.ok()) return refuse(routed.status());
  if (routed->route->answerer == Answerer::kSignIn) {
    admission.max_body_bytes = kMaxSignInBytes;
    return admission;
  }
  const std::shared_ptr<const SignedIn> signed_in = FindKnown(head);
  const bool is_upload = IsUpload(routed->route->answerer);
  if (signed_in == nullptr) {
    // A program's first request: its token is looked at when it is answered.
    if (is_upload || BearerOf(head).empty()) return refuse(SignInFirst());
    admission.max_body_bytes = kMaxBodyBytes;
    return admission;
  }
  admission.keeps_place = true;
  admission.max_body_bytes =
      routed->route->answerer == Answerer::kAgentState ? kMaxReportBytes : kMaxBodyBytes;
  if (!is_upload) return admission;
  absl::StatusOr<std::unique_ptr<HttpBodySink>> sink = uploads_.Begin();
  if (!sink.ok()) return refuse(sink.status());
  admission.sink = *std::move(sink);
  admission.max_body_bytes = MaxUpload(*signed_in);
  return admission;
}

int64_t WebHandler::MaxUpload(const SignedIn& signed_in) const {
  const int64_t allowed = signed_in.server.limits().max_model_bytes();
  return allowed > 0 ? std::min(options_.max_upload_bytes, allowed) : options_.max_upload_bytes;
}

HttpResponse WebHandler::AnswerError(const absl::Status& status) {
  HttpResponse response = ProblemAnswer(status);
  AddRules(response);
  return response;
}

HttpResponse WebHandler::Answer(const HttpRequest& request, std::unique_ptr<HttpBodySink> sink) {
  const absl::StatusOr<Url> url = ParseUrl(request.target);
  if (!url.ok()) return AnswerError(url.status());
  if (!IsApi(*url)) {
    HttpResponse response = AnswerPage(request, *url);
    AddRules(response);
    return response;
  }
  absl::StatusOr<HttpResponse> answered = AnswerApi(request, *url, sink.get());
  if (!answered.ok()) return AnswerError(answered.status());
  AddRules(*answered);
  return *std::move(answered);
}

absl::StatusOr<HttpResponse> WebHandler::AnswerApi(const HttpRequest& request, const Url& url,
                                                   HttpBodySink* sink) {
  SLIPWAY_ASSIGN_OR_RETURN(const RoutedRequest routed,
                           FindRoute(request.method == "HEAD" ? "GET" : request.method, url));
  const Answerer answerer = routed.route->answerer;
  if (answerer == Answerer::kSignIn) return SignIn(request);
  std::shared_ptr<const SignedIn> signed_in = FindKnown(request);
  if (answerer == Answerer::kSignOut) {
    sessions_.SignOut(request.Cookie(kCookie));
    HttpResponse response = ShowSession(nullptr);
    response.headers.emplace_back("Set-Cookie", CookieText("", absl::ZeroDuration()));
    return response;
  }
  const std::string token = BearerOf(request);
  if (signed_in == nullptr && !token.empty()) {
    SLIPWAY_ASSIGN_OR_RETURN(signed_in, sessions_.FindByToken(token, request.peer));
  }
  // Whether somebody is, is no secret.
  if (answerer == Answerer::kShowSession) return ShowSession(signed_in.get());
  if (answerer == Answerer::kOpenApi) return JsonAnswer(std::string(OpenApiText()));
  if (signed_in == nullptr) return SignInFirst();
  absl::StatusOr<HttpResponse> answered = AnswerSignedIn(request, routed, url, signed_in, sink);
  if (absl::IsUnauthenticated(answered.status())) sessions_.Forget(*signed_in);
  return answered;
}

absl::StatusOr<HttpResponse> WebHandler::AnswerSignedIn(
    const HttpRequest& request, const RoutedRequest& routed, const Url& url,
    const std::shared_ptr<const SignedIn>& signed_in, HttpBodySink* sink) {
  Upstream& upstream = *signed_in->upstream;
  const auto answer = [](absl::StatusOr<std::string> json) -> absl::StatusOr<HttpResponse> {
    if (!json.ok()) return json.status();
    return JsonAnswer(*std::move(json));
  };
  switch (routed.route->answerer) {
    case Answerer::kCall:
      return AnswerCall(request, routed, url, upstream);
    case Answerer::kDevices:
      return answer(AnswerDevices(upstream, url));
    case Answerer::kBenchmark:
      return answer(AnswerBenchmark(upstream, routed.path_fields.at("id")));
    case Answerer::kHistorySeries:
      return answer(AnswerHistorySeries(upstream, url));
    case Answerer::kArtifact:
      return answer(AnswerArtifact(upstream, routed));
    case Answerer::kManifest:
      return answer(AnswerManifest(upstream, routed));
    case Answerer::kModuleFile: {
      SLIPWAY_ASSIGN_OR_RETURN(const Digest manifest, NamedDigest(routed));
      return exports_.Answer(upstream, manifest, routed.path_fields.at("file"),
                             request.Header("if-none-match"));
    }
    case Answerer::kModelGraph:
      return answer(AnswerModelGraph(upstream, routed.path_fields.at("id")));
    case Answerer::kEvents:
      return AnswerEvents(url, signed_in);
    case Answerer::kJobEvents:
      return AnswerJobEvents(request, routed, url, signed_in);
    case Answerer::kReadBlob: {
      SLIPWAY_ASSIGN_OR_RETURN(const Digest digest, NamedDigest(routed));
      SLIPWAY_ASSIGN_OR_RETURN(const Blob blob, upstream.ReadBlob(digest, kMaxBlobBytes));
      return HttpResponse{
          .status = 200,
          .headers = {{"Content-Type", "application/octet-stream"}, {"Cache-Control", "no-store"}},
          .body = std::string(blob.bytes())};
    }
    case Answerer::kSendBlob: {
      if (sink == nullptr) return absl::InvalidArgumentError("there are no bytes");
      SLIPWAY_ASSIGN_OR_RETURN(const Digest digest, SendUpload(*sink, upstream));
      slipway::v1::Digest proto = slipway::ToProto(digest);
      return answer(WriteJson(proto));
    }
    case Answerer::kAgent:
    case Answerer::kAgentState:
      return AnswerAgent(request, routed, url, signed_in);
    case Answerer::kAgentWanted: {
      SLIPWAY_ASSIGN_OR_RETURN(slipway::v1::DesiredAgentState wanted,
                               agents_.Wanted(*signed_in, routed.path_fields.at("instance_id")));
      return answer(WriteJson(wanted));
    }
    case Answerer::kAgentEnd:
      SLIPWAY_RETURN_IF_ERROR(agents_.End(*signed_in, routed.path_fields.at("instance_id")));
      return JsonAnswer("{}");
    case Answerer::kUploadModel: {
      const std::string name = QueryValue(url, "name");
      SLIPWAY_RETURN_IF_ERROR(CheckModelFileName(name));
      if (sink == nullptr) return absl::InvalidArgumentError("the file is empty");
      SLIPWAY_ASSIGN_OR_RETURN(const Digest digest, SendUpload(*sink, upstream));
      v1::UploadedModel uploaded;
      uploaded.set_name(name);
      *uploaded.mutable_digest() = slipway::ToProto(digest);
      return answer(WriteJson(uploaded));
    }
    default:
      return absl::InternalError("nobody answers this address");
  }
}

absl::StatusOr<HttpResponse> WebHandler::AnswerCall(const HttpRequest& request,
                                                    const RoutedRequest& routed, const Url& url,
                                                    Upstream& upstream) {
  SLIPWAY_ASSIGN_OR_RETURN(const auto message, ReadRequest(routed, url, request.body));
  const std::unique_ptr<google::protobuf::Message> response(routed.route->response->New());
  SLIPWAY_RETURN_IF_ERROR(upstream.Call(routed.route->method, *message, *response));
  if (auto* job = google::protobuf::DynamicCastToGenerated<slipway::v1::Job>(response.get())) {
    *job = LightJob(std::move(*job));
  }
  SLIPWAY_ASSIGN_OR_RETURN(std::string json,
                           WriteJson(*response, QueryValue(url, kFieldsParameter)));
  return JsonAnswer(std::move(json));
}

absl::StatusOr<HttpResponse> WebHandler::AnswerEvents(
    const Url& url, const std::shared_ptr<const SignedIn>& signed_in) {
  SLIPWAY_ASSIGN_OR_RETURN(std::set<Topic> topics, ParseTopics(QueryValue(url, "topics")));
  if (topics.count(Topic::kEverybodysJobs) > 0 && !signed_in->is_administrator) {
    return absl::PermissionDeniedError("jobs of everybody are for administrators");
  }
  SLIPWAY_RETURN_IF_ERROR(lists_.CheckPlace(*signed_in));
  return StreamAnswer(
      [this, signed_in, topics = std::move(topics)](std::shared_ptr<HttpStream> stream) {
        lists_.Add(signed_in, topics, std::move(stream));
      });
}

absl::StatusOr<HttpResponse> WebHandler::AnswerJobEvents(
    const HttpRequest& request, const RoutedRequest& routed, const Url& url,
    const std::shared_ptr<const SignedIn>& signed_in) {
  int64_t after = 0;
  std::string text(request.Header("last-event-id"));
  if (text.empty()) text = QueryValue(url, "after");
  if (!text.empty() && (!absl::SimpleAtoi(text, &after) || after < 0)) {
    return absl::InvalidArgumentError("the revision is to be a whole number");
  }
  SLIPWAY_RETURN_IF_ERROR(lists_.CheckPlace(*signed_in));
  const std::string& id = routed.path_fields.at("id");
  return StreamAnswer([this, signed_in, id, after](std::shared_ptr<HttpStream> stream) {
    lists_.Add(signed_in, {}, stream);  // Which says now and then that it is still there.
    const std::shared_ptr<RunningCall> watch = signed_in->upstream->WatchJob(
        id, after,
        [stream](const slipway::v1::Job& job) {
          slipway::v1::Job light = LightJob(job);
          const absl::StatusOr<std::string> json = WriteJson(light);
          if (json.ok()) stream->Send(EventText("job", *json, job.revision()));
        },
        [stream](const absl::Status& status) {
          if (status.ok()) stream->Send(EventText("end", "{}"));
          if (absl::IsNotFound(status) || absl::IsInvalidArgument(status)) {
            stream->Send(EventText("problem", ProblemAnswer(status).body));
          }
          // What else ended it may pass: a browser comes again.
          stream->End();
        });
    stream->OnGone([watch] { watch->Stop(); });
  });
}

absl::StatusOr<HttpResponse> WebHandler::AnswerAgent(
    const HttpRequest& request, const RoutedRequest& routed, const Url& url,
    const std::shared_ptr<const SignedIn>& signed_in) {
  SLIPWAY_ASSIGN_OR_RETURN(const auto message, ReadRequest(routed, url, request.body));
  auto& state = *google::protobuf::DynamicCastToGenerated<slipway::v1::AgentState>(message.get());
  if (routed.route->answerer == Answerer::kAgentState) {
    SLIPWAY_RETURN_IF_ERROR(agents_.Report(*signed_in, std::move(state)));
    return JsonAnswer("{}");
  }
  SLIPWAY_RETURN_IF_ERROR(lists_.CheckPlace(*signed_in));
  SLIPWAY_RETURN_IF_ERROR(agents_.CheckPlace(*signed_in, state));
  return StreamAnswer(
      [this, signed_in, state = std::move(state)](std::shared_ptr<HttpStream> stream) {
        lists_.Add(signed_in, {}, stream);  // Which says now and then that it is still there.
        agents_.Add(signed_in, state, std::move(stream));
      });
}

absl::StatusOr<HttpResponse> WebHandler::SignIn(const HttpRequest& request) {
  v1::SignInRequest message;
  SLIPWAY_RETURN_IF_ERROR(ReadJson(request.body, message));
  SLIPWAY_ASSIGN_OR_RETURN(const Sessions::Begun begun,
                           sessions_.SignIn(message.token(), request.peer));
  sessions_.SignOut(request.Cookie(kCookie));
  HttpResponse response = ShowSession(begun.signed_in.get());
  response.headers.emplace_back("Set-Cookie", CookieText(begun.cookie, absl::Hours(24 * 7)));
  return response;
}

HttpResponse WebHandler::ShowSession(const SignedIn* signed_in) const {
  v1::Session session;
  if (signed_in != nullptr) {
    session.set_signed_in(true);
    session.set_administrator(signed_in->is_administrator);
    *session.mutable_server() = signed_in->server;
    session.set_until_ns(absl::ToUnixNanos(signed_in->until));
    session.set_max_upload_bytes(MaxUpload(*signed_in));
  }
  absl::StatusOr<std::string> json = WriteJson(session);
  return json.ok() ? JsonAnswer(*std::move(json)) : ProblemAnswer(json.status());
}

std::string WebHandler::CookieText(absl::string_view value, absl::Duration age) const {
  return absl::StrCat(kCookie, "=", value,
                      "; Path=/; HttpOnly; SameSite=Strict; Max-Age=", absl::ToInt64Seconds(age),
                      IsSecure(Origins()) ? "; Secure" : "");
}

}  // namespace slipway::web
