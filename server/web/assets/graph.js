// Programs and models as graphs: steps and nodes in layers, each below those whose values it reads, with its time where that was measured.
import {h, svg} from './dom.js';
import {duration, percent} from './format.js';

const WIDE = 210;
const HIGH = 44;
const GAP_X = 18;
const GAP_Y = 30;
const MOST = 600;

const reads = (step) => step.kernel?.inputs ?? (step.copy ? [step.copy.from ?? 0] : step.branch ? [step.branch.condition ?? 0, ...(step.branch.inputs ?? [])] :
  step.loop ? [...(step.loop.initial ?? []), ...(step.loop.scanned ?? []), ...(step.loop.captured ?? [])] : step.bindSymbols ? [step.bindSymbols.value ?? 0] : []);
const writes = (step) => step.kernel?.outputs ?? (step.copy ? [step.copy.to ?? 0] : step.branch?.outputs ?? [...(step.loop?.results ?? []), ...(step.loop?.collected ?? [])]);

// Of one element.
const bytesOf = (dtype) => Number(/(\d+)/.exec(dtype ?? '')?.[1] ?? 8) >= 8 ? Number(/(\d+)/.exec(dtype ?? '')?.[1] ?? 8) / 8 : 1;

// Nodes and edges of the function that a call runs: inputs first, then steps in their order, then outputs.
export function programGraph(manifest) {
  const main = manifest.functions?.[manifest.entry ?? 0] ?? {};
  const values = manifest.values ?? [];
  const bufferOf = (value) => values[value]?.buffer ?? 0;
  const shapeOf = (value) => {
    const v = values[value] ?? {};
    return `${String(v.dtype ?? '').replace('DATA_TYPE_', '').toLowerCase()}[${(v.shape ?? []).map((d) => d.value ?? (d.expression === undefined ? '0' : '?')).join(', ')}]`;
  };
  const begin = (value) => Number(values[value]?.offset ?? 0);
  // Where an extent is known only to who runs it, all that follows.
  const length = (value) => (values[value]?.shape ?? []).reduce((product, d) => product * (d.expression === undefined ? Number(d.value ?? 0) : Infinity), bytesOf(values[value]?.dtype));
  const nodes = [];
  const edges = [];
  const madeBy = new Map();   // By value.
  const writtenIn = new Map();  // By buffer, who wrote what last: {value, index}. Several values may lie in one memory, each a part of it.
  const overlap = (a, b) => begin(a) < begin(b) + length(b) && begin(b) < begin(a) + length(a);
  const writersOf = (value) => (writtenIn.get(bufferOf(value)) ?? []).filter((one) => overlap(one.value, value)).map((one) => one.index);
  const add = (node, read, written) => {
    const index = nodes.push(node) - 1;
    const from = new Set(read.flatMap((value) => (madeBy.has(value) ? [madeBy.get(value)] : writersOf(value))).filter((n) => n !== index));
    for (const origin of from) edges.push({from: origin, to: index});
    for (const value of written) {
      madeBy.set(value, index);
      const others = (writtenIn.get(bufferOf(value)) ?? []).filter((one) => !overlap(one.value, value));
      writtenIn.set(bufferOf(value), [...others, {value, index}]);
    }
  };
  for (const input of main.inputs ?? []) add({kind: 'input', name: input.name, note: shapeOf(input.value ?? 0)}, [], [input.value ?? 0]);
  (main.steps ?? []).forEach((step, number) => add({kind: 'step', number, name: step.name ?? '', operators: step.operators ?? [], note: writes(step).map(shapeOf).join(' ')}, reads(step), writes(step)));
  for (const output of main.outputs ?? []) add({kind: 'output', name: output.name, note: shapeOf(output.value ?? 0)}, [output.value ?? 0], []);
  return {nodes, edges};
}

// Of a ModelGraph of the API.
export function modelGraph(model) {
  const nodes = [];
  const edges = [];
  const madeBy = new Map();  // By name of a value.
  const typeOf = new Map();
  const add = (node, reads, made) => {
    const index = nodes.push(node) - 1;
    for (const from of new Set(reads.map((name) => madeBy.get(name)).filter((n) => n !== undefined))) edges.push({from, to: index});
    for (const value of made) {
      madeBy.set(value.name, index);
      typeOf.set(value.name, value.type ?? '');
    }
  };
  for (const input of model.inputs ?? []) add({kind: 'input', name: input.name, note: input.type ?? ''}, [], [input]);
  (model.nodes ?? []).forEach((node) => add({kind: 'node', name: `${node.op} ${node.name}`, operators: (node.constants ?? []).map((one) => `${one.name}: ${one.type ?? ''}`),
    note: (node.outputs ?? []).map((value) => value.type ?? '').join(' ')}, node.inputs ?? [], node.outputs ?? []));
  for (const output of model.outputs ?? []) add({kind: 'output', name: output, note: typeOf.get(output) ?? ''}, [output], []);
  return {nodes, edges};
}

function placed({nodes, edges}) {
  const above = nodes.map(() => []);
  for (const edge of edges) above[edge.to].push(edge.from);
  const layers = [];
  nodes.forEach((node, i) => {
    node.layer = above[i].length ? 1 + Math.max(...above[i].map((from) => nodes[from].layer)) : 0;
    (layers[node.layer] ??= []).push(i);
  });
  for (const layer of layers) {
    const middle = (i) => (above[i].length ? above[i].reduce((sum, from) => sum + (nodes[from].x ?? 0), 0) / above[i].length : 0);
    layer.sort((a, b) => middle(a) - middle(b));
    layer.forEach((i, place) => {
      nodes[i].x = (place - (layer.length - 1) / 2) * (WIDE + GAP_X);
      nodes[i].y = nodes[i].layer * (HIGH + GAP_Y);
    });
  }
  return layers.length;
}

// `name` says what it is to who cannot see it. `timeOf(number of a step)` in nanoseconds, or undefined.
export function drawGraph(graph, name, timeOf = () => undefined) {
  const nodes = graph.nodes.slice(0, MOST);
  const edges = graph.edges.filter((edge) => edge.to < MOST && edge.from < MOST);
  const layers = placed({nodes, edges});
  const times = nodes.map((node) => (node.kind === 'step' ? timeOf(node.number) : undefined));
  const total = times.reduce((sum, time) => sum + (time ?? 0), 0);
  const most = Math.max(...times.map((time) => time ?? 0), 1);
  const left = Math.min(...nodes.map((node) => node.x)) - WIDE / 2 - 4;
  const right = Math.max(...nodes.map((node) => node.x)) + WIDE / 2 + 4;
  const short = (text, n) => (text.length > n ? `${text.slice(0, n - 1)}…` : text);
  const drawing = svg('svg', {class: 'graph', viewBox: `${left} -4 ${right - left} ${layers * (HIGH + GAP_Y)}`, width: right - left, role: 'img', 'aria-label': name},
    edges.map(({from, to}) => {
      const [a, b] = [nodes[from], nodes[to]];
      const bend = (b.y - a.y - HIGH) / 2;
      return svg('path', {class: 'edge', d: `M${a.x} ${a.y + HIGH}C${a.x} ${a.y + HIGH + bend} ${b.x} ${b.y - bend} ${b.x} ${b.y}`});
    }),
    nodes.map((node, i) => svg('g', {transform: `translate(${node.x - WIDE / 2} ${node.y})`},
      svg('title', {}, [node.name, (node.operators ?? []).join(node.kind === 'node' ? '\n' : ' '), node.note, times[i] === undefined ? '' : `${duration(times[i])}, ${percent(times[i] / total)}`].filter(Boolean).join('\n')),
      svg('rect', {class: 'node', width: WIDE, height: HIGH, rx: node.kind === 'step' || node.kind === 'node' ? 6 : 20}),
      times[i] !== undefined && svg('rect', {class: 'm2', x: 1, y: HIGH - 5, width: Math.max(1, (WIDE - 2) * times[i] / most), height: 4, rx: 2}),
      svg('text', {class: 'ink', x: 10, y: 17}, short(node.name, 32)),
      svg('text', {x: 10, y: 32}, short(times[i] === undefined ? node.note : `${duration(times[i])} · ${percent(times[i] / total)}`, 34)))));  return graph.nodes.length > MOST ? [h('p', {class: 'quiet small'}, `Drawn are the first ${MOST} of ${graph.nodes.length} parts.`), drawing] : drawing;
}
