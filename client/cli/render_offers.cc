// What agents are offered, and how far that is.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/render.h"
#include "core/base/json_writer.h"
#include "core/base/text_table.h"

namespace slipway::cli {
namespace {

void OfferFields(JsonWriter& json, const AgentOffer& offer) {
  json.Text("id", offer.id);
  json.Text("platform", offer.platform);
  json.Text("version", offer.version);
  json.Text("binary", offer.binary.hex());
  json.Text("selector", offer.selector);
  json.Integer("at_once", offer.at_once);
  json.Integer("max_failures", offer.max_failures);
  json.Text("by", offer.by);
  json.Integer("since_ns", absl::ToUnixNanos(offer.since));
}

}  // namespace

std::string RenderOffers(const std::vector<AgentRollout>& rollouts) {
  if (rollouts.empty()) return "agents are offered nothing\n";
  TextTable table({"PLATFORM", "VERSION", "FOR", ">UPDATED", ">UNDER WAY", ">WAITING", ">FAILED",
                   ">AT ONCE", "BY", "SINCE"});
  std::string notes;
  for (const AgentRollout& each : rollouts) {
    const AgentOffer& offer = each.offer;
    table.Row({offer.platform, offer.version, offer.selector.empty() ? "all" : offer.selector,
               absl::StrCat(each.updated), absl::StrCat(each.under_way), absl::StrCat(each.waiting),
               absl::StrCat(each.failed), absl::StrCat(offer.at_once), offer.by,
               FormatWallTime(offer.since)});
    if (!each.failed_device.empty()) {
      absl::StrAppend(&notes, Printable(each.failed_device), ": ", Printable(each.failure), "\n");
    }
    if (each.is_halted && each.waiting > 0) {
      absl::StrAppend(&notes, Printable(offer.platform),
                      ": no other agent is told of it; offer another binary, or the same again\n");
    }
  }
  return table.Render() + notes;
}

std::string RenderOffersJson(const std::vector<AgentRollout>& rollouts) {
  JsonWriter json;
  json.BeginObject();
  json.Integer("schema_version", 1);
  json.BeginArray("offers");
  for (const AgentRollout& each : rollouts) {
    json.BeginObject();
    OfferFields(json, each.offer);
    json.Integer("updated", each.updated);
    json.Integer("under_way", each.under_way);
    json.Integer("waiting", each.waiting);
    json.Integer("failed", each.failed);
    json.Bool("halted", each.is_halted);
    json.Text("failed_device", each.failed_device);
    json.Text("failure", each.failure);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return json.Take();
}

std::string RenderOffer(const AgentOffer& offer) {
  return absl::StrCat("version ", Printable(offer.version), " for ", Printable(offer.platform),
                      ", ", offer.binary.hex().substr(0, 12), "\n");
}

std::string RenderOfferJson(const AgentOffer& offer) {
  JsonWriter json;
  json.BeginObject();
  json.Integer("schema_version", 1);
  OfferFields(json, offer);
  json.EndObject();
  return json.Take();
}

}  // namespace slipway::cli
