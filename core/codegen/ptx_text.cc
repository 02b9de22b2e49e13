#include "core/codegen/ptx_text.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/base/status_macros.h"
#include "core/codegen/ptx_head.h"

namespace slipway {
namespace {

constexpr absl::string_view kEntry = ".visible .entry ";
constexpr absl::string_view kLastOfHead = ".address_size 64\n";

// An entry as LLVM writes it: its parameters, a line each, then directives and the body, up to a brace at the start of a line.
struct EntryText {
  std::vector<absl::string_view> parameters;
  absl::string_view body;
};

// Comments name what only Halide knows.
std::string WithoutComments(absl::string_view text) {
  std::string clean;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    line = absl::StripTrailingAsciiWhitespace(line.substr(0, line.find("//")));
    if (!line.empty()) absl::StrAppend(&clean, line, "\n");
  }
  return clean;
}

// Every entry by its name, of a text without comments; there is nothing else.
absl::StatusOr<std::map<std::string, EntryText>> FindEntries(absl::string_view text) {
  std::map<std::string, EntryText> entries;
  while (true) {
    const size_t at = text.find(kEntry);
    if (const absl::string_view more = text.substr(0, at); !more.empty()) {
      return DeviceKernelUnimplemented(absl::StrCat(
          "needs \"", absl::StripAsciiWhitespace(more.substr(0, more.find('\n'))), "\""));
    }
    if (at == absl::string_view::npos) return entries;
    text.remove_prefix(at + kEntry.size());
    const size_t open = text.find("(\n");
    const size_t close = text.find("\n)\n");
    const size_t end = text.find("\n}\n");
    if (open == absl::string_view::npos || close == absl::string_view::npos ||
        end == absl::string_view::npos || close < open || end < close) {
      return DeviceKernelUnimplemented("has a text of another form");
    }
    EntryText& entry = entries[std::string(text.substr(0, open))];
    for (const absl::string_view line :
         absl::StrSplit(text.substr(open + 2, close - open - 2), ",\n")) {
      entry.parameters.push_back(absl::StripAsciiWhitespace(line));
    }
    entry.body = text.substr(close + 3, end + 3 - close - 3);
    text.remove_prefix(end + 3);
  }
}

// A line as LLVM meant it. Of "(x >> 63) & 3" with the sign shifted in, LLVM 14 makes "bfe.u64 d, x, 63, 2", which puts zeros where there are no
// bits left: it measures what is left by the width of the shift's amount. Unsigned shifts never come in such a form, since their masks were
// narrowed before; and of 32 bits it measures well.
std::string WithSigns(absl::string_view line) {
  absl::string_view rest = line;
  if (!absl::ConsumePrefix(&rest, "\tbfe.u64 ") || !absl::ConsumeSuffix(&rest, ";")) {
    return std::string(line);
  }
  const std::vector<std::string> words =
      absl::StrSplit(absl::StripAsciiWhitespace(rest), absl::ByString(", "));
  uint64_t from = 0;
  uint64_t bits = 0;
  if (words.size() != 4 || !absl::SimpleAtoi(words[2], &from) ||
      !absl::SimpleAtoi(words[3], &bits) || bits >= 64 || from + bits <= 64) {
    return std::string(line);
  }
  return absl::StrCat("\tshr.s64 \t", words[0], ", ", words[1], ", ", from, ";\n\tand.b64 \t",
                      words[0], ", ", words[0], ", ", (uint64_t{1} << bits) - 1, ";");
}

std::string TableName(const ModuleLaunch& launch, size_t parameter) {
  return absl::StrCat(launch.launch.entry, "_table_", parameter);
}

std::string TableText(const ModuleTable& table, const std::string& name) {
  std::string text = absl::StrCat(".global .align 16 .b", 8 * table.element_bytes, " ", name, "[",
                                  std::max<size_t>(table.elements.size(), 1), "] = {");
  for (size_t i = 0; i < table.elements.size(); ++i) {
    if (i > 0) text += i % 16 == 0 ? ",\n" : ",";
    absl::StrAppendFormat(&text, "0x%x", table.elements[i]);
  }
  absl::StrAppend(&text, table.elements.empty() ? "0" : "", "};\n");
  return text;
}

// The body with its parameters as they are numbered now, and addresses of tables in place of those that are tables.
absl::StatusOr<std::string> NewBody(const EntryText& entry, const ModuleLaunch& launch) {
  constexpr absl::string_view kLoad = "\tld.param.u64 ";
  const std::string name = absl::StrCat("[", launch.name_in_text, "_param_");
  std::map<size_t, size_t> place;  // By parameter, but for tables.
  for (size_t i = 0; i < launch.order.size(); ++i) place[launch.order[i]] = i;
  std::string body;
  for (const absl::string_view line : absl::StrSplit(entry.body, '\n')) {
    const size_t at = line.find(name);
    if (at == absl::string_view::npos) {
      absl::StrAppend(&body, WithSigns(line), "\n");
      continue;
    }
    size_t parameter = 0;
    const absl::string_view digits = line.substr(at + name.size());
    if (!absl::StartsWith(line, kLoad) ||
        !absl::SimpleAtoi(digits.substr(0, digits.find(']')), &parameter) ||
        parameter >= launch.parameters) {
      return DeviceKernelUnimplemented("reads a parameter that is no tensor");
    }
    if (const auto tensor = place.find(parameter); tensor != place.end()) {
      absl::StrAppend(&body, line.substr(0, at), "[", launch.launch.entry, "_param_",
                      tensor->second, "];\n");
      continue;
    }
    const absl::string_view to =
        absl::StripAsciiWhitespace(line.substr(kLoad.size(), line.find(',') - kLoad.size()));
    absl::StrAppend(&body, "\tmov.u64 \t", to, ", ", TableName(launch, parameter),
                    ";\n\tcvta.global.u64 \t", to, ", ", to, ";\n");
  }
  body.pop_back();  // Behind the last line there was none.
  return body;
}

absl::Status AddEntry(const std::map<std::string, EntryText>& entries, const ModuleLaunch& launch,
                      std::string& text) {
  const auto found = entries.find(launch.name_in_text);
  if (found == entries.end()) return DeviceKernelUnimplemented("has no text");
  const EntryText& entry = found->second;
  if (entry.parameters.size() != launch.parameters) {
    return DeviceKernelUnimplemented("has other parameters than it is given");
  }
  for (const absl::string_view parameter : entry.parameters) {
    if (absl::StartsWith(parameter, ".param .u64 ")) continue;
    return DeviceKernelUnimplemented("takes something else than tensors");
  }
  for (const ModuleTable& table : launch.tables) {
    text += TableText(table, TableName(launch, table.parameter));
  }
  SLIPWAY_ASSIGN_OR_RETURN(const std::string body, NewBody(entry, launch));
  absl::StrAppend(&text, kEntry, launch.launch.entry, "(");
  for (size_t i = 0; i < launch.order.size(); ++i) {
    // A tensor may begin at any element of another one.
    absl::StrAppend(&text, i == 0 ? "\n" : ",\n", "\t.param .u64 .ptr .global .align 1 ",
                    launch.launch.entry, "_param_", i);
  }
  absl::StrAppend(&text, "\n)\n", body);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DeviceKernel> PtxTextOf(const DeviceModule& module, const DeviceTarget& device) {
  const std::string clean = WithoutComments(module.text);
  const absl::string_view text = clean;
  const size_t version = text.find(".version");
  const size_t head = text.find(kLastOfHead);
  if (head == absl::string_view::npos || version > head) {
    return DeviceKernelUnimplemented("has no text");
  }
  const size_t first = head + kLastOfHead.size();
  DeviceKernel kernel;
  kernel.scratch_bytes = module.scratch_bytes;
  // What LLVM writes is for all later devices; kernels beside it may be for this one alone.
  kernel.preamble =
      device.is_specific ? PtxHead(device) : std::string(text.substr(version, first - version));
  SLIPWAY_ASSIGN_OR_RETURN(const auto entries, FindEntries(text.substr(first)));
  for (const ModuleLaunch& launch : module.launches) {
    SLIPWAY_RETURN_IF_ERROR(AddEntry(entries, launch, kernel.text));
    kernel.launches.push_back(launch.launch);
  }
  return kernel;
}

}  // namespace slipway
