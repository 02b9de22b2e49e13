// Requests of HTTP to messages of the server's calls, and their answers to JSON, by protobuf's mapping. Pure.
#ifndef SLIPWAY_SERVER_WEB_TRANSCODE_H_
#define SLIPWAY_SERVER_WEB_TRANSCODE_H_

#include <google/protobuf/message.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/http/url.h"
#include "server/web/routes.h"

namespace slipway::web {

// The parameter `fields` of each GET: which of the answer's are wanted.
inline constexpr char kFieldsParameter[] = "fields";

// Of a GET the query's pairs are fields of the request, by their names in JSON: numbers, texts, names of enumerations, truth as
// "true" and "false"; a message as its JSON; what repeats comes several times. Of others the body is the request. The path's fields
// come last. What makes something and has no request_id gets one. INVALID_ARGUMENT names the field. REQUIRES: the route has a request.
absl::StatusOr<std::unique_ptr<google::protobuf::Message>> ReadRequest(const RoutedRequest& routed,
                                                                       const Url& url,
                                                                       absl::string_view body);

// The same of a body alone. INVALID_ARGUMENT.
absl::Status ReadJson(absl::string_view json, google::protobuf::Message& message);

// JSON of `message`, without what is not set. With `fields` ("devices.description.id,total") what they name alone: INVALID_ARGUMENT for
// one that there is not.
absl::StatusOr<std::string> WriteJson(google::protobuf::Message& message,
                                      absl::string_view fields = "");

// The query's value of that name; empty where there is none.
std::string QueryValue(const Url& url, absl::string_view name);

}  // namespace slipway::web

#endif  // SLIPWAY_SERVER_WEB_TRANSCODE_H_
