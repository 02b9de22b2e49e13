#include "core/codegen/opencl_text.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

constexpr char kFirstEntry[] = "__kernel void _at_least_one_kernel(int x) { }\n";

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
    return DeviceKernelUnimplemented("has no text");
  }
  absl::string_view rest = text.substr(at + begin.size(), last + 2 - at - begin.size());
  EntryText entry;
  const size_t parameters = rest.find(")\n");
  if (parameters == absl::string_view::npos) return DeviceKernelUnimplemented("has no parameters");
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
    return DeviceKernelUnimplemented("takes something else than tensors");
  }
  return absl::StrCat(space, parameter.substr(blank));
}

// "__address_space__input0".
absl::string_view SpaceOf(absl::string_view parameter) {
  return parameter.substr(0, parameter.find(' '));
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

std::string NameOf(absl::string_view declared) {
  return std::string(declared.substr(declared.rfind(' ') + 1));
}

// A table as a definition of the text, under the name that the entry has for the parameter.
std::string TableText(const ModuleTable& table, absl::string_view declared,
                      const std::string& entry) {
  const std::string parameter = NameOf(declared);
  const absl::string_view type = absl::StripAsciiWhitespace(
      absl::StripPrefix(declared.substr(0, declared.find('*')), "__global const "));
  const std::string own = absl::StrCat(entry, parameter);
  std::string elements;
  for (size_t i = 0; i < table.elements.size(); ++i) {
    if (i > 0) elements += i % 16 == 0 ? ",\n" : ",";
    absl::StrAppendFormat(&elements, "0x%xul", table.elements[i]);
  }
  return absl::StrCat("__constant const ", UnsignedName(table.element_bytes), " ", own,
                      "_bits[] = {", elements, "};\n#define ", parameter, " ((__constant const ",
                      type, "*)", own, "_bits)\n");
}

absl::Status AddEntry(absl::string_view source, const ModuleLaunch& launch, std::string& text) {
  SLIPWAY_ASSIGN_OR_RETURN(const EntryText entry, FindEntry(source, launch.name_in_text));
  if (entry.parameters.size() != launch.parameters) {
    return DeviceKernelUnimplemented("has other parameters than it is given");
  }
  std::vector<std::string> declared, spaces, names;
  for (const std::string& parameter : entry.parameters) {
    SLIPWAY_ASSIGN_OR_RETURN(declared.emplace_back(), InSpace(parameter, "__global"));
    spaces.emplace_back(SpaceOf(parameter));
  }
  for (const ModuleTable& table : launch.tables) {
    text += TableText(table, declared[table.parameter], launch.launch.entry);
    names.push_back(NameOf(declared[table.parameter]));
    absl::StrAppend(&text, "#define ", spaces[table.parameter], " __constant\n");
  }
  std::vector<std::string> parameters;
  for (const size_t i : launch.order) {
    parameters.push_back(declared[i]);
    absl::StrAppend(&text, "#define ", spaces[i], " __global\n");
  }
  names.insert(names.end(), spaces.begin(), spaces.end());
  absl::StrAppend(&text, "__kernel void ", launch.launch.entry, "(\n ",
                  absl::StrJoin(parameters, ",\n "), ")\n", entry.body);
  for (const std::string& name : names) absl::StrAppend(&text, "#undef ", name, "\n");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DeviceKernel> OpenClTextOf(const DeviceModule& module) {
  const std::string& source = module.text;
  const size_t entries = source.find(kFirstEntry);
  if (entries == std::string::npos) return DeviceKernelUnimplemented("has no text");
  DeviceKernel kernel;
  kernel.scratch_bytes = module.scratch_bytes;
  // The first line says a target, of which the text does not hang.
  const size_t first_line = source.find('\n') + 1;
  kernel.preamble = absl::StrReplaceAll(source.substr(first_line, entries - first_line),
                                        {{"\ninline ", "\nstatic inline "}});
  for (const ModuleLaunch& launch : module.launches) {
    SLIPWAY_RETURN_IF_ERROR(AddEntry(source, launch, kernel.text));
    kernel.launches.push_back(launch.launch);
  }
  if (NamesDouble(kernel.text)) return DeviceKernelUnimplemented("computes in double");
  return kernel;
}

}  // namespace slipway
