#include "client/library/library_files.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "client/library/c_text.h"
#include "client/library/kernel_header.h"
#include "client/library/templates.h"
#include "core/artifact/limits.h"
#include "core/base/check.h"
#include "core/base/embedded_file.h"
#include "core/base/round_up.h"
#include "core/base/status_macros.h"
#include "core/base/version.h"
#include "core/kernel_abi/element_type.h"

namespace slipway {
namespace {

// What "@KEY@" stands for in a template.
using Words = std::map<std::string, std::string>;

absl::string_view Embedded(absl::Span<const EmbeddedFile> files, absl::string_view name) {
  for (const EmbeddedFile& file : files) {
    if (file.name == name) return file.contents;
  }
  SLIPWAY_CHECK(false, "a template is not part of this build");
  return "";
}

// What a line of a template may begin with, any number of times, as "@threads:": then it is for libraries of which that holds.
struct LineTag {
  absl::string_view name;
  bool holds;
};
using LineTags = std::vector<LineTag>;

LineTags TagsOf(const LibraryPlan& plan, const LibraryOptions& options) {
  const bool has_threads = options.threads > 1;
  return {{"@threads:", has_threads},
          {"@serial:", !has_threads},
          {"@control:", plan.has_control},
          {"@straight:", !plan.has_control}};
}

// A template without the lines that are for other libraries.
std::string Selected(absl::string_view text, const LineTags& tags) {
  std::string selected;
  for (absl::string_view line : absl::StrSplit(absl::StripSuffix(text, "\n"), '\n')) {
    bool is_wanted = true;
    for (auto tag = tags.begin(); tag != tags.end();) {
      if (!absl::ConsumePrefix(&line, tag->name)) {
        ++tag;
        continue;
      }
      is_wanted = is_wanted && tag->holds;
      tag = tags.begin();
    }
    if (is_wanted) absl::StrAppend(&selected, line, "\n");
  }
  return selected;
}

// How C calls elements of this type.
const char* CType(DataType dtype) {
  switch (dtype) {
    case DataType::kFloat32:
      return "float";
    case DataType::kFloat64:
      return "double";
    case DataType::kInt8:
      return "int8_t";
    case DataType::kInt16:
      return "int16_t";
    case DataType::kInt32:
      return "int32_t";
    case DataType::kInt64:
      return "int64_t";
    case DataType::kUint16:
    case DataType::kFloat16:
    case DataType::kBfloat16:
      return "uint16_t";
    case DataType::kUint32:
      return "uint32_t";
    case DataType::kUint64:
      return "uint64_t";
    default:
      return "uint8_t";
  }
}

bool IsFloat(DataType dtype) { return dtype == DataType::kFloat32 || dtype == DataType::kFloat64; }

// A number of bytes for a size of memory, which C wants to be at least one.
int64_t AtLeastOne(int64_t bytes) { return std::max<int64_t>(bytes, 1); }

void AddPorts(const std::vector<LibraryPort>& ports, absl::string_view kind,
              const std::string& capitals, std::string& text) {
  for (size_t i = 0; i < ports.size(); ++i) {
    const TensorType& type = ports[i].type;
    const std::string prefix = absl::StrCat("#define ", capitals, "_", kind, "_", i);
    absl::StrAppend(&text, "\n/* ", CommentText(ports[i].name), ": ", ToString(type), " */\n");
    absl::StrAppend(&text, prefix, "_TYPE ", CType(type.dtype), "\n");
    absl::StrAppend(&text, prefix, "_ELEMENTS ", type.num_elements(), "\n");
    absl::StrAppend(&text, prefix, "_BYTES ", type.byte_size(), "\n");
    absl::StrAppend(&text, prefix, "_RANK ", type.shape.size(), "\n");
    if (type.shape.size() == 0) continue;
    absl::StrAppend(&text, prefix, "_EXTENTS {", absl::StrJoin(type.shape, ", "), "}\n");
  }
}

// FNV-1a, as library.c.in computes it.
class Hash {
 public:
  void Add(absl::string_view bytes) {
    for (const char c : bytes) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 1099511628211u;
  }
  uint64_t hash() const { return hash_; }

 private:
  uint64_t hash_ = 14695981039346656037u;
};

std::string Padding(int64_t bytes) {
  return std::string(static_cast<size_t>(RoundUp(bytes, kBufferAlignment) - bytes), '\0');
}

// The tables of library.c.in.
class Tables {
  using Kind = LibraryStep::Kind;

 public:
  explicit Tables(const LibraryPlan& plan) : plan_(plan) {}

  void AddTo(Words& words) {
    std::string values, arguments, steps, names;
    for (const LibraryValue& value : plan_.values)
      absl::StrAppend(&values, "    ", Row(value), ",\n");
    size_t next = 0;
    size_t most = 1;
    for (const LibraryStep& step : plan_.steps) {
      const int64_t kernel =
          step.kind == Kind::kKernel ? step.kernel : -static_cast<int>(step.kind);
      absl::StrAppend(&steps, "    {", kernel, ", ", next, ", ", step.arguments.size(), ", ",
                      step.bytes);
      if (plan_.has_control) absl::StrAppend(&steps, ", ", step.target, ", ", step.turns);
      absl::StrAppend(&steps, "},\n");
      if (!step.arguments.empty()) {
        absl::StrAppend(&arguments, "    ", absl::StrJoin(step.arguments, ", "), ",\n");
      }
      absl::StrAppend(&names, "    ", CLiteral(step.name), ",\n");
      next += step.arguments.size();
      most = std::max(most, step.arguments.size());
    }
    // C has no empty arrays.
    words["dimensions"] = dimensions_.empty() ? "    {0, 0, 0, 0},\n" : dimensions_;
    words["values"] = values.empty() ? "    {0, 0, 0, 0, 0, 0, 0},\n" : values;
    words["arguments"] = arguments.empty() ? "    0,\n" : arguments;
    words["step_rows"] = steps.empty() ? "    {COPY, 0, 0, 0},\n" : steps;
    words["step_names"] = names.empty() ? "    \"\",\n" : names;
    words["most_arguments"] = absl::StrCat(most);
  }

 private:
  std::string Row(const LibraryValue& value) {
    static constexpr const char* kPlaces[] = {"IN_ARENA", "IN_WEIGHTS", "IN_INPUT", "IN_OUTPUT"};
    const slipway_element_type element = ElementType(value.type.dtype);
    const size_t rank = value.type.shape.size();
    return absl::StrCat("{", kPlaces[static_cast<int>(value.place)], ", ", element.code, ", ",
                        element.bits, ", ", rank, ", ", FirstDimension(value.type.shape), ", ",
                        value.index, ", ", value.offset, "}");
  }
  // Equal shapes share theirs.
  size_t FirstDimension(const Shape& shape) {
    std::string rows;
    int64_t stride = 1;
    for (size_t d = shape.size(); d-- > 0;) {
      absl::StrAppend(&rows, "    {0, ", shape[d], ", ", stride, ", 0},\n");
      stride *= shape[d];
    }
    const auto [entry, is_new] = first_of_.try_emplace(rows, count_);
    if (is_new) {
      dimensions_ += rows;
      count_ += shape.size();
    }
    return entry->second;
  }

  const LibraryPlan& plan_;
  std::string dimensions_;
  std::map<std::string, size_t> first_of_;
  size_t count_ = 0;
};

// What main.c.in does with each port.
void AddExample(const LibraryPlan& plan, const LibraryOptions& options, const std::string& capitals,
                Words& words) {
  std::string buffers, reads, prints, in, out;
  for (size_t i = 0; i < plan.inputs.size(); ++i) {
    absl::StrAppend(&buffers, "static unsigned char input_", i, "[",
                    AtLeastOne(plan.inputs[i].type.byte_size()), "] ", capitals, "_ALIGNED;\n");
    absl::StrAppend(&in, in.empty() ? "" : ", ", "input_", i);
    absl::StrAppend(&reads, "    } else if (input == ", i,
                    ") {\n      if (!read_file(argv[i], input_", i, ", ", capitals, "_INPUT_", i,
                    "_BYTES)) return 1;\n      ++input;\n");
  }
  for (size_t i = 0; i < plan.outputs.size(); ++i) {
    const TensorType& type = plan.outputs[i].type;
    absl::StrAppend(&buffers, "static unsigned char output_", i, "[", AtLeastOne(type.byte_size()),
                    "] ", capitals, "_ALIGNED;\n");
    absl::StrAppend(&out, out.empty() ? "" : ", ", "output_", i);
    absl::StrAppend(&prints, "  printf(\"%s\", ", CLiteral(plan.outputs[i].name), ");\n");
    absl::StrAppend(&prints, "  for (i = 0; i < ", capitals, "_OUTPUT_", i,
                    "_ELEMENTS && i < 16; ++i) {\n", "    const ", capitals, "_OUTPUT_", i,
                    "_TYPE* const at = (const ", capitals, "_OUTPUT_", i,
                    "_TYPE*)(const void*)output_", i, ";\n",
                    IsFloat(type.dtype) ? "    printf(\" %.7g\", (double)at[i]);\n"
                                        : "    printf(\" %lld\", (long long)at[i]);\n",
                    "  }\n  printf(\"\\n\");\n");
  }
  if (plan.inputs.empty()) in = "NULL";
  if (plan.outputs.empty()) out = "NULL";
  const bool is_read = !options.weights_are_linked && plan.weights_bytes > 0;
  if (is_read) {
    absl::StrAppend(&buffers, "static unsigned char weights[", capitals, "_WEIGHTS_BYTES] ",
                    capitals, "_ALIGNED;\n");
    words["read_weights"] = absl::StrCat(
        "  if (!read_file(\"", options.name,
        "_weights.bin\", weights, sizeof(weights))) return 1;\n  if (", options.name,
        "_check_weights(weights, sizeof(weights)) != ", capitals, "_OK) {\n    fprintf(stderr, \"",
        options.name, "_weights.bin: other weights\\n\");\n    return 1;\n  }\n");
  } else {
    words["read_weights"] = "";
  }
  words["weights_pointer"] = is_read ? "weights" : "NULL";
  words["buffers"] = buffers;
  words["read_inputs"] = reads;
  words["print_outputs"] = prints;
  words["pointers"] = absl::StrCat("  const void* const inputs[] = {", in,
                                   "};\n  void* const outputs[] = {", out, "};");
}

void AddWeights(const LibraryPlan& plan, const LibraryOptions& options, Words& words) {
  const bool has_weights = plan.weights_bytes > 0;
  const bool is_linked = has_weights && options.weights_are_linked;
  const std::string& name = options.name;
  Hash hash;
  for (const Blob& blob : plan.weights) {
    hash.Add(blob.bytes());
    hash.Add(Padding(blob.size_bytes()));
  }
  words["weights_hash"] = absl::StrCat(hash.hash());
  words["weights_bytes"] = absl::StrCat(plan.weights_bytes);
  words["weights_argument"] = has_weights && !is_linked ? "weights" : "NULL";
  words["weights_note"] = !has_weights ? "The model has no weights."
                          : is_linked
                              ? "The weights are a section of the program."
                              : absl::StrCat("The weights are the file ", name,
                                             "_weights.bin, which a program brings to memory.");
  words["weights_parameter"] =
      has_weights && !is_linked
          ? absl::StrCat("`weights` is where the bytes of ", name, "_weights.bin begin.")
          : "`weights` is null, or where a copy of them begins, in faster memory for example.";
  words["weights_declaration"] =
      is_linked ? absl::StrCat("/* In ", name, "_weights.S. */\nextern HIDDEN const unsigned char ",
                               name, "_weights[];\n")
                : "";
  words["weights_default"] =
      is_linked ? absl::StrCat("  if (weights == 0) weights = ", name, "_weights;\n") : "";
  words["weights_object"] = is_linked ? absl::StrCat("build/", name, "_weights.o ") : "";
  words["weights_source"] = is_linked ? absl::StrCat(name, "_weights.S ") : "";
}

std::string ScratchNote(const LibraryPlan& plan) {
  if (plan.unbounded.empty()) return "no step takes more";
  const uint32_t first = plan.unbounded.front();
  return absl::StrCat("what ", plan.unbounded.size(), " of ", plan.steps.size(),
                      " steps take is known only when they run, step ", first, " (",
                      CommentText(plan.steps[first].name), ") first");
}

LibraryFile TextFile(std::string path, std::string text) {
  return {std::move(path), {Blob::Own(std::move(text))}};
}

// Templates that these words are filled into.
class Renderer {
 public:
  Renderer(const Words& words, LineTags tags) : tags_(std::move(tags)) {
    for (const auto& [key, text] : words) {
      replacements_.emplace_back(absl::StrCat("@", key, "@"), text);
    }
  }
  LibraryFile File(std::string path, absl::string_view name) const {
    return TextFile(
        std::move(path),
        absl::StrReplaceAll(Selected(Embedded(Templates(), name), tags_), replacements_));
  }

 private:
  const LineTags tags_;
  std::vector<std::pair<std::string, std::string>> replacements_;
};

}  // namespace

std::string LibraryFile::Contents() const {
  std::string contents;
  for (const Blob& piece : pieces) {
    contents.append(piece.bytes().data(), piece.bytes().size());
    if (is_padded) contents += Padding(piece.size_bytes());
  }
  return contents;
}

absl::StatusOr<LibraryMemory> MemoryOf(const LibraryPlan& plan, const LibraryOptions& options) {
  LibraryMemory memory;
  memory.scratch_bytes = RoundUp(options.scratch_bytes, kBufferAlignment);
  if (options.scratch_bytes == 0) {
    memory.scratch_bytes = plan.unbounded.empty()
                               ? plan.scratch_bytes
                               : std::max(plan.scratch_bytes, kUnboundedScratchBytes);
  }
  if (memory.scratch_bytes < plan.scratch_bytes) {
    return absl::InvalidArgumentError(absl::StrCat("the model's kernels want ", plan.scratch_bytes,
                                                   " bytes of scratch memory, and ",
                                                   options.scratch_bytes, " are given"));
  }
  memory.arena_bytes = plan.arena_bytes + memory.scratch_bytes;
  if (options.threads == 1) return memory;
  if (!plan.task_scratch_bytes.has_value()) {
    return absl::UnimplementedError(
        "the compiler makes no code for exports with several threads; it is older than this "
        "command");
  }
  memory.task_scratch_bytes =
      plan.unbounded.empty() ? *plan.task_scratch_bytes : memory.scratch_bytes;
  memory.arena_bytes += (options.threads - 1) * memory.task_scratch_bytes;
  return memory;
}

absl::StatusOr<std::vector<LibraryFile>> RenderLibrary(const LibraryPlan& plan,
                                                       const LibraryOptions& options) {
  SLIPWAY_ASSIGN_OR_RETURN(const LibraryMemory memory, MemoryOf(plan, options));
  const std::string& name = options.name;
  const std::string capitals = absl::AsciiStrToUpper(name);
  Words words;
  words["name"] = name;
  words["NAME"] = capitals;
  words["version"] = std::string(kVersion);
  words["model"] = CommentText(options.model);
  words["target"] = plan.target;
  words["alignment"] = absl::StrCat(kBufferAlignment);
  words["plan_bytes"] = absl::StrCat(plan.arena_bytes);
  words["scratch_bytes"] = absl::StrCat(memory.scratch_bytes);
  words["task_scratch_bytes"] = absl::StrCat(memory.task_scratch_bytes);
  words["arena_bytes"] = absl::StrCat(memory.arena_bytes);
  words["threads"] = absl::StrCat(options.threads);
  words["scratch_note"] = ScratchNote(plan);
  words["steps"] = absl::StrCat(plan.steps.size());
  words["inputs"] = absl::StrCat(plan.inputs.size());
  words["outputs"] = absl::StrCat(plan.outputs.size());
  std::string ports;
  AddPorts(plan.inputs, "INPUT", capitals, ports);
  AddPorts(plan.outputs, "OUTPUT", capitals, ports);
  words["ports"] = ports;
  Tables(plan).AddTo(words);
  AddWeights(plan, options, words);
  AddExample(plan, options, capitals, words);

  const Renderer renderer(words, TagsOf(plan, options));
  std::vector<LibraryFile> files;
  files.push_back(renderer.File(absl::StrCat(name, ".h"), "library.h.in"));
  files.push_back(renderer.File(absl::StrCat(name, ".c"), "library.c.in"));
  files.push_back(
      TextFile("slipway_kernel_abi.h", std::string(Embedded(KernelHeader(), "kernel_abi.h"))));
  files.push_back({absl::StrCat(name, "_kernels.o"), {plan.object}});
  if (options.threads > 1) {
    files.push_back(renderer.File(absl::StrCat(name, "_threads.h"), "threads.h.in"));
    files.push_back(renderer.File(absl::StrCat(name, "_threads.c"), "threads.c.in"));
  }
  if (plan.weights_bytes > 0) {
    files.push_back({absl::StrCat(name, "_weights.bin"), plan.weights, /*is_padded=*/true});
    if (options.weights_are_linked) {
      files.push_back(renderer.File(absl::StrCat(name, "_weights.S"), "weights.S"));
    }
  }
  files.push_back(renderer.File("example/main.c", "main.c.in"));
  files.push_back(renderer.File("Makefile", "Makefile"));
  files.push_back(renderer.File("CMakeLists.txt", "CMakeLists.txt"));
  return files;
}

}  // namespace slipway
