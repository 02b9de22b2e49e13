#include "client/session/request_line.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/wire/session_messages.h"

namespace slipway {
namespace {

// A message without data ends when it has so many bytes.
constexpr size_t kFullMessageBytes = 256 << 10;
constexpr int kMaxHandlesPerFree = 4096;

}  // namespace

int64_t RequestLine::DataBytes(const OutgoingRequest& outgoing) {
  return static_cast<int64_t>(outgoing.data.size()) + outgoing.asked;
}

void RequestLine::Add(Entry entry) {
  unsent_.push_back(std::move(entry));
  ++wanted_;
}

void RequestLine::Free(uint64_t handle) {
  const auto may_take_one_more = [](const Entry& entry) {
    const v1::SessionRequest& request = entry.outgoing.request;
    return request.has_free() && request.free().handles_size() < kMaxHandlesPerFree;
  };
  if (unsent_.empty() || !may_take_one_more(unsent_.back())) {
    unsent_.emplace_back();
  }
  unsent_.back().outgoing.request.mutable_free()->add_handles(handle);
}

std::vector<RequestLine::Entry> RequestLine::TakeUnsent(const SessionOperation& operation) {
  std::vector<Entry> taken;
  std::deque<Entry> kept;
  for (Entry& entry : unsent_) {
    if (entry.operation.get() == &operation) {
      taken.push_back(std::move(entry));
      --wanted_;
    } else {
      kept.push_back(std::move(entry));
    }
  }
  unsent_ = std::move(kept);
  return taken;
}

void RequestLine::Cancel(const SessionOperation& operation) {
  for (size_t i = 0; i < sent_.size(); ++i) {
    if (sent_[i].operation.get() != &operation || sent_[i].is_cancelled) continue;
    sent_[i].is_cancelled = true;
    cancels_.push_back(received_ + 1 + i);
  }
}

bool RequestLine::MaySend(const OutgoingRequest& outgoing) const {
  if (!is_open_) return false;
  // One is always allowed, lest a limit that is too small ends in silence.
  if (sent_.empty()) return true;
  return static_cast<int64_t>(sent_.size()) < limits_.max_requests &&
         data_under_way_bytes_ + DataBytes(outgoing) <= limits_.max_data_under_way_bytes;
}

absl::Cord RequestLine::NextMessage() {
  absl::Cord message;
  bool has_data = false;  // Then nothing may follow.
  if (beat_) {
    v1::SessionRequest beat;
    beat.mutable_heartbeat();
    message.Append(WriteSessionRequest(beat));
    beat_ = false;
  }
  for (const uint64_t id : cancels_) {
    v1::SessionRequest cancel;
    cancel.mutable_cancel()->set_request(id);
    message.Append(WriteSessionRequest(cancel));
  }
  cancels_.clear();
  while (!unsent_.empty() && !has_data && message.size() < kFullMessageBytes) {
    if (!MaySend(unsent_.front().outgoing)) break;
    Entry& entry = sent_.emplace_back(std::move(unsent_.front()));
    unsent_.pop_front();
    if (!entry.outgoing.request.has_free()) --wanted_;
    data_under_way_bytes_ += DataBytes(entry.outgoing);
    entry.outgoing.request.set_id(received_ + sent_.size());
    message.Append(WriteSessionRequest(entry.outgoing.request, entry.outgoing.data));
    if (entry.is_cancelled) cancels_.push_back(entry.outgoing.request.id());
    has_data = !entry.outgoing.data.empty();
  }
  // What a new connection has not resumed yet may have to be sent again before it.
  const bool is_all_sent = unsent_.empty() && (is_open_ || sent_.empty());
  if (closing_ && !close_sent_ && is_all_sent && !has_data) {
    v1::SessionRequest close;
    close.mutable_close();
    message.Append(WriteSessionRequest(close));
    close_sent_ = true;
  }
  const bool ack_alone = 2 * static_cast<int64_t>(received_ - acked_) >= limits_.max_requests ||
                         2 * data_not_acked_bytes_ >= limits_.max_data_under_way_bytes;
  if (received_ > acked_ && (!message.empty() || ack_alone)) {
    message.Prepend(WriteSessionAck(received_));
    acked_ = received_;
    data_not_acked_bytes_ = 0;
  }
  return message;
}

absl::StatusOr<RequestLine::Entry> RequestLine::Answer(uint64_t id) {
  if (id != 0 && id <= asked_elsewhere_) return Entry();
  if (sent_.empty()) {
    return absl::InternalError(
        absl::StrCat("the device answers request ", id, ", but none is under way"));
  }
  if (id != received_ + 1) {
    return absl::InternalError(
        absl::StrCat("the device answers request ", id, " where ", received_ + 1, " is next"));
  }
  ++received_;
  Entry entry = std::move(sent_.front());
  sent_.pop_front();
  data_under_way_bytes_ -= DataBytes(entry.outgoing);
  data_not_acked_bytes_ += DataBytes(entry.outgoing);
  return entry;
}

absl::Status RequestLine::Resume(uint64_t taken) {
  if (received_ == kFromElsewhere) received_ = asked_elsewhere_ = taken;
  if (taken < received_ || taken > received_ + sent_.size()) {
    return absl::InternalError(absl::StrCat("the device says that it took requests up to ", taken,
                                            ", where ", received_, " to ", received_ + sent_.size(),
                                            " are possible"));
  }
  while (received_ + sent_.size() > taken) {
    Entry entry = std::move(sent_.back());
    sent_.pop_back();
    data_under_way_bytes_ -= DataBytes(entry.outgoing);
    if (!entry.outgoing.request.has_free()) ++wanted_;
    unsent_.push_front(std::move(entry));
  }
  cancels_.clear();
  for (size_t i = 0; i < sent_.size(); ++i) {
    if (sent_[i].is_cancelled) cancels_.push_back(received_ + 1 + i);
  }
  acked_ = received_;
  data_not_acked_bytes_ = 0;
  beat_ = false;
  close_sent_ = false;
  is_open_ = true;
  return absl::OkStatus();
}

std::vector<RequestLine::Entry> RequestLine::TakeAll() {
  std::vector<Entry> all(std::make_move_iterator(sent_.begin()),
                         std::make_move_iterator(sent_.end()));
  all.insert(all.end(), std::make_move_iterator(unsent_.begin()),
             std::make_move_iterator(unsent_.end()));
  sent_.clear();
  unsent_.clear();
  wanted_ = 0;
  data_under_way_bytes_ = 0;
  return all;
}

}  // namespace slipway
