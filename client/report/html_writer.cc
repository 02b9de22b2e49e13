#include "client/report/html_writer.h"

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/base/utf8.h"

namespace slipway {
namespace {

void AppendEscaped(absl::string_view text, std::string& out) {
  while (!text.empty()) {
    const auto c = static_cast<unsigned char>(text.front());
    const size_t length = Utf8Length(text);
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (c == '\'') {
      out += "&#39;";
    } else if (length == 0 || (c < 0x20 && c != '\n') || c == 0x7f) {
      out += "\xef\xbf\xbd";
    } else {
      absl::StrAppend(&out, text.substr(0, length));
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
}

}  // namespace

void HtmlWriter::Empty(absl::string_view element, Attributes attributes) {
  absl::StrAppend(&text_, "<", element);
  for (const auto& [name, value] : attributes) {
    absl::StrAppend(&text_, " ", name, "=\"");
    AppendEscaped(value, text_);
    text_ += '"';
  }
  text_ += ">";
}

void HtmlWriter::Begin(absl::string_view element, Attributes attributes) {
  Empty(element, attributes);
  open_.emplace_back(element);
}

void HtmlWriter::End() {
  SLIPWAY_CHECK(!open_.empty(), "nothing was begun");
  absl::StrAppend(&text_, "</", open_.back(), ">\n");
  open_.pop_back();
}

void HtmlWriter::Text(absl::string_view text) { AppendEscaped(text, text_); }

void HtmlWriter::Element(absl::string_view element, absl::string_view text, Attributes attributes) {
  Begin(element, attributes);
  Text(text);
  End();
}

void HtmlWriter::Style(absl::string_view css) {
  SLIPWAY_CHECK(css.find("</") == css.npos, "a style sheet that ends itself");
  absl::StrAppend(&text_, "<style>\n", css, "</style>\n");
}

std::string HtmlWriter::Take() {
  SLIPWAY_CHECK(open_.empty(), "something is not ended");
  return std::exchange(text_, "");
}

}  // namespace slipway
