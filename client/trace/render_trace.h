// A timeline as a file of Chrome's "Trace Event Format", which Perfetto (ui.perfetto.dev) and chrome://tracing show.
#ifndef SLIPWAY_CLIENT_TRACE_RENDER_TRACE_H_
#define SLIPWAY_CLIENT_TRACE_RENDER_TRACE_H_

#include <string>

#include "client/trace/timeline.h"

namespace slipway {

// The JSON object form: spans are complete events (ph "X"), times are microseconds since the first of them with three digits behind the
// point, so that nanoseconds are exact. "otherData" has when that was, the version of this command and the timeline's remarks.
// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
std::string RenderTrace(const Timeline& timeline);

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_TRACE_RENDER_TRACE_H_
