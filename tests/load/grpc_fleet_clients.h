// FleetClients: clients in one process that ask a server for runs at a steady rate, and follow each to its end.
#ifndef SLIPWAY_TESTS_LOAD_GRPC_FLEET_CLIENTS_H_
#define SLIPWAY_TESTS_LOAD_GRPC_FLEET_CLIENTS_H_

#include <cstdint>
#include <memory>

#include "absl/time/time.h"
#include "core/base/digest.h"
#include "tests/load/fleet_ledger.h"
#include "tests/load/grpc_fleet_door.h"

namespace slipway::testing {

// Thread-safe.
class FleetClients {
 public:
  struct Options {
    int clients = 16;
    double jobs_per_second = 0;
    Digest program;  // That the server has.
  };
  // Door and ledger must outlive this.
  static std::unique_ptr<FleetClients> Create(const Options& options, const FleetDoor* door,
                                              FleetLedger* ledger);
  // Gives up what is not answered.
  virtual ~FleetClients() = default;

  // Asks for jobs from now on until Stop, each in its time; later when too many are not answered yet. What ends in UNAVAILABLE or
  // RESOURCE_EXHAUSTED is asked again with the same request id until it is answered, also after Stop.
  virtual void Begin() = 0;
  virtual void Stop() = 0;

  // Requests that are not answered yet.
  virtual int64_t unanswered() const = 0;
  // Times that the server said that it has too much to do.
  virtual int64_t refused() const = 0;
};

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_LOAD_GRPC_FLEET_CLIENTS_H_
