// What /api/v1 answers that no call of the server gives as it is: lists in pages, and what the client library says of results. The JSON of
// benchmarks, histories and artifacts is the command's own, so that page, scripts and shell never differ.
#ifndef SLIPWAY_SERVER_WEB_OWN_ANSWERS_H_
#define SLIPWAY_SERVER_WEB_OWN_ANSWERS_H_

#include <string>

#include "absl/status/statusor.h"
#include "core/base/digest.h"
#include "core/http/url.h"
#include "proto/slipway/v1/job.pb.h"
#include "server/web/routes.h"
#include "server/web/sessions.h"

namespace slipway::web {

// Each gives JSON. Statuses are the server's, and INVALID_ARGUMENT for what is wrong in the address.
absl::StatusOr<std::string> AnswerDevices(Upstream& upstream, const Url& url);
// Of a job, or of the history where the job is forgotten: without steps then. FAILED_PRECONDITION for one that has no benchmark's result.
absl::StatusOr<std::string> AnswerBenchmark(Upstream& upstream, const std::string& id);
// What a compilation printed, as a graph. FAILED_PRECONDITION where it printed none, or none that can be drawn.
absl::StatusOr<std::string> AnswerModelGraph(Upstream& upstream, const std::string& id);
absl::StatusOr<std::string> AnswerHistorySeries(Upstream& upstream, const Url& url);
absl::StatusOr<std::string> AnswerArtifact(Upstream& upstream, const RoutedRequest& routed);
absl::StatusOr<std::string> AnswerManifest(Upstream& upstream, const RoutedRequest& routed);

// Of the manifest that an address names by {sha256} and {size}. INVALID_ARGUMENT.
absl::StatusOr<Digest> NamedDigest(const RoutedRequest& routed);

// A job without what pages ask for elsewhere, or not at all: samples and steps, contents of tensors, records of schedules,
// printed graphs of more than kMaxShownGraphBytes (model_graph.h).
slipway::v1::Job LightJob(slipway::v1::Job job);

}  // namespace slipway::web

#endif  // SLIPWAY_SERVER_WEB_OWN_ANSWERS_H_
