// Several results side by side; the first is what the others are held against.
import {intervals} from './chart.js';
import {get} from './api.js';
import {h, liveTable, problem, sheet, show} from './dom.js';
import {bytes, duration, percent} from './format.js';

const nameOf = (result, i) => `${i + 1}: ${result.model}`;

// Whether what two intervals say of their medians can be told apart.
function difference(base, other) {
  if (base === other) return 'the base';
  const ratio = other.p50_ns / base.p50_ns;
  const text = ratio >= 2 ? `${ratio.toPrecision(3)} times` : `${ratio >= 1 ? '+' : '−'}${percent(Math.abs(ratio - 1))}`;
  const [a, b] = [base.p50_interval_ns, other.p50_interval_ns];
  if (!a || !b) return `${text}, no intervals`;
  return b[0] > a[1] ? `${text}, slower` : b[1] < a[0] ? `${text}, faster` : `${text}, not told apart`;
}

function rowsOf(results) {
  const row = (name, value) => ({name, values: results.map(value)});
  return [
    row('Model', (r) => r.model), row('Device', (r) => r.device), row('Target', (r) => r.target), row('Threads', (r) => String(r.threads)),
    row('Median', (r) => duration(r.p50_ns)), row('Against the first', (r) => difference(results[0], r)),
    row('95 % between', (r) => (r.p50_interval_ns ? r.p50_interval_ns.map(duration).join(' … ') : '–')),
    row('Minimum', (r) => duration(r.min_ns)), row('p90', (r) => (r.p90_ns ? duration(r.p90_ns) : '–')), row('p99', (r) => (r.p99_ns ? duration(r.p99_ns) : '–')),
    row('Samples', (r) => String(r.samples_ns.length)), row('Disturbed', (r) => (r.disturbed ? `yes, ${(r.disturbed_millis / 10).toFixed(1)} %` : 'no')),
    row('Peak memory', (r) => bytes(r.peak_memory_bytes)), row('Artifact', (r) => `${bytes(r.artifact_bytes)}, ${r.artifact_digest.slice(0, 12)}`),
    row('Loading, cold', (r) => duration(r.load_cold_ns)), row('First call', (r) => duration(r.first_run_ns)),
    row('Compiled by', (r) => Object.entries(r.versions ?? {}).filter(([name]) => name.startsWith('compiled_by_')).map(([name, version]) => `${name.slice(12)} ${version}`).join(', ')),
    row('Measured', (r) => r.started_at?.replace('T', ' ').slice(0, 19) ?? '–')];
}

// Steps of the same name in all, by how much they differ.
function stepsTable(results) {
  const all = new Map();
  results.forEach((result, i) => (result.steps ?? []).forEach((step) => {
    const row = all.get(step.name) ?? {name: step.name, times: new Array(results.length).fill(null)};
    row.times[i] = (row.times[i] ?? 0) + step.ns;
    all.set(step.name, row);
  }));
  const change = (row) => Math.abs((row.times[1] ?? 0) - (row.times[0] ?? 0));
  const table = liveTable({caption: 'Steps of all', key: (row) => row.name, sorted: {column: results.length + 1, down: true}, columns: [
    {title: 'Step', class: 'mono', cell: (row) => row.name, sort: (row) => row.name},
    ...results.map((result, i) => ({title: nameOf(result, i), number: true, cell: (row) => (row.times[i] === null ? '–' : duration(row.times[i])), sort: (row) => row.times[i] ?? -1})),
    {title: 'Second less first', number: true, cell: (row) => (row.times[0] === null || row.times[1] === null ? '–' : duration(row.times[1] - row.times[0])), sort: change}]});
  table.update([...all.values()]);
  return all.size ? h('section', {class: 'sheet flush'}, h('h2', {}, 'Steps'), table.element) : null;
}

export async function open(main, {session, values, setTitle, go}) {
  setTitle('Compare');
  const ids = [...new Set((values.get('ids') ?? '').split(',').filter(Boolean))].slice(0, 6);
  const trouble = h('div');
  const found = h('div');
  const more = h('select', {'aria-label': 'another result'}, h('option', {value: ''}, 'choose a result'));
  show(main, h('div', {class: 'head'}, h('h1', {}, 'Compare results')), trouble, found,
    h('form', {class: 'row', submit: (event) => { event.preventDefault(); if (more.value) go(`/compare?ids=${[...ids, more.value].join(',')}`); }},
      h('label', {class: 'grow'}, 'Add a result', more), h('button', {}, 'Add')),
    h('p', {class: 'quiet'}, 'Results were measured one after the other, so what the machine did meanwhile is in them. ', h('code', {}, 'slipway compare'), ' times two programs in turns, and ', h('code', {}, 'slipway gate'), ' does so when a history leaves doubt.'));
  get('/history', {ofEverybody: session.administrator, pageSize: 100}).then((list) => more.append(...(list.entries ?? []).filter((entry) => !ids.includes(entry.id)).map((entry) =>
    h('option', {value: entry.id}, `${entry.model || '(no name)'} on ${entry.device?.id}: ${duration(entry.summary?.p50Ns)} (${entry.id})`)))).catch((error) => show(trouble, problem(error)));
  const results = await Promise.all(ids.map((id) => get(`/jobs/${encodeURIComponent(id)}/benchmark`)));
  if (results.length === 0) {
    show(found, h('p', {class: 'empty'}, 'Nothing to compare yet: tick benchmarks among the jobs, or add one below.'));
    return;
  }
  const table = liveTable({caption: 'Results side by side', key: (row) => row.name, columns: [
    {title: 'What', cell: (row) => h('strong', {}, row.name)},
    ...results.map((result, i) => ({title: nameOf(result, i), cell: (row) => (row.name === 'Model' ? h('a', {href: `/jobs/${result.job}`}, row.values[i]) : row.values[i])}))]});
  table.update(rowsOf(results));
  show(found,
    sheet('Medians, with 95 % intervals', intervals('Medians of all results', results.map((result, i) => ({
      name: nameOf(result, i), value: result.p50_ns, low: result.p50_interval_ns?.[0], high: result.p50_interval_ns?.[1]})))),
    h('section', {class: 'sheet flush'}, table.element), stepsTable(results));
}
