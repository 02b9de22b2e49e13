// slipway verify: is a record what its server signed?
#include "absl/strings/str_cat.h"
#include "client/cli/arguments.h"
#include "client/cli/exit_code.h"
#include "client/cli/render_history.h"
#include "client/cli/verbs.h"
#include "client/record.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/identity/identity_file.h"
#include "core/wire/record_file.h"

namespace slipway::cli {
namespace {

constexpr int64_t kMaxAuthorityBytes = 64 << 10;

// The last certificate of a file: an identity file has that of its server's authority there.
absl::StatusOr<std::string> LastCertificate(const std::string& path) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxAuthorityBytes));
  const size_t at = text.rfind("-----BEGIN CERTIFICATE-----");
  if (at == std::string::npos) {
    return absl::InvalidArgumentError(absl::StrCat("\"", path, "\" has no certificate in PEM"));
  }
  return text.substr(at);
}

// The certificate of the authority to trust: of `file`, else of the server at `address`, which this user has joined.
absl::StatusOr<std::string> AuthorityOf(const std::string& file, const std::string& address) {
  if (!file.empty()) return LastCertificate(file);
  if (address.empty()) {
    return absl::InvalidArgumentError(
        "whom to trust is missing: name the server that you have joined with \"--server\" or "
        "$SLIPWAY_SERVER, or a file with the certificate of its authority with \"--authority\"");
  }
  SLIPWAY_ASSIGN_OR_RETURN(const std::string path, IdentityPath(address, Role::kUser));
  SLIPWAY_ASSIGN_OR_RETURN_WITH(
      const Identity identity, ReadIdentity(path),
      absl::StrCat("you have not joined \"", address, "\", whose authority is to be trusted"));
  return identity.authority;
}

}  // namespace

absl::Status Verify(Environment& environment, Arguments arguments) {
  std::string authority_file;
  std::string server;
  bool json = false;
  FlagSet flags(
      "slipway verify FILE [flags]",
      "Checks that a record, which \"slipway record\" wrote, is what a server has signed, "
      "byte for byte, and shows it.\nNo server is asked.");
  flags.Add("server", &server, "ADDRESS",
            "Trust the authority of this server, which you have joined; else $SLIPWAY_SERVER's.");
  flags.Add(
      "authority", &authority_file, "FILE",
      "Trust the authority whose certificate is in this file, the last if there are several.");
  flags.Add("json", &json, "Print JSON.");
  SLIPWAY_ASSIGN_OR_RETURN(const auto names,
                           ParseArguments(environment, flags, arguments, {"FILE"}));
  if (!names.has_value()) return absl::OkStatus();
  if (server.empty()) server = environment.variable("SLIPWAY_SERVER");
  const absl::StatusOr<std::string> authority = AuthorityOf(authority_file, server);
  if (!authority.ok()) return WrongCall(authority.status().message());
  const absl::StatusOr<std::unique_ptr<StatementChecker>> checker =
      StatementChecker::Create(*authority);
  if (!checker.ok()) return WrongCall(checker.status().message());
  const std::string& path = names->front();
  const absl::StatusOr<std::string> bytes = ReadFile(path, kMaxRecordBytes);
  if (!bytes.ok()) return WrongCall(bytes.status().message());
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const CheckedRecord record, CheckRecord(*bytes, **checker),
                                absl::StrCat("\"", path, "\""));
  environment.out << (json ? RenderRecordJson(record) : RenderRecord(record));
  return absl::OkStatus();
}

}  // namespace slipway::cli
