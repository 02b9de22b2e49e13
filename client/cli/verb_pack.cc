// slipway pack: a kernel written by hand to an artifact.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/artifact_summary.h"
#include "client/cli/arguments.h"
#include "client/cli/exit_code.h"
#include "client/cli/model_flags.h"
#include "client/cli/render.h"
#include "client/cli/verbs.h"
#include "client/pack/build_code.h"
#include "client/pack/code_facts.h"
#include "client/pack/described_tensor.h"
#include "client/pack/pack_artifact.h"
#include "core/artifact/slip_file.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/target/target.h"

namespace slipway::cli {
namespace {

constexpr absl::Duration kLoadDeadline = absl::Seconds(10);
constexpr int64_t kMaxCodeBytes = int64_t{1} << 30;

absl::StatusOr<std::vector<DescribedTensor>> ParseTensors(absl::string_view flag,
                                                          const std::vector<std::string>& texts) {
  std::vector<DescribedTensor> tensors;
  for (const std::string& text : texts) {
    absl::StatusOr<DescribedTensor> tensor = ParseDescribedTensor(text);
    if (!tensor.ok()) {
      return WrongCall(absl::StrCat("flag \"--", flag, "\": ", tensor.status().message()));
    }
    tensors.push_back(*std::move(tensor));
  }
  return tensors;
}

// Its code is loaded here, to see what is in it.
absl::StatusOr<Target> ParseLocalTarget(const std::string& text) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::string name, CanonicalTarget(text));
  SLIPWAY_ASSIGN_OR_RETURN(Target target, ParseTarget(name));
  if (FamilyOf(target) == FamilyOf(HostTarget())) return target;
  return WrongCall(absl::StrCat("flag \"--target\": code for \"", name,
                                "\" cannot be looked into on this machine, which is of family \"",
                                FamilyOf(HostTarget()), "\""));
}

// "add" of "a/b/add.c".
std::string StemOf(const std::string& path) {
  const std::string base = BaseName(path);
  return base.substr(0, base.rfind('.'));
}

}  // namespace

absl::Status Pack(Environment& environment, Arguments arguments) {
  std::string name;
  std::string target = "host";
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> dimensions;
  int64_t kernel = 0;
  BuildCodeOptions build;
  bool json = false;
  FlagSet flags(
      "slipway pack KERNEL.c|.o|.so FILE.slip [flags]",
      "Makes an artifact of a kernel written by hand, which runs and is measured like any "
      "other. C source includes core/kernel_abi/kernel_source.h, which says how.");
  flags.Add("input", &inputs, "NAME=TYPE",
            "A tensor that the kernel reads, such as x=f32[batch,64]. In its order; repeatable.");
  flags.Add("output", &outputs, "NAME=TYPE", "A tensor that it writes. Repeatable.");
  flags.Add("dimension", &dimensions, "SYMBOL=N",
            "Extent of a symbol, or its bounds MIN..MAX; any without it. Repeatable.");
  flags.Add("kernel", &kernel, 0, 1 << 16, "INDEX", "Which kernel of the code's table it is.");
  flags.Add("name", &name, "NAME", "What the program is called; else as the file.");
  flags.Add("target", &target, "TARGET", "What the code needs; \"host\" is this machine.");
  flags.Add("cc", &build.compiler, "PROGRAM", "The C compiler; else cc, clang or gcc.");
  flags.Add("cflag", &build.flags, "FLAG", "A further argument for the C compiler. Repeatable.");
  flags.Add("json", &json, "Print JSON.");
  SLIPWAY_ASSIGN_OR_RETURN(const auto names,
                           ParseArguments(environment, flags, arguments, {"KERNEL", "FILE.slip"}));
  if (!names.has_value()) return absl::OkStatus();
  const std::string& path = names->front();
  const std::string& file = names->back();
  SLIPWAY_RETURN_IF_ERROR(CheckFile(path));
  if (!absl::EndsWith(file, ".slip")) {
    return WrongCall(absl::StrCat("\"", file, "\" does not end in .slip"));
  }
  if (outputs.empty())
    return WrongCall("no \"--output\": what the kernel writes must be described");
  PackRequest request;
  request.kernel = static_cast<uint32_t>(kernel);
  request.name = name.empty() ? StemOf(path) : name;
  SLIPWAY_ASSIGN_OR_RETURN(request.inputs, ParseTensors("input", inputs));
  SLIPWAY_ASSIGN_OR_RETURN(request.outputs, ParseTensors("output", outputs));
  for (const std::string& text : dimensions) {
    SLIPWAY_ASSIGN_OR_RETURN(request.dimensions.emplace_back(), ParseDimension(text));
  }
  SLIPWAY_ASSIGN_OR_RETURN(request.target, ParseLocalTarget(target));

  SLIPWAY_ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Create("slipway-pack"));
  build.folder = folder.path();
  SLIPWAY_ASSIGN_OR_RETURN(const std::string code,
                           BuildCode(path, request.target.devices.front(), build));
  const std::string what = absl::StrCat("\"", path, "\"");
  // dlopen looks for a name without a slash elsewhere.
  const std::string loaded = absl::StrContains(code, '/') ? code : absl::StrCat("./", code);
  SLIPWAY_ASSIGN_OR_RETURN_WITH(request.facts,
                                ReadCodeFacts(environment.executable, loaded, kLoadDeadline), what);
  SLIPWAY_ASSIGN_OR_RETURN_WITH(request.code, ReadFile(code, kMaxCodeBytes), what);
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const Artifact artifact, PackArtifact(request), what);
  SLIPWAY_RETURN_IF_ERROR(WriteSlip(artifact, file));
  const ArtifactSummary summary = Summarize(artifact.manifest());
  environment.out << (json ? RenderArtifactJson(summary) : RenderArtifact(summary));
  if (!json) environment.out << "wrote " << file << "\n";
  return absl::OkStatus();
}

}  // namespace slipway::cli
