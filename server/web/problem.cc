#include "server/web/problem.h"

#include <string>
#include <utility>

#include "core/base/json_writer.h"

namespace slipway::web {

int HttpStatusOf(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kOk:
      return 200;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
      return 400;
    case absl::StatusCode::kUnauthenticated:
      return 401;
    case absl::StatusCode::kPermissionDenied:
      return 403;
    case absl::StatusCode::kNotFound:
      return 404;
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kAborted:
      return 409;
    case absl::StatusCode::kResourceExhausted:
      return 429;
    case absl::StatusCode::kUnimplemented:
      return 501;
    case absl::StatusCode::kUnavailable:
      return 503;
    case absl::StatusCode::kDeadlineExceeded:
      return 504;
    default:
      return 500;
  }
}

HttpResponse ProblemAnswer(const absl::Status& status) {
  return ProblemAnswer(HttpStatusOf(status.code()), status);
}

HttpResponse ProblemAnswer(int http_status, const absl::Status& status) {
  JsonWriter json;
  json.BeginObject();
  json.Text("code", absl::StatusCodeToString(status.code()));
  json.Text("message", status.message());
  json.EndObject();
  HttpResponse answer = JsonAnswer(json.Take());
  answer.status = http_status;
  return answer;
}

HttpResponse JsonAnswer(std::string json) {
  return {.status = 200,
          .headers = {{"Content-Type", "application/json"}, {"Cache-Control", "no-store"}},
          .body = std::move(json)};
}

}  // namespace slipway::web
