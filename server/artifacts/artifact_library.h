// ArtifactLibrary: the server's view of artifacts: manifests read and checked, the cache of compilations.
#ifndef SLIPWAY_SERVER_ARTIFACTS_ARTIFACT_LIBRARY_H_
#define SLIPWAY_SERVER_ARTIFACTS_ARTIFACT_LIBRARY_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "core/artifact/checked_manifest.h"
#include "core/base/digest.h"
#include "core/store/blob_store.h"
#include "core/store/compile_cache.h"
#include "proto/slipway/v1/compile.pb.h"
#include "server/artifacts/checked_manifests.h"
#include "server/scheduler/dispatcher.h"

namespace slipway::server {

// Thread-safe.
class ArtifactLibrary final : public ArtifactSource {
 public:
  // Both must outlive the library.
  ArtifactLibrary(BlobStore* blobs, CompileCache* cache);

  // Reads a manifest, and checks it the first time. FAILED_PRECONDITION when it is not here; errors of
  // CheckedManifest::Parse, which say what is wrong with it.
  absl::StatusOr<CheckedManifest> ReadProgram(const Digest& manifest);

  // What was compiled for `key`, if its manifest and all blobs that names are here; marked as cached.
  absl::optional<v1::CompilationResult> FindCompiled(absl::string_view key);

  absl::Status FillAssignment(const v1::RunSpec& spec, v1::RunAssignment* assignment) override;
  absl::Status Admit(const CompilationFacts& facts, v1::CompilationResult* result) override;
  absl::Status CheckOutputs(const v1::Digest& manifest, const v1::RunResult& result) override;

 private:
  BlobStore& blobs_;
  CompileCache& cache_;
  CheckedManifests checked_;
};

// FAILED_PRECONDITION naming the first few of `digests` that `blobs` lacks.
absl::Status CheckPresent(const BlobStore& blobs, absl::Span<const Digest> digests,
                          absl::string_view what);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_ARTIFACTS_ARTIFACT_LIBRARY_H_
