// MetricsEndpoint: gives a process's metrics to who asks by HTTP: GET /metrics.
//
// Whoever reaches the address may ask, and nobody is asked who he is, so that nothing he does may cost more than a little: one thread,
// few connections, one small request each, an answer that is made once a second at most, and little time for all of it.
#ifndef SLIPWAY_CORE_METRICS_METRICS_ENDPOINT_H_
#define SLIPWAY_CORE_METRICS_METRICS_ENDPOINT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/clock.h"

namespace slipway {

// Serves from Start to destruction.
class MetricsEndpoint {
 public:
  // Of a request: its line and headers. Nobody reads a body.
  static constexpr uint32_t kMaxHeaderBytes = 8 << 10;

  struct Options {
    std::string listen;  // HOST:PORT or unix:PATH; port 0 takes a free one.
    // Connections at a time. When another comes, the one that came first is closed: whoever means it has his answer in milliseconds.
    size_t most_connections = 16;
    // From the beginning of a connection to its end, however slowly anybody sends or reads.
    absl::Duration patience = absl::Seconds(10);
    // An answer is given again for this long.
    absl::Duration fresh = absl::Seconds(1);
  };
  // `text` makes the answer (RenderMetrics); it is called on the endpoint's thread, never twice at a time. Errors of ListenAt.
  // `clock` says what is fresh, and must outlive this.
  static absl::StatusOr<std::unique_ptr<MetricsEndpoint>> Start(const Options& options,
                                                                const Clock* clock,
                                                                std::function<std::string()> text);
  virtual ~MetricsEndpoint() = default;

  // As `listen`, with the port taken.
  virtual const std::string& address() const = 0;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_METRICS_METRICS_ENDPOINT_H_
