// Today's protocol holds everything that earlier ones had, under the same numbers and names: fields may be
// added, none may be removed, renumbered or given another type.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/slipway/v1/agent.pb.h"
#include "proto/slipway/v1/blob.pb.h"
#include "proto/slipway/v1/compile.pb.h"
#include "proto/slipway/v1/fleet.pb.h"
#include "proto/slipway/v1/graph.pb.h"
#include "proto/slipway/v1/job.pb.h"
#include "proto/slipway/v1/run.pb.h"
#include "proto/slipway/v1/server.pb.h"
#include "proto/slipway/v1/target.pb.h"
#include "proto/slipway/v1/tensor.pb.h"
#include "proto/slipway/v1/worker.pb.h"
#include "server/jobs/job_record.pb.h"
#include "tests/skew/recorded_protocol.h"

namespace slipway::testing {
namespace {

namespace fs = std::filesystem;
namespace pb = google::protobuf;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Of the same name as an earlier one; null when it is gone.
const pb::FileDescriptor* FileToday(const std::string& name) {
  for (const pb::Descriptor* message :
       {v1::AgentState::descriptor(), v1::Digest::descriptor(), v1::CompilationSpec::descriptor(),
        v1::Device::descriptor(), v1::Model::descriptor(), v1::Job::descriptor(),
        v1::RunSpec::descriptor(), v1::ServerInfo::descriptor(), v1::Target::descriptor(),
        v1::Tensor::descriptor(), v1::WorkerState::descriptor(), server::JobRecord::descriptor()}) {
    if (message->file()->name() == name) return message->file();
  }
  return nullptr;
}

// Names in what a server keeps for itself may change: it is kept as bytes, which have none.
std::string NameToday(const std::string& full_name) {
  static const auto* const kRenamed = new std::map<std::string, std::string>{
      {"slipway.server.Attempt", "slipway.server.Lease"},
      {"slipway.server.JobRecord.attempt", "slipway.server.JobRecord.lease"},
  };
  const auto found = kRenamed->find(full_name);
  return found == kRenamed->end() ? full_name : found->second;
}

std::string TypeName(const pb::FieldDescriptor& field) {
  const std::string name = field.message_type() != nullptr
                               ? NameToday(field.message_type()->full_name())
                           : field.enum_type() != nullptr ? field.enum_type()->full_name()
                                                          : field.type_name();
  return absl::StrCat(field.is_repeated() ? "repeated " : "", name);
}

// What of `then` is not in `now`, a line each.
using Lost = std::vector<std::string>;

void CompareEnums(const pb::EnumDescriptor& then, const pb::EnumDescriptor& now, Lost& lost) {
  for (int i = 0; i < then.value_count(); ++i) {
    const pb::EnumValueDescriptor& value = *then.value(i);
    const pb::EnumValueDescriptor* today = now.FindValueByNumber(value.number());
    if (today == nullptr || today->name() != value.name()) {
      lost.push_back(absl::StrCat(value.full_name(), " = ", value.number()));
    }
  }
}

void CompareMessages(const pb::Descriptor& then, const pb::Descriptor& now, Lost& lost) {
  for (int i = 0; i < then.field_count(); ++i) {
    const pb::FieldDescriptor& field = *then.field(i);
    const pb::FieldDescriptor* today = now.FindFieldByNumber(field.number());
    const auto oneof = [](const pb::FieldDescriptor& of) {
      return of.containing_oneof() == nullptr ? "" : of.containing_oneof()->name();
    };
    const std::string name = NameToday(field.full_name());
    if (today == nullptr || !absl::EndsWith(name, absl::StrCat(".", today->name())) ||
        TypeName(*today) != TypeName(field) || oneof(*today) != oneof(field)) {
      lost.push_back(absl::StrCat(TypeName(field), " ", field.full_name(), " = ", field.number()));
    }
  }
  for (int i = 0; i < then.enum_type_count(); ++i) {
    const pb::EnumDescriptor* today = now.FindEnumTypeByName(then.enum_type(i)->name());
    if (today == nullptr) {
      lost.push_back(then.enum_type(i)->full_name());
    } else {
      CompareEnums(*then.enum_type(i), *today, lost);
    }
  }
  for (int i = 0; i < then.nested_type_count(); ++i) {
    const pb::Descriptor* today = now.FindNestedTypeByName(then.nested_type(i)->name());
    if (today == nullptr) {
      lost.push_back(then.nested_type(i)->full_name());
    } else {
      CompareMessages(*then.nested_type(i), *today, lost);
    }
  }
}

void CompareServices(const pb::ServiceDescriptor& then, const pb::ServiceDescriptor& now,
                     Lost& lost) {
  const auto signature = [](const pb::MethodDescriptor& method) {
    return absl::StrCat(method.client_streaming(), method.input_type()->full_name(),
                        method.server_streaming(), method.output_type()->full_name());
  };
  for (int i = 0; i < then.method_count(); ++i) {
    const pb::MethodDescriptor* today = now.FindMethodByName(then.method(i)->name());
    if (today == nullptr || signature(*today) != signature(*then.method(i))) {
      lost.push_back(then.method(i)->full_name());
    }
  }
}

void CompareFiles(const pb::FileDescriptor& then, const pb::FileDescriptor* now, Lost& lost) {
  if (now == nullptr) return lost.push_back(then.name());
  for (int i = 0; i < then.message_type_count(); ++i) {
    const std::string name = NameToday(then.message_type(i)->full_name());
    const pb::Descriptor* today = now->FindMessageTypeByName(name.substr(name.rfind('.') + 1));
    if (today == nullptr) {
      lost.push_back(then.message_type(i)->full_name());
    } else {
      CompareMessages(*then.message_type(i), *today, lost);
    }
  }
  for (int i = 0; i < then.enum_type_count(); ++i) {
    const pb::EnumDescriptor* today = now->FindEnumTypeByName(then.enum_type(i)->name());
    if (today == nullptr) {
      lost.push_back(then.enum_type(i)->full_name());
    } else {
      CompareEnums(*then.enum_type(i), *today, lost);
    }
  }
  for (int i = 0; i < then.service_count(); ++i) {
    const pb::ServiceDescriptor* today = now->FindServiceByName(then.service(i)->name());
    if (today == nullptr) {
      lost.push_back(then.service(i)->full_name());
    } else {
      CompareServices(*then.service(i), *today, lost);
    }
  }
}

TEST(Schema, NothingThatPeersSpeakOrServersKeepIsLost) {
  const RecordedProtocol protocol("protocol_1");
  Lost lost;
  for (const pb::FileDescriptorProto& file : protocol.schema().file()) {
    CompareFiles(*protocol.pool().FindFileByName(file.name()), FileToday(file.name()), lost);
  }
  EXPECT_THAT(lost, IsEmpty()) << "older peers speak this; a field that is no longer used stays";
}

// That the comparison sees what it is for.
TEST(Schema, ComparisonSeesWhatIsLost) {
  const RecordedProtocol protocol("protocol_1");
  const auto compare = [&](const std::function<void(pb::FileDescriptorProto&)>& change) {
    pb::DescriptorPool pool;
    for (pb::FileDescriptorProto file : protocol.schema().file()) {
      if (absl::EndsWith(file.name(), "/job.proto")) change(file);
      EXPECT_NE(pool.BuildFile(file), nullptr);
    }
    const std::string name = "proto/slipway/v1/job.proto";
    Lost lost;
    CompareFiles(*protocol.pool().FindFileByName(name), pool.FindFileByName(name), lost);
    return lost;
  };
  const auto message = [](pb::FileDescriptorProto& file, const std::string& name) {
    for (pb::DescriptorProto& type : *file.mutable_message_type()) {
      if (type.name() == name) return &type;
    }
    return static_cast<pb::DescriptorProto*>(nullptr);
  };
  EXPECT_THAT(compare([](auto&) {}), IsEmpty());
  EXPECT_THAT(compare([&](auto& file) {
                auto& added = *message(file, "JobProgress")->add_field();
                added.set_name("added");
                added.set_number(99);
                added.set_type(pb::FieldDescriptorProto::TYPE_STRING);
                added.set_label(pb::FieldDescriptorProto::LABEL_OPTIONAL);
              }),
              IsEmpty());
  EXPECT_THAT(
      compare([&](auto& file) { message(file, "JobProgress")->mutable_field()->RemoveLast(); }),
      ElementsAre("int64 slipway.v1.JobProgress.total = 3"));
  EXPECT_THAT(
      compare([&](auto& file) { message(file, "JobProgress")->mutable_field(2)->set_number(4); }),
      ElementsAre("int64 slipway.v1.JobProgress.total = 3"));
  EXPECT_THAT(compare([&](auto& file) {
                message(file, "JobProgress")
                    ->mutable_field(1)
                    ->set_type(pb::FieldDescriptorProto::TYPE_SINT64);
              }),
              ElementsAre("int64 slipway.v1.JobProgress.done = 2"));
  EXPECT_THAT(compare([&](auto& file) {
                message(file, "Job")->mutable_enum_type(0)->mutable_value()->RemoveLast();
              }),
              ElementsAre("slipway.v1.Job.CANCELLED = 6"));
  EXPECT_THAT(compare([&](auto& file) { file.mutable_service(0)->mutable_method()->RemoveLast(); }),
              ElementsAre("slipway.v1.JobService.CancelJob"));
}

// People read the text, tests the bytes.
TEST(RecordedMessages, BytesAreWhatTheirTextSays) {
  const RecordedProtocol protocol("protocol_1");
  std::set<std::string> seen;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(protocol.folder())) {
    if (entry.path().extension() != ".textproto") continue;
    const std::string name =
        entry.path().lexically_relative(protocol.folder()).replace_extension().string();
    const absl::StatusOr<std::string> text = ReadFile(entry.path().string(), 1 << 20);
    ASSERT_TRUE(text.ok()) << text.status();
    EXPECT_EQ(protocol.Make(name.substr(name.find('.') + 1), *text), protocol.Bytes(name)) << name;
    seen.insert(name);
  }
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(protocol.folder())) {
    if (entry.path().extension() != ".binpb") continue;
    EXPECT_EQ(
        seen.count(entry.path().lexically_relative(protocol.folder()).replace_extension().string()),
        1u)
        << entry.path() << " has no text";
  }
}

}  // namespace
}  // namespace slipway::testing
