// How reports look.
#ifndef SLIPWAY_CLIENT_REPORT_STYLE_H_
#define SLIPWAY_CLIENT_REPORT_STYLE_H_

namespace slipway {

inline constexpr char kReportStyle[] =
    R"(:root { color-scheme: light dark; --text: #1c1e21; --faint: #5c6370; --back: #ffffff;
  --card: #f4f5f7; --line: #d5d8de; --bar: #3b6fd4; --mark: #b3261e; --doubt: #b26a00; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e7ea; --faint: #a3a9b5; --back: #16181c;
  --card: #202329; --line: #3a3f49; --bar: #7aa2f7; --mark: #ff8a80; --doubt: #ffb74d; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem 1rem 3rem; background: var(--back);
  color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 .2rem; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
p { margin: .4rem 0; overflow-wrap: anywhere; }
.faint { color: var(--faint); }
.large { font-size: 1.25rem; }
.doubt { border-left: 4px solid var(--doubt); background: var(--card); padding: .4rem .7rem; }
.failed { border-left: 4px solid var(--mark); background: var(--card); padding: .4rem .7rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .8rem .2rem 0; text-align: left; vertical-align: top;
  border-bottom: 1px solid var(--line); }
th { font-weight: 600; color: var(--faint); }
td { overflow-wrap: anywhere; }
.steps td { overflow-wrap: normal; white-space: nowrap; }
.steps td:first-child { max-width: 22rem; overflow: hidden; text-overflow: ellipsis; }
.number { text-align: right; }
pre { background: var(--card); padding: .7rem; overflow-x: auto; font-size: 13px; }
svg { display: block; width: 100%; height: auto; max-width: 60rem; }
svg text { fill: var(--faint); font: 12px system-ui, sans-serif; }
.bar { fill: var(--bar); }
.axis { stroke: var(--line); stroke-width: 1; }
.mark { stroke: var(--mark); stroke-width: 1.5; stroke-dasharray: 4 3; }
.point { stroke: var(--bar); stroke-width: 3; stroke-linecap: round; }
.point.doubtful { stroke: var(--doubt); }
svg.flow { width: 10rem; height: 1em; }
.flow .track { fill: var(--card); }
@media (max-width: 30rem) { svg text { font-size: 20px; } }
@media print { body { max-width: none; } svg, tr { break-inside: avoid; } }
)";

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_REPORT_STYLE_H_
