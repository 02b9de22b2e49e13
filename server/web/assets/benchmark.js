// What a benchmark says: percentiles with intervals, the distribution of its samples, its steps in time and against the device's limits, memory.
import {histogram, legend, roofline, sequence, shareBar, waterfall} from './chart.js';
import {facts, h, liveTable, sheet, tiles} from './dom.js';
import {bytes, clockRemark, count, duration, percent, short} from './format.js';

export const within = (interval) => (interval ? `95 % in ${duration(interval[0])} … ${duration(interval[1])}` : 'no interval');

// Of calls, nanoseconds.
export const timesOf = (result) => result.samples_ns.map((ns) => ns / result.iterations_per_sample);

// For each sample whether it was disturbed.
function disturbedOf(result) {
  const marks = [];
  for (const stamp of result.stamps ?? []) for (let i = 0; i < stamp.samples; ++i) marks.push(stamp.disturbed || stamp.throttled);
  return (i) => marks[i] ?? false;
}

function remarks(result) {
  const lines = [clockRemark(result.samples_ns, result.clock_resolution_ns, 'samples are')].filter(Boolean);
  if (result.disturbed) lines.push(`Others took ${(result.disturbed_millis / 10).toFixed(1)} % of the processor time meanwhile: the numbers may be too high.`);
  const slowed = result.throttled_accelerator_samples ?? 0;
  if (result.throttled_samples > slowed) lines.push(`The processor throttled during ${result.throttled_samples - slowed} samples.`);
  if (slowed > 0) lines.push(`An accelerator was slowed down, by heat or by what it may draw, during ${slowed} samples.`);
  if (result.two_modes) lines.push(`The samples have two modes: ${duration(result.two_modes.low_ns)} and ${duration(result.two_modes.high_ns)} (${percent(result.two_modes.share_high)} of them).`);
  if (result.effective_samples && result.effective_samples < 0.5 * result.samples_ns.length) lines.push(`Samples depend on each other: they tell as much as ${result.effective_samples.toFixed(0)} independent ones.`);
  return lines.map((line) => h('p', {class: 'note-box'}, line));
}

// Of the time that its threads had.
function busyShare(step) {
  return step.threads.reduce((sum, thread) => sum + thread.busy_ns, 0) / (step.threads.length * step.ns || 1);
}

function stepsTable(steps) {
  const total = steps.reduce((sum, step) => sum + step.ns, 0) || 1;
  const table = liveTable({caption: 'Steps of the program', key: (step) => step.index, sorted: {column: 2, down: true}, columns: [
    {title: '#', number: true, cell: (s) => String(s.index + 1), sort: (s) => s.index},
    {title: 'Step', class: 'mono', cell: (s) => s.name, sort: (s) => s.name},
    {title: 'Time', number: true, cell: (s) => duration(s.ns), sort: (s) => s.ns},
    {title: 'Share', number: true, cell: (s) => [percent(s.ns / total), shareBar(s.ns / total)], sort: (s) => s.ns},
    {title: 'Operations', number: true, cell: (s) => (s.flops ? short(s.flops) : '–'), sort: (s) => s.flops ?? 0},
    {title: 'Bytes', number: true, cell: (s) => (s.bytes ? bytes(s.bytes) : '–'), sort: (s) => s.bytes ?? 0},
    {title: 'Of its limit', number: true, cell: (s) => (s.limit_ns ? [percent(s.limit_ns / s.ns), shareBar(s.limit_ns / s.ns, 3)] : '–'), sort: (s) => (s.limit_ns ?? 0) / s.ns},
    ...(steps.some((step) => step.threads) ? [{title: 'Threads busy', number: true, cell: (s) => (s.threads ? [percent(busyShare(s)), shareBar(busyShare(s), 3)] : '–'), sort: (s) => (s.threads ? busyShare(s) : 0)}] : []),
    {title: 'Limit', cell: (s) => s.limit ?? '–', sort: (s) => s.limit ?? ''}]});
  table.update(steps.map((step, index) => ({...step, index})));
  return table.element;
}

function peaksOn(peaks, threads) {
  return (peaks ?? []).find((on) => on.threads === threads) ?? (peaks ?? [])[0];
}

// Of the device, processor (0) or accelerator, that took most of the time.
function rooflineOf(result) {
  const times = [];
  for (const step of result.steps) times[step.device ?? 0] = (times[step.device ?? 0] ?? 0) + step.ns;
  const device = times.reduce((most, ns, at) => (ns > (times[most] ?? 0) ? at : most), 0);
  const accelerator = (result.accelerator_peaks ?? [])[device - 1];
  const on = device ? accelerator : peaksOn(result.peaks, result.threads);
  const steps = result.steps.filter((step) => (step.device ?? 0) === device);
  const total = steps.reduce((sum, step) => sum + step.ns, 0) || 1;
  const points = steps.filter((step) => step.flops > 0 && step.bytes > 0 && step.ns > 0)
    .map((step) => ({name: step.name, intensity: step.flops / step.bytes, rate: step.flops / step.ns * 1e9, share: step.ns / total}));
  if (!on || !points.length) return h('p', {class: 'quiet'}, on ? 'No step multiplies.' : 'The device does not tell what it does at most.');
  const slopes = on.reading.map((level) => ({name: level.level, rate: level.bytes_per_second}));
  const fastest = Math.max(...slopes.map((slope) => slope.rate));
  return h('figure', {}, roofline(points, {slopes, flat: on.arithmetic.map((a) => ({name: a.type, rate: a.operations_per_second, from: a.operations_per_second / fastest}))}),
    h('figcaption', {}, `On ${device ? on.name : `${on.threads} thread${on.threads === 1 ? '' : 's'}`}. A circle is a step, larger the more time it takes; a line is what the device does at most. Transformed convolutions may pass it: they multiply less than the model has it.`));
}

// `program` leads to the program's graph.
export function benchmarkSheets(result, program) {
  const times = timesOf(result);
  const kinds = [...new Set((result.steps ?? []).map((step) => step.operators[0] ?? 'other'))];
  let start = 0;
  const rows = (result.steps ?? []).map((step) => {
    const row = {name: step.name, start, length: step.ns, group: step.operators[0] ?? 'other', note: step.operators.join(' ')};
    start += step.ns;
    return row;
  });
  return [
    tiles([
      ['Median (p50)', duration(result.p50_ns), within(result.p50_interval_ns)],
      ['Minimum', duration(result.min_ns)],
      ['p90', result.p90_ns ? duration(result.p90_ns) : '–', result.p90_ns ? within(result.p90_interval_ns) : 'too few samples'],
      ['p99', result.p99_ns ? duration(result.p99_ns) : '–', result.p99_ns ? within(result.p99_interval_ns) : 'too few samples'],
      ['Samples', count(result.samples_ns.length), `of ${count(result.iterations_per_sample)} call${result.iterations_per_sample === 1 ? '' : 's'}`],
      ['Peak memory', bytes(result.peak_memory_bytes)]]),
    remarks(result),
    h('div', {class: 'columns'},
      sheet('Distribution of samples', h('figure', {}, histogram(times, [
        {value: result.p50_ns, text: 'p50', low: result.p50_interval_ns?.[0], high: result.p50_interval_ns?.[1]},
        result.p90_ns ? {value: result.p90_ns, text: 'p90', low: result.p90_interval_ns?.[0], high: result.p90_interval_ns?.[1]} : null]),
      h('figcaption', {}, 'Time of a call. Bands are where the percentile lies with a confidence of 95 %.'))),
      sheet('Samples in their order', h('figure', {}, sequence(times, disturbedOf(result)),
        h('figcaption', {}, result.disturbed_samples ? `${result.disturbed_samples} were taken while others used the machine (the other colour).` : 'None was taken while others used the machine.')))),
    rows.length > 0 && h('section', {class: 'sheet'}, h('h2', {}, `Steps in time: ${duration(start)} together`),
      h('details', {open: rows.length <= 60}, h('summary', {}, `${rows.length} steps in the order in which they run`), h('figure', {}, waterfall('Steps in time', rows, start), legend(kinds.slice(0, 6))))),
    rows.length > 0 && h('section', {class: 'sheet flush'}, h('h2', {}, 'Steps'), stepsTable(result.steps)),
    h('div', {class: 'columns'},
      rows.length > 0 && sheet('Roofline', rooflineOf(result)),
      sheet('Memory and loading', facts([
        ['Peak of the process', bytes(result.peak_memory_bytes)],
        ['Held before loading', result.memory_before_bytes ? bytes(result.memory_before_bytes) : null],
        ['Held after the samples', result.memory_after_bytes ? bytes(result.memory_after_bytes) : null],
        ['Artifact', result.artifact_bytes ? bytes(result.artifact_bytes) : null],
        ['Loading, cold', duration(result.load_cold_ns)], ['Loading, warm', duration(result.load_warm_ns)], ['First call', duration(result.first_run_ns)]]),
      h('h3', {}, 'The machine'), facts([
        ['Temperature', [result.before, result.after].map((m) => (m?.temperature_millicelsius ? `${(m.temperature_millicelsius / 1000).toFixed(1)} °C` : 'unknown')).join(' before, ') + ' after'],
        ['Load', [result.before, result.after].map((m) => (m ? (m.load_millis / 1000).toFixed(2) : 'unknown')).join(' before, ') + ' after'],
        ['Clock', result.before?.cpu_frequency_hz ? `${(result.before.cpu_frequency_hz / 1e9).toFixed(2)} GHz` : null], ['Governor', result.before?.governor],
        ['Energy', (result.energy ?? []).map((e) => `${e.counter}: ${((e.microjoules ?? 0) / 1e6).toFixed(2)} J`).join(', ')]]),
      h('h3', {}, 'What was measured'), facts([
        ['Clock tells apart', result.clock_resolution_ns ? duration(result.clock_resolution_ns) : null],
        ['Program', program], ['Target', h('span', {class: 'mono'}, result.target)], ['Threads', result.threads],
        ['Versions', Object.entries(result.versions ?? {}).map(([name, version]) => `${name.replace('compiled_by_', '')} ${version}`).join(', ')]]))),
  ];
}
