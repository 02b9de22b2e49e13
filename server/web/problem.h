// Errors as answers: which status of HTTP stands for which code, and the Problem in the body.
#ifndef SLIPWAY_SERVER_WEB_PROBLEM_H_
#define SLIPWAY_SERVER_WEB_PROBLEM_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/http/http_message.h"

namespace slipway::web {

// As google.rpc.Code advises: 400, 401, 403, 404, 409, 429, 501, 503, 504; 500 otherwise.
int HttpStatusOf(absl::StatusCode code);

// An answer with a Problem. REQUIRES: not OK.
HttpResponse ProblemAnswer(const absl::Status& status);
// The same with another status of HTTP.
HttpResponse ProblemAnswer(int http_status, const absl::Status& status);

// An answer of JSON.
HttpResponse JsonAnswer(std::string json);

}  // namespace slipway::web

#endif  // SLIPWAY_SERVER_WEB_PROBLEM_H_
