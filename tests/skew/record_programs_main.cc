// Records hand-written programs as specimens of what the newest format can say, for later versions to read.
// Usage: record_programs FOLDER
//
// Makes FOLDER/PROGRAM/ for each: its manifest as text, a .slip file a host, inputs, and what must come out. A
// specimen that is there already is an error.
#include <stdio.h>

#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/artifact/slip_file.h"
#include "core/base/digest.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/runtime/test_programs/hand_written_programs.h"
#include "core/tensor/npy.h"

namespace slipway::testing {
namespace {

// Of the lowest level, so that every machine of the architecture runs them.
constexpr const char* kHosts[] = {"x86-64-linux", "arm-64-linux"};

absl::Status WriteTensors(const std::string& folder, absl::string_view kind,
                          const std::vector<NamedType>& ports, const std::vector<Tensor>& tensors) {
  for (size_t i = 0; i < ports.size(); ++i) {
    SLIPWAY_ASSIGN_OR_RETURN(const std::string bytes, FormatNpy(tensors[i]));
    const std::string name = absl::StrCat(kind, ".", ports[i].name, ".npy");
    SLIPWAY_RETURN_IF_ERROR(WriteFileAtomically(JoinPath(folder, name), bytes, false));
  }
  return absl::OkStatus();
}

absl::Status RecordAll(const std::string& parent) {
  for (const HandWrittenProgram& program : HandWrittenPrograms()) {
    const std::string folder = JoinPath(parent, program.name);
    if (std::filesystem::exists(folder)) {
      return absl::AlreadyExistsError(
          absl::StrCat("\"", folder, "\" is recorded, and what is recorded is never changed"));
    }
    SLIPWAY_RETURN_IF_ERROR(MakeFolders(folder));
  }
  for (const char* host : kHosts) {
    for (HandWrittenProgram& program : HandWrittenPrograms(host)) {
      const std::string folder = JoinPath(parent, program.name);
      program.builder.manifest().set_compile_key(Digest::Of(program.name).hex());
      SLIPWAY_ASSIGN_OR_RETURN_WITH(const Artifact artifact, program.builder.Build(), program.name);
      const CheckedManifest& manifest = artifact.manifest();
      SLIPWAY_RETURN_IF_ERROR(
          WriteSlip(artifact, JoinPath(folder, absl::StrCat(manifest.proto().target(), ".slip"))));
      SLIPWAY_RETURN_IF_ERROR(WriteFileAtomically(JoinPath(folder, "manifest.txt"),
                                                  manifest.proto().DebugString(), false));
      SLIPWAY_RETURN_IF_ERROR(
          WriteTensors(folder, "input", manifest.signature().inputs, program.inputs));
      SLIPWAY_RETURN_IF_ERROR(
          WriteTensors(folder, "output", manifest.signature().outputs, program.outputs));
    }
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace slipway::testing

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: record_programs FOLDER\n");
    return 2;
  }
  const absl::Status status = slipway::testing::RecordAll(argv[1]);
  if (!status.ok()) fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
