// The description of /api/v1 in OpenAPI 3.1, made from the table of routes and the messages they take and give.
#ifndef SLIPWAY_SERVER_WEB_OPENAPI_H_
#define SLIPWAY_SERVER_WEB_OPENAPI_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/web/routes.h"

namespace slipway::web {

// JSON. Fields have protobuf's names in JSON; what the messages mean stands in proto/.
std::string MakeOpenApi(absl::Span<const Route> routes);

// That of Routes(), made once.
absl::string_view OpenApiText();

}  // namespace slipway::web

#endif  // SLIPWAY_SERVER_WEB_OPENAPI_H_
