#include "server/audit/audit_verb.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/base/files.h"
#include "core/base/flags.h"
#include "core/base/state_folder.h"
#include "core/base/status_macros.h"
#include "core/base/text_table.h"
#include "server/audit/audit_entry.h"
#include "server/audit/audit_log.h"
#include "server/audit/audit_reader.h"

namespace slipway::server {
namespace {

constexpr int64_t kMaxDays = 100'000;
// Lines that line up with each other; memory holds no more of them.
constexpr int kRowsTogether = 1000;

std::string OrDash(absl::string_view text) { return std::string(text.empty() ? "-" : text); }

// Who was refused has no name, but may have shown a certificate.
std::string Who(const AuditEntry& entry) {
  if (!entry.owner.empty() || entry.identity.empty()) return OrDash(entry.owner);
  return absl::StrCat("(", entry.identity, ")");
}

std::string Outcome(const AuditEntry& entry) {
  if (entry.outcome.empty() || entry.message.empty()) {
    return OrDash(entry.outcome.empty() ? entry.message : entry.outcome);
  }
  return absl::StrCat(entry.outcome, ": ", entry.message);
}

// Entries as lines of a table.
class TableWriter {
 public:
  explicit TableWriter(std::ostream& out) : out_(out) {}

  void Write(const AuditEntry& entry) {
    table_.Row({FormatWallTime(entry.time), Who(entry), OrDash(entry.address), OrDash(entry.call),
                OrDash(entry.subject), Outcome(entry)});
    if (++rows_ == kRowsTogether) Flush();
  }

  void Flush() {
    if (rows_ > 0 || is_first_) out_ << table_.Render("", is_first_);
    is_first_ = false;
    rows_ = 0;
    table_ = NewTable();
  }

 private:
  static TextTable NewTable() {
    return TextTable({"TIME", "WHO", "FROM", "CALL", "ABOUT", "OUTCOME"});
  }

  std::ostream& out_;
  TextTable table_ = NewTable();
  int rows_ = 0;
  bool is_first_ = true;
};

}  // namespace

absl::StatusOr<absl::Time> ParseSince(absl::string_view text, absl::Time now) {
  if (absl::string_view number = text; absl::ConsumeSuffix(&number, "d")) {
    int64_t days = 0;
    if (absl::SimpleAtoi(number, &days) && days >= 0 && days <= kMaxDays) {
      return now - absl::Hours(24) * days;
    }
  }
  if (absl::Duration ago; absl::ParseDuration(text, &ago) && ago >= absl::ZeroDuration() &&
                          ago < absl::InfiniteDuration()) {
    return now - ago;
  }
  for (const char* format : {"%Y-%m-%d", "%Y-%m-%d %H:%M:%S", absl::RFC3339_full}) {
    absl::Time time;
    // It also knows words for times that are infinite.
    if (absl::ParseTime(format, text, &time, nullptr) && time > absl::InfinitePast() &&
        time < absl::InfiniteFuture()) {
      return time;
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--since is '", absl::Utf8SafeCEscape(text),
                   "': how long ago, such as 90m, 24h or 7d, or a time such as 2026-11-23 or "
                   "'2026-11-23 10:00:00' (UTC) wanted"));
}

absl::Status AuditVerb(absl::Span<const std::string> arguments, absl::Time now, std::ostream& out,
                       std::ostream& err) {
  std::string data_dir;
  std::string since_text;
  std::string by;
  bool as_json = false;
  FlagSet flags("slipwayd audit [flags]",
                "Shows who did what, when and from where: whatever changed something, and what was "
                "refused for want of a permission. Reads the files of the server, which may run.");
  flags.Add("data-dir", &data_dir, "FOLDER", "The server's --data-dir.");
  flags.Add("since", &since_text, "TIME",
            "Leave out what is older: than 90m, 24h or 7d, or than a time, in UTC.");
  flags.Add("by", &by, "NAME", "Show what NAME did, and nobody else.");
  flags.Add("json", &as_json, "Print a JSON object a line.");
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<std::string> rest, flags.Parse(arguments));
  if (const std::string text = flags.TextAskedFor(); !text.empty()) {
    out << text;
    return absl::OkStatus();
  }
  if (!rest.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", absl::Utf8SafeCEscape(rest.front()), "' is no flag"));
  }
  absl::Time since = absl::InfinitePast();
  if (!since_text.empty()) {
    SLIPWAY_ASSIGN_OR_RETURN(since, ParseSince(since_text, now));
  }
  if (data_dir.empty()) {
    SLIPWAY_ASSIGN_OR_RETURN_WITH(data_dir, UserStateFolder(), "--data-dir is not given");
  }
  absl::optional<TableWriter> table;
  if (!as_json) table.emplace(out);
  const auto show = [&](AuditEntry entry) {
    if (entry.time < since || (!by.empty() && entry.owner != by)) return;
    if (table.has_value()) {
      table->Write(entry);
    } else {
      out << FormatAuditLine(entry);
    }
  };
  const auto damaged = [&err](absl::string_view file, int64_t line) {
    err << "slipwayd: " << file << ", line " << line << ", is damaged: left out\n";
  };
  const absl::Status status = ReadAuditLog(JoinPath(data_dir, kAuditFolderName), {show, damaged});
  if (table.has_value() && !absl::IsNotFound(status)) table->Flush();
  return status;
}

}  // namespace slipway::server
