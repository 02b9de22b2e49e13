#include "server/compile_worker/child_main.h"

#include <stdlib.h>
#include <unistd.h>

#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/base/await_limits.h"
#include "core/base/control_group.h"
#include "core/base/files.h"
#include "core/base/log.h"
#include "core/base/out_of_memory.h"
#include "core/base/status_macros.h"
#include "core/confinement/confinement.h"
#include "core/confinement/profiles.h"
#include "core/store/file_blob_store.h"
#include "core/wire/digest_proto.h"
#include "core/wire/status_proto.h"
#include "server/compile_worker/compile_child.pb.h"

namespace slipway::worker {
namespace {

constexpr int64_t kMaxRequestBytes = 64 << 20;

void WriteProgress(absl::string_view stage, int64_t done, int64_t total) {
  const std::string line = absl::StrCat(stage, "\t", done, "\t", total, "\n");
  // A line is below PIPE_BUF, and so written whole; nobody may be listening.
  [[maybe_unused]] const ssize_t written = write(kProgressFd, line.data(), line.size());
}

// What strangers send is read after this. Temporary files go with the child's own folder, also those of a child that is
// killed.
absl::Status Confine(const CompileChildRequest& request, const std::string& folder) {
  AwaitLimits();
  setenv("TMPDIR", folder.c_str(), 1);
  Confinement confinement = CompileConfinement(
      {folder, request.store_folder(), request.kernel_cache_folder()}, ProgramFolders());
  const std::optional<int64_t> most = OwnTaskLimit();
  confinement.has_task_group = most.has_value() && *most <= *confinement.max_tasks;
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const MissingParts missing, ApplyConfinement(confinement),
                                "confining the compiler");
  return request.require_confinement() ? RequireWhole("the compiler", missing) : absl::OkStatus();
}

absl::StatusOr<CompileChildResponse::Made> Compile(const CompileChildRequest& request,
                                                   const CompileFunction& compile) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<FileBlobStore> store,
                           FileBlobStore::Create({.folder = request.store_folder(),
                                                  .durable = request.store_is_durable(),
                                                  // The worker does, and has verified the files.
                                                  .notes_uses = false}));
  std::vector<InputFile> files;
  for (const v1::ModelFile& file : request.spec().model().files()) {
    SLIPWAY_ASSIGN_OR_RETURN(const Digest digest, FromProto(file.digest()));
    SLIPWAY_ASSIGN_OR_RETURN_WITH(Blob bytes, store->Get(digest),
                                  absl::StrCat("file '", file.name(), "' of the model"));
    files.push_back({file.name(), std::move(bytes)});
  }
  SLIPWAY_ASSIGN_OR_RETURN(const CompileOutput output,
                           compile({.spec = request.spec(),
                                    .files = files,
                                    .compile_key = request.compile_key(),
                                    .kernel_cache_folder = request.kernel_cache_folder(),
                                    .artifact_store = *store},
                                   WriteProgress));
  CompileChildResponse::Made made;
  *made.mutable_manifest() = ToProto(output.manifest);
  for (const Digest& blob : output.blobs) *made.add_blobs() = ToProto(blob);
  *made.mutable_report() = output.report;
  return made;
}

// What the compiler throws in spite of all is a bug of ours, and typed as such.
absl::StatusOr<CompileChildResponse::Made> CompileWithoutExceptions(
    const CompileChildRequest& request, const std::string& folder, const CompileFunction& compile) {
  SLIPWAY_RETURN_IF_ERROR(Confine(request, folder));
  try {
    return Compile(request, compile);
  } catch (const std::bad_alloc&) {
    ExitOutOfMemory();
  } catch (const std::exception& exception) {
    return absl::InternalError(absl::StrCat("the compiler threw: ", exception.what()));
  }
}

}  // namespace

std::vector<std::string> ProgramFolders() {
  const char* const path = getenv("PATH");
  return absl::StrSplit(path == nullptr ? "" : path, ':', absl::SkipEmpty());
}

int RunCompileChild(const std::string& folder, const CompileFunction& compile) {
  ExitWhenOutOfMemory();
  const absl::StatusOr<std::string> bytes =
      ReadFile(JoinPath(folder, kRequestFile), kMaxRequestBytes);
  CompileChildRequest request;
  if (!bytes.ok() || !request.ParseFromString(*bytes)) {
    Log(LogLevel::kError, "no request", {{"folder", folder}, {"why", bytes.status().ToString()}});
    return 1;
  }
  const LogRequest named(request.request_id());
  absl::StatusOr<CompileChildResponse::Made> made =
      CompileWithoutExceptions(request, folder, compile);
  CompileChildResponse response;
  if (made.ok()) {
    *response.mutable_made() = *std::move(made);
  } else {
    *response.mutable_error() = ToProto(made.status(), "");
  }
  const absl::Status written = WriteFileAtomically(JoinPath(folder, kResponseFile),
                                                   response.SerializeAsString(), /*durable=*/false);
  if (written.ok()) return 0;
  Log(LogLevel::kError, "no response", {{"why", written.ToString()}});
  return 1;
}

}  // namespace slipway::worker
