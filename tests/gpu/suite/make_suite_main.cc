// Compiles what a machine with a GPU is to run, into a folder as suite_case.h says: small graphs, ONNX's cases, models. Needs no GPU. What is
// expected comes from core/reference; of models, from the program for this machine's processor.
//
//   make_suite OUT --target x86-64-v3-linux,cuda-sm90 [--graphs=false] [--models NAME,...|all|none] [--precisions f32,tf32,f16] [--onnx DIR]
//       [--filter RE] [--jobs N]
//
// Prints a line for each: "wrote NAME", or "left NAME: why". Exit codes: 0 all that can be is there, 1 something could not be compiled, 2
// the call was wrong.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/base/clock.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/compiler/compiler.h"
#include "core/passes/testing/pass_tester.h"
#include "core/runtime/load_program.h"
#include "core/target/target.h"
#include "core/tensor/npy.h"
#include "core/tensor/precision.h"
#include "tests/conformance/backend_case.h"
#include "tests/conformance/engine.h"
#include "tests/conformance/run_cases.h"
#include "tests/gpu/attention_graphs.h"
#include "tests/gpu/depthwise_graphs.h"
#include "tests/gpu/graphs.h"
#include "tests/gpu/product_graphs.h"
#include "tests/gpu/row_graphs.h"
#include "tests/gpu/suite/models.h"
#include "tests/gpu/suite/suite_case.h"

ABSL_FLAG(std::string, target, "x86-64-v3-linux,cuda-sm80", "what to compile for");
ABSL_FLAG(bool, graphs, true, "whether small graphs are in it");
ABSL_FLAG(std::string, models, "all", "models to measure, with commas between; all or none");
ABSL_FLAG(std::string, precisions, "f32,tf32,f16",
          "what models are compiled in, of f32, tf32, f16, bf16");
ABSL_FLAG(std::string, onnx, "", "folder with ONNX's backend-test cases; none without");
ABSL_FLAG(std::string, filter, "", "regular expression that the name of such a case contains");
ABSL_FLAG(int, jobs, 2, "how many of these are compiled at a time");

namespace slipway::testing {
namespace {

// Of an output in a file.
constexpr int64_t kMostElements = 1 << 16;

absl::StatusOr<Artifact> CompileFor(const Graph& graph, const Target& target,
                                    Precision precision = Precision::kFloat32) {
  const SystemClock clock;
  CompileEnvironment environment;
  environment.clock = &clock;
  CompilerOptions options;
  options.precision = precision;
  SLIPWAY_ASSIGN_OR_RETURN(CompiledModel compiled,
                           CompileGraph(graph, target, options, environment));
  return std::move(compiled.artifact);
}

double Largest(const Tensor& tensor) {
  double largest = 0;
  for (const float value : tensor.values<float>()) {
    largest = std::max(largest, std::fabs(double{value}));
  }
  return largest;
}

// As a share of the largest element, for layers one behind the other.
double ErrorOf(Precision precision) {
  if (precision == Precision::kBfloat16) return 5e-2;
  return precision == Precision::kFloat32 ? 1e-4 : 1e-2;
}

// In f32 a case is called as what it computes.
std::string NameIn(Precision precision, absl::string_view name) {
  return precision == Precision::kFloat32 ? std::string(name)
                                          : absl::StrCat(name, "_", Name(precision));
}

absl::Status WriteTensor(const std::string& path, const Tensor& tensor) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::string bytes, FormatNpy(tensor));
  return WriteFileAtomically(path, bytes, /*durable=*/false);
}

class SuiteWriter {
 public:
  explicit SuiteWriter(std::string folder) : folder_(std::move(folder)) {}

  // `written` says how inputs are made that are not in `inputs`.
  absl::Status Write(const std::string& name, SuiteCase written, const Artifact& artifact,
                     absl::Span<const Tensor> inputs, absl::Span<const Tensor> expected) const {
    const std::string folder = CaseFolder(folder_, name);
    SLIPWAY_RETURN_IF_ERROR(MakeFolders(folder));
    SLIPWAY_RETURN_IF_ERROR(MakeFolders(JoinPath(folder_, "blobs")));
    written.manifest = artifact.digest();
    SLIPWAY_RETURN_IF_ERROR(WriteBlob(artifact.digest(), artifact.manifest().bytes()));
    for (const Digest& digest : artifact.manifest().blobs()) {
      if (written.constants.count(digest) > 0) continue;
      SLIPWAY_RETURN_IF_ERROR(WriteBlob(digest, artifact.blob(digest).bytes()));
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      const std::string file = absl::StrCat("input_", i, ".npy");
      SLIPWAY_RETURN_IF_ERROR(WriteTensor(JoinPath(folder, file), inputs[i]));
      written.inputs.emplace_back(file);
    }
    for (size_t i = 0; i < expected.size(); ++i) {
      const int64_t count = expected[i].num_elements();
      // Odd, so that no column is the only one that is looked at.
      const int64_t stride = count <= kMostElements ? 1 : (count / kMostElements) | 1;
      const std::string file = absl::StrCat("output_", i, ".npy");
      SLIPWAY_RETURN_IF_ERROR(WriteTensor(JoinPath(folder, file), Sampled(expected[i], stride)));
      written.outputs.push_back({file, stride});
    }
    return WriteFileAtomically(JoinPath(folder, "case"), FormatSuiteCase(written),
                               /*durable=*/false);
  }

 private:
  absl::Status WriteBlob(const Digest& digest, absl::string_view bytes) const {
    const std::string path = BlobPath(folder_, digest);
    if (std::filesystem::exists(path)) return absl::OkStatus();
    return WriteFileAtomically(path, bytes, /*durable=*/false);
  }

  const std::string folder_;
};

bool UsesDevice(const Artifact& artifact) {
  const auto& code = artifact.manifest().proto().code();
  return std::any_of(code.begin(), code.end(),
                     [](const v1::Code& one) { return one.device() != 0; });
}

absl::Status WriteGraph(const SuiteWriter& writer, const std::string& name, const char* text,
                        const Target& target, const PassTester& tester) {
  SLIPWAY_ASSIGN_OR_RETURN(const Graph graph, tester.Parse(text));
  SLIPWAY_ASSIGN_OR_RETURN(const Artifact artifact, CompileFor(graph, target));
  const std::vector<Tensor> inputs = RandomInputs(graph, 7);
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<Tensor> expected,
                           tester.reference().Evaluate(graph, inputs));
  return writer.Write(name, {.kind = "graph"}, artifact, inputs, expected);
}

// On tensor cores.
absl::Status WriteNarrow(const SuiteWriter& writer, const std::string& name, const char* text,
                         const Target& target, Precision precision, const PassTester& tester) {
  SLIPWAY_ASSIGN_OR_RETURN(const Graph graph, tester.Parse(text));
  SLIPWAY_ASSIGN_OR_RETURN(const Artifact artifact, CompileFor(graph, target, precision));
  const std::vector<Tensor> inputs = AttentionInputs(graph);
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<Tensor> expected,
                           tester.reference().Evaluate(graph, inputs));
  const SuiteCase written = {.kind = "graph",
                             .precision = std::string(Name(precision)),
                             .tolerance = {0, ErrorOf(precision) * Largest(expected[0])}};
  return writer.Write(NameIn(precision, name), written, artifact, inputs, expected);
}

// A constant as a program may have it: first as it is, then as tensor cores want it.
std::vector<SuiteCase::Constant> WaysToStore(const SeededNormal& seeded) {
  std::vector<SuiteCase::Constant> ways = {{seeded, std::nullopt}};
  if (seeded.shape.size() < 2) return ways;
  const int64_t elements = NumElements(seeded.shape);
  const int64_t rows = seeded.shape[0];
  const int64_t channels = seeded.shape[1];
  for (const DataType dtype : {DataType::kFloat32, DataType::kFloat16, DataType::kBfloat16}) {
    ways.push_back({seeded, WeightLayout{1, 1, elements, dtype}});
    ways.push_back({seeded, WeightLayout{1, rows, elements / rows, dtype}});
    ways.push_back({seeded, WeightLayout{rows, channels, elements / rows / channels, dtype}});
  }
  return ways;
}

absl::Status WriteModel(const SuiteWriter& writer, const std::string& name, const Target& target,
                        absl::Span<const Precision> precisions, const PassTester& tester) {
  SLIPWAY_ASSIGN_OR_RETURN(const MeasuredModel model, MakeMeasuredModel(name, tester));
  SLIPWAY_ASSIGN_OR_RETURN(const Artifact here, CompileFor(model.graph, HostTarget()));
  std::vector<Tensor> inputs;
  for (const SeededNormal& input : model.inputs) inputs.push_back(MakeSeeded(input));
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<Tensor> expected, RunHere(here, inputs));
  for (const Precision precision : precisions) {
    SLIPWAY_ASSIGN_OR_RETURN(const Artifact artifact, CompileFor(model.graph, target, precision));
    // Sums of thousands of numbers, in another order.
    SuiteCase written = {
        .kind = "model",
        .like = name,
        .precision = std::string(Name(precision)),
        .tolerance = {.relative = 1e-3, .absolute = ErrorOf(precision) * Largest(expected[0])}};
    for (const SeededNormal& input : model.inputs) written.inputs.emplace_back(input);
    for (const auto& [constant, seeded] : model.constants) {
      for (const SuiteCase::Constant& as : WaysToStore(seeded)) {
        const Digest digest = Digest::Of(MakeConstant(as).bytes());
        if (artifact.FindBlob(digest) != nullptr) written.constants.try_emplace(digest, as);
      }
    }
    SLIPWAY_RETURN_IF_ERROR(
        writer.Write(NameIn(precision, name), std::move(written), artifact, {}, expected));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Precision>> Precisions() {
  std::vector<Precision> precisions;
  for (const absl::string_view word :
       absl::StrSplit(absl::GetFlag(FLAGS_precisions), ',', absl::SkipEmpty())) {
    const std::optional<Precision> precision = FindPrecision(word);
    if (!precision.has_value() || precision == Precision::kInt8) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", word, "\" is none of f32, tf32, f16, bf16"));
    }
    precisions.push_back(*precision);
  }
  return precisions;
}

// Has the reference compute a case's results, and writes what the compiler makes of it beside them.
class WritingEngine final : public Engine {
 public:
  WritingEngine(const SuiteWriter& writer, std::string name, const Target& target)
      : writer_(writer),
        name_(std::move(name)),
        reference_(MakeReferenceEngine()),
        compiled_(MakeCompiledEngine(
            target, [this](const Artifact& artifact, absl::Span<const Tensor> inputs) {
              return Take(artifact, inputs);
            })) {}

  absl::Status Load(const OnnxFiles& files) override {
    SLIPWAY_RETURN_IF_ERROR(reference_->Load(files));
    return compiled_->Load(files);
  }

  absl::StatusOr<std::vector<Tensor>> Run(absl::Span<const Tensor> inputs) override {
    SLIPWAY_ASSIGN_OR_RETURN(expected_, reference_->Run(inputs));
    SLIPWAY_ASSIGN_OR_RETURN(const std::vector<Tensor> again, reference_->Run(inputs));
    for (size_t i = 0; i < again.size(); ++i) {
      if (again[i].bytes() != expected_[i].bytes()) {
        return absl::UnimplementedError("each call makes other numbers");
      }
    }
    taken_ = absl::InternalError("nothing was compiled");
    // What it returns is not looked at: the program has not run.
    const absl::Status compiled = compiled_->Run(inputs).status();
    if (!taken_.ok()) return compiled.ok() ? taken_ : compiled;
    return expected_;
  }

 private:
  absl::StatusOr<std::vector<Tensor>> Take(const Artifact& artifact,
                                           absl::Span<const Tensor> inputs) {
    if (!UsesDevice(artifact)) return absl::UnimplementedError("the host computes all of it");
    if (artifact.manifest().signature().outputs.size() != expected_.size()) {
      return absl::UnimplementedError("it has strings, or sequences");
    }
    const std::string name = sets_ == 0 ? name_ : absl::StrCat(name_, ".", sets_);
    ++sets_;
    taken_ = writer_.Write(name, {.kind = "onnx"}, artifact, inputs, expected_);
    return taken_.ok() ? absl::StatusOr<std::vector<Tensor>>(expected_) : taken_;
  }

  const SuiteWriter& writer_;
  const std::string name_;
  const std::unique_ptr<Engine> reference_;
  const std::unique_ptr<Engine> compiled_;
  std::vector<Tensor> expected_;
  absl::Status taken_;
  int sets_ = 0;
};

bool Tell(const std::string& name, const absl::Status& status) {
  if (status.ok()) {
    std::cout << "wrote " << name << std::endl;
  } else {
    std::cout << "left " << name << ": " << status.message() << std::endl;
  }
  return status.ok();
}

absl::StatusOr<bool> WriteAll(const std::string& folder) {
  SLIPWAY_ASSIGN_OR_RETURN(const Target target, ParseTarget(absl::GetFlag(FLAGS_target)));
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<Precision> precisions, Precisions());
  const SuiteWriter writer(folder);
  bool all = true;
  // First, since each is a fork of this process, which is small yet.
  if (!absl::GetFlag(FLAGS_onnx).empty()) {
    SLIPWAY_ASSIGN_OR_RETURN(
        const std::vector<BackendCase> cases,
        FindBackendCases(absl::GetFlag(FLAGS_onnx), absl::GetFlag(FLAGS_filter)));
    const std::vector<CaseResult> results =
        RunCases(cases,
                 [&](const BackendCase& one) {
                   WritingEngine engine(writer, one.name, target);
                   return RunBackendCase(one, engine, Tolerance());
                 },
                 {.jobs = absl::GetFlag(FLAGS_jobs)});
    for (const CaseResult& result : results) {
      const bool passed = result.verdict == CaseResult::Verdict::kPassed;
      Tell(result.name, passed ? absl::OkStatus() : absl::UnknownError(result.reason));
      all &= passed || result.verdict == CaseResult::Verdict::kUnsupported;
    }
  }
  const PassTester tester;
  if (absl::GetFlag(FLAGS_graphs)) {
    const auto write = [&](const std::string& name, const char* text) {
      all &= Tell(name, WriteGraph(writer, name, text, target, tester));
    };
    for (const SmallGraph& graph : SmallGraphs()) write(graph.name, graph.text);
    for (const DepthwiseGraph& graph : DepthwiseGraphs()) {
      write(absl::StrCat("depthwise_", graph.name), graph.text);
    }
    for (const RowGraph& graph : RowGraphs()) {
      write(absl::StrCat("rows_", graph.name), graph.text);
    }
    const auto write_narrow = [&](const std::string& name, const char* text) {
      for (const Precision precision :
           {Precision::kTensorFloat32, Precision::kFloat16, Precision::kBfloat16}) {
        all &= Tell(NameIn(precision, name),
                    WriteNarrow(writer, name, text, target, precision, tester));
      }
    };
    for (const ProductGraph& graph : ProductGraphs()) write_narrow(graph.name, graph.text);
    for (const AttentionGraph& graph : AttentionGraphs()) {
      write_narrow(absl::StrCat("attention_", graph.name), graph.text);
    }
  }
  std::vector<std::string> models =
      absl::StrSplit(absl::GetFlag(FLAGS_models), ',', absl::SkipEmpty());
  if (models == std::vector<std::string>{"all"}) models = MeasuredModelNames();
  if (models == std::vector<std::string>{"none"}) models.clear();
  for (const std::string& model : models) {
    all &= Tell(model, WriteModel(writer, model, target, precisions, tester));
  }
  return all;
}

int Main(int argc, char** argv) {
  const std::vector<char*> words = absl::ParseCommandLine(argc, argv);
  if (words.size() != 2) {
    std::cerr << "usage: make_suite OUT [flags]\n";
    return 2;
  }
  const absl::StatusOr<bool> all = WriteAll(words[1]);
  if (all.ok()) return *all ? 0 : 1;
  std::cerr << all.status().message() << "\n";
  return 2;
}

}  // namespace
}  // namespace slipway::testing

int main(int argc, char** argv) { return slipway::testing::Main(argc, argv); }
