#include "tests/conformance/backend_case.h"

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/operators/register_all.h"
#include "core/tensor/onnx_tensor.h"
#include "tests/conformance/packed_data.h"
#include "third_party/onnx/onnx.pb.h"

namespace slipway {
namespace {

constexpr int64_t kMaxFileBytes = int64_t{1} << 31;

// What the harness itself reads of a model.
struct ModelSummary {
  std::string op;
  bool is_random = false;               // What it makes is compared by type alone.
  std::vector<onnx::TypeProto> inputs;  // By position.
  std::vector<onnx::TypeProto> outputs;
};

// The name that the importer gives an operator.
std::string OperatorName(const onnx::NodeProto& node) {
  return node.domain().empty() ? node.op_type() : absl::StrCat(node.domain(), ".", node.op_type());
}

absl::StatusOr<ModelSummary> Summarize(absl::string_view bytes) {
  onnx::ModelProto model;
  if (!model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::InvalidArgumentError("model.onnx is no ONNX model");
  }
  const onnx::GraphProto& graph = model.graph();
  ModelSummary summary;
  summary.op = graph.node_size() == 1 ? OperatorName(graph.node(0)) : "(several)";
  const OperatorRegistry registry = StandardOperators();
  for (const onnx::NodeProto& node : graph.node()) {
    const OperatorSchema* schema = registry.Find(OperatorName(node));
    summary.is_random |= schema != nullptr && schema->random;
  }
  std::set<std::string> initialized;
  for (const auto& initializer : graph.initializer()) initialized.insert(initializer.name());
  for (const auto& input : graph.input()) {
    if (initialized.count(input.name()) > 0) continue;
    summary.inputs.push_back(input.type());
  }
  for (const auto& output : graph.output()) {
    summary.outputs.push_back(output.type());
  }
  return summary;
}

// Published cases whose results are not those of their model, in releases where they fail, and why.
struct FaultyCase {
  const char* name;
  const char* reason;
};
constexpr FaultyCase kFaultyCases[] = {
    {"test_adam_multiple", "its results are made with an epsilon that its model does not say"},
};

absl::Status Excused(const BackendCase& backend_case, absl::Status failure) {
  for (const FaultyCase& faulty : kFaultyCases) {
    if (!absl::IsFailedPrecondition(failure) || backend_case.name != faulty.name) continue;
    return absl::UnimplementedError(absl::StrCat("the case is faulty: ", faulty.reason));
  }
  return failure;
}

// A few published cases hold data of another shape than their own model declares.
absl::Status CheckDataFitsModel(const std::vector<Tensor>& inputs, const ModelSummary& model) {
  for (size_t i = 0; i < inputs.size() && i < model.inputs.size(); ++i) {
    const onnx::TypeProto::Tensor& declared = model.inputs[i].tensor_type();
    if (!declared.has_shape()) continue;
    const auto& dims = declared.shape().dim();
    bool fits = dims.size() == static_cast<int>(inputs[i].shape().size());
    for (int d = 0; fits && d < dims.size(); ++d) {
      fits = !dims[d].has_dim_value() || dims[d].dim_value() == inputs[i].shape()[d];
    }
    if (fits) continue;
    return absl::UnimplementedError(absl::StrCat("the case is faulty: its input ", i, " of ",
                                                 ToString(inputs[i].type()),
                                                 " does not fit its own model"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Tensor> ParseData(absl::string_view bytes, const onnx::TypeProto& declared) {
  if (declared.has_sequence_type()) return ParsePackedData(bytes, PackKind::kSequence);
  if (declared.has_optional_type()) return ParsePackedData(bytes, PackKind::kOptional);
  SLIPWAY_ASSIGN_OR_RETURN(NamedTensor tensor, ParseOnnxTensor(bytes));
  return std::move(tensor.tensor);
}

// input_0.pb, input_1.pb, ... of one data set.
absl::StatusOr<std::vector<Tensor>> ReadTensors(const std::string& folder, absl::string_view kind,
                                                const std::vector<onnx::TypeProto>& declared) {
  std::vector<Tensor> tensors;
  while (true) {
    const std::string path = JoinPath(folder, absl::StrCat(kind, "_", tensors.size(), ".pb"));
    if (!std::filesystem::exists(path)) return tensors;
    SLIPWAY_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, kMaxFileBytes));
    const onnx::TypeProto type =
        tensors.size() < declared.size() ? declared[tensors.size()] : onnx::TypeProto();
    SLIPWAY_ASSIGN_OR_RETURN_WITH(Tensor tensor, ParseData(bytes, type), path);
    // NumPy has no bf16: the data sets hold its bits as u16.
    if (type.tensor_type().elem_type() == onnx::TensorProto::BFLOAT16 &&
        tensor.dtype() == DataType::kUint16) {
      SLIPWAY_ASSIGN_OR_RETURN(
          tensor, Tensor::FromBytes({DataType::kBfloat16, tensor.shape()}, tensor.bytes()));
    }
    tensors.push_back(std::move(tensor));
  }
}

absl::Status RunDataSet(const std::string& folder, const ModelSummary& model, Engine& engine,
                        const Tolerance& tolerance) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs,
                           ReadTensors(folder, "input", model.inputs));
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<Tensor> expected,
                           ReadTensors(folder, "output", model.outputs));
  SLIPWAY_RETURN_IF_ERROR(CheckDataFitsModel(inputs, model));
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<Tensor> actual, engine.Run(inputs));
  if (actual.size() != expected.size()) {
    return absl::FailedPreconditionError(
        absl::StrCat(actual.size(), " outputs instead of ", expected.size()));
  }
  for (size_t i = 0; i < actual.size(); ++i) {
    if (model.is_random && actual[i].type() == expected[i].type()) continue;
    Tolerance allowed = tolerance;
    // The published results round between the steps of an operator, or cut the low half off, where we round once:
    // two units.
    if (expected[i].dtype() == DataType::kBfloat16) allowed.relative = 1.0 / 64;
    if (expected[i].dtype() == DataType::kFloat16) allowed.relative = 1.0 / 512;
    SLIPWAY_RETURN_IF_ERROR_WITH(CheckCloseData(actual[i], expected[i], allowed),
                                 absl::StrCat("output ", i));
  }
  return absl::OkStatus();
}

absl::Status RunAllDataSets(const BackendCase& backend_case, absl::string_view bytes,
                            const ModelSummary& model, Engine& engine, const Tolerance& tolerance) {
  OnnxFiles files;
  files.main = Blob(bytes, nullptr);  // The engine is done with it when this returns.
  SLIPWAY_RETURN_IF_ERROR(engine.Load(files));
  int sets = 0;
  for (const auto& entry : std::filesystem::directory_iterator(backend_case.folder)) {
    if (!absl::StartsWith(entry.path().filename().string(), "test_data_set_")) continue;
    ++sets;
    SLIPWAY_RETURN_IF_ERROR(RunDataSet(entry.path().string(), model, engine, tolerance));
  }
  return sets > 0 ? absl::OkStatus() : absl::NotFoundError("the case has no data set");
}

}  // namespace

absl::StatusOr<std::vector<BackendCase>> FindBackendCases(const std::string& folder,
                                                          const std::string& which) {
  const std::regex chosen(which);
  std::vector<BackendCase> cases;
  std::error_code error;
  const auto options = std::filesystem::directory_options::skip_permission_denied;
  for (std::filesystem::recursive_directory_iterator it(folder, options, error), end;
       !error && it != end; it.increment(error)) {
    if (it->path().filename() != "model.onnx") continue;
    const std::filesystem::path parent = it->path().parent_path();
    std::string name = parent.filename().string();
    if (!std::regex_search(name, chosen)) continue;
    cases.push_back({std::move(name), parent.string()});
  }
  if (cases.empty()) {
    return absl::NotFoundError(absl::StrCat("no cases in \"", folder, "\"",
                                            which.empty() ? "" : " with names like ", which));
  }
  std::sort(cases.begin(), cases.end(),
            [](const BackendCase& a, const BackendCase& b) { return a.folder < b.folder; });
  return cases;
}

std::string Name(CaseResult::Verdict verdict) {
  switch (verdict) {
    case CaseResult::Verdict::kPassed:
      return "passed";
    case CaseResult::Verdict::kFailed:
      return "failed";
    case CaseResult::Verdict::kUnsupported:
      return "unsupported";
    case CaseResult::Verdict::kCrashed:
      return "crashed";
    case CaseResult::Verdict::kHung:
      return "hung";
  }
  return "";
}

CaseResult RunBackendCase(const BackendCase& backend_case, Engine& engine,
                          const Tolerance& tolerance) {
  CaseResult result;
  result.name = backend_case.name;
  const auto bytes = ReadFile(JoinPath(backend_case.folder, "model.onnx"), kMaxFileBytes);
  const auto model = bytes.ok() ? Summarize(*bytes) : bytes.status();
  if (!model.ok()) {
    result.reason = model.status().ToString();
    return result;
  }
  result.op = model->op;
  const absl::Status status =
      Excused(backend_case, RunAllDataSets(backend_case, *bytes, *model, engine, tolerance));
  if (status.ok()) {
    result.verdict = CaseResult::Verdict::kPassed;
  } else {
    if (absl::IsUnimplemented(status)) result.verdict = CaseResult::Verdict::kUnsupported;
    result.reason = status.ToString();
  }
  return result;
}

}  // namespace slipway
