#include "server/web/routes.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "proto/slipway/v1/agent.pb.h"
#include "proto/slipway/v1/artifact.pb.h"
#include "proto/slipway/v1/blob.pb.h"
#include "proto/slipway/v1/compile.pb.h"
#include "proto/slipway/v1/fleet.pb.h"
#include "proto/slipway/v1/history.pb.h"
#include "proto/slipway/v1/identity.pb.h"
#include "proto/slipway/v1/job.pb.h"
#include "proto/slipway/v1/queue.pb.h"
#include "proto/slipway/v1/run.pb.h"
#include "proto/slipway/v1/server.pb.h"
#include "server/web/web_api.pb.h"

namespace slipway::web {
namespace {

template <typename Request, typename Response>
Route Call(absl::string_view verb, absl::string_view path, absl::string_view method,
           absl::string_view summary) {
  return {verb,
          path,
          Answerer::kCall,
          method,
          &Request::default_instance(),
          &Response::default_instance(),
          summary,
          {}};
}

template <typename Request, typename Response>
Route Own(absl::string_view verb, absl::string_view path, Answerer answerer,
          absl::string_view summary, std::vector<QueryParameter> parameters = {}) {
  return {verb,
          path,
          answerer,
          "",
          &Request::default_instance(),
          &Response::default_instance(),
          summary,
          std::move(parameters)};
}

Route Plain(absl::string_view path, Answerer answerer, absl::string_view summary,
            std::vector<QueryParameter> parameters = {}) {
  return {"GET", path, answerer, "", nullptr, nullptr, summary, std::move(parameters)};
}

std::vector<Route> MakeRoutes() {
  const QueryParameter fields = {"fields", "string",
                                 "What of the answer is wanted, as paths joined by commas; all "
                                 "without it."};
  return {
      Own<v1::SignInRequest, v1::Session>("POST", "/api/v1/session", Answerer::kSignIn,
                                          "Lets somebody in, and gives a cookie."),
      Own<v1::Nothing, v1::Session>("GET", "/api/v1/session", Answerer::kShowSession,
                                    "Who is let in."),
      Own<v1::Nothing, v1::Session>("DELETE", "/api/v1/session", Answerer::kSignOut,
                                    "Forgets who was let in."),
      Call<slipway::v1::GetServerInfoRequest, slipway::v1::ServerInfo>(
          "GET", "/api/v1/server", "slipway.v1.ServerService.GetServerInfo", "What the server is."),
      Call<slipway::v1::GetServerStatusRequest, slipway::v1::ServerStatus>(
          "GET", "/api/v1/status", "slipway.v1.ServerService.GetServerStatus",
          "What the server is doing, in sums."),
      Own<v1::Nothing, v1::DevicesPage>(
          "GET", "/api/v1/devices", Answerer::kDevices, "A page of devices.",
          {{"selector", "string", "Only those that match: an id or a selector."},
           {"available", "boolean", "Only those that could be given work."},
           {"pageSize", "integer", "At most this many, 1 to 1,000; 100 without it."},
           {"pageToken", "string", "nextPageToken of the page before."},
           fields}),
      Call<slipway::v1::SetDeviceLabelsRequest, slipway::v1::SetDeviceLabelsResponse>(
          "POST", "/api/v1/devices/{device}/labels", "slipway.v1.FleetService.SetDeviceLabels",
          "Changes labels of a device. For administrators."),
      Call<slipway::v1::SetAvailabilityRequest, slipway::v1::Device>(
          "POST", "/api/v1/devices/{device}/availability",
          "slipway.v1.QueueService.SetAvailability",
          "Gives a device work or none. For administrators."),
      Call<slipway::v1::ListWorkersRequest, slipway::v1::ListWorkersResponse>(
          "GET", "/api/v1/workers", "slipway.v1.FleetService.ListWorkers", "The workers."),
      Call<slipway::v1::ListQueueRequest, slipway::v1::ListQueueResponse>(
          "GET", "/api/v1/queue", "slipway.v1.QueueService.ListQueue", "What waits, and why."),
      Call<slipway::v1::ListReservationsRequest, slipway::v1::ListReservationsResponse>(
          "GET", "/api/v1/reservations", "slipway.v1.QueueService.ListReservations",
          "Reservations that have not ended."),
      Call<slipway::v1::ReserveRequest, slipway::v1::Reservation>(
          "POST", "/api/v1/reservations", "slipway.v1.QueueService.Reserve",
          "Makes a device one's own for a time."),
      Call<slipway::v1::UnreserveRequest, slipway::v1::Reservation>(
          "DELETE", "/api/v1/reservations/{id}", "slipway.v1.QueueService.Unreserve",
          "Ends a reservation."),
      Call<slipway::v1::ListJobsRequest, slipway::v1::ListJobsResponse>(
          "GET", "/api/v1/jobs", "slipway.v1.JobService.ListJobs", "Jobs, newest first."),
      Call<slipway::v1::GetJobRequest, slipway::v1::Job>(
          "GET", "/api/v1/jobs/{id}", "slipway.v1.JobService.GetJob", "One job."),
      Call<slipway::v1::CancelJobRequest, slipway::v1::Job>(
          "POST", "/api/v1/jobs/{id}/cancel", "slipway.v1.JobService.CancelJob", "Ends a job."),
      Plain("/api/v1/jobs/{id}/events", Answerer::kJobEvents,
            "A job as it changes: server-sent events \"job\", each a Job whose revision is its id; "
            "\"end\" behind the last.",
            {{"after", "integer", "Last revision seen, as by the header Last-Event-ID."}}),
      Plain("/api/v1/jobs/{id}/benchmark", Answerer::kBenchmark,
            "What a benchmark's samples and steps say: the JSON of `slipway results`, "
            "schema_version 1."),
      Own<v1::Nothing, v1::ModelGraph>(
          "GET", "/api/v1/jobs/{id}/graph", Answerer::kModelGraph,
          "The graph that a compilation printed (printAfter): nodes and values."),
      Plain("/api/v1/events", Answerer::kEvents,
            "What changes: server-sent events named after their topics, each with what is new or "
            "another, and ids that are gone; before them \"ready\", at which the lists are to be "
            "asked for; \"away\" and \"here\" of the server.",
            {{"topics", "string",
              "devices, queue, status, jobs, everybodys-jobs; joined by commas."}}),
      Call<slipway::v1::ListHistoryRequest, slipway::v1::ListHistoryResponse>(
          "GET", "/api/v1/history", "slipway.v1.HistoryService.ListHistory",
          "What was measured, newest first."),
      Plain("/api/v1/history/series", Answerer::kHistorySeries,
            "Results as series that can be compared, with what changed between them: the JSON of "
            "`slipway history`, schema_version 1, of the newest 2,000 results.",
            {{"model", "string", "Those of this model."},
             {"device", "string", "Those measured on this device."},
             {"everybody", "boolean", "Those of all owners; for administrators."}}),
      Call<slipway::v1::GetHistoryEntryRequest, slipway::v1::HistoryEntry>(
          "GET", "/api/v1/history/{id}", "slipway.v1.HistoryService.GetHistoryEntry",
          "One result, with its samples."),
      Own<v1::Nothing, v1::UploadedModel>(
          "POST", "/api/v1/models", Answerer::kUploadModel,
          "Takes a model's file, which is the body, and keeps it as a blob.",
          {{"name", "string", "The file's name, without a folder."}}),
      Call<slipway::v1::CreateCompilationRequest, slipway::v1::CreateCompilationResponse>(
          "POST", "/api/v1/compilations", "slipway.v1.CompileService.CreateCompilation",
          "Accepts a compilation."),
      Call<slipway::v1::CreateRunRequest, slipway::v1::CreateJobResponse>(
          "POST", "/api/v1/runs", "slipway.v1.RunService.CreateRun", "Accepts a run."),
      Call<slipway::v1::CreateBenchmarkRequest, slipway::v1::CreateJobResponse>(
          "POST", "/api/v1/benchmarks", "slipway.v1.RunService.CreateBenchmark",
          "Accepts a benchmark."),
      Plain("/api/v1/artifacts/{sha256}/{size}", Answerer::kArtifact,
            "What an artifact is: the JSON of `slipway inspect`, schema_version 1. It is named by "
            "the digest and size of its manifest."),
      Own<v1::Nothing, slipway::v1::Manifest>("GET", "/api/v1/artifacts/{sha256}/{size}/manifest",
                                              Answerer::kManifest,
                                              "An artifact's program, checked: steps and values."),
      Plain("/api/v1/artifacts/{sha256}/{size}/module/{file}", Answerer::kModuleFile,
            "A file of an artifact for wasm-32, as `slipway export` makes it: plan.json, "
            "model.wasm, weights.bin, and what runs them. Bytes."),
      Plain("/api/v1/blobs/{sha256}/{size}", Answerer::kReadBlob,
            "A blob, by its digest and size: of a run's tensors. Bytes."),
      Own<v1::Nothing, slipway::v1::Digest>("POST", "/api/v1/blobs", Answerer::kSendBlob,
                                            "Keeps the body as a blob, and says its name."),
      {"POST",
       "/api/v1/agents",
       Answerer::kAgent,
       "",
       &slipway::v1::AgentState::default_instance(),
       nullptr,
       "Makes who asks an agent, for as long as he takes the answer: server-sent events "
       "\"wanted\", when what the server wants may have changed, and \"problem\", a Problem, each "
       "after a report (AgentService.Sync). For agents' tokens.",
       {}},
      Own<slipway::v1::AgentState, v1::Nothing>("POST", "/api/v1/agents/{instance_id}/state",
                                                Answerer::kAgentState,
                                                "Such an agent's next report."),
      Own<v1::Nothing, slipway::v1::DesiredAgentState>("GET", "/api/v1/agents/{instance_id}/wanted",
                                                       Answerer::kAgentWanted,
                                                       "What the server wants of such an agent."),
      Own<v1::Nothing, v1::Nothing>("DELETE", "/api/v1/agents/{instance_id}", Answerer::kAgentEnd,
                                    "Such an agent leaves."),
      Call<slipway::v1::ListIdentitiesRequest, slipway::v1::ListIdentitiesResponse>(
          "GET", "/api/v1/identities", "slipway.v1.IdentityService.ListIdentities",
          "Who may call the server. For administrators."),
      Call<slipway::v1::InviteRequest, slipway::v1::InviteResponse>(
          "POST", "/api/v1/invitations", "slipway.v1.IdentityService.Invite",
          "Makes a code by which somebody joins. For administrators."),
      Call<slipway::v1::CreateTokenRequest, slipway::v1::CreateTokenResponse>(
          "POST", "/api/v1/tokens", "slipway.v1.IdentityService.CreateToken",
          "Makes a token. For administrators."),
      Call<slipway::v1::RevokeRequest, slipway::v1::RevokeResponse>(
          "POST", "/api/v1/identities/{id_or_name}/revoke", "slipway.v1.IdentityService.Revoke",
          "Shuts somebody out. For administrators."),
      Plain("/api/v1/openapi.json", Answerer::kOpenApi, "This description."),
  };
}

// The fields of a path that fits, or nullopt.
std::optional<std::map<std::string, std::string>> Match(absl::string_view pattern,
                                                        const std::vector<std::string>& path) {
  const std::vector<absl::string_view> parts = absl::StrSplit(pattern.substr(1), '/');
  if (parts.size() != path.size()) return std::nullopt;
  std::map<std::string, std::string> fields;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].front() == '{') {
      if (path[i].empty()) return std::nullopt;
      fields[std::string(parts[i].substr(1, parts[i].size() - 2))] = path[i];
    } else if (parts[i] != path[i]) {
      return std::nullopt;
    }
  }
  return fields;
}

}  // namespace

absl::Span<const Route> Routes() {
  static const std::vector<Route>& routes = *new std::vector<Route>(MakeRoutes());
  return routes;
}

absl::StatusOr<RoutedRequest> FindRoute(absl::string_view verb, const Url& url) {
  std::vector<absl::string_view> verbs;
  for (const Route& route : Routes()) {
    auto fields = Match(route.path, url.path);
    if (!fields.has_value()) continue;
    if (route.verb == verb) return RoutedRequest{&route, *std::move(fields)};
    verbs.push_back(route.verb);
  }
  if (verbs.empty()) {
    return absl::NotFoundError("there is no such address: /api/v1/openapi.json lists them");
  }
  return absl::UnimplementedError(
      absl::StrCat("this address is for ", absl::StrJoin(verbs, " and ")));
}

}  // namespace slipway::web
