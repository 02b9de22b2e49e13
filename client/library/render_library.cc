#include "client/library/render_library.h"

#include "absl/strings/str_cat.h"
#include "core/base/byte_size.h"
#include "core/base/json_writer.h"
#include "core/base/text_table.h"

namespace slipway {

std::string RenderLibraryText(const LibraryPlan& plan, const LibraryOptions& options,
                              const LibraryMemory& memory, const std::string& folder) {
  std::string text = absl::StrCat(plan.is_module ? "module " : "library ", options.name, " of ",
                                  Printable(options.model), " for ", Printable(plan.target), "\n");
  TextTable table({"", ""});
  table.Row({"kernels", FormatBytes(plan.object.size_bytes())});
  table.Row({"weights", absl::StrCat(FormatBytes(plan.weights_bytes),
                                     options.weights_are_linked ? "" : ", in a file")});
  table.Row({"arena", FormatBytes(memory.arena_bytes)});
  table.Row({"steps", absl::StrCat(plan.steps.size())});
  if (options.threads > 1) {
    table.Row({"threads", absl::StrCat(options.threads, ", by a hook")});
  }
  text += table.Render("  ", false);
  if (!plan.unbounded.empty()) {
    absl::StrAppend(&text, "what ", plan.unbounded.size(), " of ", plan.steps.size(),
                    " steps take of scratch memory is known only when they run: they have ",
                    FormatBytes(memory.scratch_bytes), " (\"--scratch\")\n");
  }
  return absl::StrCat(text, "wrote ", folder, "\n");
}

std::string RenderLibraryJson(const LibraryPlan& plan, const LibraryOptions& options,
                              const LibraryMemory& memory, const std::string& folder) {
  JsonWriter json;
  json.BeginObject();
  json.Integer("schema_version", 1);
  json.Text("name", options.name);
  json.Text("form", plan.is_module ? "module" : "library");
  json.Text("target", plan.target);
  json.Text("folder", folder);
  json.Integer("kernels_bytes", plan.object.size_bytes());
  json.Integer("weights_bytes", plan.weights_bytes);
  json.Integer("arena_bytes", memory.arena_bytes);
  json.Integer("scratch_bytes", memory.scratch_bytes);
  json.Integer("threads", options.threads);
  json.Integer("steps", static_cast<int64_t>(plan.steps.size()));
  json.Integer("unbounded_steps", static_cast<int64_t>(plan.unbounded.size()));
  json.EndObject();
  return json.Take();
}

}  // namespace slipway
