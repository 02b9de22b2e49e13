#include "core/rpc/join.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/base/flags.h"
#include "core/base/own_files.h"
#include "core/base/status_macros.h"
#include "core/identity/certificate.h"
#include "core/identity/identity_file.h"
#include "core/identity/join_code.h"
#include "core/rpc/knock.h"
#include "proto/slipway/v1/identity.pb.h"

namespace slipway {
namespace {

constexpr absl::Duration kJoinDeadline = absl::Seconds(20);

// Whether an identity could be written there, found out before the code is used up.
absl::Status PreparePlace(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash);
  if (slash != std::string::npos && slash > 0) SLIPWAY_RETURN_IF_ERROR(MakeOwnFolder(folder));
  if (access(folder.empty() ? "/" : folder.c_str(), W_OK | X_OK) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot write to folder \"", folder,
                                                 "\", where who this is shall stand"));
}

absl::Status StatusOf(const v1::JoinAnswer& answer) {
  if (answer.code() == 0) return absl::OkStatus();
  const bool is_code = answer.code() > 0 && answer.code() <= 16;
  return absl::Status(
      is_code ? static_cast<absl::StatusCode>(answer.code()) : absl::StatusCode::kUnknown,
      answer.message());
}

absl::StatusOr<Joined> JoinBy(int argc, char** argv, absl::string_view program, Role role,
                              bool& is_wrong_call) {
  std::string path;
  FlagSet flags(absl::StrCat(program, " join [flags] ADDRESS CODE"),
                absl::StrCat("Joins the server at ADDRESS, HOST:PORT, as ", RoleName(role),
                             ", with a code that its administrator gets by `slipwayd invite ",
                             RoleName(role), " NAME`."));
  flags.Add("identity", &path, "FILE",
            "Where to keep who this is; default: slipway/servers/ADDRESS below $XDG_CONFIG_HOME or "
            "~/.config, where it is found.");
  is_wrong_call = true;
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<std::string> arguments, flags.Parse(argc, argv));
  if (const std::string text = flags.TextAskedFor(); !text.empty()) {
    fputs(text.c_str(), stdout);
    return Joined();
  }
  if (arguments.size() < 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("ADDRESS and CODE are wanted: ", JoinCommand(role), " ADDRESS CODE"));
  }
  // Whoever copies a code may copy blanks.
  std::string code;
  for (size_t i = 1; i < arguments.size(); ++i) code += arguments[i];
  is_wrong_call = false;
  return JoinServer(arguments[0], code, role, path);
}

}  // namespace

absl::StatusOr<Joined> JoinServer(const std::string& address, absl::string_view code_text,
                                  Role role, const std::string& path) {
  Joined joined{.path = path};
  if (joined.path.empty()) {
    SLIPWAY_ASSIGN_OR_RETURN(joined.path, IdentityPath(address, role));
  }
  SLIPWAY_ASSIGN_OR_RETURN(const JoinCode code, JoinCode::Parse(code_text));
  SLIPWAY_RETURN_IF_ERROR(PreparePlace(joined.path));
  SLIPWAY_ASSIGN_OR_RETURN(CertificateRequest request, NewCertificateRequest());
  v1::JoinRequest asked;
  asked.set_secret(code.secret);
  asked.set_request(request.request);
  asked.set_role(std::string(RoleName(role)));
  SLIPWAY_ASSIGN_OR_RETURN(const JoinDoorAnswer answer,
                           KnockAtJoinDoor(address, code.authority, asked.SerializeAsString(),
                                           absl::Now() + kJoinDeadline));
  v1::JoinAnswer said;
  if (!said.ParseFromString(answer.answer)) {
    return absl::InternalError(
        absl::StrCat("what the server at \"", address, "\" answers cannot be read"));
  }
  SLIPWAY_RETURN_IF_ERROR(StatusOf(said));
  SLIPWAY_RETURN_IF_ERROR(CheckKeyFits(request.key, said.certificate()));
  joined.name = said.name();
  // The authority is the one that the code stands for, whatever the answer says.
  SLIPWAY_RETURN_IF_ERROR(WriteIdentity(joined.path, {.key = std::move(request.key),
                                                      .certificate = said.certificate(),
                                                      .authority = answer.authority}));
  return joined;
}

int JoinMain(absl::string_view program, Role role, int argc, char** argv) {
  bool is_wrong_call = false;
  const absl::StatusOr<Joined> joined = JoinBy(argc, argv, program, role, is_wrong_call);
  if (!joined.ok()) {
    fprintf(stderr, "%s: %s\n", std::string(program).c_str(),
            std::string(joined.status().message()).c_str());
    return is_wrong_call ? 2 : 1;
  }
  if (!joined->name.empty()) {
    printf("joined as %s \"%s\"; who this is stands in %s\n", std::string(RoleName(role)).c_str(),
           joined->name.c_str(), joined->path.c_str());
  }
  return 0;
}

}  // namespace slipway
