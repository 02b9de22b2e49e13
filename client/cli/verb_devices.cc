// slipway devices: what runs programs.
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "client/cli/arguments.h"
#include "client/cli/connection.h"
#include "client/cli/exit_code.h"
#include "client/cli/follow.h"
#include "client/cli/lists/device_columns.h"
#include "client/cli/lists/device_news.h"
#include "client/cli/render.h"
#include "client/cli/verbs.h"
#include "client/cli/watch.h"
#include "core/base/status_macros.h"
#include "core/base/text_table.h"
#include "core/selector/device_attributes.h"
#include "core/selector/selector.h"

namespace slipway::cli {
namespace {

std::string Summary() {
  return absl::StrCat(
      "Lists the devices that run programs: all, the one with an ID, or those that a SELECTOR "
      "matches, such as \"arch=arm-64 memory>=4GiB label:lab=berlin\". Its terms hold together; "
      "= != < <= > >= compare, a|b is one of both, * stands for any characters, label:KEY and "
      "!label:KEY ask whether there is a label. There are: ",
      absl::StrJoin(AttributeRows(), "; ",
                    [](std::string* out, const AttributeRow& row) {
                      absl::StrAppend(out, row.name, " (", row.meaning, ")");
                    }),
      ".");
}

std::string ColumnNames() {
  return absl::StrJoin(DeviceColumns(), ", ", [](std::string* out, const DeviceColumn& column) {
    absl::StrAppend(out, column.name);
  });
}

// What is told of devices that are watched, when nothing else is chosen.
constexpr absl::string_view kWatchedColumns = "id,state,target,model";

absl::Status Watch(Environment& environment, Client& client, const std::string& selector,
                   std::vector<const DeviceColumn*> columns) {
  DeviceNews news(std::move(columns));
  return WatchUntilInterrupted(environment, client, [&]() -> absl::Status {
    SLIPWAY_ASSIGN_OR_RETURN(const DeviceList list, client.FindDevices({.selector = selector}));
    environment.out << news.Take(list.devices, absl::Now());
    return absl::OkStatus();
  });
}

}  // namespace

absl::Status Devices(Environment& environment, Arguments arguments) {
  ConnectionFlags connection_flags;
  bool json = false;
  bool is_long = false;
  bool watch = false;
  std::string sort;
  std::string columns;
  FlagSet flags("slipway devices [ID|SELECTOR] [flags]", Summary());
  flags.Add("long", &is_long,
            "Say what each is made of, and what it does at most, as its agent has measured: "
            "operations and bytes a second.");
  flags.Add("sort", &sort, "COLUMN",
            "By this column, numbers from the largest; by id where it is not given.");
  flags.Add("columns", &columns, "A,B,...", absl::StrCat("What to show: ", ColumnNames(), "."));
  flags.Add("watch", &watch,
            "Go on with a line for each change of what the columns show, until interrupted; also "
            "while the server restarts.");
  flags.Add("json", &json, "Print JSON.");
  connection_flags.AddTo(flags, /*can_be_local=*/true);
  SLIPWAY_ASSIGN_OR_RETURN(const auto names,
                           ParseArguments(environment, flags, arguments, {"SELECTOR"},
                                          /*optional=*/1));
  if (!names.has_value()) return absl::OkStatus();
  if (watch && (json || is_long || !sort.empty())) {
    return WrongCall(
        "\"--watch\" prints lines as they come, and takes no \"--json\", \"--long\" or \"--sort\"");
  }
  const std::string selector = names->empty() ? "" : names->front();
  if (IsSelector(selector)) {
    SLIPWAY_RETURN_IF_ERROR(RefusedRequest(Selector::Parse(selector).status()));
  }
  std::optional<std::vector<const DeviceColumn*>> chosen;
  if (!columns.empty()) {
    const auto parsed = ParseColumns(columns);
    if (!parsed.ok()) return WrongCall(absl::StrCat("--columns: ", parsed.status().message()));
    chosen = *parsed;
  }
  std::vector<Device> none;
  if (const absl::Status status = sort.empty() ? absl::OkStatus() : SortDevices(sort, none);
      !status.ok()) {
    return WrongCall(absl::StrCat("--sort: ", status.message()));
  }
  SLIPWAY_ASSIGN_OR_RETURN(const auto connection, Connection::Open(environment, connection_flags));
  SLIPWAY_RETURN_IF_ERROR(connection->EnsureDevice());
  if (watch) {
    return Watch(environment, connection->client(), selector,
                 chosen.has_value() ? *chosen : *ParseColumns(kWatchedColumns));
  }
  SLIPWAY_ASSIGN_OR_RETURN(DeviceList list,
                           connection->client().FindDevices({.selector = selector}));
  if (!sort.empty()) SLIPWAY_RETURN_IF_ERROR(SortDevices(sort, list.devices));
  if (json) {
    environment.out << RenderDevicesJson(list.devices);
    return absl::OkStatus();
  }
  if (list.devices.empty() && !list.explanation.empty()) {
    environment.err << Printable(list.explanation) << "\n";
  }
  const absl::Time now = absl::Now();
  environment.out << (chosen.has_value() ? RenderDevices(list.devices, now, *chosen)
                                         : RenderDevices(list.devices, now));
  if (is_long) environment.out << RenderDeviceFacts(list.devices);
  return absl::OkStatus();
}

}  // namespace slipway::cli
