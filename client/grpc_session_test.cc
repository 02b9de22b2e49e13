// Sessions against a fake device: every method, pipelining, cancelling, loading.
#include <numeric>
#include <thread>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "client/session.h"
#include "client/session/response_status.h"
#include "client/testing/grpc_fake_device.h"
#include "core/artifact/slip_file.h"
#include "core/artifact/test_manifest.h"
#include "core/base/files.h"
#include "core/tensor/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::FakeDevice;
using ::slipway::testing::FakeDeviceBehaviour;
using ::slipway::testing::IsOk;
using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Tensor Vector(std::vector<float> values) {
  return Tensor::Of<float>({static_cast<int64_t>(values.size())}, absl::MakeConstSpan(values));
}

// Of a megabyte and a half, so that it goes in pieces.
Tensor LargeTensor() {
  std::vector<float> values(400'001);
  std::iota(values.begin(), values.end(), 0.0f);
  return Vector(values);
}

absl::StatusOr<Artifact> TestArtifact() {
  return Artifact::Create(TestManifest(), [](const Digest& digest) -> absl::StatusOr<Blob> {
    const std::string code = TestCode();
    return Blob::Own(digest == Digest::Of(code) ? code : TestConstants());
  });
}

class SessionTest : public ::testing::Test {
 protected:
  void SetUp() override { Open({}); }
  void Open(SessionOptions options) {
    options.address = device_.address();
    absl::StatusOr<Session> session = Session::Open(options);
    ASSERT_THAT(session, IsOk());
    session_ = std::make_unique<Session>(*std::move(session));
  }
  RemoteProgram LoadToy() {
    absl::StatusOr<RemoteProgram> program = session_->Load(Digest::Of("toy"));
    EXPECT_THAT(program, IsOk());
    return *std::move(program);
  }
  RemoteTensor Put(std::vector<float> values, const std::string& name = "x") {
    absl::StatusOr<RemoteTensor> tensor = session_->Put(Vector(std::move(values)), name);
    EXPECT_THAT(tensor, IsOk());
    return *std::move(tensor);
  }
  static std::vector<float> Values(const absl::StatusOr<Tensor>& tensor) {
    EXPECT_THAT(tensor, IsOk());
    if (!tensor.ok()) return {};
    return {tensor->values<float>().begin(), tensor->values<float>().end()};
  }
  int CountCarriedOut(v1::SessionRequest::KindCase kind) {
    int count = 0;
    for (const auto& request : device_.carried_out()) count += request.kind_case() == kind ? 1 : 0;
    return count;
  }

  FakeDevice device_;
  std::unique_ptr<Session> session_;
};

TEST_F(SessionTest, FromArtifactToOutputs) {
  EXPECT_EQ(session_->device(), "board-1");
  EXPECT_EQ(session_->target(), "x86-64-linux");
  EXPECT_EQ(session_->id(), "s1");
  const RemoteProgram program = LoadToy();
  ASSERT_EQ(program.functions().size(), 4u);
  EXPECT_EQ(program.functions()[0].name, "add");
  EXPECT_EQ(program.functions()[0].inputs[1].name, "b");
  EXPECT_EQ(program.functions()[0].outputs[0].type, "f32[n]");
  EXPECT_EQ(program.load_time(), absl::Microseconds(5));
  const RemoteTensor a = Put({1, 2});
  const RemoteTensor b = Put({10, 20});
  ASSERT_OK_AND_ASSIGN(const std::vector<RemoteTensor> outputs, program.Call({&a, &b}));
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(outputs[0].name(), "y");
  EXPECT_EQ(outputs[0].type(), a.type());
  EXPECT_THAT(Values(outputs[0].Get()), ElementsAre(11, 22));
  EXPECT_THAT(session_->Close(), IsOk());
  EXPECT_TRUE(device_.is_closed());
  EXPECT_THAT(session_->Facts(),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("closed")));
  EXPECT_THAT(session_->Close(), IsOk());
}

TEST_F(SessionTest, LargeTensorsGoInPieces) {
  const Tensor large = LargeTensor();
  ASSERT_OK_AND_ASSIGN(RemoteTensor remote, session_->Put(large));
  EXPECT_EQ(CountCarriedOut(v1::SessionRequest::kWrite), 2);
  ASSERT_OK_AND_ASSIGN(const Tensor back, remote.Get());
  EXPECT_EQ(CountCarriedOut(v1::SessionRequest::kRead), 2);
  EXPECT_TRUE(back.bytes() == large.bytes());

  std::vector<float> into(400'001);
  const absl::Span<char> bytes(reinterpret_cast<char*>(into.data()), into.size() * sizeof(float));
  ASSERT_THAT(remote.GetInto(bytes), IsOk());
  EXPECT_EQ(into[400'000], 400'000.0f);
  EXPECT_THAT(remote.GetInto(bytes.subspan(4)), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(SessionTest, PiecesAreWholeElementsAndKeepToTheLimits) {
  session_ = nullptr;
  device_.Configure([](FakeDeviceBehaviour& behaviour) {
    behaviour.max_data_bytes = 1001;
    behaviour.max_data_under_way_bytes = 3000;
    behaviour.max_requests = 5;
  });
  Open({});
  const Tensor large = LargeTensor();
  ASSERT_OK_AND_ASSIGN(const RemoteTensor remote, session_->Put(large));
  ASSERT_OK_AND_ASSIGN(const Tensor back, remote.Get());
  EXPECT_TRUE(back.bytes() == large.bytes());
  for (const v1::SessionRequest& request : device_.carried_out()) {
    EXPECT_EQ(request.write().offset() % 16, 0);
  }
}

TEST_F(SessionTest, PartsOfTensors) {
  RemoteTensor x = Put({0, 1, 2, 3, 4});
  const float more[] = {7, 8};
  const absl::string_view bytes(reinterpret_cast<const char*>(more), sizeof(more));
  ASSERT_THAT(x.Write(4, Blob::Own(std::string(bytes))), IsOk());
  float part = 0;
  ASSERT_THAT(x.Read(8, absl::MakeSpan(reinterpret_cast<char*>(&part), 4)), IsOk());
  EXPECT_EQ(part, 8);
  EXPECT_THAT(x.Read(20, absl::MakeSpan(reinterpret_cast<char*>(&part), 4)),
              StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("does not lie inside")));
  EXPECT_THAT(x.Write(16, Blob::Own(std::string(bytes))), StatusIs(absl::StatusCode::kOutOfRange));

  ASSERT_OK_AND_ASSIGN(const RemoteTensor slice, x.Slice({1}, {3}));
  EXPECT_THAT(Values(slice.Get()), ElementsAre(7, 8, 3));
  ASSERT_THAT(x.Assign({2}, slice), IsOk());
  EXPECT_THAT(Values(x.Get()), ElementsAre(0, 7, 7, 8, 3));
  ASSERT_OK_AND_ASSIGN(const RemoteTensor copy, x.Copy());
  EXPECT_EQ(copy.type(), x.type());
  EXPECT_THAT(Values(copy.Get()), ElementsAre(0, 7, 7, 8, 3));
}

TEST_F(SessionTest, TensorsMadeOnTheDevice) {
  const TensorType type = {DataType::kFloat32, {3}};
  ASSERT_OK_AND_ASSIGN(const RemoteTensor zeros, session_->Zeros(type));
  EXPECT_THAT(Values(zeros.Get()), Each(0));
  ASSERT_OK_AND_ASSIGN(const RemoteTensor random, session_->Random(type, 7, "x"));
  ASSERT_OK_AND_ASSIGN(const Tensor expected, RandomTensor(type, 7, "x"));
  EXPECT_EQ(Values(random.Get()), Values(expected));
  ASSERT_OK_AND_ASSIGN(const RemoteTensor empty,
                       session_->Put(Tensor::Zeros(DataType::kInt8, {0})));
  ASSERT_OK_AND_ASSIGN(const Tensor nothing, empty.Get());
  EXPECT_EQ(nothing.byte_size(), 0);
}

TEST_F(SessionTest, EverythingGoesOutWithoutWaiting) {
  const TensorType type = {DataType::kFloat32, {4}};
  StartedProgram program = session_->LoadAsync(Digest::Of("toy"), {.name = "net"});
  EXPECT_EQ(program.program.name(), "net");
  StartedTensor zeros = session_->ZerosAsync(type, "zeros");
  StartedTensor random = session_->RandomAsync(type, 7, "x");
  const float more[] = {7, 8};
  Future<Done> written = zeros.tensor.WriteAsync(
      4, Blob::Own(std::string(reinterpret_cast<const char*>(more), sizeof(more))));
  StartedTensor slice = zeros.tensor.SliceAsync({1}, {2}, "part");
  StartedTensor copy = random.tensor.CopyAsync();
  Future<Done> assigned = copy.tensor.AssignAsync({0}, slice.tensor);
  std::vector<float> part(2);
  std::vector<float> whole(4);
  Future<Done> read =
      slice.tensor.ReadAsync(4, absl::MakeSpan(reinterpret_cast<char*>(part.data()), 4));
  Future<Done> got =
      copy.tensor.GetIntoAsync(absl::MakeSpan(reinterpret_cast<char*>(whole.data()), 16));
  Future<SessionFacts> facts = session_->FactsAsync();
  ASSERT_OK_AND_ASSIGN(const SessionFacts told, facts.Get());
  EXPECT_EQ(told.tensors, 4);
  EXPECT_THAT(program.done.Get(), IsOk());
  EXPECT_EQ(program.program.functions().size(), 4u);
  for (Future<Done>* const done : {&written, &assigned, &read, &got}) {
    EXPECT_THAT(done->Get(), IsOk());
  }
  EXPECT_EQ(slice.tensor.name(), "part");
  EXPECT_EQ(copy.tensor.name(), "x");
  EXPECT_EQ(part[0], 8);
  ASSERT_OK_AND_ASSIGN(const Tensor expected, RandomTensor(type, 7, "x"));
  EXPECT_THAT(whole, ElementsAre(7, 8, expected.values<float>()[2], expected.values<float>()[3]));
}

TEST_F(SessionTest, WhatCannotBeAskedForFailsAsAFuture) {
  RemoteTensor unset;
  EXPECT_THAT(unset.SliceAsync({0}, {1}).done.Get(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("not set")));
  EXPECT_THAT(unset.CopyAsync().done.Get(), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(unset.AssignAsync({0}, unset).Get(), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(unset.ReadAsync(0, {}).Get(), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(unset.WriteAsync(0, Blob()).Get(), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(SessionTest, TensorsThatTheDeviceRefuses) {
  EXPECT_THAT(session_->Put(Tensor::Zeros(DataType::kString, {2})),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("strings")));
  // Not all that does not fit is sent.
  EXPECT_THAT(session_->Put(Tensor::Zeros(DataType::kInt8, {(64 << 20) + 1})),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("the device is full")));
  EXPECT_LE(CountCarriedOut(v1::SessionRequest::kWrite), 8);
  // The session lives on.
  EXPECT_THAT(session_->Facts(), IsOk());
}

TEST_F(SessionTest, ARequestThatIsTooLongIsNotSent) {
  EXPECT_THAT(session_->Put(Tensor::Zeros(DataType::kInt8, {1}), std::string(2 << 20, 'n')),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("shorter names")));
  EXPECT_EQ(CountCarriedOut(v1::SessionRequest::kAllocate), 0);
  EXPECT_THAT(session_->Facts(), IsOk());
}

TEST_F(SessionTest, AProfileMayHaveManySteps) {
  constexpr int kSteps = 50'000;
  device_.Configure([](FakeDeviceBehaviour& behaviour) {
    behaviour.tamper = [](v1::SessionResponse& response, absl::Cord&) {
      if (!response.has_called()) return;
      response.mutable_called()->clear_steps();
      for (int i = 0; i < kSteps; ++i) {
        v1::StepTime& step = *response.mutable_called()->add_steps();
        step.set_name(std::string(100, 's'));
        step.set_duration_ns(i);
      }
    };
  });
  const RemoteTensor x = Put({1});
  const RemoteProgram program = LoadToy();
  StartedCall call = program.CallAsync({&x, &x}, {.profile = true});
  ASSERT_OK_AND_ASSIGN(const CallReport report, call.done.Get());
  ASSERT_EQ(report.steps.size(), static_cast<size_t>(kSteps));
  EXPECT_EQ(report.steps.back().duration_ns, kSteps - 1);
}

TEST_F(SessionTest, HandlesAreFreedTogetherWhenTheyGo) {
  {
    const RemoteTensor a = Put({1});
    RemoteTensor b = Put({2});
    const RemoteTensor c = std::move(b);
    EXPECT_FALSE(b.is_set());
    EXPECT_EQ(device_.tensors(), 2);
  }
  ASSERT_OK_AND_ASSIGN(const SessionFacts facts, session_->Facts());
  EXPECT_EQ(facts.tensors, 0);
  EXPECT_EQ(facts.machine.temperature_millicelsius, 42'000);
  EXPECT_EQ(facts.limit_bytes, 1 << 30);
  EXPECT_EQ(CountCarriedOut(v1::SessionRequest::kFree), 1);
}

TEST_F(SessionTest, CallsIntoOutputsThatAreThere) {
  const RemoteProgram program = LoadToy();
  const RemoteTensor a = Put({1, 2});
  RemoteTensor sum = Put({0, 0});
  ASSERT_OK_AND_ASSIGN(const CallReport report,
                       program.CallInto({&a, &a}, {&sum}, {.function = "add", .profile = true}));
  EXPECT_EQ(report.duration, absl::Nanoseconds(1234));
  ASSERT_EQ(report.steps.size(), 1u);
  EXPECT_EQ(report.steps[0].name, "step0");
  EXPECT_THAT(Values(sum.Get()), ElementsAre(2, 4));
}

TEST_F(SessionTest, TimesCalls) {
  const RemoteProgram program = LoadToy();
  const RemoteTensor a = Put({1, 2});
  ASSERT_OK_AND_ASSIGN(const BenchmarkResult result,
                       program.Time({&a, &a}, {.call = {.profile = true}, .samples = 3}));
  EXPECT_THAT(result.samples_ns, ElementsAre(1000, 1001, 1002));
  EXPECT_EQ(result.iterations_per_sample, 7);
  EXPECT_EQ(result.steps.size(), 1u);
  ASSERT_OK_AND_ASSIGN(const BenchmarkResult flushed,
                       program.Time({&a, &a}, {.flush_cache = true}));
  EXPECT_EQ(flushed.samples_ns.size(), 100u);
  EXPECT_EQ(flushed.iterations_per_sample, 1);
}

TEST_F(SessionTest, ErrorsOfCallsLeaveTheSessionAlive) {
  const RemoteProgram program = LoadToy();
  const RemoteTensor a = Put({1, 2});
  const RemoteTensor b = Put({1, 2, 3});
  EXPECT_THAT(program.Call({&a, &b}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("differ in type")));
  EXPECT_THAT(program.Call({&a}), StatusIs(absl::StatusCode::kInvalidArgument));
  const RemoteTensor unset;
  EXPECT_THAT(program.Call({&unset}), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(RemoteProgram().Call({&a}), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(unset.Get(), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(program.Call({&a, &a}), IsOk());
}

TEST_F(SessionTest, TensorsOfAnotherSessionAreRefused) {
  FakeDevice other_device;
  ASSERT_OK_AND_ASSIGN(Session other, Session::Open({.address = other_device.address()}));
  ASSERT_OK_AND_ASSIGN(const RemoteTensor foreign, other.Put(Vector({1})));
  const RemoteProgram program = LoadToy();
  EXPECT_THAT(program.Call({&foreign, &foreign}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("another session")));
  RemoteTensor mine = Put({1});
  EXPECT_THAT(mine.Assign({0}, foreign), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(SessionTest, ACrashLosesTheHandlesAndTheSessionLivesOn) {
  const RemoteProgram program = LoadToy();
  const RemoteTensor a = Put({1, 2});
  const absl::Status crash = program.Call({&a}, {.function = "crash"}).status();
  EXPECT_THAT(crash,
              StatusIs(absl::StatusCode::kAborted, HasSubstr("signal 11 in step 2, kernel \"k\"")));
  EXPECT_EQ(DeviceLogOf(crash), "Segmentation fault\n");
  EXPECT_THAT(a.Get(), StatusIs(absl::StatusCode::kNotFound));
  const RemoteProgram again = LoadToy();
  const RemoteTensor b = Put({3, 4});
  EXPECT_THAT(again.Call({&b, &b}), IsOk());
}

TEST_F(SessionTest, ManyCallsUnderWayAreAnsweredInOrder) {
  const RemoteProgram program = LoadToy();
  RemoteTensor one = Put({1});
  StartedTensor start = session_->PutAsync(Vector({0}));
  std::vector<StartedCall> calls;
  const RemoteTensor* last = &start.tensor;
  for (int i = 0; i < 500; ++i) {
    calls.push_back(program.CallAsync({last, &one}));
    last = &calls.back().outputs[0];
  }
  EXPECT_THAT(calls.back().done.Get(), IsOk());
  for (size_t i = 0; i + 1 < calls.size(); ++i) EXPECT_TRUE(calls[i].done.ready());
  EXPECT_THAT(Values(last->Get()), ElementsAre(500));
}

TEST_F(SessionTest, AnOutputHasNoTypeBeforeItsCallIsAnswered) {
  const RemoteProgram program = LoadToy();
  const RemoteTensor a = Put({1});
  StartedCall call = program.CallAsync({&a}, {.function = "wait"});
  EXPECT_EQ(call.outputs[0].type().dtype, DataType::kInvalid);
  EXPECT_THAT(call.outputs[0].Get(),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("wait for the call")));
  EXPECT_FALSE(call.done.Wait(absl::Now() + absl::Milliseconds(20)));
  EXPECT_FALSE(call.done.ready());
  device_.Release();
  EXPECT_THAT(session_->Facts(),
              IsOk());  // By which the call is done, though nobody waits for it now.
  EXPECT_TRUE(call.done.Wait(absl::InfiniteFuture()));
  EXPECT_THAT(call.done.Get(), IsOk());
  EXPECT_EQ(call.outputs[0].type(), a.type());
}

TEST_F(SessionTest, CancelsWhatIsUnderWay) {
  const RemoteProgram program = LoadToy();
  const RemoteTensor a = Put({1});
  StartedCall first = program.CallAsync({&a}, {.function = "wait"});
  StartedCall second = program.CallAsync({&a, &a});
  second.done.Cancel();
  first.done.Cancel();
  EXPECT_THAT(first.done.Get(), StatusIs(absl::StatusCode::kCancelled));
  EXPECT_THAT(second.done.Get(), StatusIs(absl::StatusCode::kCancelled));
  EXPECT_THAT(program.Call({&a, &a}), IsOk());
}

TEST_F(SessionTest, CancelsWhatIsNotEvenSent) {
  session_ = nullptr;
  device_.Configure([](FakeDeviceBehaviour& behaviour) { behaviour.max_requests = 1; });
  Open({});
  const RemoteProgram program = LoadToy();
  const RemoteTensor a = Put({1});
  StartedCall first = program.CallAsync({&a}, {.function = "wait"});
  StartedCall second = program.CallAsync({&a, &a});
  second.done.Cancel();
  EXPECT_TRUE(second.done.ready());
  EXPECT_THAT(second.done.Get(), StatusIs(absl::StatusCode::kCancelled));
  device_.Release();
  EXPECT_THAT(first.done.Get(), IsOk());
}

TEST_F(SessionTest, CallbacksNeedNobodyWhoWaits) {
  const RemoteProgram program = LoadToy();
  const RemoteTensor a = Put({1, 2});
  absl::Notification done;
  std::vector<int> order;
  for (int i = 0; i < 200; ++i) {
    program.CallAsync({&a, &a}).done.Then([&, i](absl::StatusOr<CallReport> report) {
      EXPECT_THAT(report, IsOk());
      order.push_back(i);
      if (i == 199) done.Notify();
    });
  }
  ASSERT_TRUE(done.WaitForNotificationWithTimeout(absl::Seconds(30)));
  std::vector<int> expected(200);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(order, expected);
}

TEST_F(SessionTest, ACallbackDoesNotWaitForAHeartbeat) {
  const RemoteProgram program = LoadToy();
  const RemoteTensor a = Put({1, 2});
  absl::Notification done;
  program.CallAsync({&a}, {.function = "wait"}).done.Then([&](absl::StatusOr<CallReport> report) {
    EXPECT_THAT(report, IsOk());
    done.Notify();
  });
  while (device_.held() == 0) absl::SleepFor(absl::Milliseconds(1));
  // What comes after the call is a heartbeat, and from one there is a second until the next.
  const int messages = device_.messages();
  while (device_.messages() == messages) absl::SleepFor(absl::Milliseconds(1));
  const int beaten = device_.messages();
  device_.Release();
  ASSERT_TRUE(done.WaitForNotificationWithTimeout(absl::Seconds(30)));
  EXPECT_EQ(device_.messages(), beaten);
}

TEST_F(SessionTest, ACallbackMayUseTheSessionAndLetItGo) {
  absl::Notification done;
  {
    RemoteProgram program = LoadToy();
    auto a = std::make_shared<RemoteTensor>(Put({1, 2}));
    StartedCall call = program.CallAsync({a.get()}, {.function = "wait"});
    call.done.Then([a, &done](absl::StatusOr<CallReport>) mutable {
      EXPECT_THAT(Values(a->Get()), ElementsAre(1, 2));
      a = nullptr;
      done.Notify();
    });
  }
  session_ = nullptr;
  device_.Release();
  ASSERT_TRUE(done.WaitForNotificationWithTimeout(absl::Seconds(30)));
}

TEST_F(SessionTest, ThreadsShareASession) {
  const RemoteProgram program = LoadToy();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const RemoteTensor mine = Put({static_cast<float>(t)});
      for (int i = 0; i < 100; ++i) {
        const absl::StatusOr<std::vector<RemoteTensor>> sum = program.Call({&mine, &mine});
        ASSERT_THAT(sum, IsOk());
        EXPECT_THAT(Values((*sum)[0].Get()), ElementsAre(2.0f * t));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(SessionTest, TellsWhatProgramsPrint) {
  session_ = nullptr;
  absl::Notification told;
  std::string log;
  Open({.on_log = [&](const std::string& text) {
    log = text;
    told.Notify();
  }});
  const RemoteProgram program = LoadToy();
  const RemoteTensor a = Put({1});
  ASSERT_THAT(program.Call({&a}, {.function = "print"}), IsOk());
  ASSERT_TRUE(told.WaitForNotificationWithTimeout(absl::Seconds(30)));
  EXPECT_EQ(log, "printed\n");
}

TEST_F(SessionTest, SendsTheBlobsThatTheDeviceLacks) {
  ASSERT_OK_AND_ASSIGN(const Artifact artifact, TestArtifact());
  device_.Configure([&](FakeDeviceBehaviour& behaviour) {
    behaviour.needed_blobs = artifact.manifest().blobs();
    behaviour.needed_blobs.push_back(artifact.digest());
  });
  EXPECT_THAT(session_->Load(artifact.digest()),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("missing")));
  ASSERT_OK_AND_ASSIGN(const TemporaryFolder folder, TemporaryFolder::Create("session"));
  const std::string path = JoinPath(folder.path(), "p.slip");
  ASSERT_THAT(WriteSlip(artifact, path), IsOk());
  EXPECT_THAT(session_->LoadFile(path), IsOk());
  EXPECT_EQ(device_.blobs()[Digest::Of(TestCode()).hex()], TestCode());
  EXPECT_EQ(CountCarriedOut(v1::SessionRequest::kWriteBlob), 3);
  EXPECT_THAT(session_->Load(artifact), IsOk());
  EXPECT_EQ(CountCarriedOut(v1::SessionRequest::kWriteBlob), 3);
  EXPECT_THAT(session_->LoadFile(path + "x"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(SessionTest, GoesOnWhereAnotherTryHadGotTo) {
  session_ = nullptr;
  device_.Configure([](FakeDeviceBehaviour& behaviour) { behaviour.max_data_bytes = 16; });
  Open({});
  ASSERT_OK_AND_ASSIGN(const Artifact artifact, TestArtifact());
  const Digest constants = Digest::Of(TestConstants());
  device_.Configure([&](FakeDeviceBehaviour& behaviour) { behaviour.needed_blobs = {constants}; });
  const int64_t total = constants.size_bytes();
  ASSERT_GT(total, 17);
  device_.PutBlob(constants, TestConstants().substr(0, 17));
  EXPECT_THAT(session_->Load(artifact), IsOk());
  EXPECT_EQ(device_.blobs()[constants.hex()], TestConstants());
  EXPECT_EQ(CountCarriedOut(v1::SessionRequest::kWriteBlob), 1 + (total - 17 + 15) / 16);
}

TEST_F(SessionTest, GivesUpOnBlobsThatStayMissing) {
  ASSERT_OK_AND_ASSIGN(const Artifact artifact, TestArtifact());
  device_.Configure([&](FakeDeviceBehaviour& behaviour) {
    behaviour.needed_blobs = {Digest::Of(TestCode())};
    behaviour.tamper = [](v1::SessionResponse& response, absl::Cord&) {
      if (response.has_blob_written()) response.mutable_blob_written()->set_size(0);
    };
  });
  EXPECT_THAT(session_->Load(artifact), StatusIs(absl::StatusCode::kAborted));
  device_.Configure([&](FakeDeviceBehaviour& behaviour) {
    behaviour.needed_blobs = {Digest::Of("what no artifact has")};
  });
  EXPECT_THAT(session_->Load(artifact),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("which the artifact does not have")));
}

TEST_F(SessionTest, GivesUpOnBlobsThatWereSent) {
  ASSERT_OK_AND_ASSIGN(const Artifact artifact, TestArtifact());
  device_.Configure([&](FakeDeviceBehaviour& behaviour) {
    behaviour.needed_blobs = {artifact.digest()};
    behaviour.tamper = [digest = artifact.digest()](v1::SessionResponse& response, absl::Cord&) {
      if (!response.has_loaded()) return;
      response.set_code(static_cast<int>(absl::StatusCode::kFailedPrecondition));
      response.set_message("it is gone again");
      response.mutable_loaded()->clear_missing();
      response.mutable_loaded()->add_missing()->set_sha256(digest.hex());
      response.mutable_loaded()->mutable_missing(0)->set_size_bytes(digest.size_bytes());
    };
  });
  EXPECT_THAT(session_->Load(artifact),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("gone again")));
  EXPECT_EQ(CountCarriedOut(v1::SessionRequest::kWriteBlob), 1);
}

TEST_F(SessionTest, WaitsForTheDevice) {
  session_ = nullptr;
  device_.Configure([](FakeDeviceBehaviour& behaviour) { behaviour.let_wait = true; });
  std::string holder;
  int64_t ahead = 0;
  Open({.on_waiting = [&](int64_t place, const std::string& who) {
    ahead = place;
    holder = who;
    device_.Release();
  }});
  EXPECT_EQ(ahead, 1);
  EXPECT_EQ(holder, "somebody, for something");
  EXPECT_THAT(session_->Facts(), IsOk());
}

TEST_F(SessionTest, OpeningCanBeStopped) {
  device_.Configure([](FakeDeviceBehaviour& behaviour) { behaviour.let_wait = true; });
  std::stop_source stop;
  EXPECT_THAT(
      Session::Open({.address = device_.address(),
                     .stop = stop.get_token(),
                     .on_waiting = [&](int64_t, const std::string&) { stop.request_stop(); }}),
      StatusIs(absl::StatusCode::kCancelled));
  EXPECT_TRUE(device_.is_closed());
}

TEST_F(SessionTest, OpeningFailsWithTheReason) {
  EXPECT_THAT(Session::Open({.address = "nowhere"}), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(Session::Open({.address = device_.address(), .idle = absl::Milliseconds(1)}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("1 s to 1 h")));
  EXPECT_THAT(Session::Open({.address = device_.address(), .wait = absl::Hours(25)}),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(Session::Open({.address = device_.address(), .patience = absl::Seconds(11)}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("patience")));
  device_.Configure([](FakeDeviceBehaviour& behaviour) {
    behaviour.refusal =
        grpc::Status(grpc::StatusCode::NOT_FOUND, "no device \"b\"; known: \"board-1\"");
  });
  EXPECT_THAT(Session::Open({.address = device_.address(), .device = "b"}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("known: \"board-1\"")));
  const std::string address = device_.address();
  session_ = nullptr;
  device_.StopListening();
  EXPECT_THAT(Session::Open({.address = address}),
              StatusIs(absl::StatusCode::kUnavailable,
                       AllOf(HasSubstr(address), HasSubstr("cannot be reached"))));
}

TEST_F(SessionTest, SendsItsToken) {
  device_.Configure([](FakeDeviceBehaviour& behaviour) { behaviour.token = "secret"; });
  EXPECT_THAT(Session::Open({.address = device_.address()}),
              StatusIs(absl::StatusCode::kUnauthenticated));
  EXPECT_THAT(Session::Open({.address = device_.address(), .proof = {.token = "secret"}}), IsOk());
}

TEST_F(SessionTest, IsClosedWhenTheLastHandleGoes) {
  RemoteTensor a = Put({1});
  session_ = nullptr;
  EXPECT_FALSE(device_.is_closed());
  EXPECT_THAT(a.Get(), IsOk());
  a = RemoteTensor();
  EXPECT_TRUE(device_.is_closed());
}

}  // namespace
}  // namespace slipway
