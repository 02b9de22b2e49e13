#include "client/cli/command.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/base/text_table.h"
#include "core/base/version.h"

namespace slipway::cli {
namespace {

struct Verb {
  const char* name;
  const char* summary;
  absl::Status (*function)(Environment&, Arguments);
};

constexpr Verb kVerbs[] = {
    {"compile", "compile a model", Compile},
    {"export", "make a C library of a model, to be linked into a program", Export},
    {"run", "run a model or artifact on a device", Run},
    {"bench", "measure a model or artifact on a device", Bench},
    {"compare", "say which of two models or artifacts is faster on a device", Compare},
    {"gate", "say whether a model has become slower than its baseline", Gate},
    {"quantize", "compile a model in 8 bits, and tell what that changes", Quantize},
    {"session", "hold a device and work with it, by hand or by a script", RunSession},
    {"lease", "list who holds devices, hold one, release one", Lease},
    {"devices", "list the devices, all or those that match", Devices},
    {"label", "give a device labels, for selectors to find it by", Label},
    {"queue", "list what waits, and why", ShowQueue},
    {"reserve", "have a device for oneself, for a time", Reserve},
    {"reservations", "list who has reserved which device", Reservations},
    {"unreserve", "give up a reservation", Unreserve},
    {"drain", "give a device no work, for maintenance", Drain},
    {"undrain", "give a drained device work again", Undrain},
    {"quarantine", "give a device no work while it is in doubt", Quarantine},
    {"unquarantine", "give a device in quarantine work again", Unquarantine},
    {"offer", "offer agents another binary of theirs", OfferAgent},
    {"offers", "list what agents are offered, and how far that is", AgentOffers},
    {"withdraw", "offer agents nothing any more", WithdrawAgent},
    {"jobs", "list jobs", Jobs},
    {"job", "show one job", ShowJob},
    {"cancel", "end a job", Cancel},
    {"results", "show and fetch what came of a job", Results},
    {"report", "write what came of a job to an HTML file to mail", WriteReport},
    {"history", "show what was measured before, and how it changed", History},
    {"record", "write a result of the history to a file that others can check", Record},
    {"verify", "check that a record is what its server signed", Verify},
    {"targets", "list what models can be compiled for", Targets},
    {"pack", "make an artifact of a kernel written by hand", Pack},
    {"inspect", "show what is in an artifact", Inspect},
    {"status", "say what the server is doing, and what it lacks", ShowStatus},
    {"join", "become known to a server, with a code of its administrator", Join},
};

std::string Help() {
  TextTable table({"", ""});
  for (const Verb& verb : kVerbs) table.Row({verb.name, verb.summary});
  table.Row({"help", "print this; \"slipway VERB --help\" tells of one verb"});
  table.Row({"version", "print the version"});
  return absl::StrCat(
      "usage: slipway VERB [arguments]\n\nCompiles ONNX models, runs them on devices and reports "
      "what they measured.\n\nverbs:\n",
      table.Render("  ", false),
      "\nWithout --server or $SLIPWAY_SERVER, compile, export, run, bench, compare, quantize, "
      "session and devices work on this machine alone.\nExit codes: 0 done, 1 the work failed, 2 "
      "the call was wrong, 3 server or device unreachable;\nof compare and gate: 1 a bad verdict, "
      "4 no verdict.\n");
}

absl::Status Dispatch(Environment& environment, Arguments arguments) {
  if (arguments.empty()) return WrongCall("no verb; see \"slipway help\"");
  const std::string& name = arguments.front();
  if (name == "help" || name == "--help" || name == "-h") {
    environment.out << Help();
    return absl::OkStatus();
  }
  if (name == "version" || name == "--version") {
    environment.out << "slipway " << kVersion << "\n";
    return absl::OkStatus();
  }
  for (const Verb& verb : kVerbs) {
    if (name == verb.name) return verb.function(environment, arguments.subspan(1));
  }
  return WrongCall(absl::StrCat(
      "unknown verb \"", name, "\"; known are ",
      absl::StrJoin(kVerbs, ", ", [](std::string* out, const Verb& v) { *out += v.name; })));
}

}  // namespace

ExitCode RunCommand(Environment& environment, Arguments arguments) {
  absl::Status status = Dispatch(environment, arguments);
  environment.out.flush();
  if (status.ok() && !environment.out.good()) {
    status = absl::ResourceExhaustedError("the output cannot be written; is the disk full");
  }
  if (!status.ok()) {
    // What points into a text has further lines; indented, so that nothing which a peer says looks like an error of the command's.
    std::vector<std::string> lines = absl::StrSplit(status.message(), '\n');
    for (std::string& line : lines) line = Printable(line);
    environment.err << "slipway: error: " << absl::StrJoin(lines, "\n  ") << std::endl;
  }
  return ExitCodeOf(status);
}

}  // namespace slipway::cli
