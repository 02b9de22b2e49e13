// One artifact: what it takes and gives, what it weighs, and its program as a graph, with the times of a benchmark of it.
import {get} from './api.js';
import {facts, h, liveTable, problem, sheet, show, tiles} from './dom.js';
import {bytes, duration, percent} from './format.js';
import {drawGraph, programGraph} from './graph.js';

const port = (one) => h('div', {class: 'mono'}, `${one.name}: ${one.dtype}[${(one.shape ?? []).join(', ')}]`);

// Of the steps of a benchmark, in order; those of the same program have the same names.
function timesOf(result, graph) {
  const steps = graph.nodes.filter((node) => node.kind === 'step');
  const measured = result?.steps ?? [];
  const fits = measured.length >= steps.length && steps.every((step, i) => measured[i].name === step.name);
  return fits ? (number) => measured[number]?.ns : () => undefined;
}

export async function open(main, {session, parts, values, setTitle, go}) {
  const [sha256, size] = parts;
  const base = `/artifacts/${encodeURIComponent(sha256)}/${encodeURIComponent(size)}`;
  const [artifact, manifest] = await Promise.all([get(base), get(`${base}/manifest`)]);
  setTitle(artifact.model || 'Artifact');
  const chosen = values.get('result') ?? '';
  const trouble = h('div');
  let result = null;
  if (chosen) result = await get(`/jobs/${encodeURIComponent(chosen)}/benchmark`).catch((error) => { show(trouble, problem(error)); return null; });
  const graph = programGraph(manifest);
  const timeOf = timesOf(result, graph);
  const total = graph.nodes.reduce((sum, node) => sum + (node.kind === 'step' ? timeOf(node.number) ?? 0 : 0), 0);
  const table = liveTable({caption: 'Steps of the program', key: (node) => node.number, columns: [
    {title: '#', number: true, cell: (node) => String(node.number + 1), sort: (node) => node.number},
    {title: 'Step', class: 'mono', cell: (node) => node.name, sort: (node) => node.name},
    {title: 'Operators', cell: (node) => node.operators.join(' '), sort: (node) => node.operators.join(' ')},
    {title: 'Gives', class: 'mono', cell: (node) => node.note},
    {title: 'Time', number: true, cell: (node) => (timeOf(node.number) === undefined ? '–' : duration(timeOf(node.number))), sort: (node) => timeOf(node.number) ?? -1},
    {title: 'Share', number: true, cell: (node) => (timeOf(node.number) === undefined ? '–' : percent(timeOf(node.number) / total)), sort: (node) => timeOf(node.number) ?? -1}]});
  table.update(graph.nodes.filter((node) => node.kind === 'step'));
  const results = h('select', {change: (event) => go(`/artifacts/${sha256}/${size}${event.target.value ? `?result=${event.target.value}` : ''}`)}, h('option', {value: ''}, 'without times'),
    chosen ? h('option', {value: chosen, selected: true}, result ? `${result.device}: ${duration(result.p50_ns)} (${chosen})` : chosen) : '');
  get('/history', {artifact: sha256, ofEverybody: session.administrator, pageSize: 50}).then((list) => results.append(...(list.entries ?? []).filter((entry) => entry.id !== chosen).map((entry) =>
    h('option', {value: entry.id}, `${entry.device?.id}: ${duration(entry.summary?.p50Ns)} (${entry.id})`)))).catch(() => {});
  show(main, h('div', {class: 'head'}, h('h1', {}, artifact.model || 'Artifact'), h('div', {class: 'under'}, h('span', {class: 'mono'}, artifact.target))), trouble,
    tiles([['Size', bytes(artifact.artifact_bytes)], ['Code', bytes(artifact.code_bytes)], ['Constants', bytes(artifact.constant_bytes)], ['Working memory', bytes(artifact.arena_bytes)], ['Kernels', String(artifact.kernels)], ['Steps', String(artifact.steps.length)]]),
    sheet('What it is', facts([['Inputs', artifact.inputs.map(port)], ['Outputs', artifact.outputs.map(port)],
      ['Made by', Object.entries(artifact.versions).map(([name, version]) => `${name} ${version}`).join(', ')],
      ['Digest', h('span', {class: 'mono'}, artifact.artifact_digest)], ['Compile key', h('span', {class: 'mono'}, artifact.compile_key)]])),
    h('section', {class: 'sheet'}, h('h2', {}, 'Program'), h('div', {class: 'row'}, h('label', {}, 'Times of', results)),
      chosen && result && total === 0 ? h('p', {class: 'note-box'}, 'That benchmark has no times of steps: it was made without a profile, or its job is forgotten.') : null,
      h('p', {class: 'quiet small'}, 'What the passes made of the model: each box is a step, with all operators that were fused into it; how many nodes each pass left stands with the compilation.'),
      h('div', {class: 'scroll', tabindex: 0, 'aria-label': 'The graph; scrolls'}, drawGraph(graph, `A program of ${graph.nodes.length} parts; the table below has all of it as text`, timeOf))),
    h('section', {class: 'sheet flush'}, h('h2', {}, 'Steps'), table.element));
}
