#include "server/web/exports.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/library/library_plan.h"
#include "client/library/module_files.h"
#include "core/artifact/artifact.h"
#include "core/artifact/checked_manifest.h"
#include "core/base/blob.h"
#include "core/base/status_macros.h"
#include "core/target/target.h"
#include "server/web/page.h"

namespace slipway::web {
namespace {

constexpr int64_t kMaxManifestBytes = 64 << 20;

// Whoever may read the manifest may read the artifact: it is asked for each time, also where the files are kept.
absl::StatusOr<CheckedManifest> ReadModuleManifest(Upstream& upstream, const Digest& digest,
                                                   int64_t most_bytes) {
  SLIPWAY_ASSIGN_OR_RETURN(const Blob bytes, upstream.ReadBlob(digest, kMaxManifestBytes));
  SLIPWAY_ASSIGN_OR_RETURN(CheckedManifest manifest, CheckedManifest::Parse(bytes.bytes()));
  if (manifest.target().host().arch != Arch::kWasm32) {
    return absl::FailedPreconditionError(
        absl::StrCat("the artifact is for \"", manifest.target().ToString(),
                     "\": pages and Node run those for wasm-32; compile the model for "
                     "\"wasm-32-wasi-simd128\""));
  }
  if (manifest.artifact_bytes() > most_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat("the artifact has ", manifest.artifact_bytes(),
                                                     " bytes; ", most_bytes,
                                                     " are read here: take `slipway export`"));
  }
  return manifest;
}

// What is large is the artifact's own, which its name names.
std::string TagOf(const LibraryFile& file, const Digest& manifest) {
  constexpr int64_t kLargeBytes = 1 << 20;
  int64_t bytes = 0;
  for (const Blob& piece : file.pieces) bytes += piece.size_bytes();
  const Digest digest =
      Digest::Of(bytes > kLargeBytes ? absl::StrCat(manifest.hex(), file.path) : file.Contents());
  return absl::StrCat("\"", digest.hex().substr(0, 32), "\"");
}

std::string ListNames(const std::vector<LibraryFile>& files) {
  return absl::StrJoin(files, ", ", [](std::string* text, const LibraryFile& file) {
    absl::StrAppend(text, file.path);
  });
}

}  // namespace

std::shared_ptr<const Exports::Files> Exports::FindKept(const Digest& manifest) {
  absl::MutexLock lock(&mutex_);
  const auto found = std::find_if(kept_.begin(), kept_.end(), [&manifest](const Kept& kept) {
    return kept.manifest == manifest;
  });
  if (found == kept_.end()) return nullptr;
  kept_.splice(kept_.begin(), kept_, found);
  return kept_.front().files;
}

void Exports::Keep(Kept kept) {
  absl::MutexLock lock(&mutex_);
  kept_.remove_if([&kept](const Kept& other) { return other.manifest == kept.manifest; });
  kept_.push_front(std::move(kept));
  int64_t bytes = 0;
  auto it = kept_.begin();
  for (; it != kept_.end(); ++it) {
    bytes += it->bytes;
    if (bytes > limits_.most_kept_bytes) break;
  }
  kept_.erase(it, kept_.end());
}

absl::StatusOr<std::shared_ptr<const Exports::Files>> Exports::Find(Upstream& upstream,
                                                                    const Digest& digest) {
  SLIPWAY_ASSIGN_OR_RETURN(CheckedManifest manifest,
                           ReadModuleManifest(upstream, digest, limits_.most_bytes));
  if (auto kept = FindKept(digest); kept != nullptr) return kept;
  const int64_t bytes = manifest.artifact_bytes();
  LibraryOptions options;
  options.name = "model";
  options.model = manifest.proto().name();
  SLIPWAY_ASSIGN_OR_RETURN(
      const Artifact artifact,
      Artifact::Create(std::move(manifest), [&](const Digest& blob) -> absl::StatusOr<Blob> {
        return upstream.ReadBlob(blob, limits_.most_bytes);
      }));
  SLIPWAY_ASSIGN_OR_RETURN(const LibraryPlan plan, PlanLibrary(artifact));
  SLIPWAY_ASSIGN_OR_RETURN(Files rendered, RenderModule(plan, options));
  auto files = std::make_shared<const Files>(std::move(rendered));
  Keep({digest, bytes, files});
  return files;
}

absl::StatusOr<HttpResponse> Exports::Answer(Upstream& upstream, const Digest& manifest,
                                             absl::string_view name, absl::string_view known_tag) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::shared_ptr<const Files> files, Find(upstream, manifest));
  const auto found = std::find_if(files->begin(), files->end(),
                                  [name](const LibraryFile& file) { return file.path == name; });
  if (found == files->end()) {
    return absl::NotFoundError(
        absl::StrCat("an export has no such file: it has ", ListNames(*files)));
  }
  const std::string tag = TagOf(*found, manifest);
  HttpResponse response;
  response.headers = {{"Content-Type", std::string(ContentTypeOf(name))},
                      {"Cache-Control", "private, no-cache"},
                      {"ETag", tag}};
  if (known_tag == tag) {
    response.status = 304;
    return response;
  }
  response.body = found->Contents();
  return response;
}

}  // namespace slipway::web
