// Operations as users see them: futures.
#ifndef SLIPWAY_CLIENT_SESSION_ANSWERS_H_
#define SLIPWAY_CLIENT_SESSION_ANSWERS_H_

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/future.h"
#include "client/session/engine.h"
#include "client/session/operation.h"

namespace slipway {

// What a future that an operation fulfils asks of it.
class OperationAnswer final : public PendingAnswer {
 public:
  OperationAnswer(std::shared_ptr<SessionEngine> engine,
                  std::shared_ptr<SessionOperation> operation)
      : engine_(std::move(engine)), operation_(std::move(operation)) {}
  bool Wait(absl::Time deadline) override { return engine_->Wait(*operation_, deadline); }
  void Then(std::function<void()> callback) override {
    engine_->Then(*operation_, std::move(callback));
  }
  void Cancel() override { engine_->Cancel(*operation_); }

 private:
  const std::shared_ptr<SessionEngine> engine_;
  const std::shared_ptr<SessionOperation> operation_;
};

// What a future that was fulfilled before it was made asks of nobody.
class KnownAnswer final : public PendingAnswer {
 public:
  bool Wait(absl::Time) override { return true; }
  void Then(std::function<void()> callback) override { callback(); }
  void Cancel() override {}
};

template <typename T>
Future<T> FailedFuture(absl::Status status) {
  return Future<T>(std::make_shared<KnownAnswer>(),
                   std::make_shared<absl::StatusOr<T>>(std::move(status)));
}

// An operation whose result() is a T.
template <typename T, typename Operation>
Future<T> Start(const std::shared_ptr<SessionEngine>& engine, std::shared_ptr<Operation> operation,
                std::vector<OutgoingRequest> requests) {
  engine->Submit(operation, std::move(requests));
  std::shared_ptr<absl::StatusOr<T>> result(operation, &operation->result());
  return Future<T>(std::make_shared<OperationAnswer>(engine, std::move(operation)),
                   std::move(result));
}

// `value` is what the answers to `requests` make by `take`.
template <typename T>
Future<T> Start(const std::shared_ptr<SessionEngine>& engine, std::vector<OutgoingRequest> requests,
                T value, typename ValueOperation<T>::TakeAnswer take) {
  return Start<T>(engine, std::make_shared<ValueOperation<T>>(std::move(value), std::move(take)),
                  std::move(requests));
}

// For requests whose answers say nothing but whether they were carried out.
inline Future<Done> Start(const std::shared_ptr<SessionEngine>& engine,
                          std::vector<OutgoingRequest> requests) {
  return Start<Done>(engine, std::move(requests), Done(), nullptr);
}

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_SESSION_ANSWERS_H_
