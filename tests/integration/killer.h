// Killer: strikes processes of a cluster at random: kills them, or stops them for a while.
#ifndef SLIPWAY_TESTS_INTEGRATION_KILLER_H_
#define SLIPWAY_TESTS_INTEGRATION_KILLER_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "tests/common/cluster.h"

namespace slipway::testing {

// Who can be struck.
enum class Party { kServer, kAgent, kWorker, kCompilation, kRunner, kClient };
absl::string_view Name(Party party);

// A process that was killed, and started again where nobody else does, or stopped.
struct Strike {
  Party party;
  std::string device;  // Of an agent.
  pid_t pid = 0;
  bool is_kill = false;
  absl::Time from;
  absl::Time until;  // When it was there again, or continued.
};

class Killer {
 public:
  struct Options {
    uint64_t seed = 0;
    absl::Duration mean_pause;
    absl::Duration strike_for;  // Then it ends, so that what is under way may.
    // Clients that may be struck are processes of this program, children of this one.
    std::string client_program;
    // Asked before a strike, but while the server is stopped. May be empty.
    std::function<bool()> may_strike;
  };
  // Strikes from now on; nobody else starts or ends the cluster's server and agents meanwhile.
  Killer(Cluster& cluster, Options options);
  ~Killer() { Stop(); }

  // Nobody is stopped any more after it.
  void Stop();
  // REQUIRES: Stop was called.
  const std::vector<Strike>& strikes() const { return strikes_; }

 private:
  void Work();
  void StrikeOne();
  void Restart(Strike& strike, ServiceProcess& process);
  void Continue(Strike& strike);
  void ContinueThose(absl::Time until);
  std::vector<pid_t> PidsOf(Party party) const;

  Cluster& cluster_;
  const Options options_;
  std::mt19937_64 random_;
  absl::Notification stop_;
  std::vector<Strike> strikes_;
  std::vector<size_t> stopped_;  // Of strikes_.
  std::thread thread_;
};

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_INTEGRATION_KILLER_H_
