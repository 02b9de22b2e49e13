// Programs of the newest format on all of their way: the bytes of a .slip file, an artifact, the drivers for its
// devices, a run.
#include "core/runtime/test_programs/hand_written_programs.h"

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/artifact/slip_file.h"
#include "core/base/blob.h"
#include "core/runtime/drivers/null/null_driver.h"
#include "core/runtime/load_program.h"
#include "core/runtime/program.h"
#include "core/runtime/test_programs/test_programs.h"
#include "core/tensor/comparison.h"
#include "gmock/gmock.h"
#include "google/protobuf/message.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::testing::IsEmpty;

class HandWrittenProgramTest : public ::testing::TestWithParam<HandWrittenProgram> {
 protected:
  absl::StatusOr<std::string> Bytes() {
    ProgramBuilder builder = GetParam().builder;
    const absl::StatusOr<Artifact> artifact = builder.Build();
    if (!artifact.ok()) return artifact.status();
    return FormatSlip(*artifact);
  }
};

TEST_P(HandWrittenProgramTest, RunsFromBytes) {
  ASSERT_OK_AND_ASSIGN(const std::string bytes, Bytes());
  ASSERT_OK_AND_ASSIGN(const Artifact artifact, ParseSlip(Blob::Own(bytes)));
  EXPECT_EQ(artifact.manifest().proto().format_version(), 2u);
  Drivers drivers = AllDrivers();
  drivers.insert(drivers.begin(), MakeNullDriver());
  ASSERT_OK_AND_ASSIGN(auto devices, OpenDevices(artifact.manifest(), drivers));
  ASSERT_OK_AND_ASSIGN(const auto program, Program::Load(artifact, std::move(devices)));
  const ProgramSignature& signature = program->signature();
  ASSERT_EQ(signature.inputs.size(), GetParam().inputs.size());
  ASSERT_EQ(signature.outputs.size(), GetParam().outputs.size());
  const std::atomic<bool> never = false;
  for (const CallOptions& options :
       {CallOptions(), CallOptions{.profile = true}, CallOptions{.cancelled = &never}}) {
    ASSERT_OK_AND_ASSIGN(const auto context, program->NewContext({}));
    // Twice: nothing may hang on what memory held before.
    for (int run = 0; run < 2; ++run) {
      std::vector<Tensor> outputs(GetParam().outputs.size());
      ASSERT_OK(context->Run(GetParam().inputs, absl::MakeSpan(outputs), options));
      for (size_t i = 0; i < outputs.size(); ++i) {
        EXPECT_OK(CheckClose(outputs[i], GetParam().outputs[i], {})) << signature.outputs[i].name;
        EXPECT_TRUE(signature.outputs[i].type.Admits(outputs[i].type()));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, HandWrittenProgramTest, ::testing::ValuesIn(HandWrittenPrograms()),
                         [](const auto& info) { return info.param.name; });

// Adds the fields that `message` and what is in it set, and the enumerators that they are set to.
void AddUsed(const google::protobuf::Message& message, std::set<std::string>& used) {
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  reflection.ListFields(message, &fields);
  for (const google::protobuf::FieldDescriptor* field : fields) {
    used.insert(field->full_name());
    if (field->cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_ENUM) {
      if (!field->is_repeated()) used.insert(reflection.GetEnum(message, field)->full_name());
    } else if (field->cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE) {
      const int count = field->is_repeated() ? reflection.FieldSize(message, field) : 1;
      for (int i = 0; i < count; ++i) {
        AddUsed(field->is_repeated() ? reflection.GetRepeatedMessage(message, field, i)
                                     : reflection.GetMessage(message, field),
                used);
      }
    }
  }
}

// All fields of a message and of the messages in it, and the enumerators of those that are not used elsewhere.
void AddAll(const google::protobuf::Descriptor& type, std::set<std::string>& all) {
  for (int i = 0; i < type.field_count(); ++i) {
    const google::protobuf::FieldDescriptor& field = *type.field(i);
    all.insert(field.full_name());
    if (field.message_type() != nullptr) AddAll(*field.message_type(), all);
    if (field.enum_type() == nullptr || field.enum_type()->containing_type() == nullptr) continue;
    for (int j = 0; j < field.enum_type()->value_count(); ++j) {
      // The first one is never valid.
      if (j > 0) all.insert(field.enum_type()->value(j)->full_name());
    }
  }
}

// What no program runs has no place in the format.
TEST(HandWrittenPrograms, UseAllThatTheManifestCanSay) {
  std::set<std::string> missing;
  AddAll(*v1::Manifest::descriptor(), missing);
  std::set<std::string> used;
  for (HandWrittenProgram& program : HandWrittenPrograms()) {
    ASSERT_OK_AND_ASSIGN(const Artifact artifact, program.builder.Build());
    AddUsed(artifact.manifest().proto(), used);
  }
  AddUsed(TestProgramManifest(TestKernel::kAdd), used);
  for (const std::string& name : used) missing.erase(name);
  // For people, for features to come, and for programs that no runtime loads.
  for (const char* name :
       {"Manifest.required_features", "Manifest.tools", "Manifest.compile_key", "ToolVersion.name",
        "ToolVersion.version", "Step.operators", "Code.KIND_ELF_OBJECT"}) {
    missing.erase(absl::StrCat("slipway.v1.", name));
  }
  EXPECT_THAT(missing, IsEmpty());
}

}  // namespace
}  // namespace slipway
