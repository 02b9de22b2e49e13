// What came with version 2 of the manifest: what is accepted of it, and what is refused, by name.
#include <algorithm>
#include <cmath>
#include <functional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "core/artifact/checked_manifest.h"
#include "core/artifact/expressions.h"
#include "core/artifact/format_version.h"
#include "core/artifact/limits.h"
#include "core/artifact/manifest.h"
#include "core/artifact/test_manifest.h"
#include "core/base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;
using Code = absl::StatusCode;
using M = v1::Manifest;

// Functions and steps of TestManifest2.
constexpr int kKeep = 0, kChange = 1, kBody = 2, kMain = 3, kOther = 4;
constexpr int kBind = 1, kFind = 2, kIf = 3, kLoop = 4, kUpload = 5, kScale = 6;
constexpr int kDownload = 7;

v1::Step& StepOf(M& m, int step) { return *m.mutable_functions(kMain)->mutable_steps(step); }
v1::Step::Loop& LoopOf(M& m) { return *StepOf(m, kLoop).mutable_loop(); }
v1::Step::If& IfOf(M& m) { return *StepOf(m, kIf).mutable_branch(); }
v1::Step::Launch& LaunchOf(M& m) { return *StepOf(m, kScale).mutable_kernel()->mutable_launch(); }
// The value that a function takes or gives.
uint32_t Input(const M& m, int function, int i) { return m.functions(function).inputs(i).value(); }
uint32_t Output(const M& m, int function, int i) {
  return m.functions(function).outputs(i).value();
}
v1::Value& ValueOf(M& m, uint32_t value) { return *m.mutable_values(static_cast<int>(value)); }
v1::Buffer& BufferOf(M& m, uint32_t value) {
  return *m.mutable_buffers(static_cast<int>(m.values(static_cast<int>(value)).buffer()));
}
v1::Expression::Operation& Compute(M& m, uint32_t left, v1::Expression::Operation::Kind kind,
                                   uint32_t right) {
  v1::Expression::Operation& operation = *m.add_expressions()->mutable_operation();
  operation.set_left(left);
  operation.set_kind(kind);
  operation.set_right(right);
  return operation;
}

TEST(Manifest2, IsFollowedAsAWhole) {
  ASSERT_OK_AND_ASSIGN(const CheckedManifest manifest, CheckedManifest::Check(TestManifest2()));
  EXPECT_OK(CheckedManifest::Parse(manifest.bytes()));
  const ProgramSignature& signature = manifest.signature();
  ASSERT_EQ(signature.inputs.size(), 3u);
  EXPECT_EQ(ToString(signature.inputs[0].type), "f32[batch, 8]");
  EXPECT_EQ(signature.inputs[0].type.extents[0].min, 1);
  EXPECT_EQ(signature.inputs[0].type.extents[0].max, 16);
  ASSERT_EQ(signature.outputs.size(), 4u);
  EXPECT_EQ(ToString(signature.outputs[2].type), "f32[count, 8]");
  EXPECT_EQ(manifest.SignatureOf(kOther).inputs[0].name, "a");
  ASSERT_EQ(manifest.spaces().size(), 3u);
  EXPECT_EQ(manifest.spaces()[0].arena_bytes, 512);
  EXPECT_EQ(manifest.spaces()[1].arena_bytes, 512);
  EXPECT_EQ(manifest.spaces()[2].arena_bytes, 0);
  EXPECT_TRUE(manifest.spaces()[2].IsTouchedBy(2));
  EXPECT_FALSE(manifest.spaces()[1].IsTouchedBy(0));
}

TEST(Manifest2, IsRecorded) {
  ASSERT_OK_AND_ASSIGN(const std::string recorded,
                       ReadFile("tests/testdata/artifact/version_2.manifest", 1 << 20));
  EXPECT_OK(CheckedManifest::Parse(recorded));
}

TEST(Manifest2, WritersStateTheLowestVersion) {
  EXPECT_EQ(LowestFormatVersion(TestManifest()), 1u);
  EXPECT_EQ(LowestFormatVersion(TestManifest2()), 2u);
  M manifest = TestManifest();
  manifest.set_format_version(2);
  EXPECT_THAT(CheckedManifest::Check(manifest),
              StatusIs(Code::kInvalidArgument, HasSubstr("but 1 has all that is used")));
}

// Everything of version 2 is refused by name where version 1 is stated.
TEST(Manifest2, Version1HasNothingOfIt) {
  const auto first_use = [](const std::function<void(M&)>& change) {
    M manifest = TestManifest();
    change(manifest);
    EXPECT_THAT(CheckedManifest::Check(manifest),
                StatusIs(Code::kInvalidArgument, HasSubstr("format version 1 has no such thing")));
    return FirstUseOfVersion2(manifest);
  };
  const auto step = [](M& m) -> v1::Step& { return *m.mutable_functions(0)->mutable_steps(0); };
  EXPECT_EQ(first_use([](M& m) { m.add_symbols(); }), "symbols");
  EXPECT_EQ(first_use([](M& m) { m.add_expressions(); }), "expressions");
  EXPECT_EQ(first_use([](M& m) { m.add_spaces(); }), "memory spaces");
  EXPECT_EQ(first_use([](M& m) { m.add_more_entries(0); }), "further entries");
  EXPECT_EQ(first_use([](M& m) { m.add_devices(); }), "several devices");
  EXPECT_EQ(first_use([](M& m) { m.add_functions(); }), "several functions");
  EXPECT_EQ(first_use([](M& m) { m.mutable_code(0)->add_entries("f"); }), "code 0: entries");
  EXPECT_EQ(first_use([](M& m) { m.mutable_code(0)->set_kind(v1::Code::KIND_PTX); }),
            "code 0: a kind with entries");
  EXPECT_EQ(first_use([](M& m) { m.mutable_buffers(2)->set_class_(v1::Buffer::CLASS_DYNAMIC); }),
            "buffer 2: a dynamic buffer");
  EXPECT_EQ(first_use([](M& m) { m.mutable_buffers(0)->mutable_size()->set_expression(0); }),
            "buffer 0: a size that is an expression");
  EXPECT_EQ(first_use([](M& m) { m.mutable_values(1)->mutable_shape(0)->set_expression(0); }),
            "value 1: a dimension that is an expression");
  EXPECT_EQ(first_use([](M& m) { m.mutable_functions(0)->add_constraints(); }), "constraints");
  EXPECT_EQ(first_use([&](M& m) { step(m).set_queue(1); }), "step 0: a queue above 0");
  EXPECT_EQ(first_use([&](M& m) { step(m).mutable_kernel()->mutable_launch(); }),
            "step 0: a launch");
  EXPECT_EQ(first_use([&](M& m) { step(m).mutable_bind_symbols(); }), "step 0: binding of symbols");
  EXPECT_EQ(first_use([&](M& m) { step(m).mutable_branch(); }), "step 0: a branch");
  EXPECT_EQ(first_use([&](M& m) { step(m).mutable_loop(); }), "step 0: a loop");
}

struct BadManifest {
  const char* name;
  std::function<void(M&)> change;
  Code code;
  const char* message;
};

void PrintTo(const BadManifest& bad, std::ostream* os) { *os << bad.name; }

class BadManifest2Test : public ::testing::TestWithParam<BadManifest> {};

TEST_P(BadManifest2Test, IsRefusedByName) {
  M manifest = TestManifest2();
  GetParam().change(manifest);
  EXPECT_THAT(CheckedManifest::Check(manifest),
              StatusIs(GetParam().code, HasSubstr(GetParam().message)));
}

const BadManifest kExpressions[] = {
    {"SymbolBounds", [](M& m) { m.mutable_symbols(0)->set_min(17); }, Code::kInvalidArgument,
     "symbol 0 'batch': its bounds 17 and 16"},
    {"SymbolNegative", [](M& m) { m.mutable_symbols(0)->set_min(-1); }, Code::kInvalidArgument,
     "symbol 0 'batch': its bounds -1"},
    {"SymbolLarge", [](M& m) { m.mutable_symbols(0)->set_max(int64_t{1} << 31); },
     Code::kInvalidArgument, "symbol 0 'batch': its bounds"},
    {"SymbolName", [](M& m) { m.mutable_symbols(0)->set_name(std::string(256, 'n')); },
     Code::kInvalidArgument, "its name has 256 bytes"},
    {"Unset", [](M& m) { m.add_expressions(); }, Code::kInvalidArgument, "is not set"},
    {"NoOperation", [](M& m) { Compute(m, 0, v1::Expression::Operation::KIND_UNSPECIFIED, 0); },
     Code::kInvalidArgument, "operation is not set"},
    {"NewOperation",
     [](M& m) { Compute(m, 0, static_cast<v1::Expression::Operation::Kind>(99), 0); },
     Code::kUnimplemented, "operation 99 is unknown"},
    {"NoSymbol", [](M& m) { m.add_expressions()->set_symbol(3); }, Code::kInvalidArgument,
     "symbol 3 does not exist"},
    {"Forward", [](M& m) { Compute(m, 4000000000u, v1::Expression::Operation::ADD, 0); },
     Code::kInvalidArgument, "names expression 4000000000, which does not come before it"},
    {"OfItself",
     [](M& m) {
       Compute(m, 0, v1::Expression::Operation::ADD, static_cast<uint32_t>(m.expressions_size()));
     },
     Code::kInvalidArgument, "which does not come before it"},
    {"DivisionByZero",
     [](M& m) {
       m.mutable_symbols(1)->set_min(0);
       Compute(m, 0, v1::Expression::Operation::FLOOR_DIVIDE, 1);
     },
     Code::kInvalidArgument, "floor(batch / count) divides by what can be 0"},
    {"TooManySymbols",
     [](M& m) {
       uint32_t sum = 0;
       for (int i = 0; i < 16; ++i) {
         m.add_symbols()->set_max(1);
         m.add_expressions()->set_symbol(static_cast<uint32_t>(m.symbols_size() - 1));
         const auto last = static_cast<uint32_t>(m.expressions_size() - 1);
         Compute(m, sum, v1::Expression::Operation::ADD, last);
         sum = last + 1;
       }
     },
     Code::kResourceExhausted, "is computed from 17 symbols, more than the limit of 16"},
    {"Dimension", [](M& m) { ValueOf(m, Input(m, kMain, 0)).mutable_shape(0)->set_expression(99); },
     Code::kInvalidArgument, "expression 99 does not exist"},
    {"DimensionNegative",
     [](M& m) {
       m.add_expressions()->set_constant(-1);
       ValueOf(m, Input(m, kMain, 0)).mutable_shape(0)->set_expression(m.expressions_size() - 1);
     },
     Code::kInvalidArgument, "extent '-1' is -1 to -1"},
    {"SizeTwice", [](M& m) { BufferOf(m, Input(m, kMain, 0)).mutable_size()->set_constant(512); },
     Code::kInvalidArgument, "size: is both a constant and an expression"},
    {"SizeNoExpression",
     [](M& m) { BufferOf(m, Input(m, kMain, 0)).mutable_size()->set_expression(99); },
     Code::kInvalidArgument, "size: expression 99 does not exist"},
    {"SizeNegative",
     [](M& m) {
       m.add_expressions()->set_constant(-64);
       BufferOf(m, Input(m, kMain, 0)).mutable_size()->set_expression(m.expressions_size() - 1);
     },
     Code::kInvalidArgument, "size -64 is negative"},
    {"StaticExpression",
     [](M& m) {
       v1::Size& size = *BufferOf(m, Output(m, kChange, 0)).mutable_size();
       size.clear_constant();
       size.set_expression(9);
     },
     Code::kInvalidArgument, "its size is an expression, but it is neither dynamic nor external"},
    {"StaticTooSmall", [](M& m) { m.mutable_symbols(0)->set_max(17); }, Code::kInvalidArgument,
     "bytes 0 + 544 are outside of buffer"},
    {"NeverFills",
     [](M& m) {
       BufferOf(m, Input(m, kMain, 0)).mutable_size()->clear_expression();
       BufferOf(m, Input(m, kMain, 0)).mutable_size()->set_constant(512);
     },
     Code::kInvalidArgument, "does not fill its external buffer of 512 bytes"},
    {"DynamicHuge",
     [](M& m) {
       v1::Size& size = *BufferOf(m, Output(m, kMain, 2)).mutable_size();
       size.clear_expression();
       size.set_constant(INT64_MAX);
     },
     Code::kResourceExhausted, "bytes in a dynamic buffer"},
};

// A constraint of the main function: two expressions are the same number.
void AddEquality(M& m, uint32_t left, uint32_t right) {
  v1::Constraint::Equality& equality = *m.mutable_functions(kMain)->add_constraints()->add_any_of();
  equality.set_left(left);
  equality.set_right(right);
}

TEST(Manifest2, ConstraintsAreOfTheFunctionsSymbols) {
  M manifest = TestManifest2();
  AddEquality(manifest, 0, 1);
  EXPECT_OK(CheckedManifest::Check(manifest));
}

const BadManifest kConstraints[] = {
    {"Nothing", [](M& m) { m.mutable_functions(kMain)->add_constraints(); }, Code::kInvalidArgument,
     "constraint 0: it has no equality"},
    {"NoSuchExpression", [](M& m) { AddEquality(m, 0, 99); }, Code::kInvalidArgument,
     "constraint 0: expression 99 does not exist"},
    {"OfAnotherFunction",
     [](M& m) {
       AddEquality(m, 0, 0);
       *m.mutable_functions(kOther)->add_constraints() = m.functions(kMain).constraints(0);
     },
     Code::kInvalidArgument, "constraint 0: symbol 0 'batch' belongs to function 3"},
    {"NeverKnown",
     [](M& m) {
       m.add_symbols()->set_name("lost");
       m.add_expressions()->set_symbol(static_cast<uint32_t>(m.symbols_size() - 1));
       AddEquality(m, 0, static_cast<uint32_t>(m.expressions_size() - 1));
     },
     Code::kInvalidArgument, "'lost', which has no value yet"},
    {"TooManyEqualities",
     [](M& m) {
       AddEquality(m, 0, 0);
       v1::Constraint& constraint = *m.mutable_functions(kMain)->mutable_constraints(0);
       while (constraint.any_of_size() < 9) *constraint.add_any_of() = constraint.any_of(0);
     },
     Code::kResourceExhausted, "equalities"},
    {"User",
     [](M& m) {
       AddEquality(m, 0, 0);
       m.mutable_functions(kMain)->mutable_constraints(0)->set_user(std::string(2000, 'n'));
     },
     Code::kInvalidArgument, "its user's name"},
};

const BadManifest kSymbols[] = {
    {"Unbound", [](M& m) { StepOf(m, kBind).mutable_bind_symbols()->set_symbols(0, 0); },
     Code::kInvalidArgument, "symbol 0 'batch' has its value already"},
    {"UsedTooEarly",
     [](M& m) { m.mutable_functions(kMain)->mutable_steps()->SwapElements(kBind, kFind); },
     Code::kInvalidArgument, "needs symbol 1 'count', which has no value yet"},
    {"NoSuchSymbol", [](M& m) { StepOf(m, kBind).mutable_bind_symbols()->set_symbols(0, 9); },
     Code::kInvalidArgument, "symbol 9 does not exist"},
    {"Nothing", [](M& m) { StepOf(m, kBind).mutable_bind_symbols()->clear_symbols(); },
     Code::kInvalidArgument, "binds nothing"},
    {"Elements", [](M& m) { StepOf(m, kBind).mutable_bind_symbols()->add_symbols(2); },
     Code::kInvalidArgument, "is i64[1], not 2 of i64"},
    {"ElementType",
     [](M& m) {
       const uint32_t value = StepOf(m, kBind).bind_symbols().value();
       ValueOf(m, value).set_dtype(v1::DATA_TYPE_UINT64);
     },
     Code::kInvalidArgument, "is u64[1], not 1 of i64"},
    {"OnTheDevice", [](M& m) { BufferOf(m, StepOf(m, kBind).bind_symbols().value()).set_space(1); },
     Code::kInvalidArgument, "lies in space 1, which device 0 does not touch"},
    {"OfAnotherFunction",
     [](M& m) {
       ValueOf(m, Output(m, kChange, 0)).mutable_shape(0)->set_expression(0);
       BufferOf(m, Output(m, kChange, 0)).mutable_size()->set_constant(64);
     },
     Code::kInvalidArgument, "needs symbol 0 'batch', which has no value yet"},
    {"InputUnknown",
     [](M& m) { ValueOf(m, Input(m, kMain, 0)).mutable_shape(0)->set_expression(13); },
     Code::kInvalidArgument, "input 'x': value"},
    {"OutputFoundOutInExternal",
     [](M& m) {
       const uint32_t found = Output(m, kMain, 2);
       BufferOf(m, found).set_class_(v1::Buffer::CLASS_EXTERNAL);
     },
     Code::kInvalidArgument, "lies in an external buffer, but its size is found out by a step"},
    {"OutputKnownInDynamic",
     [](M& m) {
       m.mutable_functions(kMain)->mutable_outputs(2)->set_value(
           StepOf(m, kDownload).copy().from());
     },
     Code::kInvalidArgument, "does not begin an external buffer"},
    {"CopyOfAnotherExtent",
     [](M& m) { StepOf(m, kDownload).mutable_copy()->set_from(Output(m, kMain, 2)); },
     Code::kInvalidArgument, "copies f32[count, 8] to f32[batch, 8]"},
};

const BadManifest kCalls[] = {
    {"CallsItself", [](M& m) { IfOf(m).set_then_function(kMain); }, Code::kInvalidArgument,
     "step 3 'If': calls function 3, which does not come before function 3"},
    {"CallsALaterOne", [](M& m) { LoopOf(m).set_body(kOther); }, Code::kInvalidArgument,
     "calls function 4, which does not come before"},
    {"CallsNothing", [](M& m) { IfOf(m).set_else_function(4000000000u); }, Code::kInvalidArgument,
     "calls function 4000000000"},
    {"CallsAnEntry",
     [](M& m) {
       v1::Buffer& buffer = BufferOf(m, Output(m, kChange, 0));
       buffer.set_class_(v1::Buffer::CLASS_EXTERNAL);
       buffer.mutable_size()->set_constant(32);
       m.set_more_entries(0, kChange);
       m.add_more_entries(kOther);
     },
     Code::kInvalidArgument, "calls function 1, which is an entry"},
    {"EntriesOrder", [](M& m) { m.add_more_entries(4); }, Code::kInvalidArgument,
     "further entries are not ascending"},
    {"EntryTwice", [](M& m) { m.set_more_entries(0, kMain); }, Code::kInvalidArgument,
     "name the entry again"},
    {"EntryMissing", [](M& m) { m.set_more_entries(0, 5); }, Code::kInvalidArgument,
     "entry function 5 does not exist"},
    {"IfInputs", [](M& m) { IfOf(m).add_inputs(IfOf(m).inputs(0)); }, Code::kInvalidArgument,
     "has 2 inputs, but function 0 has 1"},
    {"IfOutputs", [](M& m) { IfOf(m).clear_outputs(); }, Code::kInvalidArgument,
     "has 0 outputs, but function 0 has 1"},
    {"IfCondition", [](M& m) { IfOf(m).set_condition(IfOf(m).inputs(0)); }, Code::kInvalidArgument,
     "the condition: value"},
    {"IfInputType", [](M& m) { ValueOf(m, Input(m, kChange, 0)).set_dtype(v1::DATA_TYPE_INT32); },
     Code::kInvalidArgument, "but 'a' is i32[8]"},
    {"IfInputRank", [](M& m) { IfOf(m).set_inputs(0, Input(m, kMain, 0)); }, Code::kInvalidArgument,
     "is f32[batch, 8], but 'a' is f32[8]"},
    {"IfOutputType", [](M& m) { ValueOf(m, IfOf(m).outputs(0)).set_dtype(v1::DATA_TYPE_INT32); },
     Code::kInvalidArgument, "is i32[8], but 'a' is f32[8]"},
    {"IfInputSpace", [](M& m) { BufferOf(m, Input(m, kKeep, 0)).set_space(2); },
     Code::kInvalidArgument, "lies in space 0, but 'a' in space 2"},
    {"ResultInTheCalleesArena", [](M& m) { BufferOf(m, IfOf(m).outputs(0)).set_arena_offset(0); },
     Code::kInvalidArgument, "lies in the part of the arena that the function uses"},
    {"ReadAfterTheCallTookIt",
     [](M& m) {
       // What "Count" wrote, where "change" works, is read again by the copy after the branch.
       const uint32_t counts = StepOf(m, kBind).bind_symbols().value();
       BufferOf(m, counts).set_arena_offset(0);
       StepOf(m, kFind).mutable_kernel()->add_inputs(counts);
       m.mutable_functions(kMain)->mutable_steps()->SwapElements(kFind, kIf);
     },
     Code::kInvalidArgument, "step 3 'Find': value"},
    {"ResultOverArgument",
     [](M& m) {
       v1::Step& copy = *m.mutable_functions(kMain)->add_steps();
       copy.mutable_copy()->set_from(IfOf(m).inputs(0));
       copy.mutable_copy()->set_to(IfOf(m).outputs(0));
       copy.set_name("Before");
       for (int i = m.functions(kMain).steps_size() - 1; i > kIf; --i) {
         m.mutable_functions(kMain)->mutable_steps()->SwapElements(i, i - 1);
       }
       v1::Step::If& branch = *StepOf(m, kIf + 1).mutable_branch();
       branch.set_inputs(0, branch.outputs(0));
     },
     Code::kInvalidArgument, "overlaps an input of the step"},
    {"NotOnTheHost", [](M& m) { StepOf(m, kIf).set_device(1); }, Code::kInvalidArgument,
     "runs on the host alone"},
    {"NotInQueue0", [](M& m) { StepOf(m, kLoop).set_queue(1); }, Code::kInvalidArgument,
     "runs on the host alone"},
    {"BufferOfAnotherFunction",
     [](M& m) { StepOf(m, kFind).mutable_kernel()->add_inputs(Input(m, kChange, 0)); },
     Code::kInvalidArgument, "which belongs to function 1"},
};

const BadManifest kLoops[] = {
    {"Inputs", [](M& m) { LoopOf(m).clear_captured(); }, Code::kInvalidArgument,
     "has 3 inputs with the turn, but function 2 has 4"},
    {"Outputs", [](M& m) { LoopOf(m).clear_collected(); }, Code::kInvalidArgument,
     "has 2 outputs, but function 2 has 3"},
    {"Results", [](M& m) { LoopOf(m).clear_results(); }, Code::kInvalidArgument,
     "begins with 1 carried values, but ends with 0"},
    {"Turn", [](M& m) { ValueOf(m, Input(m, kBody, 0)).set_dtype(v1::DATA_TYPE_UINT64); },
     Code::kInvalidArgument, "the turn: value"},
    {"BodyCondition", [](M& m) { ValueOf(m, Output(m, kBody, 0)).set_dtype(v1::DATA_TYPE_UINT8); },
     Code::kInvalidArgument, "the condition: value"},
    {"MaxTurns", [](M& m) { LoopOf(m).set_max_turns(Input(m, kMain, 1)); }, Code::kInvalidArgument,
     "the number of turns: value"},
    {"FirstConditionAlone",
     [](M& m) {
       LoopOf(m).set_has_condition(false);
       m.mutable_functions(kBody)->mutable_outputs()->DeleteSubrange(0, 1);
     },
     Code::kInvalidArgument, "has a first condition, but its body gives none"},
    {"FirstConditionType", [](M& m) { LoopOf(m).set_first_condition(Input(m, kMain, 2)); },
     Code::kInvalidArgument, "the first condition: value"},
    {"WithoutEnd",
     [](M& m) {
       v1::Step::Loop& loop = LoopOf(m);
       loop.clear_max_turns();
       loop.clear_first_condition();
       loop.set_has_condition(false);
       loop.clear_scanned();
       m.mutable_functions(kBody)->mutable_outputs()->DeleteSubrange(0, 1);
       loop.add_captured(loop.captured(0));
     },
     Code::kInvalidArgument, "nothing ends it"},
    {"CarriedType",
     [](M& m) { m.mutable_functions(kBody)->mutable_outputs(1)->set_value(Output(m, kBody, 0)); },
     Code::kInvalidArgument, "but 'next' is bool[]"},
    {"CarriedChanges",
     [](M& m) {
       // Comes back longer than the next turn takes it, into a result that would take both.
       ValueOf(m, Output(m, kBody, 1)).mutable_shape(0)->set_value(16);
       ValueOf(m, LoopOf(m).results(0)).mutable_shape(0)->set_value(16);
       BufferOf(m, LoopOf(m).results(0)).mutable_size()->set_constant(64);
     },
     Code::kInvalidArgument, "carried value 0: value"},
    {"ScannedRank", [](M& m) { LoopOf(m).set_scanned(0, LoopOf(m).captured(0)); },
     Code::kInvalidArgument, "of which slices are matched"},
    {"CapturedType", [](M& m) { ValueOf(m, Input(m, kBody, 3)).set_dtype(v1::DATA_TYPE_INT32); },
     Code::kInvalidArgument, "but 'captured' is i32[8]"},
    {"CollectedStatic",
     [](M& m) {
       v1::Buffer& buffer = BufferOf(m, LoopOf(m).collected(0));
       buffer.set_class_(v1::Buffer::CLASS_STATIC);
       buffer.mutable_size()->clear_expression();
       buffer.mutable_size()->set_constant(512);
       buffer.set_arena_offset(256);
     },
     Code::kInvalidArgument, "but lies in no dynamic buffer"},
    {"TurnsTwice", [](M& m) { LoopOf(m).set_turns(1); }, Code::kInvalidArgument,
     "symbol 1 'count' has its value already"},
    {"TurnsMissing", [](M& m) { LoopOf(m).set_turns(77); }, Code::kInvalidArgument,
     "symbol 77 does not exist"},
};

const BadManifest kDevices[] = {
    {"GpuFirst",
     [](M& m) {
       m.set_target("cuda-sm90");
       m.mutable_devices()->DeleteSubrange(0, 1);
       m.mutable_devices()->RemoveLast();
     },
     Code::kInvalidArgument, "must name one CPU and then its GPUs"},
    {"SpaceDevice", [](M& m) { m.mutable_spaces(0)->set_device(3); }, Code::kInvalidArgument,
     "space 0: device 3 does not exist"},
    {"SpaceSharedDevice", [](M& m) { m.mutable_spaces(2)->set_shared_with(0, 9); },
     Code::kInvalidArgument, "space 2: device 9 does not exist"},
    {"SpaceSharedWithItself", [](M& m) { m.mutable_spaces(2)->set_shared_with(0, 0); },
     Code::kInvalidArgument, "space 2: is shared with the device that it belongs to"},
    {"SpaceSharedOrder", [](M& m) { m.mutable_spaces(2)->add_shared_with(1); },
     Code::kInvalidArgument, "space 2: the devices it is shared with are not ascending"},
    {"Spaces",
     [](M& m) {
       for (int i = 0; i < 64; ++i) m.add_spaces();
     },
     Code::kResourceExhausted, "67 memory spaces"},
    {"CodeForAnother", [](M& m) { m.mutable_code(1)->set_device(2); }, Code::kInvalidArgument,
     "code 1: kind KIND_PTX is nothing for 'opencl'"},
    {"NoEntries", [](M& m) { m.mutable_code(1)->clear_entries(); }, Code::kInvalidArgument,
     "code 1: has 0 entries, but 1 kernels"},
    {"EntryName", [](M& m) { m.mutable_code(1)->set_entries(0, "3d"); }, Code::kInvalidArgument,
     "code 1: entry '3d' is no C identifier"},
    {"EntryNameTwice",
     [](M& m) {
       m.mutable_code(1)->set_kernel_count(2);
       m.mutable_code(1)->add_entries("scale_rows");
     },
     Code::kInvalidArgument, "code 1: has entry 'scale_rows' twice"},
    {"EntryNameLong", [](M& m) { m.mutable_code(1)->set_entries(0, std::string(256, 'e')); },
     Code::kInvalidArgument, "the name of an entry has 256 bytes"},
    {"EntriesOfElf", [](M& m) { m.mutable_code(0)->add_entries("f"); }, Code::kInvalidArgument,
     "code 0: has entries beside a table"},
    {"NoLaunch", [](M& m) { StepOf(m, kScale).mutable_kernel()->clear_launch(); },
     Code::kInvalidArgument, "has no launch sizes for an entry"},
    {"LaunchOfElf", [](M& m) { StepOf(m, kFind).mutable_kernel()->mutable_launch(); },
     Code::kInvalidArgument, "has launch sizes for code without entries"},
    {"LaunchAxes", [](M& m) { LaunchOf(m).mutable_groups()->RemoveLast(); }, Code::kInvalidArgument,
     "along x, y and z"},
    {"LaunchNoGroups", [](M& m) { LaunchOf(m).mutable_groups(1)->set_constant(0); },
     Code::kInvalidArgument, "a launch has 0 to 0 groups"},
    {"LaunchUnknownGroups", [](M& m) { LaunchOf(m).mutable_groups(0)->set_expression(99); },
     Code::kInvalidArgument, "groups: expression 99 does not exist"},
    {"LaunchGroup", [](M& m) { LaunchOf(m).set_group(1, 0); }, Code::kInvalidArgument,
     "a launch has 0 instances"},
    {"LaunchGroupOverflow",
     [](M& m) {
       for (int i = 0; i < 3; ++i) LaunchOf(m).set_group(i, 0x7fffffff);
     },
     Code::kInvalidArgument, "a launch has 2147483647 instances"},
    {"LaunchShared", [](M& m) { LaunchOf(m).set_shared_bytes(-1); }, Code::kInvalidArgument,
     "a launch has -1 bytes"},
    {"TouchesAnothersSpace",
     [](M& m) { StepOf(m, kScale).mutable_kernel()->set_inputs(1, Input(m, kMain, 0)); },
     Code::kInvalidArgument, "lies in space 0, which device 1 does not touch"},
    {"CopyByAThird", [](M& m) { StepOf(m, kUpload).set_device(2); }, Code::kInvalidArgument,
     "which device 2 does not touch"},
    {"Queue", [](M& m) { StepOf(m, kUpload).set_queue(16); }, Code::kInvalidArgument,
     "queue 16 does not exist"},
    {"NotWaitedFor", [](M& m) { StepOf(m, kScale).clear_after(); }, Code::kInvalidArgument,
     "step 6 'Scale': value"},
    {"AfterOrder", [](M& m) { StepOf(m, kScale).add_after(5); }, Code::kInvalidArgument,
     "the steps it waits for are not ascending"},
    {"WrittenWhileRead",
     [](M& m) {
       // Overwrites what "Scale" still reads, in a queue that waits for the upload alone.
       v1::Step& again = *m.mutable_functions(kMain)->add_steps();
       again = StepOf(m, kUpload);
       again.set_name("Again");
       again.set_queue(2);
       again.add_after(5);
     },
     Code::kInvalidArgument, "'Again': value"},
};

std::string NameOf(const ::testing::TestParamInfo<BadManifest>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Expressions, BadManifest2Test, ::testing::ValuesIn(kExpressions), NameOf);
INSTANTIATE_TEST_SUITE_P(Constraints, BadManifest2Test, ::testing::ValuesIn(kConstraints), NameOf);
INSTANTIATE_TEST_SUITE_P(Symbols, BadManifest2Test, ::testing::ValuesIn(kSymbols), NameOf);
INSTANTIATE_TEST_SUITE_P(Calls, BadManifest2Test, ::testing::ValuesIn(kCalls), NameOf);
INSTANTIATE_TEST_SUITE_P(Loops, BadManifest2Test, ::testing::ValuesIn(kLoops), NameOf);
INSTANTIATE_TEST_SUITE_P(Devices, BadManifest2Test, ::testing::ValuesIn(kDevices), NameOf);

TEST(Manifest2, QueuesThatWaitForEachOtherAreFine) {
  M manifest = TestManifest2();
  v1::Step& again = *manifest.mutable_functions(kMain)->add_steps();
  again = StepOf(manifest, kUpload);
  again.set_queue(2);
  again.add_after(kScale);
  EXPECT_OK(CheckedManifest::Check(manifest));
}

TEST(Manifest2, PartsOfADynamicBufferMayBeUsedTogether) {
  // "Find" reads what it wrote before at offset 0, and writes one row far behind all of it.
  M manifest = TestManifest2();
  const uint32_t found = Output(manifest, kMain, 2);
  *manifest.add_values() = ValueOf(manifest, found);
  const auto row = static_cast<uint32_t>(manifest.values_size() - 1);
  ValueOf(manifest, row).mutable_shape(0)->clear_expression();
  ValueOf(manifest, row).mutable_shape(0)->set_value(1);
  ValueOf(manifest, row).set_offset(3136);
  BufferOf(manifest, found).mutable_size()->clear_expression();
  BufferOf(manifest, found).mutable_size()->set_constant(3200);
  v1::Step& again = *manifest.mutable_functions(kMain)->add_steps();
  again = StepOf(manifest, kFind);
  again.mutable_kernel()->set_inputs(0, found);
  again.mutable_kernel()->set_outputs(0, row);
  // 100 rows of 32 bytes may reach over it.
  EXPECT_THAT(CheckedManifest::Check(manifest),
              StatusIs(Code::kInvalidArgument, HasSubstr("overlaps a part of an input")));
  ValueOf(manifest, row).set_offset(3200);
  BufferOf(manifest, found).mutable_size()->set_constant(3264);
  EXPECT_OK(CheckedManifest::Check(manifest));
}

TEST(Manifest2, WhatACalleeCallsIsAPartOfItsArena) {
  // Only "keep" is called by the branch, so that its result may lie where "change" works.
  M manifest = TestManifest2();
  IfOf(manifest).set_else_function(kKeep);
  BufferOf(manifest, IfOf(manifest).outputs(0)).set_arena_offset(0);
  EXPECT_OK(CheckedManifest::Check(manifest));
  // Now the loop, which takes that result, calls "change" through its body.
  v1::Step& step = *manifest.mutable_functions(kBody)->add_steps();
  step.mutable_branch()->set_condition(Output(manifest, kBody, 0));
  step.mutable_branch()->set_then_function(kKeep);
  step.mutable_branch()->set_else_function(kChange);
  step.mutable_branch()->add_inputs(Input(manifest, kBody, 3));
  step.mutable_branch()->add_outputs(Output(manifest, kBody, 1));
  EXPECT_THAT(CheckedManifest::Check(manifest),
              StatusIs(Code::kInvalidArgument,
                       HasSubstr("step 4 'Loop': value 17 lies in the part of the arena")));
}

TEST(Manifest2, LimitsHold) {
  const auto refused = [](int ReaderLimits::*limit, int value) {
    ReaderLimits limits;
    limits.*limit = value;
    return CheckedManifest::Check(TestManifest2(), limits).status();
  };
  EXPECT_THAT(refused(&ReaderLimits::symbols, 2), StatusIs(Code::kResourceExhausted));
  EXPECT_THAT(refused(&ReaderLimits::expressions, 3), StatusIs(Code::kResourceExhausted));
  EXPECT_THAT(refused(&ReaderLimits::functions, 4), StatusIs(Code::kResourceExhausted));
  EXPECT_THAT(refused(&ReaderLimits::spaces, 2), StatusIs(Code::kResourceExhausted));
  EXPECT_THAT(refused(&ReaderLimits::queues, 2), StatusIs(Code::kResourceExhausted));
  EXPECT_THAT(refused(&ReaderLimits::after_per_step, 0), StatusIs(Code::kResourceExhausted));
  EXPECT_THAT(refused(&ReaderLimits::call_depth, 0), StatusIs(Code::kResourceExhausted));
  EXPECT_THAT(refused(&ReaderLimits::arguments_per_step, 1), StatusIs(Code::kResourceExhausted));
  ReaderLimits limits;
  limits.memory_visits = 3;
  EXPECT_THAT(CheckedManifest::Check(TestManifest2(), limits),
              StatusIs(Code::kResourceExhausted, HasSubstr("memory is in more pieces")));
}

// A strided convolution over a free width: ceil(width / 2), then the same again, is at most what it is given.
TEST(Expressions, AreComputedWithinTheirIntervals) {
  M manifest;
  for (const auto& [min, max] : {std::pair<int64_t, int64_t>{0, 9}, {1, 7}}) {
    v1::Symbol& symbol = *manifest.add_symbols();
    symbol.set_min(min);
    symbol.set_max(max);
    manifest.add_expressions()->set_symbol(manifest.symbols_size() - 1);
  }
  manifest.add_expressions()->set_constant(-4);
  for (int kind = v1::Expression::Operation::ADD; kind <= v1::Expression::Operation::MAX; ++kind) {
    Compute(manifest, 0, static_cast<v1::Expression::Operation::Kind>(kind), 1);
    Compute(manifest, 2, static_cast<v1::Expression::Operation::Kind>(kind), 1);
  }
  Compute(manifest, 3, v1::Expression::Operation::CEIL_DIVIDE, 1);
  ASSERT_OK_AND_ASSIGN(const Expressions expressions, Expressions::Check(manifest));
  std::vector<uint32_t> all(expressions.size());
  for (uint32_t i = 0; i < all.size(); ++i) all[i] = i;
  std::vector<int64_t> least(all.size(), INT64_MAX), most(all.size(), INT64_MIN);
  for (int64_t a = 0; a <= 9; ++a) {
    for (int64_t b = 1; b <= 7; ++b) {
      std::vector<int64_t> values(all.size());
      ASSERT_OK(expressions.Evaluate(all, {a, b}, absl::MakeSpan(values)));
      const double quotient = static_cast<double>(a) / static_cast<double>(b);
      EXPECT_EQ(values[3], a + b);
      EXPECT_EQ(values[5], a - b);
      EXPECT_EQ(values[7], a * b);
      EXPECT_EQ(values[9], static_cast<int64_t>(std::floor(quotient)));
      EXPECT_EQ(values[10], static_cast<int64_t>(std::floor(-4.0 / static_cast<double>(b))));
      EXPECT_EQ(values[11], static_cast<int64_t>(std::ceil(quotient)));
      EXPECT_EQ(values[12], static_cast<int64_t>(std::ceil(-4.0 / static_cast<double>(b))));
      EXPECT_EQ(values[13], std::min(a, b));
      EXPECT_EQ(values[15], std::max(a, b));
      for (uint32_t i : all) {
        least[i] = std::min(least[i], values[i]);
        most[i] = std::max(most[i], values[i]);
      }
    }
  }
  for (uint32_t i : all) {
    EXPECT_LE(expressions.interval(i).min, least[i]) << expressions.text(i);
    EXPECT_GE(expressions.interval(i).max, most[i]) << expressions.text(i);
  }
  // Nothing is computed twice but the sum in the last one, whose interval is wider for it.
  EXPECT_EQ(expressions.interval(9), (IntegerRange{least[9], most[9]}));
  EXPECT_EQ(expressions.interval(12), (IntegerRange{least[12], most[12]}));
}

// Whatever its symbols may be: what matters is what they are.
TEST(Expressions, ThatOverflowHaveTheValuesThatFit) {
  M manifest;
  manifest.add_symbols()->set_max(INT32_MAX);
  manifest.mutable_symbols(0)->set_name("n");
  manifest.add_expressions()->set_symbol(0);
  for (uint32_t i = 0; i < 3; ++i) Compute(manifest, i, v1::Expression::Operation::MULTIPLY, 0);
  manifest.add_expressions()->set_constant(-1);
  Compute(manifest, 3, v1::Expression::Operation::MULTIPLY, 4);
  Compute(manifest, 5, v1::Expression::Operation::SUBTRACT, 3);
  ASSERT_OK_AND_ASSIGN(const Expressions expressions, Expressions::Check(manifest));
  EXPECT_EQ(expressions.interval(3), (IntegerRange{0, INT64_MAX}));
  EXPECT_EQ(expressions.interval(5), (IntegerRange{-INT64_MAX, 0}));
  EXPECT_EQ(expressions.interval(6), (IntegerRange{INT64_MIN, 0}));
  std::vector<int64_t> values(7);
  EXPECT_OK(expressions.Evaluate({0, 1, 2, 3, 4, 5, 6}, {1000}, absl::MakeSpan(values)));
  EXPECT_EQ(values[6], -2'000'000'000'000);
  EXPECT_THAT(expressions.Evaluate({0, 1, 2, 3}, {INT32_MAX}, absl::MakeSpan(values)),
              StatusIs(Code::kInvalidArgument, HasSubstr("cannot be computed from")));
}

TEST(Expressions, AreRefusedWhenTheyCannotBeComputed) {
  M manifest;
  manifest.add_symbols()->set_max(4);
  manifest.mutable_symbols(0)->set_min(1);
  manifest.mutable_symbols(0)->set_name("n");
  manifest.add_expressions()->set_symbol(0);
  manifest.add_expressions()->set_constant(INT64_MAX / 4);
  Compute(manifest, 0, v1::Expression::Operation::MULTIPLY, 1);
  Compute(manifest, 1, v1::Expression::Operation::FLOOR_DIVIDE, 0);
  ASSERT_OK_AND_ASSIGN(const Expressions expressions, Expressions::Check(manifest));
  std::vector<int64_t> values(4);
  EXPECT_OK(expressions.Evaluate({0, 1, 2, 3}, {4}, absl::MakeSpan(values)));
  // Out of its bounds.
  EXPECT_THAT(expressions.Evaluate({0, 1, 2}, {5}, absl::MakeSpan(values)),
              StatusIs(Code::kInvalidArgument, HasSubstr("expression 2, (n * ")));
  EXPECT_THAT(expressions.Evaluate({0, 1, 3}, {0}, absl::MakeSpan(values)),
              StatusIs(Code::kInvalidArgument, HasSubstr("expression 3, floor(")));
  EXPECT_EQ(expressions.Needed({3}), (std::vector<uint32_t>{0, 1, 3}));
  EXPECT_EQ(expressions.symbol(0), 0);
  EXPECT_EQ(expressions.symbol(1), -1);
}

}  // namespace
}  // namespace slipway
