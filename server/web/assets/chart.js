// Charts as SVG, each from values alone. Colours are classes of the sheet; every chart has a name for who cannot see it.
import {h, svg} from './dom.js';
import {duration, short} from './format.js';

// Charts are as wide as they are drawn, so that their text has one size: a column's, or the whole page's.
const room = () => Math.min(1320, document.documentElement.clientWidth);
const columnWide = () => Math.max(300, room() > 860 ? (room() - 124) / 2 : room() - 58);
const pageWide = () => Math.max(300, room() - (room() > 640 ? 74 : 50));

// A scale from values to places, and ticks at round values.
export function linear(low, high, from, to) {
  const span = high - low || 1;
  const scale = (value) => from + (value - low) / span * (to - from);
  const step = 10 ** Math.floor(Math.log10(span / 4));
  const wide = [1, 2, 5, 10].map((m) => m * step).find((s) => span / s <= (to > from && to - from < 330 ? 3 : 6)) ?? 10 * step;
  scale.ticks = [];
  for (let tick = Math.ceil(low / wide) * wide; tick <= high + wide * 1e-9; tick += wide) scale.ticks.push(tick);
  return scale;
}

export function logarithmic(low, high, from, to) {
  const [a, b] = [Math.log10(low), Math.log10(high)];
  const scale = (value) => from + (Math.log10(value) - a) / (b - a || 1) * (to - from);
  scale.ticks = [];
  for (let power = Math.ceil(a); power <= Math.floor(b); ++power) scale.ticks.push(10 ** power);
  return scale;
}

function frame(name, wide, height, ...content) {
  return svg('svg', {class: 'chart', viewBox: `0 0 ${wide} ${height}`, role: 'img', 'aria-label': name}, ...content);
}

function bottomAxis(scale, wide, y, format) {
  return [svg('line', {class: 'axis', x1: 40, x2: wide - 8, y1: y, y2: y}),
    scale.ticks.map((tick) => svg('text', {x: scale(tick), y: y + 14, 'text-anchor': 'middle'}, format(tick)))];
}

function leftGrid(scale, wide, format) {
  return scale.ticks.map((tick) => [svg('line', {class: 'grid', x1: 52, x2: wide - 8, y1: scale(tick), y2: scale(tick)}),
    svg('text', {x: 48, y: scale(tick) + 4, 'text-anchor': 'end'}, format(tick))]);
}

function quantile(sorted, p) {
  return sorted[Math.min(sorted.length - 1, Math.floor(p * sorted.length))];
}

// How often which time was measured, with `marks` ({value, text, low, high}) over it. Those far
// beyond nine tenths are counted at the end.
export function histogram(values, marks) {
  const sorted = [...values].sort((a, b) => a - b);
  const low = sorted[0];
  const last = sorted.at(-1);
  const most90 = quantile(sorted, 0.9);
  const far = most90 + 3 * (most90 - low);
  const high = last > far && most90 > low ? far : last;
  const bins = Math.max(8, Math.min(60, Math.ceil(Math.sqrt(values.length) * 2)));
  const counts = new Array(bins).fill(0);
  let beyond = 0;
  for (const value of sorted) {
    if (value > high) ++beyond;
    else ++counts[Math.min(bins - 1, Math.floor((value - low) / (high - low || 1) * bins))];
  }
  const most = Math.max(...counts, 1);
  const width = columnWide();
  const x = linear(low, high, 52, width - 40);
  const y = linear(0, most, 170, 30);
  const wide = (width - 92) / bins;
  return frame(`Distribution of ${values.length} samples from ${duration(low)} to ${duration(last)}`, width, 196,
    leftGrid(y, width, (tick) => (Number.isInteger(tick) ? tick : '')),
    counts.map((n, i) => n > 0 && svg('rect', {class: 'm1', x: 52 + i * wide + 0.5, y: y(n), width: Math.max(1, wide - 1), height: 170 - y(n)},
      svg('title', {}, `${n} from ${duration(low + i * (high - low) / bins)} to ${duration(low + (i + 1) * (high - low) / bins)}`))),
    beyond > 0 && svg('text', {x: width - 8, y: 164, 'text-anchor': 'end'}, `+${beyond} →`),
    marks.filter((mark) => mark && mark.value <= high).map((mark, i) => [
      mark.low && svg('rect', {class: 'm2', x: x(mark.low), y: 30, width: Math.max(1, x(Math.min(mark.high, high)) - x(Math.min(mark.low, high))), height: 140, opacity: 0.16}),
      svg('line', {class: 'l2', x1: x(mark.value), x2: x(mark.value), y1: 22, y2: 170}),
      svg('text', {class: 'ink', x: x(mark.value) + 3, y: 12 + 11 * (i % 2)}, mark.text)]),
    bottomAxis(x, width, 170, duration));
}

// Samples in the order in which they were taken; `isMarked(i)` of those that were disturbed.
export function sequence(values, isMarked) {
  const most = Math.max(...values);
  const least = Math.min(...values);
  const width = columnWide();
  const x = linear(0, values.length - 1, 56, width - 12);
  const y = linear(least, most, 158, 20);
  const every = Math.ceil(values.length / 1500);
  return frame(`${values.length} samples in their order`, width, 196, leftGrid(y, width, duration),
    values.map((value, i) => i % every === 0 && svg('circle', {class: isMarked(i) ? 'disturbed' : 'm1', cx: x(i), cy: y(value), r: 2},
      svg('title', {}, `sample ${i + 1}: ${duration(value)}`))),
    bottomAxis(x, width, 170, (tick) => String(Math.round(tick))));
}

// Rows of one bar each on a common time: {name, start, length, group, note}.
export function waterfall(name, rows, total) {
  const high = 18;
  const width = pageWide();
  const left = Math.min(250, width * 0.42);
  const letters = Math.floor((left - 12) / 6.6);
  const x = linear(0, total, left, width - 20);
  const groups = [...new Set(rows.map((row) => row.group))];
  return frame(name, width, rows.length * high + 22,
    x.ticks.map((tick) => svg('line', {class: 'grid', x1: x(tick), x2: x(tick), y1: 0, y2: rows.length * high})),
    rows.map((row, i) => svg('g', {}, svg('title', {}, `${row.name}: ${duration(row.length)}${row.note ? `, ${row.note}` : ''}`),
      svg('text', {class: 'ink', x: left - 8, y: i * high + 13, 'text-anchor': 'end'}, row.name.length > letters ? `${row.name.slice(0, letters - 1)}…` : row.name),
      svg('rect', {class: `m${groups.indexOf(row.group) % 6 + 1}`, x: x(row.start), y: i * high + 3, width: Math.max(1.2, x(row.start + row.length) - x(row.start)), height: high - 6, rx: 2}))),
    x.ticks.map((tick) => svg('text', {x: x(tick), y: rows.length * high + 16, 'text-anchor': 'middle'}, duration(tick))));
}

// Steps by how much they compute for each byte, and how fast, under what the device does at most (S. Williams et al., Roofline, CACM 52(4), 2009).
export function roofline(points, ceilings) {
  const xs = points.map((point) => point.intensity);
  const low = Math.max(1e-3, Math.min(...xs, 0.1) / 2);
  const high = Math.max(...xs, 100) * 2;
  const top = Math.max(...ceilings.flat.map((c) => c.rate), ...points.map((p) => p.rate)) * 2;
  const bottom = Math.max(1, Math.min(...points.map((p) => p.rate)) / 3);
  const width = columnWide();
  const x = logarithmic(low, high, 64, width - 12);
  const y = logarithmic(bottom, top, 260, 10);
  const flat = Math.max(...ceilings.flat.map((c) => c.rate));
  const rate = (value) => `${short(value)}/s`;
  return frame(`Roofline of ${points.length} steps`, width, 292,
    y.ticks.map((tick) => [svg('line', {class: 'grid', x1: 64, x2: width - 12, y1: y(tick), y2: y(tick)}), svg('text', {x: 60, y: y(tick) + 4, 'text-anchor': 'end'}, rate(tick))]),
    ceilings.slopes.map((c, i) => {
      const end = Math.min(high, flat / c.rate);
      const begin = Math.max(low, bottom / c.rate);
      return begin < end && svg('g', {}, svg('title', {}, `${c.name}: ${(c.rate / 1e9).toFixed(1)} GB/s`),
        svg('line', {class: `l${i % 5 + 2} dash`, x1: x(begin), y1: y(begin * c.rate), x2: x(end), y2: y(end * c.rate)}),
        svg('text', {x: x(begin) + 4, y: Math.max(12, y(begin * c.rate) - 4)}, c.name));
    }),
    ceilings.flat.map((c) => c.rate < top && [svg('line', {class: 'l6', x1: x(Math.max(low, Math.min(high, c.from))), x2: width - 12, y1: y(c.rate), y2: y(c.rate)}),
      svg('text', {x: width - 12, y: y(c.rate) - 4, 'text-anchor': 'end'}, `${c.name} ${short(c.rate)}/s`)]),
    points.map((point) => svg('circle', {class: 'm1', cx: x(point.intensity), cy: y(point.rate), r: 3 + 9 * Math.sqrt(point.share), opacity: 0.75},
      svg('title', {}, `${point.name}: ${(point.rate / 1e9).toFixed(1)} G/s at ${point.intensity.toFixed(2)} operations a byte, ${(100 * point.share).toFixed(1)} % of the time`))),
    svg('line', {class: 'axis', x1: 64, x2: width - 12, y1: 260, y2: 260}),
    x.ticks.map((tick) => svg('text', {x: x(tick), y: 274, 'text-anchor': 'middle'}, String(tick))),
    svg('text', {x: width - 12, y: 290, 'text-anchor': 'end'}, 'operations a byte'));
}

// Values over time, each with its interval if there is one: {at, value, low, high, mark, title, href}.
export function timeline(name, points) {
  // Medians are what is looked at: lines may leave the picture.
  const medians = points.map((p) => p.value);
  const least = Math.min(...points.map((p) => p.low ?? p.value));
  const most = Math.min(Math.max(...points.map((p) => p.high ?? p.value)), 1.3 * Math.max(...medians));
  const space = (most - least || most * 0.1) * 0.12;
  const width = pageWide();
  const x = linear(0, Math.max(1, points.length - 1), 66, width - 24);
  const y = linear(Math.max(0, least - space), most + space, 170, 26);
  return frame(name, width, 178, leftGrid(y, width, duration),
    svg('polyline', {class: 'l1', points: points.map((p, i) => `${x(i)},${y(p.value)}`).join(' ')}),
    points.map((p, i) => [
      p.mark && svg('g', {}, svg('line', {class: 'l2 dash', x1: x(i), x2: x(i), y1: 20, y2: 170}), svg('text', {x: x(i), y: 14, 'text-anchor': 'middle'}, p.mark)),
      p.low !== undefined && svg('line', {class: 'l1', x1: x(i), x2: x(i), y1: y(p.low), y2: Math.max(22, y(p.high)), opacity: 0.45}),
      svg('a', {href: p.href, 'aria-label': p.title}, svg('circle', {class: p.disturbed ? 'disturbed' : 'm1', cx: x(i), cy: y(p.value), r: 4}, svg('title', {}, p.title)))]),
    svg('line', {class: 'axis', x1: 52, x2: width - 8, y1: 170, y2: 170}));
}

// Estimates side by side on one scale, each with its interval: {name, value, low, high}.
export function intervals(name, rows) {
  const values = rows.flatMap((row) => [row.value, row.low ?? row.value, row.high ?? row.value]);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const space = (most - least || most * 0.1) * 0.1;
  const width = pageWide();
  const left = Math.min(260, width * 0.4);
  const x = linear(Math.max(0, least - space), most + space, left, width - 24);
  return frame(name, width, rows.length * 28 + 22,
    x.ticks.map((tick) => [svg('line', {class: 'grid', x1: x(tick), x2: x(tick), y1: 0, y2: rows.length * 28}),
      svg('text', {x: x(tick), y: rows.length * 28 + 15, 'text-anchor': 'middle'}, duration(tick))]),
    rows.map((row, i) => svg('g', {}, svg('title', {}, `${row.name}: ${duration(row.value)}`),
      svg('text', {class: 'ink', x: left - 10, y: i * 28 + 18, 'text-anchor': 'end'}, row.name.length > left / 7 ? `${row.name.slice(0, Math.floor(left / 7) - 1)}…` : row.name),
      row.low !== undefined && svg('line', {class: `l${i % 6 + 1}`, x1: x(row.low), x2: x(row.high), y1: i * 28 + 14, y2: i * 28 + 14}),
      svg('circle', {class: `m${i % 6 + 1}`, cx: x(row.value), cy: i * 28 + 14, r: 5}))));
}

// A bar for a share of something.
export function shareBar(share, mark = 1) {
  return h('span', {class: 'share', 'aria-hidden': 'true'}, svg('svg', {viewBox: '0 0 76 8', width: 76, height: 8},
    svg('rect', {class: `m${mark}`, width: Math.max(0, Math.min(76, 76 * share)), height: 8})));
}

export function legend(names) {
  return h('div', {class: 'legend'}, names.map((name, i) => h('span', {}, svg('svg', {viewBox: '0 0 10 10', 'aria-hidden': 'true'}, svg('rect', {class: `m${i % 6 + 1}`, width: 10, height: 10, rx: 2})), name)));
}
