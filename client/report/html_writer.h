// HtmlWriter: writes HTML and the SVG in it, so that no text can be taken for markup.
#ifndef SLIPWAY_CLIENT_REPORT_HTML_WRITER_H_
#define SLIPWAY_CLIENT_REPORT_HTML_WRITER_H_

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace slipway {

// Names of elements and attributes are the program's own; texts and values may be anybody's. Not thread-safe.
class HtmlWriter {
 public:
  using Attributes = std::initializer_list<std::pair<absl::string_view, std::string>>;

  void Begin(absl::string_view element, Attributes attributes = {});
  // REQUIRES: something is begun.
  void End();
  // Bytes that are not UTF-8, and control characters but for newlines, become U+FFFD.
  void Text(absl::string_view text);
  // An element that holds a text alone.
  void Element(absl::string_view element, absl::string_view text, Attributes attributes = {});
  // One that HTML does not end, such as <meta>.
  void Empty(absl::string_view element, Attributes attributes = {});
  // As it is: style sheets.
  void Style(absl::string_view css);

  // REQUIRES: all that was begun is ended.
  std::string Take();

 private:
  std::string text_;
  std::vector<std::string> open_;
};

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_REPORT_HTML_WRITER_H_
