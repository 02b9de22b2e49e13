#include "tests/library/exported.h"

#include <cmath>
#include <cstring>
#include <random>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/library/module_files.h"
#include "core/artifact/constant_outputs.h"
#include "core/base/clock.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/codegen/kernel_cache.h"
#include "tests/common/command.h"

namespace slipway::testing {
namespace {

// Small numbers of every type; an index of 0 is one that every table has.
void Fill(Tensor& tensor, std::mt19937_64& random) {
  char* at = tensor.mutable_bytes();
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    const float real = static_cast<float>(random() % 2001) / 1000.0f - 1.0f;
    if (tensor.dtype() == DataType::kFloat32) {
      std::memcpy(at + 4 * i, &real, 4);
    } else if (ByteSize(tensor.dtype()) == 1) {
      at[i] = static_cast<char>(tensor.dtype() == DataType::kBool ? random() % 2 : random() % 100);
    }
  }
}

absl::StatusOr<CompiledModel> Compile(const ModelSource& source, const std::string& target_name,
                                      const CompilerOptions& options, const TempTree& tree) {
  SLIPWAY_ASSIGN_OR_RETURN(const Target target, ParseTarget(target_name));
  SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<FileKernelCache> cache,
                           FileKernelCache::Create({.folder = tree.Path("kernels")}));
  const SystemClock clock;
  CompileEnvironment environment;
  environment.clock = &clock;
  environment.kernel_cache = cache.get();
  return CompileModel(source, target, options, environment);
}

std::string Joined(const std::vector<std::string>& words) { return absl::StrJoin(words, " "); }

// driver.h: the tensors of each model.
std::string DriverHeader(const std::vector<const Exported*>& libraries) {
  std::string text, models;
  for (const Exported* library : libraries) {
    const std::string upper = absl::AsciiStrToUpper(library->name);
    absl::StrAppend(&text, "#include \"", library->name, ".h\"\n");
    std::string buffers, in, out;
    const auto add = [&](const std::vector<LibraryPort>& ports, const char* kind,
                         std::string& list) {
      for (size_t i = 0; i < ports.size(); ++i) {
        const std::string buffer = absl::StrCat(library->name, "_", kind, i);
        absl::StrAppend(&buffers, "static unsigned char ", buffer, "[",
                        ports[i].type.byte_size() + 1, "] ", upper, "_ALIGNED;");
        absl::StrAppend(&list, "{", buffer, ", ", upper, "_", absl::AsciiStrToUpper(kind), "_", i,
                        "_BYTES}, ");
      }
    };
    add(library->plan.inputs, "input", in);
    add(library->plan.outputs, "output", out);
    const bool is_file = !library->options.weights_are_linked && library->plan.weights_bytes > 0;
    if (is_file) {
      // Any bytes at the right place will do for them.
      absl::StrAppend(&text, "extern const unsigned char driver_", library->name, "_weights[];\n");
      absl::StrAppend(&text, "__asm__(\".section .rodata\\n.balign 64\\ndriver_", library->name,
                      "_weights:\\n.incbin \\\"", library->folder, "/", library->name,
                      "_weights.bin\\\"\\n.text\\n\");\n");
    }
    absl::StrAppend(&text, "#define ", upper, "_WEIGHTS_POINTER ",
                    is_file ? absl::StrCat("driver_", library->name, "_weights") : "0", "\n");
    // Nobody counts the steps of loops but the program.
    absl::StrAppend(&text, "#define ", upper, "_HOOKS ",
                    library->plan.has_control ? "hooks" : absl::StrCat(upper, "_STEPS"), "\n");
    const bool has_threads = library->options.threads > 1;
    absl::StrAppend(&text, "#define ", upper, "_WORKERS ", library->options.threads, "\n#define ",
                    upper, "_SET_HOOK(context, hook, data) ",
                    has_threads
                        ? absl::StrCat(library->name, "_set_parallel_for(context, hook, data)")
                        : "(void)(hook), (void)(data)",
                    "\n");
    absl::StrAppend(&text, "#define ", upper, "_BUFFERS ", buffers, "\n#define ", upper, "_IN ", in,
                    "\n#define ", upper, "_OUT ", out, "\n");
    absl::StrAppend(&models, " M(", library->name, ", ", upper, ")");
  }
  return absl::StrCat(text, "#define DRIVER_MODELS", models, "\n");
}

absl::Status RunShell(const std::string& command) {
  const CommandResult result =
      RunCommand({.argv = {"/bin/sh", "-ec", command}, .timeout = absl::Seconds(120)});
  if (result.status.ok()) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(command, ": ", result.ToString()));
}

double ValueAt(DataType dtype, const char* data, int64_t i) {
  const auto read = [&](auto value) {
    std::memcpy(&value, data + i * static_cast<int64_t>(sizeof(value)), sizeof(value));
    return static_cast<double>(value);
  };
  switch (dtype) {
    case DataType::kFloat32:
      return read(float());
    case DataType::kInt64:
      return read(int64_t());
    case DataType::kInt32:
      return read(int32_t());
    case DataType::kInt8:
      return read(int8_t());
    default:
      return read(uint8_t());
  }
}

absl::Status Compare(const Exported& library, absl::string_view bytes, double tolerance) {
  for (size_t o = 0; o < library.plan.outputs.size(); ++o) {
    const TensorType& type = library.plan.outputs[o].type;
    const Tensor& wanted = library.outputs[o].tensor;
    if (wanted.type() != type) {
      return absl::InternalError(
          absl::StrCat("output ", o, " is ", ToString(type), ", not ", ToString(wanted.type())));
    }
    if (static_cast<int64_t>(bytes.size()) < type.byte_size()) {
      return absl::InternalError("the program wrote too little");
    }
    for (int64_t i = 0; i < type.num_elements(); ++i) {
      const double a = ValueAt(type.dtype, bytes.data(), i);
      const double b = ValueAt(type.dtype, wanted.bytes().data(), i);
      // Quantized values may round to a neighbour.
      const double allowed = ByteSize(type.dtype) == 1 ? 1.0 : tolerance * (1 + std::abs(b));
      if (!(std::abs(a - b) <= allowed)) {
        return absl::InternalError(
            absl::StrCat(library.name, ": element ", i, " of output ", o, " is ", a, ", not ", b));
      }
    }
    bytes.remove_prefix(static_cast<size_t>(type.byte_size()));
  }
  return absl::OkStatus();
}

}  // namespace

Toolchain ClangFor(const char* name, const std::string& triple, const std::string& emulator) {
  return {name, {"clang-14", absl::StrCat("--target=", triple)}, {"-fuse-ld=lld-14"}, {emulator}};
}

// Not clang, whose objects lld 14 links only where nothing may be relaxed.
Toolchain GccForRiscv64() {
  return {"riscv_64", {"riscv64-linux-gnu-gcc"}, {}, {"qemu-riscv64-static"}};
}

absl::StatusOr<Exported> Export(const ModelSource& source, const std::string& target,
                                LibraryOptions options, const TempTree& tree,
                                CompilerOptions compiler_options) {
  Exported exported;
  exported.name = options.name;
  exported.folder = tree.Path(options.name);
  CompilerOptions library_options = compiler_options;
  SLIPWAY_ASSIGN_OR_RETURN(const Target parsed, ParseTarget(target));
  if (parsed.host().arch != Arch::kWasm32) library_options.library_name = options.name;
  SLIPWAY_ASSIGN_OR_RETURN(const CompiledModel compiled,
                           Compile(source, target, library_options, tree));
  SLIPWAY_ASSIGN_OR_RETURN(exported.plan, PlanLibrary(compiled.artifact));
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<LibraryFile> files,
                           exported.plan.is_module ? RenderModule(exported.plan, options)
                                                   : RenderLibrary(exported.plan, options));
  SLIPWAY_RETURN_IF_ERROR(WriteLibrary(files, exported.folder));
  exported.options = std::move(options);

  std::mt19937_64 random(7);
  compiler_options.evaluate.emplace();
  for (const LibraryPort& port : exported.plan.inputs) {
    SLIPWAY_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Create(port.type));
    Fill(tensor, random);
    exported.inputs.append(tensor.bytes().data(), static_cast<size_t>(tensor.byte_size()));
    compiler_options.evaluate->push_back({port.name, std::move(tensor)});
  }
  SLIPWAY_ASSIGN_OR_RETURN(const CompiledModel evaluated,
                           Compile(source, "x86-64-linux", compiler_options, tree));
  SLIPWAY_ASSIGN_OR_RETURN(exported.outputs, ConstantOutputs(evaluated.artifact));
  return exported;
}

std::string ProgramOf(const std::vector<const Exported*>& libraries, const Toolchain& toolchain,
                      const TempTree& tree) {
  std::string name = toolchain.name;
  for (const Exported* library : libraries) absl::StrAppend(&name, "_", library->name);
  return tree.Path(name);
}

absl::Status Check(const std::vector<const Exported*>& libraries, const Toolchain& toolchain,
                   const TempTree& tree, double tolerance) {
  const std::string program = ProgramOf(libraries, toolchain, tree);
  tree.Write(absl::StrCat(program.substr(tree.path().size() + 1), ".d/driver.h"),
             DriverHeader(libraries));
  const std::string driver = RunfilePath("tests/library/driver.c");
  std::string inputs, archives, includes;
  for (const Exported* library : libraries) {
    SLIPWAY_RETURN_IF_ERROR(RunShell(absl::StrCat(
        "cd ", library->folder, " && make -s clean && make -s CC='", Joined(toolchain.compiler),
        "' AR=llvm-ar-14 CFLAGS='-Os -Wall -Wextra -Werror -pedantic -ffreestanding' build/lib",
        library->name, ".a")));
    absl::StrAppend(&archives, " ", library->folder, "/build/lib", library->name, ".a");
    absl::StrAppend(&includes, " -I", library->folder);
    inputs += library->inputs;
  }
  SLIPWAY_RETURN_IF_ERROR(RunShell(
      absl::StrCat(Joined(toolchain.compiler), " ", Joined(toolchain.linking),
                   " -std=gnu99 -O1 -Wall -Wextra -Werror -ffreestanding -nostdlib -static",
                   " -fno-pie -fno-stack-protector -Wl,--gc-sections -Wl,--build-id=none -s -I",
                   program, ".d", includes, " ", driver, archives, " -o ", program)));
  const std::string name = program.substr(tree.path().size() + 1);
  tree.Write(absl::StrCat(name, ".in"), inputs);
  SLIPWAY_RETURN_IF_ERROR(RunShell(absl::StrCat(Joined(toolchain.runner), " ", program, " < ",
                                                program, ".in > ", program, ".out")));
  const std::string outputs = tree.Read(absl::StrCat(name, ".out"));
  absl::string_view left = outputs;
  for (const Exported* library : libraries) {
    SLIPWAY_RETURN_IF_ERROR(Compare(*library, left, tolerance));
    for (const LibraryPort& port : library->plan.outputs) {
      left.remove_prefix(static_cast<size_t>(port.type.byte_size()));
    }
  }
  if (left.empty()) return absl::OkStatus();
  return absl::InternalError("the program wrote too much");
}

absl::Status CheckModule(const Exported& module, const TempTree& tree, double tolerance) {
  const std::string in = tree.Write(absl::StrCat(module.name, ".in"), module.inputs);
  const std::string out = tree.Path(absl::StrCat(module.name, ".out"));
  SLIPWAY_RETURN_IF_ERROR(
      RunShell(absl::StrCat("node ", RunfilePath("tests/library/run_module.mjs"), " ",
                            module.folder, " ", in, " ", out)));
  const std::string outputs = tree.Read(absl::StrCat(module.name, ".out"));
  return Compare(module, outputs, tolerance);
}

}  // namespace slipway::testing
