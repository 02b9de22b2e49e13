// What it takes that programs are vouched for: to sign a statement on one, to check it, and to know one again.
//
//   bazel run //tests/bench:statement_bench
#include <algorithm>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "core/artifact/artifact.h"
#include "core/base/check.h"
#include "core/base/clock.h"
#include "core/base/files.h"
#include "core/identity/certificate_authority.h"
#include "core/rpc/program_statement.h"
#include "core/runtime/test_programs/test_programs.h"
#include "core/store/compile_cache.h"
#include "core/store/memory_blob_store.h"
#include "device_agent/program_gate.h"
#include "server/artifacts/artifact_library.h"
#include "server/identities/statement_key.h"

namespace slipway {
namespace {

constexpr int kTimes = 2000;

template <typename T>
T Must(absl::StatusOr<T> value) {
  SLIPWAY_CHECK(value.ok(), value.status().message());
  return *std::move(value);
}

void Print(absl::string_view what, const std::function<void()>& work) {
  std::vector<double> us;
  for (int i = 0; i < kTimes; ++i) {
    const absl::Time start = absl::Now();
    work();
    us.push_back(absl::ToDoubleMicroseconds(absl::Now() - start));
  }
  std::sort(us.begin(), us.end());
  std::cout << absl::StreamFormat("%-32s min %7.1f us  p50 %7.1f us\n", what, us[0],
                                  us[us.size() / 2]);
}

int Main() {
  const SystemClock clock;
  const TemporaryFolder folder = Must(TemporaryFolder::Create("statement_bench"));
  const auto authority = Must(CertificateAuthority::Create(clock.Now()));
  const auto key = Must(server::StatementKey::Open(
      authority.get(), JoinPath(folder.path(), "signer.pem"), clock.Now()));
  MemoryBlobStore blobs;
  const auto cache = Must(FileCompileCache::Create(folder.path()));
  const CheckedManifest program = TestProgram(TestKernel::kAdd).manifest();
  const std::string target = program.target().ToString();
  const auto sign = [&] {
    return Must(SignBrought(*key->signer(), program.digest(), target, "ada", clock.Now()));
  };
  const v1::SignedStatement statement = sign();
  std::cout << absl::StreamFormat("a statement: %d bytes\n", statement.ByteSizeLong());
  Print("sign", [&] { sign(); });
  Print("check",
        [&] { Must(CheckProgramStatement(key->checker(), statement, program.digest(), target)); });

  using server::ArtifactLibrary;
  ArtifactLibrary library(&blobs, cache.get(), {.key = key.get(), .clock = &clock});
  Print("server, a known program",
        [&] { Must(library.Vouch(ArtifactLibrary::FactsOf(program), "ada")); });
  const auto gate = Must(ProgramGate::Create(authority->certificate(), /*compiled_only=*/false));
  Print("agent, a known program",
        [&] { SLIPWAY_CHECK(gate->LetIn(program, statement).ok(), "it is not let in"); });
  return 0;
}

}  // namespace
}  // namespace slipway

int main() { return slipway::Main(); }
