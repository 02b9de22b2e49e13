#include "server/handlers/health.h"

#include <algorithm>

#include "server/services/access.h"

namespace slipway::server {
namespace {

bool IsServed(absl::string_view service) {
  return std::any_of(kAccess.begin(), kAccess.end(), [service](const AccessRow& row) {
    return row.method.substr(0, row.method.rfind('.')) == service;
  });
}

}  // namespace

grpc::health::v1::HealthCheckResponse::ServingStatus HealthOf(const Environment& env,
                                                              absl::string_view service) {
  using Response = grpc::health::v1::HealthCheckResponse;
  if (!service.empty() && !IsServed(service)) return Response::SERVICE_UNKNOWN;
  const auto row = std::find_if(kHealth.begin(), kHealth.end(), [service](const HealthRow& each) {
    return each.service == service;
  });
  if (row == kHealth.end()) return Response::SERVING;
  const bool serves = (!row->wants_memory || env.memory->MayBegin().ok()) &&
                      (!row->wants_store || env.dispatcher->StoreRefusal().ok());
  return serves ? Response::SERVING : Response::NOT_SERVING;
}

}  // namespace slipway::server
