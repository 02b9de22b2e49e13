// slipway export: a model to a C library, or to a WebAssembly module with a runner of JavaScript.
#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/cli/arguments.h"
#include "client/cli/connection.h"
#include "client/cli/exit_code.h"
#include "client/cli/follow.h"
#include "client/cli/model_flags.h"
#include "client/cli/precision.h"
#include "client/cli/verbs.h"
#include "client/library/library_files.h"
#include "client/library/library_plan.h"
#include "client/library/module_files.h"
#include "client/library/render_library.h"
#include "core/artifact/library_name.h"
#include "core/base/status_macros.h"
#include "core/target/target.h"

namespace slipway::cli {
namespace {

// A name like the model file's, which may be called anything: "res_net_50" of "a/Res-Net 50.onnx".
std::string NameLike(const std::string& path) {
  const std::string base = BaseName(path);
  std::string name;
  for (const char c : base.substr(0, base.rfind('.'))) {
    if (name.size() == kMaxLibraryNameBytes) break;
    const auto byte = static_cast<unsigned char>(c);
    if (absl::ascii_isalnum(byte)) {
      name.push_back(absl::ascii_tolower(byte));
    } else if (!name.empty() && name.back() != '_') {
      name.push_back('_');
    }
  }
  while (absl::EndsWith(name, "_")) name.pop_back();
  return CheckLibraryName(name).ok() ? name : "model";
}

enum class Form { kLibrary, kModule };

constexpr Arch kLinked[] = {Arch::kX86_64, Arch::kArm64, Arch::kArm32, Arch::kRiscv64};

// What a model for this target becomes. Only machine code of a CPU can be linked into a program.
absl::StatusOr<Form> FormFor(const std::string& name) {
  SLIPWAY_ASSIGN_OR_RETURN(const Target target, ParseTarget(name));
  if (target.devices.size() != 1) {
    return absl::UnimplementedError(
        absl::StrCat("nothing is exported for several devices, as \"", name, "\" has"));
  }
  const DeviceTarget& device = target.host();
  if (absl::c_linear_search(kLinked, device.arch)) return Form::kLibrary;
  if (device.arch == Arch::kWasm32) return Form::kModule;
  return absl::UnimplementedError(
      absl::StrCat("nothing is exported for \"", device.ToString(),
                   "\" yet, only for x86-64, arm-64, arm-32, riscv-64 and wasm-32"));
}

}  // namespace

absl::Status Export(Environment& environment, Arguments arguments) {
  ConnectionFlags connection_flags;
  ModelFlags model_flags;
  std::string folder;
  std::string weights;
  LibraryOptions library;
  bool json = false;
  FlagSet flags("slipway export MODEL.onnx [flags]",
                "Makes a C library of a model: a header, C sources, an object with the kernels and "
                "the weights, "
                "which need no library, allocate nothing and start no thread, with an example, a "
                "Makefile and a "
                "CMakeLists.txt. For wasm-32 a package of JavaScript: a WebAssembly module, the "
                "weights and what runs them in Node and in pages.");
  flags.Add("output", &folder, "DIR",
            "Write the files there, to a folder that is new or empty; -o is short for it.");
  flags.Add("name", &library.name, "NAME",
            "What files and symbols of C begin with, and what a package is called, of a-z, 0-9 and "
            "\"_\"; else as the model's file.");
  flags.Add(
      "weights", &weights, "section|file",
      "Whether weights are part of a C program, or a file that it brings to memory; else section.");
  flags.AddBytes("scratch", &library.scratch_bytes, 0, int64_t{1} << 40,
                 "Scratch memory for the steps; 0: what they take at most, and 256 KiB where that "
                 "is known only when "
                 "they run. In JavaScript what there is to begin with.");
  flags.Add("threads", &library.threads, 1, kMaxLibraryThreads, "N",
            "Let so many threads work on a run of a C library at most: through a hook that the "
            "program gives it, of which an implementation over pthreads is written, too.");
  model_flags.AddTo(flags, /*runs=*/false);
  flags.Add("json", &json, "Print JSON.");
  connection_flags.AddTo(flags, /*can_be_local=*/true);
  SLIPWAY_ASSIGN_OR_RETURN(const auto names,
                           ParseArguments(environment, flags, arguments, {"MODEL.onnx"}));
  if (!names.has_value()) return absl::OkStatus();
  const std::string& path = names->front();
  SLIPWAY_RETURN_IF_ERROR(CheckModelAndOutput(path, ""));
  if (folder.empty()) return WrongCall("no \"--output\": the folder to write");
  const absl::Status is_free = CheckLibraryFolder(folder);
  if (!is_free.ok()) return WrongCall(absl::StrCat("flag \"--output\": ", is_free.message()));
  if (library.name.empty()) library.name = NameLike(path);
  const absl::Status is_name = CheckLibraryName(library.name);
  if (!is_name.ok()) return WrongCall(absl::StrCat("flag \"--name\": ", is_name.message()));
  if (!weights.empty() && weights != "section" && weights != "file") {
    return WrongCall(
        absl::StrCat("flag \"--weights\": \"", weights, "\" is neither section nor file"));
  }
  library.model = BaseName(path);
  SLIPWAY_RETURN_IF_ERROR(CheckModelFlags(model_flags));
  if (!model_flags.target.empty()) {
    SLIPWAY_ASSIGN_OR_RETURN(const std::string target, CanonicalTarget(model_flags.target));
    SLIPWAY_RETURN_IF_ERROR(FormFor(target).status());
  }

  SLIPWAY_ASSIGN_OR_RETURN(const auto connection, Connection::Open(environment, connection_flags));
  SLIPWAY_ASSIGN_OR_RETURN(CompileOptions options,
                           MakeCompileOptions(*connection, model_flags, /*runs=*/false));
  SLIPWAY_ASSIGN_OR_RETURN(const Form form, FormFor(options.target));
  if (form == Form::kModule && weights == "section") {
    return WrongCall("flag \"--weights\": those of a module are a file");
  }
  if (form == Form::kModule && library.threads > 1) {
    return absl::UnimplementedError("flag \"--threads\": no modules with threads are made yet");
  }
  library.weights_are_linked = form == Form::kLibrary && weights != "file";
  SLIPWAY_RETURN_IF_ERROR(ApplyPrecision(environment, *connection, path, model_flags, options));
  if (form == Form::kLibrary) options.library_name = library.name;
  SLIPWAY_ASSIGN_OR_RETURN(const Job job, CompileModel(environment, *connection, path, options));
  SLIPWAY_ASSIGN_OR_RETURN(const Artifact artifact,
                           connection->client().GetArtifact(job.compilation->artifact));
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const LibraryPlan plan, PlanLibrary(artifact), library.model);
  const absl::StatusOr<LibraryMemory> memory = MemoryOf(plan, library);
  if (absl::IsInvalidArgument(memory.status())) {
    return WrongCall(absl::StrCat("flag \"--scratch\": ", memory.status().message()));
  }
  SLIPWAY_RETURN_IF_ERROR(memory.status());
  SLIPWAY_ASSIGN_OR_RETURN(
      const std::vector<LibraryFile> files,
      form == Form::kModule ? RenderModule(plan, library) : RenderLibrary(plan, library));
  SLIPWAY_RETURN_IF_ERROR(WriteLibrary(files, folder));
  environment.out << (json ? RenderLibraryJson(plan, library, *memory, folder)
                           : RenderLibraryText(plan, library, *memory, folder));
  return absl::OkStatus();
}

}  // namespace slipway::cli
