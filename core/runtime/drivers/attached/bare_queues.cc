#include "core/runtime/drivers/attached/bare_queues.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/runtime/call_options.h"
#include "core/runtime/kernel_failure.h"

namespace slipway {
namespace {

constexpr size_t kMaxListBytes = SLIPWAY_BARE_MAX_BODY - sizeof(slipway_bare_run);

struct BareLaunch final : DeviceLaunch {
  uint32_t code = 0;
  uint32_t kernel = 0;
  std::vector<slipway_buffer*> arguments;
  std::shared_ptr<const std::string> label;
};

// Work of its queues is done in the order in which it comes, so that only others wait.
class BareEvent final : public DeviceEvent {
 public:
  explicit BareEvent(BareQueues& queues) : queues_(queues) {}
  absl::Status Wait() override { return is_recorded_ ? queues_.Finish() : absl::OkStatus(); }
  void Record() { is_recorded_ = true; }
  const BareQueues& queues() const { return queues_; }

 private:
  BareQueues& queues_;
  bool is_recorded_ = false;
};

template <typename T>
void Append(const T& value, std::string& bytes) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

}  // namespace

BareCode::~BareCode() {
  if (is_loaded_) device_.stream().Tell(SLIPWAY_BARE_UNLOAD, {BytesOf(number_)}).IgnoreError();
  device_.code_numbers().Return(number_);
}

absl::Status BareCode::CheckArguments(uint32_t kernel, int inputs, int outputs) const {
  const int32_t takes = argument_counts_[kernel];
  if (takes == inputs + outputs) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("gives ", inputs + outputs, " arguments to a kernel that takes ", takes));
}

BareQueues::~BareQueues() {
  Finish().IgnoreError();
  device_.stream().Tell(SLIPWAY_BARE_CLOSE, {BytesOf(number_)}).IgnoreError();
  device_.queue_numbers().Return(number_);
}

absl::StatusOr<std::unique_ptr<DeviceLaunch>> BareQueues::Prepare(
    const DeviceCode& code, uint32_t kernel, absl::Span<slipway_buffer* const> arguments,
    std::string label) {
  auto launch = std::make_unique<BareLaunch>();
  launch->code = static_cast<uint32_t>(static_cast<const BareCode&>(code).number());
  launch->kernel = kernel;
  launch->arguments.assign(arguments.begin(), arguments.end());
  launch->label = std::make_shared<const std::string>(std::move(label));
  return std::unique_ptr<DeviceLaunch>(std::move(launch));
}

absl::Status BareQueues::Launch(uint32_t /*queue*/, DeviceLaunch& launch,
                                const LaunchSizes& /*sizes*/) {
  const auto& call = static_cast<const BareLaunch&>(launch);
  command_.clear();
  Append(slipway_bare_launch{SLIPWAY_BARE_LAUNCH, call.code, call.kernel,
                             static_cast<uint32_t>(call.arguments.size())},
         command_);
  for (const slipway_buffer* buffer : call.arguments) {
    Append(slipway_bare_tensor{buffer->device, buffer->type.code, buffer->type.bits,
                               buffer->type.lanes, static_cast<uint32_t>(buffer->dimensions)},
           command_);
    for (int32_t d = 0; d < buffer->dimensions; ++d) Append(buffer->dim[d], command_);
  }
  return Add(command_, call.label);
}

absl::Status BareQueues::Copy(uint32_t /*queue*/, const MemoryPlace& from, const MemoryPlace& to,
                              int64_t bytes) {
  if (bytes == 0) return absl::OkStatus();
  SLIPWAY_RETURN_IF_ERROR(device_.CheckReaches(from));
  SLIPWAY_RETURN_IF_ERROR(device_.CheckReaches(to));
  if (!device_.Owns(from) || !device_.Owns(to)) {
    // What is to be read may be what was queued before; it goes over the stream at once.
    SLIPWAY_RETURN_IF_ERROR(Finish());
    return device_.Owns(from) ? device_.Read(from.memory.address, to.memory.host, bytes)
                              : device_.Write(from.memory.host, to.memory.address, bytes);
  }
  return Add(BytesOf(slipway_bare_copy{SLIPWAY_BARE_COPY, 0, from.memory.address, to.memory.address,
                                       static_cast<uint64_t>(bytes)}),
             nullptr);
}

absl::StatusOr<std::unique_ptr<DeviceEvent>> BareQueues::NewEvent() {
  return std::unique_ptr<DeviceEvent>(std::make_unique<BareEvent>(*this));
}

absl::Status BareQueues::Record(uint32_t /*queue*/, DeviceEvent& event) {
  static_cast<BareEvent&>(event).Record();
  return absl::OkStatus();
}

absl::Status BareQueues::Wait(uint32_t /*queue*/, DeviceEvent& event) {
  const auto* const own = dynamic_cast<const BareEvent*>(&event);
  return own != nullptr && &own->queues() == this ? absl::OkStatus() : event.Wait();
}

absl::Status BareQueues::Add(absl::string_view command, std::shared_ptr<const std::string> label) {
  if (command.size() > kMaxListBytes) {
    return absl::ResourceExhaustedError(absl::StrCat("a launch takes ", command.size(),
                                                     " bytes to tell a bare runner; at most ",
                                                     kMaxListBytes, " are allowed"));
  }
  if (list_.size() + command.size() > kMaxListBytes) SLIPWAY_RETURN_IF_ERROR(Finish());
  list_.append(command.data(), command.size());
  labels_.push_back(std::move(label));
  if (options_.position != nullptr) {
    steps_.push_back(options_.position->load(std::memory_order_relaxed));
  }
  return absl::OkStatus();
}

absl::Status BareQueues::Finish() {
  if (labels_.empty()) return absl::OkStatus();
  // What a program with known sizes and its tensors in place does again and again need not be told again.
  const bool is_same = list_ == sent_;
  const slipway_bare_run run = {number_, is_same ? 0 : static_cast<uint32_t>(labels_.size()), 0};
  const std::vector<uint32_t> steps = std::exchange(steps_, {});
  // Of a list of several steps nobody knows where it is, until the runner ends.
  const bool is_one_step = !steps.empty() && steps.front() == steps.back();
  if (options_.position != nullptr && !is_one_step) options_.position->store(kNoStep);
  const absl::StatusOr<BareStream::Reply> reply = device_.stream().Ask(
      SLIPWAY_BARE_RUN, {BytesOf(run), is_same ? absl::string_view() : absl::string_view(list_)},
      [&](const BareEnd& end) {
        if (end.command < steps.size()) options_.position->store(steps[end.command]);
      });
  const std::vector<std::shared_ptr<const std::string>> labels = std::exchange(labels_, {});
  sent_.swap(list_);
  list_.clear();
  if (!steps.empty()) options_.position->store(steps.back());
  SLIPWAY_RETURN_IF_ERROR(reply.status());
  // A device says what it likes, as often as it likes.
  const uint64_t room = static_cast<uint64_t>(INT64_MAX - worked_ns_);
  worked_ns_ += static_cast<int64_t>(std::min<uint64_t>(reply->head.duration_ns, room));
  if (reply->head.code == 0) return absl::OkStatus();
  const absl::Status failed =
      StatusOf({.result = reply->head.result,
                .text = absl::string_view(reply->data).substr(0, SLIPWAY_BARE_MAX_TEXT),
                .was_refused = (reply->head.flags & SLIPWAY_BARE_REFUSED_SCRATCH) != 0,
                .scratch_bytes = options_.scratch_bytes});
  const uint32_t command = reply->head.command;
  if (command >= labels.size() || labels[command] == nullptr) return failed;
  return Annotate(failed, *labels[command]);
}

}  // namespace slipway
