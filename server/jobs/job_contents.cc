#include "server/jobs/job_contents.h"

namespace slipway::server {
namespace {

void ClearTensors(google::protobuf::RepeatedPtrField<v1::Tensor>* tensors) {
  for (v1::Tensor& tensor : *tensors) tensor.clear_content();
}

}  // namespace

void MoveSpec(v1::Job& from, v1::Job& to) {
  switch (from.spec_case()) {
    case v1::Job::kCompilation:
      to.mutable_compilation()->Swap(from.mutable_compilation());
      break;
    case v1::Job::kRun:
      to.mutable_run()->Swap(from.mutable_run());
      break;
    case v1::Job::kBenchmark:
      to.mutable_benchmark()->Swap(from.mutable_benchmark());
      break;
    case v1::Job::kSession:
      to.mutable_session()->Swap(from.mutable_session());
      break;
    case v1::Job::SPEC_NOT_SET:
      break;
  }
  from.clear_spec();
}

void MoveResult(v1::Job& from, v1::Job& to) {
  switch (from.result_case()) {
    case v1::Job::kCompilationResult:
      to.mutable_compilation_result()->Swap(from.mutable_compilation_result());
      break;
    case v1::Job::kRunResult:
      to.mutable_run_result()->Swap(from.mutable_run_result());
      break;
    case v1::Job::kBenchmarkResult:
      to.mutable_benchmark_result()->Swap(from.mutable_benchmark_result());
      break;
    case v1::Job::kSessionResult:
      to.mutable_session_result()->Swap(from.mutable_session_result());
      break;
    case v1::Job::RESULT_NOT_SET:
      break;
  }
  from.clear_result();
}

void ClearContents(v1::Job& job) {
  if (job.has_run()) ClearTensors(job.mutable_run()->mutable_inputs());
  if (job.has_benchmark()) ClearTensors(job.mutable_benchmark()->mutable_run()->mutable_inputs());
  if (job.has_run_result()) ClearTensors(job.mutable_run_result()->mutable_outputs());
  if (job.has_compilation()) job.mutable_compilation()->mutable_options()->clear_schedules();
  if (job.has_compilation_result()) {
    v1::CompileReport& report = *job.mutable_compilation_result()->mutable_report();
    report.clear_printed_graph();
    report.clear_printed_schedules();
    report.clear_candidates();
  }
}

}  // namespace slipway::server
