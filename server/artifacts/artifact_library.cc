#include "server/artifacts/artifact_library.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/log.h"
#include "core/base/status_macros.h"
#include "core/rpc/program_statement.h"
#include "core/wire/digest_proto.h"
#include "core/wire/tensor_proto.h"
#include "server/limits.h"

namespace slipway::server {

absl::Status CheckPresent(const BlobStore& blobs, absl::Span<const Digest> digests,
                          absl::string_view what) {
  constexpr size_t kNamed = 3;
  const std::vector<Digest> missing = blobs.FindMissing(digests);
  if (missing.empty()) return absl::OkStatus();
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(kNamed, missing.size()); ++i)
    names.push_back(missing[i].ToString());
  return absl::FailedPreconditionError(absl::StrCat(
      missing.size(), " of the blobs of ", what, " are not here: ", absl::StrJoin(names, ", "),
      missing.size() > kNamed ? ", ..." : "", "; write them and call again"));
}

namespace {

// All are dropped beyond that: each takes a kilobyte, and a fraction of a millisecond to make or check again.
constexpr size_t kMaxKeptStatements = 4096;

std::string NameOfCompiled(const ArtifactLibrary::ProgramFacts& program) {
  return absl::StrCat("compiled ", program.manifest.ToString(), " ", program.target, " ",
                      program.compile_key);
}

std::string NameOfBrought(const ArtifactLibrary::ProgramFacts& program, absl::string_view owner) {
  return absl::StrCat("brought ", program.manifest.ToString(), " ", program.target, " ", owner);
}

}  // namespace

ArtifactLibrary::ArtifactLibrary(BlobStore* blobs, CompileCache* cache, Vouching vouching)
    : blobs_(*blobs), cache_(*cache), vouching_(vouching) {}

absl::StatusOr<CheckedManifest> ArtifactLibrary::ReadProgram(const Digest& manifest) {
  const absl::Status sound = blobs_.Verify(manifest);
  if (absl::IsNotFound(sound) || absl::IsDataLoss(sound)) {
    return absl::FailedPreconditionError(absl::StrCat("the manifest ", manifest.ToString(),
                                                      " is not here: write it and call again"));
  }
  SLIPWAY_RETURN_IF_ERROR(sound);
  if (absl::optional<CheckedManifest> kept = checked_.Find(manifest)) return *std::move(kept);
  SLIPWAY_ASSIGN_OR_RETURN(const std::string bytes, ReadBlob(blobs_, manifest));
  absl::StatusOr<CheckedManifest> checked = checked_.Get(manifest, bytes);
  if (checked.ok()) return checked;
  return Annotate(checked.status(), absl::StrCat("manifest ", manifest.ToString()));
}

absl::optional<v1::CompilationResult> ArtifactLibrary::FindCompiled(absl::string_view key) {
  const absl::StatusOr<CachedCompilation> cached = cache_.Find(key);
  if (!cached.ok()) return absl::nullopt;
  const absl::StatusOr<CheckedManifest> program = ReadProgram(cached->manifest);
  if (!program.ok() || !blobs_.FindMissing(program->blobs()).empty()) {
    Log(LogLevel::kInfo, "artifact left the cache",
        {{"key", key}, {"why", program.ok() ? "blobs were evicted" : program.status().ToString()}});
    return absl::nullopt;
  }
  ProgramFacts facts = FactsOf(*program);
  facts.compile_key = std::string(key);
  if (vouching_.key != nullptr && !CompiledStatement(facts, cached->statement).has_value()) {
    Log(LogLevel::kInfo, "artifact left the cache",
        {{"key", key}, {"why", "no worker of this server has compiled it"}});
    return absl::nullopt;
  }
  v1::CompilationResult result;
  if (!result.mutable_report()->ParseFromString(cached->report)) result.clear_report();
  *result.mutable_manifest() = ToProto(cached->manifest);
  result.set_compile_key(std::string(key));
  result.set_cached(true);
  result.set_artifact_bytes(program->artifact_bytes());
  return result;
}

ArtifactLibrary::ProgramFacts ArtifactLibrary::FactsOf(const CheckedManifest& program) {
  return {.manifest = program.digest(),
          .target = program.target().ToString(),
          .compile_key = program.proto().compile_key()};
}

absl::optional<v1::SignedStatement> ArtifactLibrary::FindKept(const std::string& name) {
  absl::MutexLock lock(&mu_);
  const auto kept = statements_.find(name);
  return kept == statements_.end() ? absl::nullopt : absl::make_optional(kept->second);
}

void ArtifactLibrary::Keep(const std::string& name, const v1::SignedStatement& statement) {
  absl::MutexLock lock(&mu_);
  if (statements_.size() >= kMaxKeptStatements) statements_.clear();
  statements_[name] = statement;
}

absl::optional<v1::SignedStatement> ArtifactLibrary::CompiledStatement(const ProgramFacts& program,
                                                                       absl::string_view stored) {
  absl::optional<v1::SignedStatement> kept = FindKept(NameOfCompiled(program));
  if (kept.has_value()) return kept;
  v1::SignedStatement statement;
  if (stored.empty() || !statement.ParseFromArray(stored.data(), static_cast<int>(stored.size()))) {
    return absl::nullopt;
  }
  const absl::StatusOr<v1::ProgramStatement> said =
      CheckProgramStatement(vouching_.key->checker(), statement, program.manifest, program.target);
  if (!said.ok() || said->compiled().compile_key() != program.compile_key) return absl::nullopt;
  Keep(NameOfCompiled(program), statement);
  return statement;
}

absl::optional<v1::SignedStatement> ArtifactLibrary::FindCompiledStatement(
    const ProgramFacts& program) {
  if (vouching_.key == nullptr) return absl::nullopt;
  absl::optional<v1::SignedStatement> kept = FindKept(NameOfCompiled(program));
  if (kept.has_value()) return kept;
  const absl::StatusOr<CachedCompilation> cached = cache_.Find(program.compile_key);
  if (!cached.ok() || cached->manifest != program.manifest) return absl::nullopt;
  return CompiledStatement(program, cached->statement);
}

bool ArtifactLibrary::IsCompiledHere(const ProgramFacts& program) {
  return FindCompiledStatement(program).has_value();
}

absl::StatusOr<v1::SignedStatement> ArtifactLibrary::Vouch(const ProgramFacts& program,
                                                           absl::string_view owner) {
  if (vouching_.key == nullptr) {
    return absl::FailedPreconditionError(
        "this server vouches for no program, since it is not called over TLS");
  }
  absl::optional<v1::SignedStatement> found = FindCompiledStatement(program);
  if (found.has_value()) return *std::move(found);
  const std::string name = NameOfBrought(program, owner);
  found = FindKept(name);
  if (found.has_value()) return *std::move(found);
  SLIPWAY_ASSIGN_OR_RETURN(v1::SignedStatement made,
                           SignBrought(*vouching_.key->signer(), program.manifest, program.target,
                                       owner, vouching_.clock->Now()));
  Keep(name, made);
  return made;
}

absl::Status ArtifactLibrary::FillAssignment(const v1::RunSpec& spec, absl::string_view owner,
                                             v1::RunAssignment* assignment) {
  SLIPWAY_ASSIGN_OR_RETURN(const Digest manifest, FromProto(spec.manifest()));
  SLIPWAY_ASSIGN_OR_RETURN(const CheckedManifest program, ReadProgram(manifest));
  assignment->set_manifest(program.bytes());
  if (vouching_.key != nullptr) {
    SLIPWAY_ASSIGN_OR_RETURN(*assignment->mutable_statement(), Vouch(FactsOf(program), owner));
  }
  int64_t total = 0;
  for (const Digest& digest : program.blobs()) {
    if (digest.size_bytes() <= kMaxInlineBlobBytes) total += digest.size_bytes();
  }
  if (total > kMaxInlineBlobsBytes) return absl::OkStatus();
  for (const Digest& digest : program.blobs()) {
    if (digest.size_bytes() > kMaxInlineBlobBytes) continue;
    SLIPWAY_ASSIGN_OR_RETURN(std::string small, ReadBlob(blobs_, digest));
    v1::InlineBlob& sent = *assignment->add_blobs();
    *sent.mutable_digest() = ToProto(digest);
    sent.set_data(std::move(small));
  }
  return absl::OkStatus();
}

absl::Status ArtifactLibrary::Admit(const CompilationFacts& facts, absl::string_view worker,
                                    v1::CompilationResult* result) {
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const Digest manifest, FromProto(result->manifest()),
                                "the worker's result");
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const CheckedManifest program, ReadProgram(manifest),
                                "the worker's result");
  SLIPWAY_RETURN_IF_ERROR_WITH(CheckPresent(blobs_, program.blobs(), "the compiled artifact"),
                               "the worker's result");
  result->set_compile_key(facts.compile_key());
  result->set_artifact_bytes(program.artifact_bytes());
  v1::CompileReport kept = result->report();
  kept.clear_printed_graph();
  kept.clear_printed_schedules();
  kept.clear_candidates();
  CachedCompilation entry{.manifest = manifest, .report = kept.SerializeAsString()};
  if (entry.report.size() > kMaxCachedReportBytes) entry.report.clear();
  if (vouching_.key != nullptr) {
    SLIPWAY_ASSIGN_OR_RETURN(
        const v1::SignedStatement made,
        SignCompiled(*vouching_.key->signer(), manifest, program.target().ToString(),
                     facts.compile_key(), worker, vouching_.clock->Now()));
    entry.statement = made.SerializeAsString();
    Keep(NameOfCompiled({.manifest = manifest,
                         .target = program.target().ToString(),
                         .compile_key = facts.compile_key()}),
         made);
  }
  // The result stands without the cache.
  const absl::Status status = cache_.Record(facts.compile_key(), entry);
  if (!status.ok()) Log(LogLevel::kWarning, "artifact not cached", {{"why", status.ToString()}});
  return absl::OkStatus();
}

absl::Status ArtifactLibrary::CheckOutputs(const v1::Digest& manifest,
                                           const v1::RunResult& result) {
  SLIPWAY_ASSIGN_OR_RETURN(const Digest digest, FromProto(manifest));
  SLIPWAY_ASSIGN_OR_RETURN(const CheckedManifest program, ReadProgram(digest));
  const std::vector<NamedType>& outputs = program.signature().outputs;
  if (static_cast<size_t>(result.outputs_size()) != outputs.size()) {
    return absl::InvalidArgumentError(absl::StrCat("the device's result has ",
                                                   result.outputs_size(), " outputs; the program ",
                                                   outputs.size()));
  }
  std::vector<Digest> digests;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const v1::Tensor& tensor = result.outputs(static_cast<int>(i));
    SLIPWAY_RETURN_IF_ERROR_WITH(CheckTensorProto(tensor), "the device's result");
    SLIPWAY_ASSIGN_OR_RETURN(const TensorType type, FromProto(tensor.type()));
    if (tensor.name() != outputs[i].name || !outputs[i].type.Admits(type)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "output ", i, " of the device's result is '", absl::Utf8SafeCEscape(tensor.name()), "', ",
          ToString(type), "; that of the program is '", absl::Utf8SafeCEscape(outputs[i].name),
          "', ", ToString(outputs[i].type)));
    }
    if (!tensor.has_blob()) continue;
    SLIPWAY_ASSIGN_OR_RETURN(Digest blob, FromProto(tensor.blob()));
    digests.push_back(std::move(blob));
  }
  return CheckPresent(blobs_, digests, "the device's result");
}

}  // namespace slipway::server
