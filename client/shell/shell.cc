#include "client/shell/shell.h"

#include "absl/strings/str_cat.h"
#include "client/cli/exit_code.h"
#include "client/shell/commands.h"
#include "client/shell/render_shell.h"
#include "core/base/status_macros.h"

namespace slipway::cli {

Shell::Shell(ResumedSession session, Options options)
    : session_(std::move(session.session)), options_(options) {
  uint64_t number = 0;
  for (RemoteProgram& program : session.programs) {
    const std::string name = program.name();
    Adopt(name, ++number, NamedProgram{.program = std::move(program), .as_computed = {}});
  }
  for (RemoteTensor& tensor : session.tensors) {
    const std::string name = tensor.name();
    Adopt(name, ++number, std::move(tensor));
  }
}

void Shell::Adopt(const std::string& name, uint64_t number, Thing thing) {
  std::string own = name.empty() ? absl::StrCat("unnamed.", number) : name;
  if (things_.contains(own)) absl::StrAppend(&own, ".", number);
  Keep(own, std::move(thing));
}

absl::Status Shell::Execute(absl::string_view line) {
  is_cancelled_ = false;
  const absl::StatusOr<CommandLine> parsed = ParseCommandLine(line);
  if (!parsed.ok()) return WrongCall(parsed.status().message());
  if (parsed->command.empty()) return absl::OkStatus();
  SLIPWAY_ASSIGN_OR_RETURN(const Command* const command, FindCommand(*parsed));
  has_shown_ = false;
  SLIPWAY_RETURN_IF_ERROR(command->function(*this, *parsed));
  if (!has_shown_) Show([] { return ""; }, RenderNothingJson);
  return absl::OkStatus();
}

KnownNames Shell::names() const {
  KnownNames names;
  for (const auto& [name, thing] : things_) {
    const bool is_program = std::holds_alternative<NamedProgram>(thing);
    (is_program ? names.programs : names.tensors).push_back(name);
  }
  return names;
}

absl::Status Shell::Missing(const std::string& name, absl::string_view kind) const {
  if (!things_.contains(name)) {
    return WrongCall(absl::StrCat("there is no \"", name, "\"; \"list\" shows what there is"));
  }
  return WrongCall(absl::StrCat("\"", name, "\" is no ", kind));
}

absl::StatusOr<NamedProgram*> Shell::FindProgram(const std::string& name) {
  const auto found = things_.find(name);
  auto* const program =
      found == things_.end() ? nullptr : std::get_if<NamedProgram>(&found->second);
  if (program == nullptr) return Missing(name, "program");
  return program;
}

absl::StatusOr<RemoteTensor*> Shell::FindTensor(const std::string& name) {
  const auto found = things_.find(name);
  auto* const tensor = found == things_.end() ? nullptr : std::get_if<RemoteTensor>(&found->second);
  if (tensor == nullptr) return Missing(name, "tensor");
  return tensor;
}

absl::StatusOr<std::vector<const RemoteTensor*>> Shell::FindTensors(
    const std::vector<std::string>& names, size_t first) {
  std::vector<const RemoteTensor*> tensors;
  for (size_t i = first; i < names.size(); ++i) {
    SLIPWAY_ASSIGN_OR_RETURN(tensors.emplace_back(), FindTensor(names[i]));
  }
  return tensors;
}

absl::Status Shell::Free(const std::string& name) {
  return things_.erase(name) > 0 ? absl::OkStatus() : Missing(name, "");
}

void Shell::Show(const std::function<std::string()>& text,
                 const std::function<std::string()>& json) {
  has_shown_ = true;
  *options_.out << (options_.json ? json() : text());
  options_.out->flush();
}

}  // namespace slipway::cli
