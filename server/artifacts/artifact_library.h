// ArtifactLibrary: the server's view of artifacts: manifests read and checked, the cache of compilations.
#ifndef SLIPWAY_SERVER_ARTIFACTS_ARTIFACT_LIBRARY_H_
#define SLIPWAY_SERVER_ARTIFACTS_ARTIFACT_LIBRARY_H_

#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/optional.h"
#include "core/artifact/checked_manifest.h"
#include "core/base/clock.h"
#include "core/base/digest.h"
#include "core/store/blob_store.h"
#include "core/store/compile_cache.h"
#include "proto/slipway/v1/compile.pb.h"
#include "proto/slipway/v1/statement.pb.h"
#include "server/artifacts/checked_manifests.h"
#include "server/identities/statement_key.h"
#include "server/scheduler/dispatcher.h"

namespace slipway::server {

// Thread-safe.
class ArtifactLibrary final : public ArtifactSource {
 public:
  // What it vouches for programs with; without, it does not. Owns nothing.
  struct Vouching {
    const StatementKey* key = nullptr;
    const Clock* clock = nullptr;
  };
  // All must outlive the library.
  ArtifactLibrary(BlobStore* blobs, CompileCache* cache, Vouching vouching);
  ArtifactLibrary(BlobStore* blobs, CompileCache* cache)
      : ArtifactLibrary(blobs, cache, Vouching()) {}

  // Reads a manifest, and checks it the first time. FAILED_PRECONDITION when it is not here; errors of
  // CheckedManifest::Parse, which say what is wrong with it.
  absl::StatusOr<CheckedManifest> ReadProgram(const Digest& manifest);

  // What was compiled for `key`, if its manifest and all blobs that names are here; marked as cached. A library that vouches
  // does not take what workers of its server have not compiled: others may write to the folder of the cache.
  absl::optional<v1::CompilationResult> FindCompiled(absl::string_view key);

  // What is known of a program that a statement is made about.
  struct ProgramFacts {
    Digest manifest;
    std::string target;       // Canonical.
    std::string compile_key;  // That it may have been compiled for; nobody is believed that.
  };
  static ProgramFacts FactsOf(const CheckedManifest& program);
  // Whether a worker of this server has compiled it, as far as that is still known.
  bool IsCompiledHere(const ProgramFacts& program);
  // What this server says of a program that is for `owner`. FAILED_PRECONDITION when it says nothing of any; errors of
  // StatementSigner.
  absl::StatusOr<v1::SignedStatement> Vouch(const ProgramFacts& program, absl::string_view owner);

  absl::Status FillAssignment(const v1::RunSpec& spec, absl::string_view owner,
                              v1::RunAssignment* assignment) override;
  absl::Status Admit(const CompilationFacts& facts, absl::string_view worker,
                     v1::CompilationResult* result) override;
  absl::Status CheckOutputs(const v1::Digest& manifest, const v1::RunResult& result) override;

 private:
  // The statement of this server that a worker of it has compiled the program for its compile key: kept, or `stored`, which
  // anybody may have written.
  absl::optional<v1::SignedStatement> CompiledStatement(const ProgramFacts& program,
                                                        absl::string_view stored);
  absl::optional<v1::SignedStatement> FindCompiledStatement(const ProgramFacts& program);
  absl::optional<v1::SignedStatement> FindKept(const std::string& name);
  void Keep(const std::string& name, const v1::SignedStatement& statement);

  BlobStore& blobs_;
  CompileCache& cache_;
  const Vouching vouching_;
  CheckedManifests checked_;
  absl::Mutex mu_;
  // Made or checked before, so that a job costs neither; by what they say.
  absl::flat_hash_map<std::string, v1::SignedStatement> statements_ ABSL_GUARDED_BY(mu_);
};

// FAILED_PRECONDITION naming the first few of `digests` that `blobs` lacks.
absl::Status CheckPresent(const BlobStore& blobs, absl::Span<const Digest> digests,
                          absl::string_view what);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_ARTIFACTS_ARTIFACT_LIBRARY_H_
