#include "server/handlers/history.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/rpc/record_statement.h"
#include "core/target/target.h"
#include "core/wire/tag_proto.h"
#include "server/handlers/list_request.h"
#include "server/limits.h"
#include "server/names.h"

namespace slipway::server {
namespace {

constexpr size_t kDigestCharacters = 64;

absl::Status CheckArtifact(const std::string& hex) {
  bool is_digest = hex.size() == kDigestCharacters;
  for (const char c : hex) {
    is_digest = is_digest && (absl::ascii_isdigit(c) || (c >= 'a' && c <= 'f'));
  }
  if (is_digest) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("artifact '", absl::CHexEscape(hex.substr(0, kDigestCharacters)),
                   "' is no digest: ", kDigestCharacters, " hexadecimal digits wanted"));
}

absl::StatusOr<HistoryFilter> FilterOf(const Caller& caller,
                                       const v1::ListHistoryRequest& request) {
  HistoryFilter filter;
  SLIPWAY_ASSIGN_OR_RETURN(filter.owner,
                           OwnerListed(caller, "history", request.owner(), request.of_everybody()));
  filter.of_everybody = filter.owner.empty();
  filter.before_id = request.page_token();
  if (!filter.before_id.empty())
    SLIPWAY_RETURN_IF_ERROR_WITH(CheckJobId(filter.before_id), "page_token");
  if (request.model().size() > kMaxSubjectBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("model has ", request.model().size(), " bytes; at most ", kMaxSubjectBytes));
  }
  filter.model = request.model();
  SLIPWAY_ASSIGN_OR_RETURN(filter.device, IdListed("device", request.device()));
  if (!request.target().empty()) {
    SLIPWAY_ASSIGN_OR_RETURN_WITH(const Target target, ParseTarget(request.target()), "target");
    filter.target = target.ToString();
  }
  SLIPWAY_ASSIGN_OR_RETURN(filter.tags, FromProto(request.tags()));
  if (request.threads() < 0 || request.threads() > kMaxThreads) {
    return absl::InvalidArgumentError(
        absl::StrCat("threads is ", request.threads(), "; 0 to ", kMaxThreads, " wanted"));
  }
  filter.threads = request.threads();
  if (!request.artifact().empty()) SLIPWAY_RETURN_IF_ERROR(CheckArtifact(request.artifact()));
  filter.artifact = request.artifact();
  SLIPWAY_ASSIGN_OR_RETURN(filter.since,
                           TimeListed("since_ns", request.since_ns(), absl::InfinitePast()));
  SLIPWAY_ASSIGN_OR_RETURN(filter.until,
                           TimeListed("until_ns", request.until_ns(), absl::InfiniteFuture()));
  return filter;
}

}  // namespace

absl::Status ListHistory(const Caller& caller, const Environment& env,
                         const v1::ListHistoryRequest& request, v1::ListHistoryResponse* response) {
  SLIPWAY_ASSIGN_OR_RETURN(const PageLimits limits, PageListed(request.page_size()));
  SLIPWAY_ASSIGN_OR_RETURN(const HistoryFilter filter, FilterOf(caller, request));
  SLIPWAY_ASSIGN_OR_RETURN(Page<v1::HistoryEntry> found,
                           env.history->ListHistory(filter, limits, request.with_samples()));
  response->set_next_page_token(found.next);
  for (v1::HistoryEntry& entry : found.items) *response->add_entries() = std::move(entry);
  return absl::OkStatus();
}

absl::Status GetHistoryEntry(const Caller& caller, const Environment& env,
                             const v1::GetHistoryEntryRequest& request,
                             v1::HistoryEntry* response) {
  SLIPWAY_RETURN_IF_ERROR(CheckJobId(request.id()));
  SLIPWAY_ASSIGN_OR_RETURN(v1::HistoryEntry entry, env.history->GetHistoryEntry(request.id()));
  if (!MayTouch(caller, entry.owner())) return NoSuchEntry(request.id());
  *response = std::move(entry);
  return absl::OkStatus();
}

absl::Status GetRecord(const Caller& caller, const Environment& env,
                       const v1::GetHistoryEntryRequest& request, v1::SignedRecord* response) {
  v1::HistoryEntry entry;
  SLIPWAY_RETURN_IF_ERROR(GetHistoryEntry(caller, env, request, &entry));
  if (env.statement_key == nullptr) {
    return absl::FailedPreconditionError(
        "this server runs without TLS and has no authority to sign by: records are made by one "
        "that "
        "listens with TLS");
  }
  SLIPWAY_ASSIGN_OR_RETURN(*response, SignRecord(*env.statement_key->signer(),
                                                 entry.SerializeAsString(), env.clock->Now()));
  return absl::OkStatus();
}

}  // namespace slipway::server
