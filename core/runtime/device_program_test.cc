// Programs over two devices: the CPU and a null device, which does what it is told as late as it may.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/base/status_macros.h"
#include "core/runtime/device_tensor.h"
#include "core/runtime/drivers/cpu/cpu_driver.h"
#include "core/runtime/drivers/null/null_device.h"
#include "core/runtime/drivers/null/null_driver.h"
#include "core/runtime/load_program.h"
#include "core/runtime/program.h"
#include "core/runtime/test_programs/hand_written_programs.h"
#include "core/runtime/test_programs/program_builder.h"
#include "core/target/target.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Code = absl::StatusCode;
using Extent = ProgramBuilder::Extent;
using Operation = v1::Expression::Operation;

constexpr DataType kF32 = DataType::kFloat32;
constexpr v1::Buffer::Class kExternal = v1::Buffer::CLASS_EXTERNAL;
constexpr v1::Buffer::Class kDynamic = v1::Buffer::CLASS_DYNAMIC;
constexpr v1::Buffer::Class kStatic = v1::Buffer::CLASS_STATIC;
constexpr uint32_t kAdd = 0;
constexpr uint32_t kFill = 1;
constexpr uint32_t kFail = 2;

class DeviceProgramTest : public ::testing::Test {
 protected:
  DeviceProgramTest() {
    gpu_ = builder_.AddDevice("cuda-sm90");
    host_space_ = builder_.AddSpace(0);
    gpu_space_ = builder_.AddSpace(gpu_);
    shared_space_ = builder_.AddSpace(gpu_, {0});
    code_ = builder_.AddEntries(v1::Code::KIND_PTX, gpu_, {"add_f32", "fill_f32", "fail"});
  }

  absl::Status LoadOnDevices(const NullDeviceOptions& null_options = {}) {
    Drivers drivers = AllDrivers();
    drivers.insert(drivers.begin(), MakeNullDriver(null_options));
    SLIPWAY_ASSIGN_OR_RETURN(const Artifact artifact, builder_.Build());
    SLIPWAY_ASSIGN_OR_RETURN(const auto devices, OpenDevices(artifact.manifest(), drivers));
    null_ = std::dynamic_pointer_cast<NullDevice>(devices[gpu_]);
    SLIPWAY_ASSIGN_OR_RETURN(program_, Program::Load(artifact, devices));
    return absl::OkStatus();
  }

  void Load(const NullDeviceOptions& null_options = {}, const ProgramContextOptions& options = {}) {
    context_.reset();
    ASSERT_OK(LoadOnDevices(null_options));
    ASSERT_OK_AND_ASSIGN(context_, program_->NewContext(options));
  }

  absl::StatusOr<std::vector<float>> Run(const std::vector<Tensor>& inputs) {
    std::vector<Tensor> outputs(1);
    const absl::Status status = context_->Run(inputs, absl::MakeSpan(outputs));
    if (!status.ok()) return status;
    const absl::Span<const float> values = outputs[0].values<float>();
    return std::vector<float>(values.begin(), values.end());
  }

  ProgramBuilder builder_;
  uint32_t gpu_ = 0;
  uint32_t host_space_ = 0;
  uint32_t gpu_space_ = 0;
  uint32_t shared_space_ = 0;
  uint32_t code_ = 0;
  std::shared_ptr<NullDevice> null_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<ProgramContext> context_;
};

Tensor Five() { return Tensor::Of<float>({5}, {1, 2, 3, 4, 5}); }

TEST_F(DeviceProgramTest, GoesThereAndBackInTheOrderOfEvents) {
  builder_ = ThereAndBack().builder;
  Load();
  for (int i = 0; i < 3; ++i) {
    ASSERT_OK_AND_ASSIGN(const std::vector<float> y, Run({Five()}));
    EXPECT_THAT(y, ElementsAre(13, 25, 37, 49, 61));
  }
  EXPECT_THAT(null_->trace(), Contains("queue 2: add_f32 of 8 instances").Times(3));
}

// A null device does what came last first (NullDeviceTest): right numbers come of events alone.
TEST_F(DeviceProgramTest, WaitsForEventsAloneAndRefusesProgramsThatLackThem) {
  builder_ = ThereAndBack().builder;
  Load();
  ASSERT_OK(Run({Five()}).status());
  EXPECT_THAT(null_->trace(), Contains(HasSubstr("wait")).Times(2));
  for (int step = 1; step < 5; ++step) {
    v1::Step& mutated = *builder_.manifest().mutable_functions(0)->mutable_steps(step);
    mutated.clear_after();
    EXPECT_THAT(builder_.Build(), StatusIs(Code::kInvalidArgument, HasSubstr("wait for it")));
    mutated.add_after(static_cast<uint32_t>(step) - 1);
  }
}

TEST_F(DeviceProgramTest, ProfilesTheStepsOfBothDevices) {
  builder_ = ThereAndBack().builder;
  Load();
  std::vector<Tensor> outputs(1);
  ASSERT_OK(context_->Run({Five()}, absl::MakeSpan(outputs), {.profile = true}));
  EXPECT_THAT(context_->step_timings(), ::testing::SizeIs(5));
  EXPECT_THAT(context_->step_timings(),
              ::testing::Each(::testing::Field(&StepTiming::duration_ns, ::testing::Gt(0))));
}

TEST_F(DeviceProgramTest, ContextsRunAtTheSameTime) {
  builder_ = ThereAndBack().builder;
  Load();
  ASSERT_OK_AND_ASSIGN(const auto other, program_->NewContext({}));
  std::vector<Tensor> outputs(1);
  ASSERT_OK(other->Run({Five()}, absl::MakeSpan(outputs)));
  ASSERT_OK_AND_ASSIGN(const std::vector<float> y, Run({Tensor::Zeros(kF32, {5})}));
  EXPECT_THAT(y, ElementsAre(11, 21, 31, 41, 51));
  EXPECT_THAT(outputs[0].values<float>(), ElementsAre(13, 25, 37, 49, 61));
}

// The number of groups is computed from a symbol: with one less, elements would stay as they were.
TEST_F(DeviceProgramTest, LaunchSizesAreComputed) {
  const uint32_t n = builder_.AddSymbol("n", 1, 100);
  const uint32_t groups = builder_.Operation(Operation::CEIL_DIVIDE, n, builder_.Number(4));
  const uint32_t x = builder_.AddValue(kExternal, kF32, {Extent::Of(n)}, gpu_space_);
  const uint32_t twice = builder_.AddValue(kDynamic, kF32, {Extent::Of(n)}, gpu_space_);
  const uint32_t y = builder_.AddValue(kExternal, kF32, {Extent::Of(n)}, gpu_space_);
  v1::Function& main = builder_.AddFunction("main");
  ProgramBuilder::AddInput(main, "x", x);
  ProgramBuilder::AddOutput(main, "y", y);
  builder_.AddLaunch(main, code_, kAdd, {x, x}, {twice}, {Extent::Of(groups)}, 4);
  builder_.AddLaunch(main, code_, kAdd, {twice, x}, {y}, {1, Extent::Of(groups)}, 4);
  Load();
  for (const int64_t size : {1, 4, 5, 100, 5}) {
    Tensor tensor = Tensor::Zeros(kF32, {size});
    for (int64_t i = 0; i < size; ++i) {
      tensor.mutable_values<float>()[static_cast<size_t>(i)] = static_cast<float>(i);
    }
    // Host tensors for memory that is not the host's: copied there and back.
    ASSERT_OK_AND_ASSIGN(const std::vector<float> y_values, Run({tensor}));
    ASSERT_EQ(y_values.size(), static_cast<size_t>(size));
    for (int64_t i = 0; i < size; ++i) {
      ASSERT_EQ(y_values[static_cast<size_t>(i)], static_cast<float>(3 * i));
    }
  }
  EXPECT_THAT(null_->trace(), Contains("queue 0: add_f32 of 8 instances").Times(4));
  EXPECT_THAT(Run({Tensor::Zeros(kF32, {101})}),
              StatusIs(Code::kInvalidArgument, HasSubstr("symbol 'n'")));
}

TEST_F(DeviceProgramTest, GroupsShareMemory) {
  const uint32_t tile = builder_.AddEntries(v1::Code::KIND_PTX, gpu_, {"tile_f32"});
  const uint32_t x = builder_.AddValue(kExternal, kF32, {5}, gpu_space_);
  const uint32_t y = builder_.AddValue(kExternal, kF32, {5}, gpu_space_);
  v1::Function& main = builder_.AddFunction("main");
  ProgramBuilder::AddInput(main, "x", x);
  ProgramBuilder::AddOutput(main, "y", y);
  v1::Step::Launch& launch =
      *builder_.AddLaunch(main, tile, 0, {x}, {y}, {1}, 5).mutable_kernel()->mutable_launch();
  for (const auto& [bytes, code] : {std::pair<int64_t, Code>{20, Code::kOk},
                                    {19, Code::kInternal},
                                    {1 << 20, Code::kInvalidArgument}}) {
    launch.set_shared_bytes(bytes);
    Load();
    const absl::StatusOr<std::vector<float>> values = Run({Five()});
    EXPECT_EQ(values.status().code(), code) << bytes;
    if (values.ok()) EXPECT_THAT(*values, ElementsAre(1, 2, 3, 4, 5));
  }
}

TEST_F(DeviceProgramTest, HostAndDeviceShareASpace) {
  const uint32_t x = builder_.AddValue(kExternal, kF32, {5}, host_space_);
  const uint32_t shared = builder_.AddValue(kStatic, kF32, {5}, shared_space_);
  const uint32_t sum = builder_.AddValue(kStatic, kF32, {5}, shared_space_);
  const uint32_t y = builder_.AddValue(kExternal, kF32, {5}, host_space_);
  v1::Function& main = builder_.AddFunction("main");
  ProgramBuilder::AddInput(main, "x", x);
  ProgramBuilder::AddOutput(main, "y", y);
  ProgramBuilder::AddKernel(main, SmallKernel::kAdd, {x, x}, {shared});
  builder_.AddLaunch(main, code_, kAdd, {shared, shared}, {sum}, {5}).add_after(0);
  ProgramBuilder::AddKernel(main, SmallKernel::kAdd, {sum, x}, {y}).add_after(1);
  Load();
  ASSERT_OK_AND_ASSIGN(const std::vector<float> values, Run({Five()}));
  EXPECT_THAT(values, ElementsAre(5, 10, 15, 20, 25));
  EXPECT_THAT(null_->trace(), ElementsAre("queue 0: add_f32 of 5 instances"));
}

class HandlesTest : public DeviceProgramTest {
 protected:
  void SetUp() override {
    const uint32_t x = builder_.AddValue(kExternal, kF32, {5}, gpu_space_);
    const uint32_t y = builder_.AddValue(kExternal, kF32, {5}, gpu_space_);
    v1::Function& main = builder_.AddFunction("main");
    ProgramBuilder::AddInput(main, "x", x);
    ProgramBuilder::AddOutput(main, "y", y);
    builder_.AddLaunch(main, code_, kAdd, {x, x}, {y}, {5});
    Load();
  }
};

TEST_F(HandlesTest, TensorsStayOnTheDevice) {
  ASSERT_OK_AND_ASSIGN(DeviceTensor x, DeviceTensor::FromHost(program_->InputPlace(0), Five()));
  EXPECT_EQ(x.place().device, null_);
  std::vector<DeviceTensor> y(1);
  ASSERT_OK(context_->Run({x}, absl::MakeSpan(y)));
  const DeviceTensor first = y[0];
  y[0] = DeviceTensor();
  ASSERT_OK(context_->Run({first}, absl::MakeSpan(y)));
  // In place, where there is an output already.
  const uint64_t address = y[0].memory().address;
  ASSERT_OK(context_->Run({first}, absl::MakeSpan(y)));
  EXPECT_EQ(y[0].memory().address, address);
  ASSERT_OK_AND_ASSIGN(const Tensor result, y[0].ToHost());
  EXPECT_THAT(result.values<float>(), ElementsAre(4, 8, 12, 16, 20));
  ASSERT_OK_AND_ASSIGN(const Tensor unchanged, first.ToHost());
  EXPECT_THAT(unchanged.values<float>(), ElementsAre(2, 4, 6, 8, 10));
  EXPECT_THAT(null_->trace(), Not(Contains(HasSubstr("copy"))));
  // Outlives its program.
  context_.reset();
  program_.reset();
  EXPECT_OK(first.ToHost().status());
}

TEST_F(HandlesTest, TensorsElsewhereAreCopied) {
  ASSERT_OK_AND_ASSIGN(const auto other_device, MakeCpuDriver(HostTarget())->Open(0));
  for (const TensorPlace& place :
       {TensorPlace{other_device, MemoryKind::kLocal}, TensorPlace{null_, MemoryKind::kHostVisible},
        TensorPlace{std::make_shared<NullDevice>(), MemoryKind::kLocal}}) {
    ASSERT_OK_AND_ASSIGN(const DeviceTensor x, DeviceTensor::FromHost(place, Five()));
    ASSERT_OK_AND_ASSIGN(DeviceTensor y, DeviceTensor::Create(place, {kF32, {5}}));
    ASSERT_OK(context_->Run({x}, absl::MakeSpan(&y, 1)));
    ASSERT_OK_AND_ASSIGN(const Tensor result, y.ToHost());
    EXPECT_THAT(result.values<float>(), ElementsAre(2, 4, 6, 8, 10));
  }
}

TEST_F(HandlesTest, RefusesOutputsThatShareMemory) {
  ASSERT_OK_AND_ASSIGN(DeviceTensor x, DeviceTensor::FromHost(program_->InputPlace(0), Five()));
  EXPECT_THAT(context_->Run({x}, absl::MakeSpan(&x, 1)),
              StatusIs(Code::kInvalidArgument, HasSubstr("output 'y' shares memory with input")));
  ASSERT_OK_AND_ASSIGN(const Tensor unchanged, x.ToHost());
  EXPECT_EQ(unchanged.values<float>()[1], 2.0f);
}

TEST_F(HandlesTest, RefusesTensorsOfAnotherType) {
  ASSERT_OK_AND_ASSIGN(const DeviceTensor x,
                       DeviceTensor::Create(program_->InputPlace(0), {kF32, {4}}));
  std::vector<DeviceTensor> y(1);
  EXPECT_THAT(context_->Run({x}, absl::MakeSpan(y)),
              StatusIs(Code::kInvalidArgument, "input \"x\" is f32[5], but f32[4] is given"));
  EXPECT_THAT(context_->Run({DeviceTensor()}, absl::MakeSpan(y)),
              StatusIs(Code::kInvalidArgument, HasSubstr("input \"x\"")));
}

// A loop whose carried value stays on the device in memory that the runtime places.
TEST_F(DeviceProgramTest, LoopsCarryValuesOnADevice) {
  const uint32_t turn = builder_.AddValue(kExternal, DataType::kInt64, {}, host_space_);
  const uint32_t carried = builder_.AddValue(kExternal, kF32, {5}, gpu_space_);
  const uint32_t row = builder_.AddValue(kExternal, kF32, {5}, gpu_space_);
  const uint32_t next = builder_.AddValue(kDynamic, kF32, {5}, gpu_space_);
  v1::Function& body = builder_.AddFunction("body");
  ProgramBuilder::AddInput(body, "turn", turn);
  ProgramBuilder::AddInput(body, "carried", carried);
  ProgramBuilder::AddInput(body, "row", row);
  ProgramBuilder::AddOutput(body, "next", next);
  ProgramBuilder::AddOutput(body, "slice", next);
  builder_.AddLaunch(body, code_, kAdd, {carried, row}, {next}, {5}).set_queue(3);

  const uint32_t n = builder_.AddSymbol("n", 0, 10);
  const uint32_t rows = builder_.AddValue(kExternal, kF32, {Extent::Of(n), 5}, gpu_space_);
  const uint32_t zero = builder_.AddConstant(Tensor::Zeros(kF32, {5}), gpu_space_);
  const uint32_t total = builder_.AddValue(kDynamic, kF32, {5}, gpu_space_);
  const uint32_t all = builder_.AddValue(kExternal, kF32, {Extent::Of(n), 5}, gpu_space_);
  const uint32_t y = builder_.AddValue(kExternal, kF32, {5}, host_space_);
  v1::Function& main = builder_.AddFunction("main");
  ProgramBuilder::AddInput(main, "rows", rows);
  ProgramBuilder::AddOutput(main, "y", y);
  ProgramBuilder::AddOutput(main, "all", all);
  v1::Step::Loop& loop = *main.add_steps()->mutable_loop();
  loop.add_initial(zero);
  loop.add_scanned(rows);
  loop.add_results(total);
  loop.add_collected(all);
  ProgramBuilder::AddCopy(main, gpu_, total, y);
  Load();
  const Tensor input = Tensor::Of<float>({3, 5}, {1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 4, 5, 6, 7});
  for (int repeat = 0; repeat < 3; ++repeat) {
    std::vector<Tensor> outputs(2);
    ASSERT_OK(context_->Run({input}, absl::MakeSpan(outputs)));
    EXPECT_THAT(outputs[0].values<float>(), ElementsAre(6, 7, 8, 9, 10));
    EXPECT_THAT(outputs[1].values<float>(),
                ElementsAre(1, 1, 1, 1, 1, 3, 3, 3, 3, 3, 6, 7, 8, 9, 10));
  }
}

TEST_F(DeviceProgramTest, AFailureOnADeviceNamesTheStep) {
  const uint32_t x = builder_.AddValue(kExternal, kF32, {5}, gpu_space_);
  const uint32_t y = builder_.AddValue(kExternal, kF32, {5}, gpu_space_);
  v1::Function& main = builder_.AddFunction("main");
  ProgramBuilder::AddInput(main, "x", x);
  ProgramBuilder::AddOutput(main, "y", y);
  builder_.AddLaunch(main, code_, kFill, {x}, {y}, {5});
  builder_.AddLaunch(main, code_, kFail, {x}, {y}, {5});
  Load();
  EXPECT_THAT(Run({Five()}), StatusIs(Code::kInternal, AllOf(HasSubstr("step 1 'fail'"),
                                                             HasSubstr("entry 'fail' failed"))));
}

TEST_F(DeviceProgramTest, EntriesReadNoFurtherThanTheirInputs) {
  const uint32_t x = builder_.AddValue(kExternal, kF32, {5}, gpu_space_);
  const uint32_t y = builder_.AddValue(kExternal, kF32, {6}, gpu_space_);
  v1::Function& main = builder_.AddFunction("main");
  ProgramBuilder::AddInput(main, "x", x);
  ProgramBuilder::AddOutput(main, "y", y);
  builder_.AddLaunch(main, code_, kAdd, {x, x}, {y}, {6});
  Load();
  EXPECT_THAT(Run({Five()}),
              StatusIs(Code::kInternal, HasSubstr("reads 6 elements of input 0, which has 5")));
}

TEST_F(DeviceProgramTest, EntriesTakeF32Alone) {
  const uint32_t x = builder_.AddValue(kExternal, DataType::kInt32, {5}, gpu_space_);
  const uint32_t y = builder_.AddValue(kExternal, kF32, {5}, gpu_space_);
  v1::Function& main = builder_.AddFunction("main");
  ProgramBuilder::AddInput(main, "x", x);
  ProgramBuilder::AddOutput(main, "y", y);
  builder_.AddLaunch(main, code_, kFill, {x}, {y}, {5});
  ASSERT_OK(LoadOnDevices());
  EXPECT_THAT(program_->NewContext({}), StatusIs(Code::kInvalidArgument, HasSubstr("f32 alone")));
}

TEST_F(DeviceProgramTest, NamesTheSpaceThatHasNoMemory) {
  builder_ = ThereAndBack().builder;
  ASSERT_OK(LoadOnDevices({.memory_bytes = 100}));
  EXPECT_THAT(program_->NewContext({}),
              StatusIs(Code::kResourceExhausted,
                       AllOf(HasSubstr("arena of memory space 1"), HasSubstr("null 0"))));
}

TEST_F(DeviceProgramTest, NamesAnEntryTheDeviceDoesNotKnow) {
  builder_.AddEntries(v1::Code::KIND_PTX, gpu_, {"winograd"});
  builder_.AddFunction("main");
  EXPECT_THAT(LoadOnDevices(),
              StatusIs(Code::kUnimplemented, "null: null devices do not know entry 'winograd'"));
}

TEST_F(DeviceProgramTest, OpenClEntriesRunLikeThoseOfPtx) {
  builder_ = TwoGpus().builder;
  Load();
  ASSERT_OK_AND_ASSIGN(const std::vector<float> y, Run({Five()}));
  EXPECT_THAT(y, ElementsAre(2, 4, 6, 8, 10));
  EXPECT_THAT(null_->trace(), Contains("queue 0: copy_f32 of 8 instances"));
}

}  // namespace
}  // namespace slipway
