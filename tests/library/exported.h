// Models as C libraries: exported, built by real compilers, run, and held against the reference. And as modules, run by Node.
#ifndef SLIPWAY_TESTS_LIBRARY_EXPORTED_H_
#define SLIPWAY_TESTS_LIBRARY_EXPORTED_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/library/library_files.h"
#include "client/library/library_plan.h"
#include "core/compiler/compiler.h"
#include "core/tensor/tensor.h"
#include "tests/common/temp_tree.h"

namespace slipway::testing {

// A library in a folder, and what it has to compute.
struct Exported {
  std::string name;
  std::string folder;
  LibraryPlan plan;
  LibraryOptions options;
  std::string inputs;                // The bytes of all, one behind the other.
  std::vector<NamedTensor> outputs;  // As the reference makes them of these.
};

// How programs are compiled and run.
struct Toolchain {
  const char* name;
  std::vector<std::string> compiler;  // With its flags for the architecture.
  std::vector<std::string> linking;   // Further ones, when it links.
  std::vector<std::string> runner;    // What a program is run by; empty: the machine itself.
};

// Of other architectures, whose programs an emulator runs.
Toolchain ClangFor(const char* name, const std::string& triple, const std::string& emulator);
Toolchain GccForRiscv64();

// Exports `source` for `target` to tree/name.
absl::StatusOr<Exported> Export(const ModelSource& source, const std::string& target,
                                LibraryOptions options, const TempTree& tree,
                                CompilerOptions compiler_options = {});

// Links the libraries into one program without a C library, runs it, and compares what it gives with what it has to. OK, or what is wrong.
absl::Status Check(const std::vector<const Exported*>& libraries, const Toolchain& toolchain,
                   const TempTree& tree, double tolerance = 1e-4);

// Runs a module with its own runner, and compares. OK, or what is wrong.
absl::Status CheckModule(const Exported& module, const TempTree& tree, double tolerance = 1e-4);

// The path of the program that Check has made last of these.
std::string ProgramOf(const std::vector<const Exported*>& libraries, const Toolchain& toolchain,
                      const TempTree& tree);

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_LIBRARY_EXPORTED_H_
