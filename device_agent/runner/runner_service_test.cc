#include "device_agent/runner/runner_service.h"

#include <string.h>

#include <memory>
#include <string>

#include "core/base/digest.h"
#include "core/base/log.h"
#include "core/runtime/test_programs/test_programs.h"
#include "core/store/memory_blob_store.h"
#include "core/wire/digest_proto.h"
#include "core/wire/tensor_proto.h"
#include "device_agent/runner/runner_window.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Code = absl::StatusCode;

class RunnerServiceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const Artifact artifact = TestProgram(TestKernel::kAdd);
    for (const Digest& digest : artifact.manifest().blobs()) {
      ASSERT_OK(store_.Put(digest, artifact.blob(digest).bytes()));
    }
    manifest_ = artifact.manifest().bytes();
  }
  runner::Response Operate(const v1::SessionRequest& operation, int64_t data_size = 0) {
    runner::Request request;
    *request.mutable_operation() = operation;
    request.set_data_size(data_size);
    return service_.Handle(request);
  }
  runner::Response Load(uint64_t program = 1) {
    runner::Request request;
    request.mutable_operation()->mutable_load()->set_program(program);
    request.mutable_load()->set_manifest(manifest_);
    request.mutable_load()->set_scratch_bytes(1 << 20);
    request.mutable_load()->set_dynamic_bytes(1 << 20);
    return service_.Handle(request);
  }
  runner::Response Put(uint64_t handle) {
    runner::Request request;
    request.mutable_put()->set_handle(handle);
    *request.mutable_put()->mutable_tensor() =
        ToInlineProto("x", Tensor::Zeros(DataType::kFloat32, {2, 8}));
    return service_.Handle(request);
  }
  runner::Response Call(uint64_t input, uint64_t output) {
    v1::SessionRequest request;
    request.mutable_call()->set_program(1);
    request.mutable_call()->add_inputs(input);
    request.mutable_call()->add_outputs(output);
    return Operate(request);
  }
  runner::Response Fetch(uint64_t handle, int64_t max_inline_bytes) {
    runner::Request request;
    request.mutable_fetch()->set_handle(handle);
    request.mutable_fetch()->set_name("y");
    request.mutable_fetch()->set_max_inline_bytes(max_inline_bytes);
    return service_.Handle(request);
  }
  runner::Response Allocate(uint64_t handle, const TensorType& type) {
    v1::SessionRequest request;
    request.mutable_allocate()->set_tensor(handle);
    *request.mutable_allocate()->mutable_type() = ToProto(type);
    return Operate(request);
  }
  runner::Response Write(uint64_t handle, int64_t offset, const std::string& data) {
    memcpy(window_->data(), data.data(), data.size());
    v1::SessionRequest request;
    request.mutable_write()->set_tensor(handle);
    request.mutable_write()->set_offset(offset);
    return Operate(request, static_cast<int64_t>(data.size()));
  }
  runner::Response Read(uint64_t handle, int64_t offset, int64_t size) {
    v1::SessionRequest request;
    request.mutable_read()->set_tensor(handle);
    request.mutable_read()->set_offset(offset);
    return Operate(request, size);
  }
  runner::Response Free(uint64_t handle) {
    v1::SessionRequest request;
    request.mutable_free()->add_handles(handle);
    return Operate(request);
  }
  static Code CodeOf(const runner::Response& response) {
    return static_cast<Code>(response.result().code());
  }

  MemoryBlobStore store_;
  std::string manifest_;
  const std::unique_ptr<RunnerWindow> window_ = *RunnerWindow::Create();
  RunnerService service_{store_, *window_};
};

TEST_F(RunnerServiceTest, ItsLogNamesTheRequestThatItWorksFor) {
  InitLog("", LogLevel::kDebug);
  ::testing::internal::CaptureStderr();
  runner::Request request;
  request.mutable_fetch()->set_handle(1);
  request.set_request_id("r1");
  service_.Handle(request);
  // From the first request on.
  Load();
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr("loads a program"), HasSubstr(" request=r1\n")));
  InitLog("", LogLevel::kInfo);
}

TEST_F(RunnerServiceTest, LoadsCallsAndFetches) {
  const runner::Response loaded = Load();
  ASSERT_EQ(loaded.result().code(), 0) << loaded.result().message();
  ASSERT_EQ(loaded.result().loaded().functions_size(), 1);
  EXPECT_EQ(loaded.result().loaded().functions(0).inputs(0).type(), "f32[2, 8]");
  ASSERT_EQ(CodeOf(Put(5)), Code::kOk);
  ASSERT_EQ(CodeOf(Call(5, 6)), Code::kOk);
  // An output is an input of the next call without leaving the runner.
  ASSERT_EQ(CodeOf(Call(6, 7)), Code::kOk);
  const runner::Response fetched = Fetch(7, 1 << 20);
  ASSERT_EQ(fetched.result().code(), 0) << fetched.result().message();
  ASSERT_OK_AND_ASSIGN(const Tensor y, FromProto(fetched.tensor(), [](const Digest&) {
                         return absl::StatusOr<Blob>(absl::NotFoundError(""));
                       }));
  EXPECT_EQ(y.values<float>()[7], 14.0f);
  // As the digest of its bytes, where there is no room for it inline; a runner stores nothing.
  const runner::Response blob = Fetch(7, 0);
  ASSERT_TRUE(blob.tensor().has_blob());
  ASSERT_OK_AND_ASSIGN(const Digest digest, FromProto(blob.tensor().blob()));
  EXPECT_EQ(digest, Digest::Of(y.bytes()));
  EXPECT_FALSE(store_.Has(digest));
  // An output that is there is written in place.
  ASSERT_EQ(CodeOf(Call(7, 6)), Code::kOk);
  ASSERT_EQ(CodeOf(Read(6, 28, 4)), Code::kOk);
  float last = 0;
  memcpy(&last, window_->data(), sizeof(last));
  EXPECT_EQ(last, 21.0f);
}

TEST_F(RunnerServiceTest, ATensorWhereAFreedOneWasIsZeroUnlessItIsUnset) {
  const TensorType type = {DataType::kUint8, {8 << 20}};
  ASSERT_EQ(CodeOf(Allocate(1, type)), Code::kOk);
  ASSERT_EQ(CodeOf(Write(1, 0, "written")), Code::kOk);
  ASSERT_EQ(CodeOf(Free(1)), Code::kOk);
  v1::SessionRequest unset;
  unset.mutable_allocate()->set_tensor(2);
  *unset.mutable_allocate()->mutable_type() = ToProto(type);
  unset.mutable_allocate()->set_unset(true);
  ASSERT_EQ(CodeOf(Operate(unset)), Code::kOk);
  ASSERT_EQ(CodeOf(Read(2, 0, 7)), Code::kOk);
  EXPECT_EQ(std::string(window_->data(), 7), "written");
  ASSERT_EQ(CodeOf(Free(2)), Code::kOk);
  ASSERT_EQ(CodeOf(Allocate(3, type)), Code::kOk);
  ASSERT_EQ(CodeOf(Read(3, 0, 7)), Code::kOk);
  EXPECT_EQ(std::string(window_->data(), 7), std::string(7, '\0'));
}

TEST_F(RunnerServiceTest, TellsStepsAndTimesCalls) {
  ASSERT_EQ(CodeOf(Load()), Code::kOk);
  ASSERT_EQ(CodeOf(Put(2)), Code::kOk);
  v1::SessionRequest request;
  request.mutable_call()->set_program(1);
  request.mutable_call()->add_inputs(2);
  request.mutable_call()->add_outputs(3);
  request.mutable_call()->set_profile(true);
  const runner::Response called = Operate(request);
  EXPECT_EQ(called.result().called().steps(0).operators(0), "Add");
  EXPECT_EQ(called.result().called().outputs(0).shape(1), 8);
  const v1::SessionRequest::Call call = request.call();
  *request.mutable_time()->mutable_call() = call;
  request.mutable_time()->set_samples(3);
  const runner::Response timed = Operate(request);
  EXPECT_EQ(timed.result().code(), 0) << timed.result().message();
  EXPECT_EQ(timed.result().timed().result().samples_ns_size(), 3);
  EXPECT_GT(timed.result().timed().result().clock_resolution_ns(), 0);
  request.mutable_time()->set_cool_down_ns(-1);
  EXPECT_THAT(Operate(request).result().message(), HasSubstr("cool_down_ns is -1"));
}

TEST_F(RunnerServiceTest, MistakesAreNamed) {
  EXPECT_THAT(service_.Handle({}).result().message(), HasSubstr("no known kind"));
  EXPECT_THAT(Operate({}).result().message(), HasSubstr("does not know the request"));
  EXPECT_THAT(Call(1, 2).result().message(), HasSubstr("no program has handle 1"));
  ASSERT_EQ(CodeOf(Load()), Code::kOk);
  EXPECT_THAT(Call(1, 2).result().message(), HasSubstr("handle 1 is no tensor"));
  EXPECT_THAT(Call(4, 5).result().message(), HasSubstr("no tensor has handle 4"));
  EXPECT_THAT(Fetch(3, 0).result().message(), HasSubstr("no tensor has handle 3"));
  EXPECT_EQ(CodeOf(Load(1)), Code::kInvalidArgument);
  manifest_ = "garbage";
  EXPECT_EQ(CodeOf(Load(2)), Code::kInvalidArgument);
}

TEST_F(RunnerServiceTest, FreedHandlesAreNoMore) {
  ASSERT_EQ(CodeOf(Load()), Code::kOk);
  ASSERT_EQ(CodeOf(Put(2)), Code::kOk);
  ASSERT_EQ(CodeOf(Free(2)), Code::kOk);
  EXPECT_THAT(Call(2, 3).result().message(), HasSubstr("it was freed"));
  EXPECT_EQ(CodeOf(Free(2)), Code::kNotFound);
  // Its handle is never that of another tensor.
  EXPECT_THAT(Put(2).result().message(), HasSubstr("handle 2 is not new"));
  ASSERT_EQ(CodeOf(Free(1)), Code::kOk);
  EXPECT_EQ(CodeOf(Call(2, 3)), Code::kNotFound);
}

TEST_F(RunnerServiceTest, HandlesComeInAnyOrderAndOnce) {
  for (const uint64_t handle : {7, 3, 5, 4, 1}) EXPECT_EQ(CodeOf(Put(handle)), Code::kOk);
  EXPECT_THAT(Call(3, 2).result().message(), HasSubstr("handle 1 is no program"));
  for (const uint64_t handle : {1, 3, 4, 5, 7}) {
    ASSERT_EQ(CodeOf(Free(handle)), Code::kOk);
    EXPECT_EQ(CodeOf(Put(handle)), Code::kInvalidArgument);
  }
  EXPECT_EQ(CodeOf(Put(0)), Code::kInvalidArgument);
  for (const uint64_t handle : {uint64_t{2}, uint64_t{6}, UINT64_MAX}) {
    EXPECT_EQ(CodeOf(Put(handle)), Code::kOk);
    EXPECT_EQ(CodeOf(Put(handle)), Code::kInvalidArgument);
  }
  // Of very many gaps the lowest are forgotten.
  for (uint64_t i = 0; i < 5000; ++i) ASSERT_EQ(CodeOf(Put(100 + 2 * i)), Code::kOk);
  EXPECT_EQ(CodeOf(Put(101)), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(Put(100 + 2 * 4999 - 1)), Code::kOk);
}

TEST_F(RunnerServiceTest, ListsWhatItHasInParts) {
  const auto list = [this](uint64_t after) {
    v1::SessionRequest request;
    request.mutable_list()->set_after(after);
    return Operate(request).result().listed();
  };
  EXPECT_EQ(list(0).ByteSizeLong(), 0u);
  ASSERT_EQ(CodeOf(Load(4)), Code::kOk);
  for (uint64_t i = 0; i < 1500; ++i)
    ASSERT_EQ(CodeOf(Allocate(10 + i, {DataType::kInt8, {3}})), Code::kOk);
  ASSERT_EQ(CodeOf(Free(11)), Code::kOk);
  const v1::SessionResponse::Listed first = list(0);
  ASSERT_EQ(first.programs_size(), 1);
  EXPECT_EQ(first.programs(0).handle(), 4u);
  EXPECT_EQ(first.programs(0).functions(0).inputs(0).type(), "f32[2, 8]");
  ASSERT_EQ(first.tensors_size(), 999);
  EXPECT_EQ(first.tensors(0).handle(), 10u);
  EXPECT_EQ(first.tensors(1).handle(), 12u);
  EXPECT_EQ(*FromProto(first.tensors(0).type()), (TensorType{DataType::kInt8, {3}}));
  EXPECT_EQ(first.more_after(), first.tensors(998).handle());
  const v1::SessionResponse::Listed rest = list(first.more_after());
  EXPECT_EQ(rest.tensors_size(), 500);
  EXPECT_EQ(rest.tensors(499).handle(), 1509u);
  EXPECT_EQ(rest.more_after(), 0u);
}

TEST_F(RunnerServiceTest, NamesAreBounded) {
  ASSERT_EQ(CodeOf(Load()), Code::kOk);
  ASSERT_EQ(CodeOf(Put(2)), Code::kOk);
  v1::SessionRequest call;
  call.mutable_call()->set_program(1);
  call.mutable_call()->add_inputs(2);
  call.mutable_call()->add_outputs(3);
  call.mutable_call()->add_output_names(std::string(1025, 'y'));
  EXPECT_EQ(CodeOf(Operate(call)), Code::kInvalidArgument);
  call.mutable_call()->set_output_names(0, "y");
  call.mutable_call()->add_output_names("z");
  EXPECT_THAT(Operate(call).result().message(), HasSubstr("2 names for 1 outputs"));
  v1::SessionRequest slice;
  slice.mutable_slice()->set_from(2);
  slice.mutable_slice()->set_tensor(4);
  slice.mutable_slice()->set_name(std::string(1025, 'y'));
  EXPECT_EQ(CodeOf(Operate(slice)), Code::kInvalidArgument);
}

TEST_F(RunnerServiceTest, TensorsAreWrittenAndReadInPieces) {
  ASSERT_EQ(CodeOf(Allocate(1, {DataType::kInt32, {3}})), Code::kOk);
  ASSERT_EQ(CodeOf(Write(1, 4, std::string("\1\0\0\0\2\0\0\0", 8))), Code::kOk);
  ASSERT_EQ(CodeOf(Read(1, 0, 12)), Code::kOk);
  EXPECT_EQ(std::string(window_->data(), 12), std::string("\0\0\0\0\1\0\0\0\2\0\0\0", 12));
  EXPECT_EQ(CodeOf(Write(1, 8, "12345678")), Code::kOutOfRange);
  EXPECT_EQ(CodeOf(Write(1, 2, "1234")), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(Read(1, -4, 4)), Code::kOutOfRange);
  EXPECT_EQ(CodeOf(Read(1, 0, RunnerWindow::kDataBytes + 1)), Code::kInvalidArgument);
  // Bytes that are no elements.
  ASSERT_EQ(CodeOf(Allocate(2, {DataType::kBool, {2}})), Code::kOk);
  EXPECT_THAT(Write(2, 0, std::string("\1\7", 2)).result().message(),
              HasSubstr("byte 1 is 7, which is no element of bool[2]"));
  EXPECT_EQ(CodeOf(Allocate(3, {DataType::kString, {2}})), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(Allocate(3, {DataType::kFloat32, {-1}})), Code::kInvalidArgument);
}

TEST_F(RunnerServiceTest, BoxesAreCopiedOnTheDevice) {
  ASSERT_EQ(CodeOf(Allocate(1, {DataType::kUint8, {2, 3}})), Code::kOk);
  ASSERT_EQ(CodeOf(Write(1, 0, "abcdef")), Code::kOk);
  v1::SessionRequest request;
  v1::SessionRequest::Slice& slice = *request.mutable_slice();
  slice.set_from(1);
  slice.set_tensor(2);
  slice.add_begin(0);
  slice.add_begin(1);
  slice.add_shape(2);
  slice.add_shape(2);
  ASSERT_EQ(CodeOf(Operate(request)), Code::kOk);
  ASSERT_EQ(CodeOf(Read(2, 0, 4)), Code::kOk);
  EXPECT_EQ(std::string(window_->data(), 4), "bcef");
  v1::SessionRequest::Assign& assign = *request.mutable_assign();
  assign.set_from(2);
  assign.set_to(1);
  assign.add_begin(0);
  assign.add_begin(0);
  ASSERT_EQ(CodeOf(Operate(request)), Code::kOk);
  ASSERT_EQ(CodeOf(Read(1, 0, 6)), Code::kOk);
  EXPECT_EQ(std::string(window_->data(), 6), "bcceff");
  v1::SessionRequest facts;
  facts.mutable_get_facts();
  EXPECT_EQ(Operate(facts).result().facts().tensor_bytes(), 10);
  EXPECT_EQ(Operate(facts).result().facts().tensors(), 2);
}

TEST_F(RunnerServiceTest, WhatIsTooLateOrCancelledIsNotDone) {
  runner::Request request;
  request.mutable_operation()->set_id(7);
  request.mutable_operation()->mutable_get_facts();
  request.set_not_after_ns(1);
  EXPECT_EQ(CodeOf(service_.Handle(request)), Code::kDeadlineExceeded);
  request.clear_not_after_ns();
  window_->status().Cancel(7);
  EXPECT_EQ(CodeOf(service_.Handle(request)), Code::kCancelled);
  request.mutable_operation()->set_id(8);
  EXPECT_EQ(CodeOf(service_.Handle(request)), Code::kOk);
}

TEST_F(RunnerServiceTest, MissingBlobsAreNamed) {
  const Artifact program = TestProgram(TestKernel::kAdd);
  for (const Digest& digest : program.manifest().blobs()) {
    ASSERT_OK(store_.Remove(digest));
  }
  EXPECT_EQ(CodeOf(Load()), Code::kNotFound);
}

TEST_F(RunnerServiceTest, MeasuresTheMachine) {
  runner::Request request;
  request.mutable_measure_peaks()->set_threads(1);
  const runner::Response response = service_.Handle(request);
  EXPECT_EQ(response.result().code(), 0);
  ASSERT_EQ(response.peaks().on_threads_size(), 1);
  EXPECT_EQ(response.peaks().on_threads(0).threads(), 1);
  EXPECT_GT(response.peaks().on_threads(0).arithmetic(0).operations_per_second(), 0);
  request.mutable_measure_peaks()->set_threads(0);
  EXPECT_EQ(service_.Handle(request).result().code(),
            static_cast<int>(absl::StatusCode::kInvalidArgument));
}

TEST_F(RunnerServiceTest, MeasuresAnAcceleratorWhereProgramsMayUseThem) {
  runner::Request request;
  request.mutable_measure_accelerator_peaks()->set_number(1);
  EXPECT_EQ(service_.Handle(request).result().code(),
            static_cast<int>(absl::StatusCode::kFailedPrecondition));
  AcceleratorLooks looks;
  looks.measure = [](int number) -> absl::StatusOr<AcceleratorPeaks> {
    if (number != 1) return absl::FailedPreconditionError("it is not there");
    return AcceleratorPeaks{"GPU", {{"f32", 1e12}}, {{"memory", 0, 1e11}}, 1e10, 1e10};
  };
  RunnerService service(store_, *window_, AllDrivers(), std::nullopt, looks);
  const runner::Response response = service.Handle(request);
  EXPECT_EQ(response.result().code(), 0);
  ASSERT_EQ(response.peaks().accelerators_size(), 1);
  EXPECT_EQ(response.peaks().accelerators(0).name(), "GPU");
  request.mutable_measure_accelerator_peaks()->set_number(-1);
  EXPECT_EQ(service.Handle(request).result().code(),
            static_cast<int>(absl::StatusCode::kFailedPrecondition));
}

}  // namespace
}  // namespace slipway
