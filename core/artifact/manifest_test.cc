#include "core/artifact/manifest.h"

#include <functional>
#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "core/artifact/checked_manifest.h"
#include "core/artifact/test_manifest.h"
#include "core/kernel_abi/kernel_abi.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Code = absl::StatusCode;

TEST(Manifest, RoundTrips) {
  const std::string bytes = SerializeManifest(TestManifest());
  ASSERT_OK_AND_ASSIGN(const CheckedManifest manifest, CheckedManifest::Parse(bytes));
  EXPECT_EQ(SerializeManifest(manifest.proto()), bytes);
  EXPECT_EQ(manifest.bytes(), bytes);
  EXPECT_EQ(manifest.digest(), Digest::Of(bytes));
}

TEST(Manifest, TellsWhatAProgramIs) {
  ASSERT_OK_AND_ASSIGN(const CheckedManifest manifest, CheckedManifest::Check(TestManifest()));
  const ProgramSignature& signature = manifest.signature();
  ASSERT_EQ(signature.inputs.size(), 1u);
  EXPECT_EQ(signature.inputs[0].name, "x");
  EXPECT_EQ(ToString(signature.inputs[0].type), "f32[2, 8]");
  ASSERT_EQ(signature.outputs.size(), 1u);
  EXPECT_EQ(signature.outputs[0].name, "y");
  EXPECT_EQ(manifest.entry().name(), "main");
  EXPECT_EQ(ToString(manifest.TypeOf(1)), "f32[8]");
  ASSERT_EQ(manifest.spaces().size(), 1u);
  EXPECT_EQ(manifest.spaces()[0].arena_bytes, 192);
  EXPECT_TRUE(manifest.spaces()[0].IsTouchedBy(0));
  EXPECT_FALSE(manifest.spaces()[0].IsTouchedBy(1));
  EXPECT_THAT(manifest.blobs(), ElementsAre(Digest::Of(TestCode()), Digest::Of(TestConstants())));
  EXPECT_EQ(manifest.artifact_bytes(),
            manifest.digest().size_bytes() +
                static_cast<int64_t>(TestCode().size() + TestConstants().size()));
}

TEST(Manifest, RefusesBytesThatAreNone) {
  EXPECT_THAT(CheckedManifest::Parse("\x01garbage"), StatusIs(Code::kInvalidArgument));
  EXPECT_THAT(CheckedManifest::Parse(""), StatusIs(Code::kInvalidArgument));
  ReaderLimits limits;
  limits.manifest_bytes = 10;
  EXPECT_THAT(CheckedManifest::Parse(SerializeManifest(TestManifest()), limits),
              StatusIs(Code::kResourceExhausted, HasSubstr("limit of 10")));
}

TEST(Manifest, RefusesUnknownFields) {
  // Field 99, varint 1; at the end, and within the first device.
  const std::string bytes = SerializeManifest(TestManifest());
  EXPECT_THAT(CheckedManifest::Parse(bytes + "\x98\x06\x01"),
              StatusIs(Code::kInvalidArgument, HasSubstr("number 99")));
  v1::Manifest manifest = TestManifest();
  ASSERT_TRUE(manifest.mutable_devices(0)->MergeFromString("\x98\x06\x01"));
  EXPECT_THAT(CheckedManifest::Parse(SerializeManifest(manifest)),
              StatusIs(Code::kInvalidArgument, HasSubstr("number 99")));
}

TEST(Manifest, RefusesOtherSpellings) {
  // The format version a second time.
  const std::string bytes = SerializeManifest(TestManifest());
  EXPECT_THAT(CheckedManifest::Parse(bytes + std::string("\x08\x01", 2)),
              StatusIs(Code::kInvalidArgument, HasSubstr("canonical")));
}

TEST(Manifest, ANewerFormatIsNamedBeforeItsUnknownFields) {
  v1::Manifest manifest = TestManifest();
  manifest.set_format_version(3);
  EXPECT_THAT(CheckedManifest::Parse(SerializeManifest(manifest) + "\x98\x06\x01"),
              StatusIs(Code::kUnimplemented, HasSubstr("format version 3 is newer")));
}

TEST(Manifest, ANewerKernelAbiIsForTheRuntimeToRefuse) {
  v1::Manifest manifest = TestManifest();
  manifest.set_min_reader_abi(SLIPWAY_ABI_VERSION + 1);
  EXPECT_OK(CheckedManifest::Check(manifest));
}

struct BadManifest {
  const char* name;
  std::function<void(v1::Manifest&)> change;
  Code code;
  const char* message;
};

void PrintTo(const BadManifest& bad, std::ostream* os) { *os << bad.name; }

class BadManifestTest : public ::testing::TestWithParam<BadManifest> {};

TEST_P(BadManifestTest, IsRefusedByName) {
  v1::Manifest manifest = TestManifest();
  GetParam().change(manifest);
  EXPECT_THAT(CheckedManifest::Check(manifest),
              StatusIs(GetParam().code, HasSubstr(GetParam().message)));
}

using M = v1::Manifest;

v1::Step& Add(M& m) { return *m.mutable_functions(0)->mutable_steps(0); }
v1::Step& CopyStep(M& m) { return *m.mutable_functions(0)->mutable_steps(1); }

const BadManifest kVersions[] = {
    {"NoFormat", [](M& m) { m.clear_format_version(); }, Code::kInvalidArgument,
     "format version is not set"},
    {"NoAbi", [](M& m) { m.clear_min_reader_abi(); }, Code::kInvalidArgument,
     "kernel ABI version is not set"},
    {"Feature", [](M& m) { m.add_required_features("warp"); }, Code::kUnimplemented,
     "required feature 'warp'"},
    {"LongName", [](M& m) { m.set_name(std::string(256, 'x')); }, Code::kInvalidArgument,
     "name has 256 bytes"},
    {"NoTarget", [](M& m) { m.clear_target(); }, Code::kInvalidArgument, "target"},
    {"OtherTarget", [](M& m) { m.set_target("arm-64-linux"); }, Code::kInvalidArgument,
     "device 0 is 'x86-64-linux'"},
    {"NoDevice", [](M& m) { m.clear_devices(); }, Code::kInvalidArgument,
     "names 1 devices, but the manifest has 0"},
    {"SecondDevice",
     [](M& m) {
       m.set_target("x86-64-linux,cuda-sm90");
       m.add_devices()->set_target("cuda-sm90");
     },
     Code::kInvalidArgument, "format version 1 has no such thing as several devices"},
    {"Symbol", [](M& m) { m.add_symbols()->set_name("batch"); }, Code::kInvalidArgument,
     "format version 1 has no such thing as symbols"},
    {"NoFunction", [](M& m) { m.clear_functions(); }, Code::kInvalidArgument,
     "entry function 0 does not exist"},
    {"TwoFunctions", [](M& m) { m.add_functions(); }, Code::kInvalidArgument, "several functions"},
    {"Entry", [](M& m) { m.set_entry(4000000000u); }, Code::kInvalidArgument,
     "entry function 4000000000 does not exist"},
    {"CompileKey", [](M& m) { m.set_compile_key("xyz"); }, Code::kInvalidArgument, "compile key"},
    {"Tools",
     [](M& m) {
       m.add_tools()->set_name("b");
       m.add_tools()->set_name("a");
     },
     Code::kInvalidArgument, "tools are not sorted"},
};

const BadManifest kTables[] = {
    {"CodeKind", [](M& m) { m.mutable_code(0)->clear_kind(); }, Code::kInvalidArgument,
     "code 0: kind is not set"},
    {"Ptx", [](M& m) { m.mutable_code(0)->set_kind(v1::Code::KIND_PTX); }, Code::kInvalidArgument,
     "code 0: a kind with entries"},
    {"NewKind", [](M& m) { m.mutable_code(0)->set_kind(static_cast<v1::Code::Kind>(9)); },
     Code::kUnimplemented, "code 0: kind 9"},
    {"CodeBlob", [](M& m) { m.mutable_code(0)->clear_blob(); }, Code::kInvalidArgument,
     "code 0: blob"},
    {"CodeDevice", [](M& m) { m.mutable_code(0)->set_device(1); }, Code::kInvalidArgument,
     "code 0: device 1"},
    {"Kernels", [](M& m) { m.mutable_code(0)->set_kernel_count(1u << 31); },
     Code::kResourceExhausted, "code 0: 2147483648 kernels"},
    {"ConstantAlignment", [](M& m) { m.mutable_constants(0)->set_offset(32); },
     Code::kInvalidArgument, "constant 0: offset 32"},
    {"ConstantNegative", [](M& m) { m.mutable_constants(0)->set_offset(-64); },
     Code::kInvalidArgument, "constant 0: offset -64"},
    {"ConstantOutside", [](M& m) { m.mutable_constants(0)->set_size_bytes(33); },
     Code::kInvalidArgument, "constant 0: bytes 64 + 33 are outside"},
    {"ConstantOverflow", [](M& m) { m.mutable_constants(0)->set_size_bytes(INT64_MAX); },
     Code::kInvalidArgument, "constant 0: bytes 64 + 9223372036854775807"},
    {"ConstantSizeNegative", [](M& m) { m.mutable_constants(0)->set_size_bytes(-1); },
     Code::kInvalidArgument, "constant 0"},
    {"BufferSpace", [](M& m) { m.mutable_buffers(2)->set_space(7); }, Code::kInvalidArgument,
     "buffer 2: space 7"},
    {"BufferExpression", [](M& m) { m.mutable_buffers(2)->mutable_size()->set_expression(0); },
     Code::kInvalidArgument, "buffer 2: a size that is an expression"},
    {"BufferNegative", [](M& m) { m.mutable_buffers(2)->mutable_size()->set_constant(-64); },
     Code::kInvalidArgument, "buffer 2: size -64"},
    {"BufferOddSize", [](M& m) { m.mutable_buffers(2)->mutable_size()->set_constant(65); },
     Code::kInvalidArgument, "buffer 2: arena offset 128 and size 65"},
    {"BufferOddOffset", [](M& m) { m.mutable_buffers(2)->set_arena_offset(129); },
     Code::kInvalidArgument, "buffer 2: arena offset 129"},
    {"ArenaOverflow",
     [](M& m) {
       m.mutable_buffers(2)->set_arena_offset(INT64_MAX - 63);
       m.mutable_buffers(2)->mutable_size()->set_constant(INT64_MAX - 63);
     },
     Code::kResourceExhausted, "buffer 2: ends at byte"},
    {"ExternalHuge", [](M& m) { m.mutable_buffers(0)->mutable_size()->set_constant(INT64_MAX); },
     Code::kResourceExhausted, "buffer 0: 9223372036854775807 bytes"},
    {"BufferConstant", [](M& m) { m.mutable_buffers(1)->set_constant(1); }, Code::kInvalidArgument,
     "buffer 1: constant 1 does not exist"},
    {"BufferConstantSize", [](M& m) { m.mutable_buffers(1)->mutable_size()->set_constant(33); },
     Code::kInvalidArgument, "buffer 1: size 33 is not that of constant 0"},
    {"BufferDynamic", [](M& m) { m.mutable_buffers(2)->set_class_(v1::Buffer::CLASS_DYNAMIC); },
     Code::kInvalidArgument, "buffer 2: a dynamic buffer"},
    {"BufferArenaOffset", [](M& m) { m.mutable_buffers(0)->set_arena_offset(64); },
     Code::kInvalidArgument, "buffer 0: has an arena offset, but is not static"},
    {"BufferIsNoConstant", [](M& m) { m.mutable_buffers(0)->set_constant(1); },
     Code::kInvalidArgument, "buffer 0: names a constant, but is none"},
    {"BufferClass", [](M& m) { m.mutable_buffers(0)->clear_class_(); }, Code::kInvalidArgument,
     "buffer 0: class is not set"},
    {"ElementType", [](M& m) { m.mutable_values(2)->clear_dtype(); }, Code::kInvalidArgument,
     "value 2: element type is not set"},
    {"Strings", [](M& m) { m.mutable_values(2)->set_dtype(v1::DATA_TYPE_STRING); },
     Code::kUnimplemented, "value 2: element type 'string'"},
    {"Complex", [](M& m) { m.mutable_values(2)->set_dtype(v1::DATA_TYPE_COMPLEX64); },
     Code::kUnimplemented, "value 2: element type 'c64'"},
    {"UnknownType", [](M& m) { m.mutable_values(2)->set_dtype(static_cast<v1::DataType>(77)); },
     Code::kInvalidArgument, "value 2"},
    {"Extent", [](M& m) { m.mutable_values(2)->mutable_shape(0)->set_value(-2); },
     Code::kInvalidArgument, "value 2"},
    {"SymbolicExtent", [](M& m) { m.mutable_values(2)->mutable_shape(0)->set_expression(0); },
     Code::kInvalidArgument, "value 2: a dimension that is an expression"},
    {"UnsetExtent", [](M& m) { m.mutable_values(2)->mutable_shape(0)->Clear(); },
     Code::kInvalidArgument, "value 2: a dimension is not set"},
    {"LargeValue", [](M& m) { m.mutable_values(2)->mutable_shape(0)->set_value(1 << 26); },
     Code::kUnimplemented, "value 2: has 2147483648 bytes"},
    {"HiddenStride",
     [](M& m) {
       m.mutable_values(2)->mutable_shape(0)->set_value(0);
       m.mutable_values(2)->add_shape()->set_value(0x7fffffff);
     },
     Code::kUnimplemented, "value 2: has strides"},
    {"Rank",
     [](M& m) {
       for (int i = 0; i < 15; ++i) {
         m.mutable_values(2)->add_shape()->set_value(1);
       }
     },
     Code::kInvalidArgument, "value 2: has 17 dimensions"},
    {"ValueBuffer", [](M& m) { m.mutable_values(2)->set_buffer(4); }, Code::kInvalidArgument,
     "value 2: buffer 4 does not exist"},
    {"ValueOutside", [](M& m) { m.mutable_values(2)->set_offset(64); }, Code::kInvalidArgument,
     "value 2: bytes 64 + 64 are outside"},
    {"ValueAlignment", [](M& m) { m.mutable_values(2)->set_offset(4); }, Code::kInvalidArgument,
     "value 2: offset 4"},
    {"ValueOffsetOverflow", [](M& m) { m.mutable_values(2)->set_offset(INT64_MAX - 63); },
     Code::kInvalidArgument, "value 2: bytes"},
};

const BadManifest kFunctions[] = {
    {"InputValue", [](M& m) { m.mutable_functions(0)->mutable_inputs(0)->set_value(99); },
     Code::kInvalidArgument, "input 'x': value 99 does not exist"},
    {"InputInArena", [](M& m) { m.mutable_functions(0)->mutable_inputs(0)->set_value(2); },
     Code::kInvalidArgument, "input 'x': value 2 does not begin an external"},
    {"BoundTwice",
     [](M& m) {
       v1::Binding& input = *m.mutable_functions(0)->add_inputs();
       input.set_name("z");
     },
     Code::kInvalidArgument, "input 'z': buffer 0 is bound to another"},
    {"NameTwice", [](M& m) { m.mutable_functions(0)->add_inputs()->set_name("x"); },
     Code::kInvalidArgument, "input 'x': its name is used twice"},
    {"LongBinding",
     [](M& m) { m.mutable_functions(0)->mutable_inputs(0)->set_name(std::string(1025, 'x')); },
     Code::kInvalidArgument, "more than 1024 bytes"},
    {"BindingSize", [](M& m) { m.mutable_buffers(0)->mutable_size()->set_constant(128); },
     Code::kInvalidArgument, "input 'x': value 0 does not fill"},
    {"Unbound",
     [](M& m) {
       v1::Buffer& buffer = *m.add_buffers();
       buffer.set_class_(v1::Buffer::CLASS_EXTERNAL);
     },
     Code::kInvalidArgument, "external buffer 4 is no input"},
    {"StepKind", [](M& m) { Add(m).clear_kind(); }, Code::kInvalidArgument,
     "step 0 'Add': kind is not set"},
    {"BindSymbols", [](M& m) { Add(m).mutable_bind_symbols(); }, Code::kInvalidArgument,
     "step 0: binding of symbols"},
    {"Branch", [](M& m) { Add(m).mutable_branch(); }, Code::kInvalidArgument, "step 0: a branch"},
    {"Loop", [](M& m) { Add(m).mutable_loop(); }, Code::kInvalidArgument, "step 0: a loop"},
    {"CodeIndex", [](M& m) { Add(m).mutable_kernel()->set_code(1); }, Code::kInvalidArgument,
     "code 1 does not exist"},
    {"KernelIndex", [](M& m) { Add(m).mutable_kernel()->set_kernel(1); }, Code::kInvalidArgument,
     "kernel 1 does not exist"},
    {"KernelInput", [](M& m) { Add(m).mutable_kernel()->set_inputs(0, 50); },
     Code::kInvalidArgument, "value 50 does not exist"},
    {"KernelOutput", [](M& m) { Add(m).mutable_kernel()->set_outputs(0, 50); },
     Code::kInvalidArgument, "value 50 does not exist"},
    {"NoOutput", [](M& m) { Add(m).mutable_kernel()->clear_outputs(); }, Code::kInvalidArgument,
     "writes nothing"},
    {"WritesConstant", [](M& m) { Add(m).mutable_kernel()->set_outputs(0, 1); },
     Code::kInvalidArgument, "value 1 is constant, but written"},
    {"WritesInput", [](M& m) { Add(m).mutable_kernel()->set_outputs(0, 0); },
     Code::kInvalidArgument, "value 0 is an input, but written"},
    {"ReadsUnwritten", [](M& m) { Add(m).mutable_kernel()->set_inputs(0, 2); },
     Code::kInvalidArgument, "value 2 is read, but has not been written"},
    {"SameOutputTwice", [](M& m) { Add(m).mutable_kernel()->add_outputs(2); },
     Code::kInvalidArgument, "value 2 overlaps another output"},
    {"OutputNotWritten", [](M& m) { m.mutable_functions(0)->mutable_steps()->RemoveLast(); },
     Code::kInvalidArgument, "output 'y': value 3 is read"},
    {"CopyTypes", [](M& m) { m.mutable_values(2)->set_dtype(v1::DATA_TYPE_INT32); },
     Code::kInvalidArgument, "step 1 'Identity': copies i32[2, 8] to f32"},
    {"CopyFrom", [](M& m) { CopyStep(m).mutable_copy()->set_from(44); }, Code::kInvalidArgument,
     "value 44 does not exist"},
    {"CopyTo", [](M& m) { CopyStep(m).mutable_copy()->set_to(44); }, Code::kInvalidArgument,
     "value 44 does not exist"},
    {"Queue", [](M& m) { Add(m).set_queue(1); }, Code::kInvalidArgument, "a queue above 0"},
    {"After", [](M& m) { CopyStep(m).add_after(1); }, Code::kInvalidArgument, "waits for step 1"},
    {"StepDevice", [](M& m) { Add(m).set_device(3); }, Code::kInvalidArgument, "device 3"},
    {"StepName", [](M& m) { Add(m).set_name(std::string(1025, 'x')); }, Code::kInvalidArgument,
     "more than 1024 bytes"},
    // Value 4 lies in a buffer that shares arena bytes with value 2's.
    {"WrittenOver",
     [](M& m) {
       v1::Buffer& buffer = *m.add_buffers();
       buffer.set_class_(v1::Buffer::CLASS_STATIC);
       buffer.set_arena_offset(64);
       buffer.mutable_size()->set_constant(128);
       *m.add_values() = m.values(2);
       m.mutable_values(4)->set_buffer(4);
       m.mutable_values(4)->set_offset(64);
       v1::Function& main = *m.mutable_functions(0);
       *main.add_steps() = main.steps(1);
       *main.mutable_steps(1) = main.steps(0);
       main.mutable_steps(1)->mutable_kernel()->set_outputs(0, 4);
     },
     Code::kInvalidArgument, "step 2 'Identity': value 2 is read"},
};

std::string NameOf(const ::testing::TestParamInfo<BadManifest>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Versions, BadManifestTest, ::testing::ValuesIn(kVersions), NameOf);
INSTANTIATE_TEST_SUITE_P(Tables, BadManifestTest, ::testing::ValuesIn(kTables), NameOf);
INSTANTIATE_TEST_SUITE_P(Functions, BadManifestTest, ::testing::ValuesIn(kFunctions), NameOf);

TEST(Manifest, ViewsOfABufferAreRead) {
  // Value 4 is value 2 as f32[16]: a reshape that moves nothing.
  v1::Manifest manifest = TestManifest();
  v1::Value& view = *manifest.add_values();
  view.set_dtype(v1::DATA_TYPE_FLOAT32);
  view.add_shape()->set_value(16);
  view.set_buffer(2);
  v1::Value& flat = *manifest.add_values();
  flat = view;
  flat.set_buffer(3);
  CopyStep(manifest).mutable_copy()->set_from(4);
  CopyStep(manifest).mutable_copy()->set_to(5);
  EXPECT_OK(CheckedManifest::Check(manifest));
}

TEST(Manifest, EmptyAndScalarTensorsAreFine) {
  v1::Manifest manifest = TestManifest();
  for (const int buffer : {0, 2, 3}) {
    manifest.mutable_buffers(buffer)->mutable_size()->set_constant(0);
  }
  for (const int value : {0, 2, 3}) {
    manifest.mutable_values(value)->mutable_shape(0)->set_value(0);
  }
  manifest.mutable_values(1)->clear_shape();
  EXPECT_OK(CheckedManifest::Check(manifest));
}

}  // namespace
}  // namespace slipway
