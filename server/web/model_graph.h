// Model graphs as the page draws them.
#ifndef SLIPWAY_SERVER_WEB_MODEL_GRAPH_H_
#define SLIPWAY_SERVER_WEB_MODEL_GRAPH_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/web/web_api.pb.h"

namespace slipway::web {

// Texts of graphs that are longer are neither drawn nor shown.
inline constexpr size_t kMaxShownGraphBytes = 1 << 20;

// What a graph's text (core/graph/text.h) says, without what constants hold; `after` is left unset. FAILED_PRECONDITION for texts of more
// than kMaxShownGraphBytes and for what is no graph, or more than one, as the plan of memory behind a graph is.
absl::StatusOr<v1::ModelGraph> DescribeGraph(absl::string_view text);

}  // namespace slipway::web

#endif  // SLIPWAY_SERVER_WEB_MODEL_GRAPH_H_
