#include "client/library/module_files.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "client/js/runner.h"
#include "client/library/c_text.h"
#include "core/artifact/limits.h"
#include "core/base/embedded_file.h"
#include "core/base/json_writer.h"
#include "core/base/round_up.h"
#include "core/base/status_macros.h"
#include "core/base/text_table.h"
#include "core/base/version.h"
#include "core/kernel_abi/element_type.h"
#include "core/kernel_abi/kernel_abi.h"
#include "core/tensor/dtype.h"
#include "core/tensor/tensor.h"

namespace slipway {
namespace {

// As slipway.js knows them.
constexpr int64_t kPlanVersion = 1;
constexpr int64_t kPlanVersionWithControl = 2;
constexpr int64_t kPageBytes = 64 << 10;
constexpr int64_t kMaxMemoryBytes = int64_t{1} << 32;

// What the module has of memory for itself, at most (kernel_abi.h).
int64_t CodeBytes(const LibraryPlan& plan) {
  return RoundUp(SLIPWAY_MODULE_STACK_BYTES + plan.object.size_bytes(), kPageBytes);
}

int64_t MemoryBytes(const LibraryPlan& plan, int64_t scratch_bytes) {
  int64_t bytes = CodeBytes(plan) + plan.weights_bytes + plan.arena_bytes + scratch_bytes;
  for (const auto* ports : {&plan.inputs, &plan.outputs}) {
    for (const LibraryPort& port : *ports)
      bytes += RoundUp(port.type.byte_size(), kBufferAlignment);
  }
  return bytes;
}

// FNV-1a of 32 bits, over words, as slipway.js computes it.
uint32_t HashOf(const std::vector<Blob>& blobs) {
  uint32_t hash = 0x811c9dc5;
  for (const Blob& blob : blobs) {
    const absl::string_view bytes = blob.bytes();
    const auto padded = static_cast<size_t>(RoundUp(blob.size_bytes(), kBufferAlignment));
    for (size_t at = 0; at < padded; at += 4) {
      uint32_t word = 0;
      for (size_t i = 0; i < 4 && at + i < bytes.size(); ++i) {
        word |= uint32_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
      }
      hash = (hash ^ word) * 0x01000193;
    }
  }
  return hash;
}

void WritePorts(absl::string_view name, const std::vector<LibraryPort>& ports, JsonWriter& json) {
  json.BeginArray(name);
  for (const LibraryPort& port : ports) {
    json.BeginObjectInLine();
    json.Text("name", port.name);
    json.Text("dtype", Name(port.type.dtype));
    json.Integers("shape", port.type.shape);
    json.Integer("bytes", port.type.byte_size());
    if (const int bits = BitSize(port.type.dtype); bits > 0 && bits < 8) {
      const bool is_signed =
          port.type.dtype == DataType::kInt4 || port.type.dtype == DataType::kInt2;
      json.Integers("range", {is_signed ? -(int64_t{1} << (bits - 1)) : 0, int64_t{1} << bits});
    }
    json.EndObject();
  }
  json.EndArray();
}

void WriteValue(const LibraryValue& value, JsonWriter& json) {
  static constexpr const char* kPlaces[] = {"arena", "weights", "input", "output"};
  const slipway_element_type element = ElementType(value.type.dtype);
  json.BeginObjectInLine();
  json.Text("place", kPlaces[static_cast<int>(value.place)]);
  json.Integer("index", value.index);
  json.Integer("offset", value.offset);
  json.Integer("bytes", value.type.byte_size());
  json.Integers("element", {element.code, element.bits});
  json.Integers("shape", value.type.shape);
  json.EndObject();
}

void WriteStep(const LibraryStep& step, JsonWriter& json) {
  // By kind.
  static constexpr const char* kDeeds[] = {"",      "",     "take_slice", "put_slice", "begin",
                                           "while", "next", "unless",     "go_to"};
  using Kind = LibraryStep::Kind;
  json.BeginObjectInLine();
  json.Text("name", step.name);
  if (step.kind == Kind::kKernel) {
    json.Integer("kernel", step.kernel);
  } else if (step.kind == Kind::kCopy) {
    json.Integer("copy", step.bytes);
  } else {
    json.Text("do", kDeeds[static_cast<int>(step.kind)]);
    if (!step.decides()) json.Integer("bytes", step.bytes);
    if (step.decides() && step.kind != Kind::kBegin) json.Integer("target", step.target);
    if (step.kind == Kind::kWhile && step.arguments.size() == 1) json.Integer("turns", step.turns);
  }
  json.Integers("arguments", std::vector<int64_t>(step.arguments.begin(), step.arguments.end()));
  json.EndObject();
}

std::string PlanText(const LibraryPlan& plan, const LibraryOptions& options,
                     int64_t scratch_bytes) {
  JsonWriter json;
  json.BeginObject();
  json.Integer("version", plan.has_control ? kPlanVersionWithControl : kPlanVersion);
  json.Text("name", options.name);
  json.Text("model", options.model);
  json.Text("made_by", absl::StrCat("slipway ", kVersion));
  json.Text("target", plan.target);
  json.Integer("abi", SLIPWAY_ABI_VERSION);
  json.Integer("kernels", plan.kernel_count);
  json.Integer("code_bytes", CodeBytes(plan));
  json.Integer("weights_bytes", plan.weights_bytes);
  json.Integer("weights_hash", HashOf(plan.weights));
  json.Integer("arena_bytes", plan.arena_bytes);
  json.Integer("scratch_bytes", scratch_bytes);
  WritePorts("inputs", plan.inputs, json);
  WritePorts("outputs", plan.outputs, json);
  json.BeginArray("values");
  for (const LibraryValue& value : plan.values) WriteValue(value, json);
  json.EndArray();
  json.BeginArray("steps");
  for (const LibraryStep& step : plan.steps) WriteStep(step, json);
  json.EndArray();
  json.EndObject();
  return json.Take();
}

std::string PackageText(const LibraryOptions& options) {
  JsonWriter json;
  json.BeginObject();
  json.Text("name", options.name);
  json.Text("version", "0.0.0");
  json.Bool("private", true);
  json.Text("type", "module");
  json.Text("main", "./index.js");
  json.Text("types", "./index.d.ts");
  json.EndObject();
  return json.Take();
}

// What JavaScript calls arrays of such elements, as slipway.js has it.
const char* ArrayName(DataType dtype) {
  switch (dtype) {
    case DataType::kFloat32:
      return "Float32Array";
    case DataType::kFloat64:
      return "Float64Array";
    case DataType::kInt8:
      return "Int8Array";
    case DataType::kInt16:
      return "Int16Array";
    case DataType::kInt32:
      return "Int32Array";
    case DataType::kInt64:
      return "BigInt64Array";
    case DataType::kUint16:
    case DataType::kFloat16:
    case DataType::kBfloat16:
      return "Uint16Array";
    case DataType::kUint32:
      return "Uint32Array";
    case DataType::kUint64:
      return "BigUint64Array";
    default:
      return "Uint8Array";
  }
}

// As a literal of JSON, which is one of TypeScript.
std::string Literal(absl::string_view text) {
  JsonWriter json;
  json.Text("", text);
  std::string literal = json.Take();
  return std::string(absl::StripSuffix(literal, "\n"));
}

void AddPorts(absl::string_view interface, const std::vector<LibraryPort>& ports, bool are_inputs,
              std::string& text) {
  absl::StrAppend(&text, "\nexport interface ", interface, " {\n");
  for (const LibraryPort& port : ports) {
    const char* const array = ArrayName(port.type.dtype);
    absl::StrAppend(&text, "  /** ", CommentText(ToString(port.type)), " */\n  ",
                    Literal(port.name), ": ", array,
                    are_inputs ? absl::StrCat(" | Tensor<", array, ">") : "", ";\n");
  }
  absl::StrAppend(&text, "}\n");
}

std::string TypesText(const LibraryPlan& plan, const LibraryOptions& options) {
  std::string text =
      absl::StrCat("// ", CommentText(options.model), " for ", plan.target, ". Made by slipway ",
                   kVersion, "; do not edit.\n",
                   "import { Program, ProgramOptions, Tensor } from \"./slipway.js\";\n"
                   "export * from \"./slipway.js\";\n");
  AddPorts("Inputs", plan.inputs, true, text);
  AddPorts("Outputs", plan.outputs, false, text);
  return absl::StrCat(text,
                      "\n/** Reads the files beside this one. Errors of Program.load. */\n"
                      "export function load(options?: ProgramOptions): "
                      "Promise<Program<Inputs, Outputs>>;\n");
}

LibraryFile TextFile(std::string path, std::string text) {
  return {std::move(path), {Blob::Own(std::move(text))}};
}

}  // namespace

absl::StatusOr<std::vector<LibraryFile>> RenderModule(const LibraryPlan& plan,
                                                      const LibraryOptions& options) {
  SLIPWAY_ASSIGN_OR_RETURN(const LibraryMemory memory, MemoryOf(plan, options));
  if (const int64_t bytes = MemoryBytes(plan, memory.scratch_bytes); bytes > kMaxMemoryBytes) {
    return absl::ResourceExhaustedError(absl::StrCat("the model takes ", FormatBytes(bytes),
                                                     " of memory, and WebAssembly has ",
                                                     FormatBytes(kMaxMemoryBytes)));
  }
  std::vector<LibraryFile> files;
  files.push_back({"model.wasm", {plan.object}});
  files.push_back(TextFile("plan.json", PlanText(plan, options, memory.scratch_bytes)));
  if (plan.weights_bytes > 0) files.push_back({"weights.bin", plan.weights, /*is_padded=*/true});
  for (const EmbeddedFile& file : Runner()) {
    files.push_back(TextFile(std::string(file.name), std::string(file.contents)));
  }
  files.push_back(TextFile("index.d.ts", TypesText(plan, options)));
  files.push_back(TextFile("package.json", PackageText(options)));
  return files;
}

}  // namespace slipway
