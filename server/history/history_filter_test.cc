#include "server/history/history_filter.h"

#include <functional>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace slipway::server {
namespace {

v1::HistoryEntry Entry() {
  v1::HistoryEntry entry;
  entry.set_id("01JAAAAAAAAAAAAAAAAAAAA002");
  entry.set_owner("ann");
  entry.set_model("net.onnx");
  entry.mutable_device()->set_id("board-1");
  entry.set_target("x86-64-linux");
  entry.mutable_manifest()->set_sha256("ab");
  entry.mutable_result()->set_threads(2);
  entry.set_create_time_ns(2'000);
  entry.add_tags()->set_key("commit");
  entry.mutable_tags(0)->set_value("1f");
  return entry;
}

TEST(HistoryFilterTest, TellsWhoPasses) {
  struct Case {
    const char* what;
    std::function<void(HistoryFilter&)> passes;
    std::function<void(HistoryFilter&)> does_not;
  };
  for (const Case& c : std::vector<Case>{
           {"owner", [](auto&) {}, [](auto& f) { f.owner = "bob"; }},
           {"everybody", [](auto& f) { f = {.owner = "bob", .of_everybody = true}; },
            [](auto& f) { f = {}; }},
           {"id", [](auto& f) { f.before_id = "01JAAAAAAAAAAAAAAAAAAAA003"; },
            [](auto& f) { f.before_id = "01JAAAAAAAAAAAAAAAAAAAA002"; }},
           {"model", [](auto& f) { f.model = "net.onnx"; }, [](auto& f) { f.model = "net"; }},
           {"device", [](auto& f) { f.device = "board-1"; }, [](auto& f) { f.device = "board"; }},
           {"target", [](auto& f) { f.target = "x86-64-linux"; },
            [](auto& f) { f.target = "arm-64-linux"; }},
           {"tags",
            [](auto& f) {
              f.tags = {{"commit", "1f"}};
            },
            [](auto& f) {
              f.tags = {{"commit", "2f"}};
            }},
           {"threads", [](auto& f) { f.threads = 2; }, [](auto& f) { f.threads = 1; }},
           {"artifact", [](auto& f) { f.artifact = "ab"; }, [](auto& f) { f.artifact = "a"; }},
           {"since", [](auto& f) { f.since = absl::FromUnixNanos(2'000); },
            [](auto& f) { f.since = absl::FromUnixNanos(2'001); }},
           {"until", [](auto& f) { f.until = absl::FromUnixNanos(2'001); },
            [](auto& f) { f.until = absl::FromUnixNanos(2'000); }},
       }) {
    HistoryFilter filter{.owner = "ann"};
    c.passes(filter);
    EXPECT_TRUE(Matches(filter, Entry())) << c.what;
    filter = {.owner = "ann"};
    c.does_not(filter);
    EXPECT_FALSE(Matches(filter, Entry())) << c.what;
  }
}

}  // namespace
}  // namespace slipway::server
