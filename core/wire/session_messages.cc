#include "core/wire/session_messages.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace slipway {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;

// Larger messages are looked at for data that can be taken out where it lies; what stands before it is this long at
// most, else the message is parsed as a whole.
constexpr size_t kSmallBytes = 64 << 10;
constexpr size_t kMostBeforeData = 4 << 10;

constexpr uint32_t Tag(int field) {
  return WireFormatLite::MakeTag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
}
constexpr uint32_t kDataTag = Tag(v1::SessionRequest::kDataFieldNumber);
static_assert(kDataTag == Tag(v1::SessionResponse::kDataFieldNumber));

int FieldOf(const v1::SessionRequests*) { return v1::SessionRequests::kRequestsFieldNumber; }
int FieldOf(const v1::SessionResponses*) { return v1::SessionResponses::kResponsesFieldNumber; }
constexpr int64_t MostBytes(const v1::SessionRequests*) { return kMaxSessionRequestsBytes; }
constexpr int64_t MostBytes(const v1::SessionResponses*) { return kMaxSessionResponsesBytes; }
auto* Items(v1::SessionRequests& message) { return message.mutable_requests(); }
auto* Items(v1::SessionResponses& message) { return message.mutable_responses(); }

absl::Status NoMessage(size_t size) {
  return absl::InvalidArgumentError(absl::StrCat(size, " bytes are no message of a session"));
}

// Where in a message the data of its last item lies, when it ends the message.
struct Place {
  size_t item = 0;    // First byte of the item's tag.
  size_t inside = 0;  // First byte behind its length.
  size_t tag = 0;     // First byte of the tag of the data.
  size_t data = 0;    // First byte of the data.
};

// In the item that begins behind its length at `place.inside` and ends with the message.
std::optional<Place> FindInItem(absl::string_view head, size_t total, Place place) {
  CodedInputStream in(reinterpret_cast<const uint8_t*>(head.data()), static_cast<int>(head.size()));
  if (!in.Skip(static_cast<int>(place.inside))) return std::nullopt;
  while (true) {
    place.tag = static_cast<size_t>(in.CurrentPosition());
    const uint32_t tag = in.ReadTag();
    if (tag == 0) return std::nullopt;
    if (tag == kDataTag) {
      uint32_t size = 0;
      if (!in.ReadVarint32(&size)) return std::nullopt;
      place.data = static_cast<size_t>(in.CurrentPosition());
      if (place.data + size != total) return std::nullopt;
      return place;
    }
    if (!WireFormatLite::SkipField(&in, tag)) return std::nullopt;
  }
}

std::optional<Place> FindData(absl::string_view head, size_t total, int field) {
  CodedInputStream in(reinterpret_cast<const uint8_t*>(head.data()), static_cast<int>(head.size()));
  while (true) {
    Place place;
    place.item = static_cast<size_t>(in.CurrentPosition());
    const uint32_t tag = in.ReadTag();
    if (tag == 0) return std::nullopt;
    if (tag != Tag(field)) {
      if (!WireFormatLite::SkipField(&in, tag)) return std::nullopt;
      continue;
    }
    uint32_t size = 0;
    if (!in.ReadVarint32(&size)) return std::nullopt;
    place.inside = static_cast<size_t>(in.CurrentPosition());
    if (place.inside + size == total) return FindInItem(head, total, place);
    if (!in.Skip(static_cast<int>(size))) return std::nullopt;
  }
}

template <typename Message>
absl::Status ParseWhole(const absl::Cord& cord, SessionParts<Message>& parts) {
  if (!parts.message.ParseFromString(std::string(cord))) return NoMessage(cord.size());
  auto* items = Items(parts.message);
  for (int i = 0; i < items->size(); ++i) {
    std::string* data = items->Mutable(i)->mutable_data();
    if (!data->empty()) {
      if (i + 1 != items->size()) {
        return absl::InvalidArgumentError("the data of a message is not that of its last request");
      }
      parts.data = absl::Cord(std::move(*data));
    }
    items->Mutable(i)->clear_data();
  }
  return absl::OkStatus();
}

template <typename Message>
absl::Status ParseApart(const absl::Cord& cord, const std::string& head, const Place& place,
                        SessionParts<Message>& parts) {
  if (!parts.message.ParseFromArray(head.data(), static_cast<int>(place.item))) {
    return NoMessage(cord.size());
  }
  for (const auto& item : *Items(parts.message)) {
    if (!item.data().empty()) {
      return absl::InvalidArgumentError("the data of a message is not that of its last request");
    }
  }
  if (!Items(parts.message)
           ->Add()
           ->ParseFromArray(head.data() + place.inside,
                            static_cast<int>(place.tag - place.inside))) {
    return NoMessage(cord.size());
  }
  parts.data = cord.Subcord(place.data, cord.size() - place.data);
  return absl::OkStatus();
}

template <typename Message>
absl::StatusOr<SessionParts<Message>> Parse(const absl::Cord& cord) {
  SessionParts<Message> parts;
  if (const int64_t most = MostBytes(&parts.message); cord.size() > static_cast<size_t>(most)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a message of ", cord.size(), " bytes is over the limit of ", most));
  }
  absl::Status status;
  std::optional<Place> place;
  std::string head;
  if (cord.size() > kSmallBytes) {
    head = std::string(cord.Subcord(0, kMostBeforeData));
    place = FindData(head, cord.size(), FieldOf(&parts.message));
  }
  status = place.has_value() ? ParseApart(cord, head, *place, parts) : ParseWhole(cord, parts);
  if (!status.ok()) return status;
  if (parts.data.size() > static_cast<size_t>(kMaxSessionDataBytes)) {
    return absl::InvalidArgumentError(absl::StrCat(
        parts.data.size(), " bytes of data are over the limit of ", kMaxSessionDataBytes));
  }
  return parts;
}

void AppendVarint(std::string& to, uint64_t value) {
  uint8_t bytes[10];
  const uint8_t* end = CodedOutputStream::WriteVarint64ToArray(value, bytes);
  to.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(end - bytes));
}

template <typename Item>
absl::Cord Write(const Item& item, int field, const absl::Cord& data) {
  std::string data_head;
  if (!data.empty()) {
    AppendVarint(data_head, kDataTag);
    AppendVarint(data_head, data.size());
  }
  std::string head;
  AppendVarint(head, Tag(field));
  AppendVarint(head, item.ByteSizeLong() + data_head.size() + data.size());
  item.AppendToString(&head);
  head += data_head;
  absl::Cord message(std::move(head));
  message.Append(data);
  return message;
}

}  // namespace

absl::StatusOr<SessionRequestParts> ParseSessionRequests(const absl::Cord& message) {
  return Parse<v1::SessionRequests>(message);
}

absl::StatusOr<SessionResponseParts> ParseSessionResponses(const absl::Cord& message) {
  return Parse<v1::SessionResponses>(message);
}

absl::Cord WriteSessionRequest(const v1::SessionRequest& request, const absl::Cord& data) {
  return Write(request, v1::SessionRequests::kRequestsFieldNumber, data);
}

absl::Cord WriteSessionResponse(const v1::SessionResponse& response, const absl::Cord& data) {
  return Write(response, v1::SessionResponses::kResponsesFieldNumber, data);
}

absl::Cord WriteSessionEnd(const absl::Status& why) {
  v1::SessionResponse news;
  news.mutable_ended();
  news.set_code(static_cast<int32_t>(why.code()));
  news.set_message(std::string(why.message()));
  return WriteSessionResponse(news);
}

absl::Cord WriteSessionAck(uint64_t acked) {
  v1::SessionRequests message;
  message.set_acked(acked);
  return absl::Cord(message.SerializeAsString());
}

}  // namespace slipway
