#include "core/codegen/opencl_text.h"

#include <cstring>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/base/round_up.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

using Halide::Expr;
namespace ir = Halide::Internal;

constexpr char kFirstEntry[] = "__kernel void _at_least_one_kernel(int x) { }\n";
constexpr int64_t kScratchAlignment = 64;

absl::Status Unimplemented(absl::string_view what) {
  return absl::UnimplementedError(absl::StrCat("a kernel of OpenCL ", what));
}

std::optional<int64_t> Constant(const Expr& expr) {
  const int64_t* const number = ir::as_const_int(expr);
  return number == nullptr ? std::nullopt : std::optional<int64_t>(*number);
}

// "input0" of the variable input0.buffer, whatever it is cast to.
std::optional<std::string> BufferName(const Expr& expr) {
  if (const auto* call = expr.as<ir::Call>(); call != nullptr && call->args.size() == 1) {
    return BufferName(call->args[0]);
  }
  if (const auto* cast = expr.as<ir::Cast>()) return BufferName(cast->value);
  const auto* const variable = expr.as<ir::Variable>();
  if (variable == nullptr || !absl::EndsWith(variable->name, ".buffer")) return std::nullopt;
  return variable->name.substr(0, variable->name.size() - strlen(".buffer"));
}

// A launch as the module says it: of this entry with these buffers, in the order of its parameters.
struct Call {
  std::string entry;
  EntryLaunch launch;
  std::vector<std::string> buffers;
};

// Finds launches and scratch memory, and whatever else a module does that it must not.
class Reader : public ir::IRVisitor {
 public:
  std::vector<Call> calls;
  std::map<std::string, int64_t> scratch;  // Bytes by name.
  absl::Status status;

 private:
  using ir::IRVisitor::visit;

  void Refuse(absl::string_view what) { status.Update(Unimplemented(what)); }

  void visit(const ir::Store*) override { Refuse("computes something on the host"); }
  void visit(const ir::For*) override { Refuse("has a loop on the host"); }
  void visit(const ir::IfThenElse*) override { Refuse("asks something on the host"); }

  void visit(const ir::Allocate* op) override {
    int64_t bytes = op->type.bytes();
    for (const Expr& extent : op->extents) {
      const std::optional<int64_t> number = Constant(extent);
      if (!number.has_value() || *number < 0 || __builtin_mul_overflow(bytes, *number, &bytes)) {
        Refuse("needs memory of a size that only a run knows");
        return;
      }
    }
    scratch[op->name] = bytes;
    ir::IRVisitor::visit(op);
  }

  void visit(const ir::Call* op) override {
    if (op->name == "halide_opencl_run") {
      ReadRun(*op);
      return;
    }
    ir::IRVisitor::visit(op);
  }

  // (state, entry, groups x 3, instances x 3, shared bytes, sizes of arguments, arguments, whether they are buffers), as
  // Halide's OffloadGPULoops has it; the last three end with a 0.
  void ReadRun(const ir::Call& op) {
    constexpr size_t kGroups = 2, kGroup = 5, kShared = 8, kArguments = 10;
    const auto* const entry = op.args.size() == 12 ? op.args[1].as<ir::StringImm>() : nullptr;
    const auto* const arguments =
        op.args.size() == 12 ? op.args[kArguments].as<ir::Call>() : nullptr;
    if (entry == nullptr || arguments == nullptr ||
        !arguments->is_intrinsic(ir::Call::make_struct)) {
      Refuse("is launched in a way that is not known");
      return;
    }
    Call call;
    call.entry = entry->value;
    for (size_t i = 0; i < 3; ++i) {
      const std::optional<int64_t> groups = Constant(op.args[kGroups + i]);
      const std::optional<int64_t> group = Constant(op.args[kGroup + i]);
      if (!groups.has_value() || !group.has_value()) {
        Refuse("has launch sizes that only a run knows");
        return;
      }
      call.launch.groups[i] = *groups;
      call.launch.group[i] = *group;
    }
    const std::optional<int64_t> shared = Constant(op.args[kShared]);
    if (shared != int64_t{0}) {
      Refuse("has memory that a group shares");
      return;
    }
    for (size_t i = 0; i + 1 < arguments->args.size(); ++i) {
      std::optional<std::string> buffer = BufferName(arguments->args[i]);
      if (!buffer.has_value()) {
        Refuse("takes a number that only a run knows");
        return;
      }
      call.buffers.push_back(*std::move(buffer));
    }
    calls.push_back(std::move(call));
  }
};

// The text of one entry, taken apart.
struct EntryText {
  std::vector<std::string> defines;     // Of its parameters' address spaces, and their ends.
  std::vector<std::string> parameters;  // Declarations, in Halide's order.
  std::string body;                     // From its brace on.
};

// Entries begin with their parameters, a line each, the last one of which is for shared memory.
absl::StatusOr<EntryText> FindEntry(absl::string_view text, const std::string& name) {
  const std::string begin = absl::StrCat("__kernel void ", name, "(\n");
  const std::string end = absl::StrCat("} // kernel ", name, "\n");
  const size_t at = text.find(begin);
  const size_t last = text.find(end);
  if (at == absl::string_view::npos || last == absl::string_view::npos || last < at) {
    return Unimplemented("has no text");
  }
  absl::string_view rest = text.substr(at + begin.size(), last + 2 - at - begin.size());
  EntryText entry;
  const size_t parameters = rest.find(")\n");
  if (parameters == absl::string_view::npos) return Unimplemented("has no parameters");
  for (absl::string_view line : absl::StrSplit(rest.substr(0, parameters), ",\n")) {
    line = absl::StripAsciiWhitespace(line);
    if (line == "__local int16* __shared") continue;
    entry.parameters.emplace_back(line);
  }
  entry.body = absl::StrCat(rest.substr(parameters + 2), "\n");
  return entry;
}

// "__global const float *restrict _input0" of "__address_space__input0 const float *restrict _input0".
absl::StatusOr<std::string> InSpace(absl::string_view parameter, absl::string_view space) {
  const size_t blank = parameter.find(' ');
  if (!absl::StartsWith(parameter, "__address_space_") || blank == absl::string_view::npos ||
      !absl::StrContains(parameter, "*restrict ")) {
    return Unimplemented("takes something else than tensors");
  }
  return absl::StrCat(space, parameter.substr(blank));
}

// "__address_space__input0".
absl::string_view SpaceOf(absl::string_view parameter) {
  return parameter.substr(0, parameter.find(' '));
}

absl::StatusOr<std::string> Elements(const Halide::Buffer<>& table) {
  std::string text;
  const Halide::Type type = table.type();
  const auto* const bytes = static_cast<const char*>(table.data());
  for (size_t i = 0; i < table.number_of_elements(); ++i) {
    if (i > 0) text += i % 16 == 0 ? ",\n" : ",";
    const char* const at = bytes + i * static_cast<size_t>(type.bytes());
    if (type == Halide::Float(32)) {
      // Bits, so that whatever it is stays it.
      uint32_t bits = 0;
      memcpy(&bits, at, sizeof(bits));
      absl::StrAppendFormat(&text, "0x%xu", bits);
    } else if (type.is_int_or_uint() && type.bits() >= 8) {
      uint64_t bits = 0;
      memcpy(&bits, at, static_cast<size_t>(type.bytes()));
      absl::StrAppendFormat(&text, "0x%xul", bits);
    } else {
      return Unimplemented("has a table of elements that OpenCL C may not have");
    }
  }
  return text;
}

const char* UnsignedName(int bytes) {
  return bytes == 1 ? "uchar" : bytes == 2 ? "ushort" : bytes == 4 ? "uint" : "ulong";
}

// Whether the type stands there, of one number or several; not within another name.
bool NamesDouble(absl::string_view text) {
  constexpr absl::string_view kDouble = "double";
  for (size_t at = text.find(kDouble); at != absl::string_view::npos;
       at = text.find(kDouble, at + 1)) {
    const auto is_of_name = [&](size_t i) {
      return i < text.size() &&
             (absl::ascii_isalpha(static_cast<unsigned char>(text[i])) || text[i] == '_');
    };
    const bool begins = at == 0 || (!is_of_name(at - 1) &&
                                    !absl::ascii_isdigit(static_cast<unsigned char>(text[at - 1])));
    if (begins && !is_of_name(at + kDouble.size())) return true;
  }
  return false;
}

class Writer {
 public:
  Writer(const Halide::Module& module, const Reader& reader, std::string prefix)
      : module_(module), reader_(reader), prefix_(std::move(prefix)) {}

  absl::StatusOr<DeviceKernel> Write() {
    SLIPWAY_RETURN_IF_ERROR(NameBuffers());
    SLIPWAY_ASSIGN_OR_RETURN(const std::string source, Source());
    const size_t entries = source.find(kFirstEntry);
    if (entries == std::string::npos) return Unimplemented("has no text");
    // The first line says a target, of which the text does not hang.
    const size_t first_line = source.find('\n') + 1;
    kernel_.preamble = absl::StrReplaceAll(source.substr(first_line, entries - first_line),
                                           {{"\ninline ", "\nstatic inline "}});
    for (const Call& call : reader_.calls) SLIPWAY_RETURN_IF_ERROR(AddLaunch(source, call));
    if (NamesDouble(kernel_.text)) return Unimplemented("computes in double");
    return std::move(kernel_);
  }

 private:
  absl::Status NameBuffers() {
    if (module_.functions().size() != 1) return Unimplemented("is several functions");
    int inputs = 0, outputs = 0;
    for (const ir::LoweredArgument& argument : module_.functions()[0].args) {
      if (!argument.is_buffer()) continue;
      buffers_[argument.name] = argument.is_input()
                                    ? DeviceArgument{DeviceArgument::Kind::kInput, inputs++}
                                    : DeviceArgument{DeviceArgument::Kind::kOutput, outputs++};
    }
    for (const auto& [name, bytes] : reader_.scratch) {
      buffers_[name] = {DeviceArgument::Kind::kScratch,
                        static_cast<int>(kernel_.scratch_bytes.size())};
      kernel_.scratch_bytes.push_back(RoundUp(std::max<int64_t>(bytes, 1), kScratchAlignment));
    }
    for (const Halide::Buffer<>& table : module_.buffers()) tables_[table.name()] = table;
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> Source() const {
    for (const auto& [name, buffer] : tables_) {
      if (!absl::EndsWith(name, "_gpu_source_kernels")) continue;
      std::string text(reinterpret_cast<const char*>(buffer.data()), buffer.number_of_elements());
      text.resize(strlen(text.c_str()));
      return text;
    }
    return Unimplemented("has no text");
  }

  absl::Status AddLaunch(absl::string_view source, const Call& call) {
    SLIPWAY_ASSIGN_OR_RETURN(const EntryText entry, FindEntry(source, call.entry));
    if (entry.parameters.size() != call.buffers.size()) {
      return Unimplemented("has other parameters than it is given");
    }
    EntryLaunch launch = call.launch;
    launch.entry = absl::StrCat(prefix_, "_", kernel_.launches.size());
    std::vector<std::string> reads, writes, spaces, tables;
    for (size_t i = 0; i < entry.parameters.size(); ++i) {
      const std::string& parameter = entry.parameters[i];
      const auto buffer = buffers_.find(call.buffers[i]);
      const bool is_table = buffer == buffers_.end();
      spaces.push_back(absl::StrCat(SpaceOf(parameter), is_table ? " __constant" : " __global"));
      SLIPWAY_ASSIGN_OR_RETURN(std::string declared, InSpace(parameter, "__global"));
      if (is_table) {
        SLIPWAY_ASSIGN_OR_RETURN(std::string table, TableFor(call.buffers[i], declared, launch));
        tables.push_back(std::move(table));
        continue;
      }
      const bool reads_only = absl::StartsWith(declared, "__global const ");
      (reads_only ? reads : writes).push_back(std::move(declared));
      (reads_only ? launch.reads : launch.writes).push_back(buffer->second);
    }
    reads.insert(reads.end(), writes.begin(), writes.end());
    std::string& text = kernel_.text;
    for (const std::string& table : tables) text += table;
    for (const std::string& space : spaces) absl::StrAppend(&text, "#define ", space, "\n");
    absl::StrAppend(&text, "__kernel void ", launch.entry, "(\n ", absl::StrJoin(reads, ",\n "),
                    ")\n", entry.body);
    for (const std::string& space : spaces) {
      absl::StrAppend(&text, "#undef ", SpaceOf(space), "\n");
    }
    for (const std::string& parameter : table_names_)
      absl::StrAppend(&text, "#undef ", parameter, "\n");
    table_names_.clear();
    kernel_.launches.push_back(std::move(launch));
    return absl::OkStatus();
  }

  // A table of the module as a definition of the text, under the name that the entry has for the parameter.
  absl::StatusOr<std::string> TableFor(const std::string& name, absl::string_view declared,
                                       const EntryLaunch& launch) {
    const auto table = tables_.find(name);
    if (table == tables_.end()) return Unimplemented("takes a tensor that nobody gives");
    SLIPWAY_ASSIGN_OR_RETURN(const std::string elements, Elements(table->second));
    const std::string parameter(declared.substr(declared.rfind(' ') + 1));
    const absl::string_view type = absl::StripAsciiWhitespace(
        absl::StripPrefix(declared.substr(0, declared.find('*')), "__global const "));
    const std::string own = absl::StrCat(launch.entry, parameter);
    table_names_.push_back(parameter);
    return absl::StrCat("__constant const ", UnsignedName(table->second.type().bytes()), " ", own,
                        "_bits[] = {", elements, "};\n#define ", parameter, " ((__constant const ",
                        type, "*)", own, "_bits)\n");
  }

  const Halide::Module& module_;
  const Reader& reader_;
  const std::string prefix_;
  std::map<std::string, DeviceArgument> buffers_;
  std::map<std::string, Halide::Buffer<>> tables_;
  std::vector<std::string> table_names_;  // Of the entry that is being written.
  DeviceKernel kernel_;
};

}  // namespace

absl::StatusOr<DeviceKernel> OpenClTextOf(const Halide::Module& module, const std::string& prefix) {
  Reader reader;
  for (const ir::LoweredFunc& function : module.functions()) function.body.accept(&reader);
  SLIPWAY_RETURN_IF_ERROR(reader.status);
  return Writer(module, reader, prefix).Write();
}

}  // namespace slipway
