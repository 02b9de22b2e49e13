#include "client/shell/render_shell.h"

#include <functional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/cli/render_conditions.h"
#include "client/cli/render_parts.h"
#include "client/cli/tensor_summary.h"
#include "client/statistics.h"
#include "core/base/json_writer.h"
#include "core/base/text_table.h"

namespace slipway::cli {
namespace {

std::string Ports(absl::Span<const RemotePort> ports) {
  return absl::StrJoin(ports, ", ", [](std::string* out, const RemotePort& port) {
    absl::StrAppend(out, Printable(port.name), port.type.empty() ? "" : " ", Printable(port.type));
  });
}

// "main(x f32[1, 64]) -> y f32[1, 10]"
std::string Signature(const RemoteFunction& function) {
  return absl::StrCat(Printable(function.name), "(", Ports(function.inputs), ") -> ",
                      Ports(function.outputs));
}

std::string In(absl::Duration took) {
  return took == absl::ZeroDuration() ? "" : absl::StrCat("  (", FormatTime(took), ")");
}

std::string Object(const std::function<void(JsonWriter&)>& fill) {
  JsonWriter json;
  json.BeginObject();
  json.Integer("schema_version", 1);
  fill(json);
  json.EndObject();
  return json.Take();
}

void PortsJson(JsonWriter& json, absl::string_view name, absl::Span<const RemotePort> ports) {
  json.BeginArray(name);
  for (const RemotePort& port : ports) {
    json.BeginObject();
    json.Text("name", port.name);
    json.Text("type", port.type);
    json.EndObject();
  }
  json.EndArray();
}

void FunctionsJson(JsonWriter& json, const NamedFunctions& program) {
  json.Text("program", program.name);
  json.BeginArray("functions");
  for (const RemoteFunction& function : program.functions) {
    json.BeginObject();
    json.Text("name", function.name);
    PortsJson(json, "inputs", function.inputs);
    PortsJson(json, "outputs", function.outputs);
    json.EndObject();
  }
  json.EndArray();
}

void TensorsJson(JsonWriter& json, absl::Span<const NamedTensorType> tensors) {
  json.BeginArray("tensors");
  for (const NamedTensorType& tensor : tensors) {
    json.BeginObject();
    json.Text("name", tensor.name);
    json.Text("dtype", Name(tensor.type.dtype));
    json.Integers("shape", tensor.type.shape);
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace

std::string RenderProgram(const NamedFunctions& program, absl::Duration took) {
  std::string text;
  for (const RemoteFunction& function : program.functions) {
    absl::StrAppend(&text, Printable(program.name), ": ", Signature(function),
                    text.empty() ? In(took) : "", "\n");
  }
  return text;
}

std::string RenderProgramJson(const NamedFunctions& program, absl::Duration took) {
  return Object([&](JsonWriter& json) {
    FunctionsJson(json, program);
    json.Integer("load_ns", absl::ToInt64Nanoseconds(took));
  });
}

std::string RenderTensors(absl::Span<const NamedTensorType> tensors, absl::Duration took) {
  std::string text;
  for (const NamedTensorType& tensor : tensors) {
    absl::StrAppend(&text, Printable(tensor.name), ": ", ToString(tensor.type),
                    text.empty() ? In(took) : "", "\n");
  }
  return text;
}

std::string RenderTensorsJson(absl::Span<const NamedTensorType> tensors, absl::Duration took) {
  return Object([&](JsonWriter& json) {
    TensorsJson(json, tensors);
    json.Integer("duration_ns", absl::ToInt64Nanoseconds(took));
  });
}

std::string RenderTimes(const BenchmarkResult& result) {
  const SampleStatistics s = Summarize(result.samples_ns, result.iterations_per_sample);
  TextTable table({">min", ">p50", ">p90", ">p99"});
  const auto time = [](double ns) { return FormatTime(absl::Nanoseconds(ns)); };
  table.Row({time(s.min_ns), time(s.p50_ns.value),
             s.p90_ns.has_value() ? time(s.p90_ns->value) : "-",
             s.p99_ns.has_value() ? time(s.p99_ns->value) : "-"});
  return absl::StrCat(table.Render(), result.samples_ns.size(), " samples of ",
                      result.iterations_per_sample,
                      result.iterations_per_sample == 1 ? " call" : " calls",
                      result.disturbed ? "; disturbed: others took CPU time" : "", "\n",
                      ClockRemark(result.samples_ns, result.clock_resolution_ns, "samples are"));
}

std::string RenderTimesJson(const BenchmarkResult& result) {
  const SampleStatistics s = Summarize(result.samples_ns, result.iterations_per_sample);
  return Object([&](JsonWriter& json) {
    json.Integers("samples_ns", result.samples_ns);
    json.Integer("iterations_per_sample", result.iterations_per_sample);
    json.Real("min_ns", s.min_ns);
    json.Real("p50_ns", s.p50_ns.value);
    s.p90_ns.has_value() ? json.Real("p90_ns", s.p90_ns->value) : json.Null("p90_ns");
    s.p99_ns.has_value() ? json.Real("p99_ns", s.p99_ns->value) : json.Null("p99_ns");
    json.Bool("disturbed", result.disturbed);
    json.Integer("clock_resolution_ns", result.clock_resolution_ns);
    MachineJson(json, "before", result.before);
    MachineJson(json, "after", result.after);
  });
}

std::string RenderProfileJson(absl::Duration duration, const StepProfile& profile) {
  return Object([&](JsonWriter& json) {
    json.Integer("duration_ns", absl::ToInt64Nanoseconds(duration));
    ProfileJson(json, profile);
  });
}

std::string RenderTensor(const NamedTensor& tensor, const std::string& file) {
  return absl::StrCat(Printable(tensor.name), ": ", ToString(tensor.tensor.type()), "  ",
                      Summary(tensor.tensor), "\n",
                      file.empty() ? "" : absl::StrCat("wrote ", Printable(file), "\n"));
}

std::string RenderTensorJson(const NamedTensor& tensor, const std::string& file) {
  return Object([&](JsonWriter& json) { TensorJson(json, tensor, file); });
}

std::string RenderList(absl::Span<const NamedFunctions> programs,
                       absl::Span<const NamedTensorType> tensors) {
  if (programs.empty() && tensors.empty()) return "nothing\n";
  TextTable table({"NAME", ""});
  for (const NamedFunctions& program : programs) {
    for (const RemoteFunction& function : program.functions) {
      table.Row({program.name, Signature(function)});
    }
  }
  for (const NamedTensorType& tensor : tensors) table.Row({tensor.name, ToString(tensor.type)});
  return table.Render("", false);
}

std::string RenderListJson(absl::Span<const NamedFunctions> programs,
                           absl::Span<const NamedTensorType> tensors) {
  return Object([&](JsonWriter& json) {
    json.BeginArray("programs");
    for (const NamedFunctions& program : programs) {
      json.BeginObject();
      FunctionsJson(json, program);
      json.EndObject();
    }
    json.EndArray();
    TensorsJson(json, tensors);
  });
}

std::string RenderFacts(const SessionFacts& facts) {
  TextTable table({"", ""});
  table.Row({"memory", absl::StrCat(FormatBytes(facts.free_bytes), " free, ",
                                    FormatBytes(facts.limit_bytes), " for a program")});
  table.Row({"tensors", absl::StrCat(facts.tensors, ", ", FormatBytes(facts.tensor_bytes))});
  table.Row({"programs", absl::StrCat(facts.programs)});
  const MachineState& machine = facts.machine;
  if (machine.cpu_frequency_hz > 0) {
    table.Row({"clock", absl::StrFormat("%d MHz %s", machine.cpu_frequency_hz / 1'000'000,
                                        Printable(machine.governor))});
  }
  if (machine.temperature_millicelsius > 0) {
    table.Row(
        {"temperature",
         absl::StrFormat("%.1f C", static_cast<double>(machine.temperature_millicelsius) / 1000)});
  }
  table.Row({"load", absl::StrFormat("%.2f", static_cast<double>(machine.load_millis) / 1000)});
  return table.Render("", false);
}

std::string RenderFactsJson(const SessionFacts& facts) {
  return Object([&](JsonWriter& json) {
    json.Integer("free_bytes", facts.free_bytes);
    json.Integer("limit_bytes", facts.limit_bytes);
    json.Integer("tensor_bytes", facts.tensor_bytes);
    json.Integer("tensors", facts.tensors);
    json.Integer("programs", facts.programs);
    MachineJson(json, "machine", facts.machine);
  });
}

std::string RenderNothingJson() {
  return Object([](JsonWriter&) {});
}

}  // namespace slipway::cli
