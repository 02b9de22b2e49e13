// RecordedProtocol: messages of an earlier version, by the schema of that version. No class that is made of
// today's .proto files has a part in it, so that it goes on speaking as its peers do.
#ifndef SLIPWAY_TESTS_SKEW_RECORDED_PROTOCOL_H_
#define SLIPWAY_TESTS_SKEW_RECORDED_PROTOCOL_H_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"

namespace slipway::testing {

// A message as a peer of that version reads it: of fields it does not know it knows nothing.
class RecordedMessage {
 public:
  explicit RecordedMessage(std::unique_ptr<google::protobuf::Message> message)
      : message_(std::move(message)) {}

  // The field at a path such as "attempts.0.run.device": strings and bytes as they are, numbers and the names
  // of enum values as text; "none" for a message or element that is not there. CHECKs that the schema has it.
  std::string Get(absl::string_view path) const;
  // All fields, for comparing and for messages.
  std::string Text() const;

 private:
  std::unique_ptr<google::protobuf::Message> message_;
};

// Thread-safe. What cannot be read ends the test with a check: it was recorded in this repository.
class RecordedProtocol {
 public:
  // By "$NAME", what stands for it in a string of a recorded message: ids that the other side chooses.
  using Words = std::map<std::string, std::string>;

  // tests/testdata/skew/messages/NAME.
  explicit RecordedProtocol(const std::string& name);

  // The recorded bytes of PEER/NAME.TYPE, as they are when nothing is replaced in them.
  std::string Bytes(const std::string& name, const Words& words = {}) const;
  // A message that holds these fields and no others, from its text form.
  std::string Make(const std::string& type, const std::string& text) const;
  // `type` is without its package: "Job".
  RecordedMessage Read(const std::string& type, absl::string_view bytes) const;

  // "/slipway.v1.JobService/GetJob": the types it takes and gives. `method` is "JobService/GetJob".
  const google::protobuf::MethodDescriptor& Method(const std::string& method) const;
  const google::protobuf::FileDescriptorSet& schema() const { return schema_; }
  const google::protobuf::DescriptorPool& pool() const { return pool_; }
  const std::string& folder() const { return folder_; }

 private:
  std::unique_ptr<google::protobuf::Message> New(const std::string& type) const;

  const std::string folder_;
  google::protobuf::FileDescriptorSet schema_;
  google::protobuf::DescriptorPool pool_;
  mutable google::protobuf::DynamicMessageFactory factory_;
};

// What a newer peer may have added to any message: a field that nobody knows.
std::string UnknownField();

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_SKEW_RECORDED_PROTOCOL_H_
