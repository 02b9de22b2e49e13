#include "client/report/html_writer.h"

#include "gtest/gtest.h"

namespace slipway {
namespace {

TEST(HtmlWriterTest, TextIsNoMarkup) {
  HtmlWriter html;
  html.Begin("p", {{"title", "\"\x27 onload=<x>"}});
  html.Text("<script>&\x01\n\xff");
  html.End();
  html.Empty("meta", {{"charset", "utf-8"}});
  EXPECT_EQ(html.Take(),
            "<p title=\"&quot;&#39; onload=&lt;x&gt;\">&lt;script&gt;&amp;\xef\xbf\xbd\n"
            "\xef\xbf\xbd</p>\n<meta charset=\"utf-8\">");
}

TEST(HtmlWriterTest, ElementsEndInTheOrderInWhichTheyWereBegun) {
  HtmlWriter html;
  html.Begin("div");
  html.Element("b", "x");
  html.End();
  html.Style("a { }\n");
  EXPECT_EQ(html.Take(), "<div><b>x</b>\n</div>\n<style>\na { }\n</style>\n");
  EXPECT_EQ(html.Take(), "");
}

}  // namespace
}  // namespace slipway
