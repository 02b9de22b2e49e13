// Which addresses /api/v1 has: one table, of which requests, the OpenAPI file and their test are made.
#ifndef SLIPWAY_SERVER_WEB_ROUTES_H_
#define SLIPWAY_SERVER_WEB_ROUTES_H_

#include <google/protobuf/message.h>

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/http/url.h"

namespace slipway::web {

// What answers a request.
enum class Answerer {
  kCall,    // The server's call `method`, whose answer is passed on.
  kSignIn,  // Each other is a function of slipway-web's own.
  kShowSession,
  kSignOut,
  kDevices,
  kEvents,
  kJobEvents,
  kBenchmark,
  kHistorySeries,
  kArtifact,
  kManifest,
  kModuleFile,
  kModelGraph,
  kUploadModel,
  kReadBlob,
  kSendBlob,
  kAgent,
  kAgentState,
  kAgentWanted,
  kAgentEnd,
  kOpenApi,
};

// Whether the body is bytes that go to the server as they are.
constexpr bool IsUpload(Answerer answerer) {
  return answerer == Answerer::kUploadModel || answerer == Answerer::kSendBlob;
}

struct QueryParameter {
  absl::string_view name;
  absl::string_view type;  // Of OpenAPI: "string", "integer".
  absl::string_view description;
};

struct Route {
  absl::string_view verb;  // "GET"
  absl::string_view path;  // "/api/v1/jobs/{id}": a part in braces is a field of the request.
  Answerer answerer;
  absl::string_view method;  // Of kCall: "slipway.v1.JobService.GetJob"; else empty.
  // What is read and given, as prototypes. Null: nothing; JSON that `summary` tells of, or bytes.
  const google::protobuf::Message* request;
  const google::protobuf::Message* response;
  absl::string_view summary;
  std::vector<QueryParameter>
      parameters;  // Of slipway-web's own; of a GET of kCall they are the request's fields.
};

// All of them.
absl::Span<const Route> Routes();

struct RoutedRequest {
  const Route* route = nullptr;
  std::map<std::string, std::string> path_fields;  // By the names in braces.
};

// The route of a request whose path begins with /api/v1. NOT_FOUND for a path that there is not; UNIMPLEMENTED, which names what there is,
// for another verb than it has.
absl::StatusOr<RoutedRequest> FindRoute(absl::string_view verb, const Url& url);

}  // namespace slipway::web

#endif  // SLIPWAY_SERVER_WEB_ROUTES_H_
