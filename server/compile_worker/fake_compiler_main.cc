// A worker whose compiler does what the text of the model tells it, for tests:
//   program     "compiles" to the test program of core/artifact
//   error       says that the model is bad
//   throw, crash, loop, eat, exit, kill
//   tensor      makes tensors for as long as there is memory
//   map FILE    maps the file, and compiles to the test program
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/artifact/manifest.h"
#include "core/artifact/test_manifest.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/tensor/tensor.h"
#include "server/compile_worker/worker_main.h"

namespace slipway::worker {
namespace {

absl::StatusOr<CompileOutput> MakeProgram(BlobStore& store, const std::string& compile_key) {
  v1::Manifest manifest = TestManifest();
  manifest.set_compile_key(compile_key);
  CompileOutput output;
  for (const std::string& bytes : {TestCode(), TestConstants()}) {
    SLIPWAY_ASSIGN_OR_RETURN(Digest digest, PutBytes(store, bytes));
    output.blobs.push_back(digest);
  }
  SLIPWAY_ASSIGN_OR_RETURN(output.manifest, PutBytes(store, SerializeManifest(manifest)));
  output.report.set_kernels_compiled(1);
  output.report.set_kernels(1);
  return output;
}

absl::StatusOr<CompileOutput> Compile(const CompileInput& input, const ReportProgress& progress) {
  const std::string order(input.files.front().bytes.bytes());
  fprintf(stderr, "compiling %s\n", order.c_str());
  progress("pretend", 1, 2);
  if (order == "program") return MakeProgram(input.artifact_store, input.compile_key);
  if (order == "throw") throw std::runtime_error("thrown");
  if (order == "crash") raise(SIGSEGV);
  if (order == "kill") raise(SIGKILL);
  if (order == "exit") _exit(3);
  while (order == "loop") pause();
  std::vector<std::string> eaten;
  if (order == "eat together") {
    for (int i = 0; i < 4; ++i) {
      if (fork() != 0) continue;
      eaten.emplace_back(128 << 20, 'x');
      while (true) sleep(1'000);
    }
    waitpid(-1, nullptr, 0);
    return absl::AbortedError("a process was killed");
  }
  while (order == "eat") eaten.emplace_back(16 << 20, 'x');
  std::vector<Tensor> tensors;
  while (order == "tensor") {
    tensors.push_back(Tensor::Zeros(DataType::kUint8, {16 << 20}));
  }
  if (order == "fork") {
    int begun = 0;
    for (; begun < 5'000; ++begun) {
      const pid_t pid = fork();
      if (pid < 0) break;
      if (pid == 0) {
        while (true) sleep(1'000);
      }
    }
    return absl::InternalError(absl::StrCat("began ", begun));
  }
  if (absl::StartsWith(order, "map ")) {
    SLIPWAY_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(order.substr(4), INT64_MAX));
    return MakeProgram(input.artifact_store, input.compile_key);
  }
  return absl::InvalidArgumentError(absl::StrCat("'", order, "' is no model"));
}

}  // namespace
}  // namespace slipway::worker

int main(int argc, char** argv) {
  return slipway::worker::WorkerMain(
      argc, argv,
      {.targets =
           [] {
             return std::vector<slipway::CompilerTarget>{{"x86-64-linux", std::string(64, 'a')}};
           },
       .compile = slipway::worker::Compile});
}
