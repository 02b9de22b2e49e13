// The page's own files: what a browser is given, and under which rules.
#ifndef SLIPWAY_SERVER_WEB_PAGE_H_
#define SLIPWAY_SERVER_WEB_PAGE_H_

#include "absl/strings/string_view.h"
#include "core/http/http_message.h"
#include "core/http/url.h"

namespace slipway::web {

// "/assets/NAME", the page that is a device for "/device", or else the page, for the address of any of its views. 404, with the page, for others; 304 for what the browser has.
HttpResponse AnswerPage(const HttpRequest& request, const Url& url);

// By the end of a file's name; bytes, if nothing else.
absl::string_view ContentTypeOf(absl::string_view name);

// What holds for every answer: where scripts, styles and data may come from (this host alone, none of them in the page), that nobody frames
// it, guesses types or learns where its user came from.
void AddRules(HttpResponse& response);

}  // namespace slipway::web

#endif  // SLIPWAY_SERVER_WEB_PAGE_H_
