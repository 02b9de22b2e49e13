// Commands about the session as a whole.
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/shell/commands.h"
#include "client/shell/render_shell.h"
#include "core/base/json_writer.h"
#include "core/base/status_macros.h"
#include "core/base/text_table.h"

namespace slipway::cli {

absl::Status Free(Shell& shell, const CommandLine& line) {
  for (const std::string& name : line.words) SLIPWAY_RETURN_IF_ERROR(shell.Free(name));
  return absl::OkStatus();
}

absl::Status List(Shell& shell, const CommandLine&) {
  std::vector<NamedFunctions> programs;
  std::vector<NamedTensorType> tensors;
  for (const auto& [name, thing] : shell.things()) {
    if (const auto* const named = std::get_if<NamedProgram>(&thing)) {
      programs.push_back({name, named->program.functions()});
    } else {
      tensors.push_back({name, std::get<RemoteTensor>(thing).type()});
    }
  }
  shell.Show([&] { return RenderList(programs, tensors); },
             [&] { return RenderListJson(programs, tensors); });
  return absl::OkStatus();
}

absl::Status Facts(Shell& shell, const CommandLine&) {
  Future<SessionFacts> future = shell.session().FactsAsync();
  SLIPWAY_ASSIGN_OR_RETURN(const SessionFacts facts, shell.Await(future));
  shell.Show([&] { return RenderFacts(facts); }, [&] { return RenderFactsJson(facts); });
  return absl::OkStatus();
}

absl::Status Help(Shell& shell, const CommandLine&) {
  const auto text = [] {
    std::string all;
    for (const Command& command : Commands()) {
      absl::StrAppend(&all, command.usage, "\n    ", command.help, "\n");
    }
    return all;
  };
  const auto json = [] {
    JsonWriter writer;
    writer.BeginObject();
    writer.Integer("schema_version", 1);
    writer.BeginArray("commands");
    for (const Command& command : Commands()) {
      writer.BeginObject();
      writer.Text("name", command.name);
      writer.Text("usage", command.usage);
      writer.Text("help", command.help);
      writer.EndObject();
    }
    writer.EndArray();
    writer.EndObject();
    return writer.Take();
  };
  shell.Show(text, json);
  return absl::OkStatus();
}

absl::Status Quit(Shell& shell, const CommandLine&) {
  shell.Quit();
  return absl::OkStatus();
}

}  // namespace slipway::cli
