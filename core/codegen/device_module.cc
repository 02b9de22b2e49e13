#include "core/codegen/device_module.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/round_up.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

using Halide::Expr;
namespace ir = Halide::Internal;

constexpr int64_t kScratchAlignment = 64;

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

  void Refuse(absl::string_view what) { status.Update(DeviceKernelUnimplemented(what)); }

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
    if (op->name == "halide_opencl_run" || op->name == "halide_cuda_run") {
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

absl::StatusOr<ModuleTable> TableOf(const Halide::Buffer<>& table, size_t parameter) {
  const Halide::Type type = table.type();
  if (type != Halide::Float(32) && !(type.is_int_or_uint() && type.bits() >= 8)) {
    return DeviceKernelUnimplemented("has a table of elements that not every device has");
  }
  ModuleTable read{.parameter = parameter, .element_bytes = type.bytes(), .elements = {}};
  const auto* const bytes = static_cast<const char*>(table.data());
  for (size_t i = 0; i < table.number_of_elements(); ++i) {
    // Bits, so that whatever it is stays it.
    uint64_t bits = 0;
    memcpy(&bits, bytes + i * static_cast<size_t>(type.bytes()), static_cast<size_t>(type.bytes()));
    read.elements.push_back(bits);
  }
  return read;
}

class ModuleReader {
 public:
  ModuleReader(const Halide::Module& module, const Reader& reader) : module_(module) {
    for (const auto& [name, bytes] : reader.scratch) {
      tensors_[name] = {DeviceArgument::Kind::kScratch,
                        static_cast<int>(read_.scratch_bytes.size())};
      read_.scratch_bytes.push_back(RoundUp(std::max<int64_t>(bytes, 1), kScratchAlignment));
    }
    for (const Halide::Buffer<>& table : module.buffers()) tables_[table.name()] = table;
  }

  absl::Status Read(const std::vector<Call>& calls, const DeviceStores& stores,
                    const std::string& prefix) {
    SLIPWAY_RETURN_IF_ERROR(NameTensors());
    SLIPWAY_RETURN_IF_ERROR(ReadText());
    if (calls.size() != stores.size()) {
      return absl::InternalError(absl::StrCat("a device's kernel of ", stores.size(), " loops has ",
                                              calls.size(), " launches"));
    }
    for (size_t i = 0; i < calls.size(); ++i) {
      SLIPWAY_RETURN_IF_ERROR(AddLaunch(calls[i], stores[i], absl::StrCat(prefix, "_", i)));
    }
    return absl::OkStatus();
  }
  DeviceModule Take() { return std::move(read_); }

 private:
  absl::Status NameTensors() {
    if (module_.functions().size() != 1) return DeviceKernelUnimplemented("is several functions");
    int inputs = 0, outputs = 0;
    for (const ir::LoweredArgument& argument : module_.functions()[0].args) {
      if (!argument.is_buffer()) continue;
      tensors_[argument.name] = argument.is_input()
                                    ? DeviceArgument{DeviceArgument::Kind::kInput, inputs++}
                                    : DeviceArgument{DeviceArgument::Kind::kOutput, outputs++};
    }
    return absl::OkStatus();
  }

  absl::Status ReadText() {
    for (const auto& [name, buffer] : tables_) {
      if (!absl::EndsWith(name, "_gpu_source_kernels")) continue;
      read_.text.assign(reinterpret_cast<const char*>(buffer.data()), buffer.number_of_elements());
      read_.text.resize(strlen(read_.text.c_str()));
      return absl::OkStatus();
    }
    return DeviceKernelUnimplemented("has no text");
  }

  absl::Status AddLaunch(const Call& call, const std::set<std::string>& written,
                         std::string entry) {
    ModuleLaunch made{.name_in_text = call.entry,
                      .launch = call.launch,
                      .parameters = call.buffers.size(),
                      .order = {},
                      .tables = {}};
    made.launch.entry = std::move(entry);
    std::vector<size_t> writes;
    for (size_t i = 0; i < call.buffers.size(); ++i) {
      const std::string& name = call.buffers[i];
      const auto tensor = tensors_.find(name);
      if (tensor == tensors_.end()) {
        const auto table = tables_.find(name);
        if (table == tables_.end()) {
          return DeviceKernelUnimplemented("takes a tensor that nobody gives");
        }
        SLIPWAY_ASSIGN_OR_RETURN(ModuleTable bits, TableOf(table->second, i));
        made.tables.push_back(std::move(bits));
      } else if (written.count(name) > 0) {
        made.launch.writes.push_back(tensor->second);
        writes.push_back(i);
      } else {
        made.launch.reads.push_back(tensor->second);
        made.order.push_back(i);
      }
    }
    made.order.insert(made.order.end(), writes.begin(), writes.end());
    read_.launches.push_back(std::move(made));
    return absl::OkStatus();
  }

  const Halide::Module& module_;
  std::map<std::string, DeviceArgument> tensors_;
  std::map<std::string, Halide::Buffer<>> tables_;
  DeviceModule read_;
};

}  // namespace

absl::StatusOr<DeviceModule> ReadDeviceModule(const Halide::Module& module,
                                              const DeviceStores& stores,
                                              const std::string& prefix) {
  Reader reader;
  for (const ir::LoweredFunc& function : module.functions()) function.body.accept(&reader);
  SLIPWAY_RETURN_IF_ERROR(reader.status);
  ModuleReader whole(module, reader);
  SLIPWAY_RETURN_IF_ERROR(whole.Read(reader.calls, stores, prefix));
  return whole.Take();
}

absl::Status DeviceKernelUnimplemented(absl::string_view what) {
  return absl::UnimplementedError(absl::StrCat("a device's kernel ", what));
}

}  // namespace slipway
