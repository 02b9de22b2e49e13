// TcpForwarder: a gateway between networks, as small as one can be: whoever connects to it is connected to its target.
#ifndef SLIPWAY_TESTS_COMMON_TCP_FORWARDER_H_
#define SLIPWAY_TESTS_COMMON_TCP_FORWARDER_H_

#include <list>
#include <memory>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "core/base/files.h"

namespace slipway::testing {

// Thread-safe but for Start and Stop. Costs two threads a connection.
class TcpForwarder {
 public:
  TcpForwarder() = default;
  // Stops.
  ~TcpForwarder() { Stop(); }

  // Listens on the loopback, the first time on a free port, then on the same. `target` is "127.0.0.1:PORT"; empty: whoever
  // connects says where to, as to an HTTP proxy (CONNECT, RFC 9110 9.3.6).
  absl::Status Start(const std::string& target);
  // Dies: all connections break, and new ones are refused.
  void Stop();
  // Goes silent, as a gateway that lost its network: bytes are taken in and go nowhere, nothing is closed. Until Stop.
  void Freeze();
  // The same for the connections that there are, as one that lost its memory; others are made as before.
  void Forget();

  // "127.0.0.1:PORT".
  const std::string& address() const { return address_; }
  // How many have connected so far.
  int connections() const;

 private:
  struct Connection {
    UniqueFd client;
    UniqueFd target;
    std::thread up;
    std::thread down;
    bool is_forgotten = false;
  };
  void Accept();
  void Pump(const Connection& connection, int from, int to);

  std::string address_;
  std::string target_;
  UniqueFd listener_;
  std::thread accepts_;
  mutable absl::Mutex mutex_;
  bool is_frozen_ ABSL_GUARDED_BY(mutex_) = false;
  int connections_ ABSL_GUARDED_BY(mutex_) = 0;
  std::list<Connection> open_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_COMMON_TCP_FORWARDER_H_
