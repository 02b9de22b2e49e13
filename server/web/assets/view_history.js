// What was measured before: medians of each series in order of time, with what changed between them.
import {timeline} from './chart.js';
import {get} from './api.js';
import {h, liveTable, problem, show} from './dom.js';
import {date, duration, percent} from './format.js';

const CHANGES = [['artifact', 'artifact'], ['compiler', 'compiler'], ['agent', 'version of the agent'], ['device', 'device']];
const changesOf = (result) => CHANGES.filter(([key]) => result.changed?.[key]).map(([, name]) => name);

function seriesSheet(series, ticked, drawCompare) {
  const results = series.results;
  const table = liveTable({caption: `Results of ${series.model} on ${series.device}`, key: (result) => result.id, columns: [
    {title: 'Compare', unseen: true, cell: (r) => h('input', {type: 'checkbox', checked: ticked.has(r.id), 'aria-label': `compare the result of ${date(r.end_time_ns)}`, change: (event) => {
      event.target.checked ? ticked.add(r.id) : ticked.delete(r.id);
      drawCompare();
    }})},
    {title: 'Measured', cell: (r) => h('a', {href: `/jobs/${r.id}`}, date(r.end_time_ns))},
    {title: 'Median', number: true, cell: (r) => duration(r.p50_ns)},
    {title: 'Before', number: true, cell: (r) => (r.before ? `${r.p50_ns >= r.before ? '+' : '−'}${percent(Math.abs(r.p50_ns / r.before - 1))}` : '')},
    {title: 'Minimum', number: true, cell: (r) => duration(r.min_ns)},
    {title: 'p90', number: true, cell: (r) => duration(r.p90_ns)},
    {title: 'Disturbed', cell: (r) => (r.disturbed ? 'yes' : 'no')},
    {title: 'Changed', cell: (r) => changesOf(r).join(', ')},
    {title: 'Artifact', class: 'mono', cell: (r) => r.artifact_digest.slice(0, 12)},
    {title: 'Tags', cell: (r) => Object.entries(r.tags ?? {}).map(([key, value]) => h('span', {class: 'tag'}, `${key}=${value}`))}]});
  table.update(results.map((result, i) => ({...result, before: i > 0 ? results[i - 1].p50_ns : null})).reverse().slice(0, 200));
  return h('section', {class: 'sheet'}, h('h2', {}, `${series.model || '(no name)'} on `, h('a', {href: `/devices/${encodeURIComponent(series.device)}`}, series.device)),
    h('p', {class: 'quiet'}, h('span', {class: 'mono'}, series.target), `, ${series.threads} thread${series.threads === 1 ? '' : 's'}, ${results.length} result${results.length === 1 ? '' : 's'}`),
    h('figure', {}, timeline(`Medians of ${series.model} on ${series.device}, oldest first`, results.slice(-200).map((result) => ({
      value: result.p50_ns, low: result.min_ns, high: result.p90_ns, disturbed: result.disturbed, mark: changesOf(result).map((name) => name[0]).join(''),
      title: `${date(result.end_time_ns)}: ${duration(result.p50_ns)}${changesOf(result).length ? `, changed: ${changesOf(result).join(', ')}` : ''}`, href: `/jobs/${result.id}`}))),
    h('figcaption', {}, 'Medians, oldest first; lines reach from the minimum to p90. Dashed where something changed: a artifact, c compiler, v version of the agent, d device.')),
    h('details', {}, h('summary', {}, 'As a table'), table.element));
}

export async function open(main, {session, values, setTitle, go}) {
  setTitle('History');
  const [model, device] = [values.get('model') ?? '', values.get('device') ?? ''];
  const ticked = new Set();
  const compare = h('a', {class: 'button', href: '/compare', hidden: true}, 'Compare');
  const drawCompare = () => {
    compare.hidden = ticked.size < 2;
    compare.textContent = `Compare ${ticked.size} results`;
    compare.href = `/compare?ids=${[...ticked].join(',')}`;
  };
  const found = h('div', {}, h('p', {class: 'quiet'}, 'Loading …'));
  show(main, h('div', {class: 'head'}, h('h1', {}, 'History'), h('div', {class: 'end'}, compare)),
    h('form', {class: 'row', role: 'search', submit: (event) => {
      event.preventDefault();
      const form = new FormData(event.target);
      const address = new URLSearchParams([...form].filter(([, value]) => value.trim()).map(([name, value]) => [name, value.trim()]));
      go(`/history${address.toString() ? `?${address}` : ''}`);
    }}, h('label', {class: 'grow'}, 'Model', h('input', {type: 'search', name: 'model', value: model})), h('label', {}, 'Device', h('input', {name: 'device', value: device})), h('button', {}, 'Show')), found);
  try {
    const {series} = await get('/history/series', {model, device, everybody: session.administrator});
    const newest = (one) => one.results.at(-1).end_time_ns;
    series.sort((a, b) => newest(b) - newest(a));
    show(found, series.length ? series.slice(0, 24).map((one) => seriesSheet(one, ticked, drawCompare)) : h('p', {class: 'empty'}, 'Nothing was measured yet that matches.'),
      series.length > 24 ? h('p', {class: 'quiet'}, `${series.length - 24} further series: name a model or a device.`) : null);
  } catch (error) {
    show(found, problem(error));
  }
}
