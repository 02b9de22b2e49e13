#include "tests/bench/grpc_accept_rate.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "core/base/clock.h"
#include "core/base/status_macros.h"
#include "core/wire/digest_proto.h"
#include "server/grpc_test_client.h"

namespace slipway::bench {

absl::StatusOr<AcceptRate> MeasureAccepts(const std::string& address, const Digest& program,
                                          int clients, int jobs) {
  const SystemClock clock;
  std::atomic<int> next = 0;
  absl::BlockingCounter connected(clients);
  absl::Notification start;
  absl::Mutex mutex;
  std::vector<absl::Duration> waits;
  absl::Status status;
  std::vector<std::thread> threads;
  for (int i = 0; i < clients; ++i) {
    threads.emplace_back([&] {
      const server::TestClient client(address);
      const absl::Status reached =
          server::TestClient::Call(*client.servers, &v1::ServerService::Stub::GetServerInfo,
                                   v1::GetServerInfoRequest())
              .status();
      connected.DecrementCount();
      start.WaitForNotification();
      absl::Status own = reached;
      std::vector<absl::Duration> own_waits;
      v1::CreateRunRequest request;
      *request.mutable_spec()->mutable_manifest() = ToProto(program);
      for (int job = next++; own.ok() && job < jobs; job = next++) {
        request.set_request_id(absl::StrCat("accept ", job));
        const absl::Duration begin = clock.Monotonic();
        own = server::TestClient::Call(*client.runs, &v1::RunService::Stub::CreateRun, request)
                  .status();
        own_waits.push_back(clock.Monotonic() - begin);
      }
      absl::MutexLock lock(&mutex);
      status.Update(own);
      waits.insert(waits.end(), own_waits.begin(), own_waits.end());
    });
  }
  connected.Wait();
  const absl::Duration begin = clock.Monotonic();
  start.Notify();
  for (std::thread& thread : threads) thread.join();
  const absl::Duration took = clock.Monotonic() - begin;
  SLIPWAY_RETURN_IF_ERROR(status);
  std::sort(waits.begin(), waits.end());
  return AcceptRate{.per_second = jobs / absl::ToDoubleSeconds(took),
                    .p50 = waits[waits.size() / 2],
                    .p99 = waits[waits.size() * 99 / 100]};
}

}  // namespace slipway::bench
