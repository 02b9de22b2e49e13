// One job from its acceptance to its end: state and log as they come, what a compiler did, what a run gave, what a benchmark says.
import {shareBar, waterfall} from './chart.js';
import {followJob, get, post} from './api.js';
import {announce, badge, confirmed, facts, h, liveTable, problem, sheet, show} from './dom.js';
import {drawGraph, modelGraph} from './graph.js';
import {bytes, clockRemark, count, date, duration, hasEnded, jobState, kindOf, precisionOf, reason, subjectOf} from './format.js';

const shapeOf = (type) => `${String(type?.dtype ?? '').replace('DATA_TYPE_', '').toLowerCase()}[${(type?.shape ?? []).join(', ')}]`;

function life(job) {
  const [accepted, started, ended] = [job.createTimeNs, job.startTimeNs, job.endTimeNs].map(Number);
  return facts([
    ['Accepted', date(accepted)], ['Began', started ? `${date(started)}, after ${duration(started - accepted)}` : null],
    ['Ended', ended ? `${date(ended)}${started ? `, after ${duration(ended - started)}` : ''}` : null],
    ['Owner', job.owner], ['On', job.assignee], ['Attempts', job.attempts > 1 ? job.attempts : null], ['Priority', job.priority],
    ['Tags', (job.tags ?? []).length ? job.tags.map((tag) => h('span', {class: 'tag'}, `${tag.key}=${tag.value}`)) : null],
    ['Request', h('span', {class: 'mono'}, job.requestId)]]);
}

function progressOf(job) {
  if (hasEnded(job)) return null;
  if (job.state === 'QUEUED') {
    return sheet('Waits', h('p', {}, reason(job.waitReason) || 'in line'), job.queuePosition ? h('p', {class: 'quiet'}, `${count(job.queuePosition)}. of those that need the same`) : null);
  }
  const p = job.progress ?? {};
  const total = Number(p.total ?? 0);
  return sheet('Under way', h('p', {}, p.stage || 'begins'),
    total > 0 ? h('label', {}, `${count(p.done)} of ${count(total)}`, h('progress', {max: total, value: Number(p.done ?? 0)})) : h('progress', {'aria-label': 'under way'}));
}

function errorOf(job) {
  if (!job.error) return null;
  return [h('div', {class: 'problem', role: 'alert'}, job.error.message), job.error.logTail ? sheet('Log', h('pre', {tabindex: 0}, job.error.logTail)) : null];
}

// What a compilation printed: drawn, and as text.
function printedSheet(job) {
  const pass = job.compilation.options.printAfter;
  const report = job.compilationResult?.report ?? {};
  if (!report.printedGraph) {
    return sheet(`The graph after ${pass}`, h('p', {class: 'quiet'}, job.compilationResult ? 'There is no such pass, or its graph has more than 1 MiB: ' : 'It is shown when the compilation has ended: ',
      h('code', {}, `slipway compile --print-after ${pass}`)));
  }
  const drawing = h('div', {class: 'scroll', tabindex: 0, 'aria-label': 'The graph; scrolls'});
  get(`/jobs/${encodeURIComponent(job.id)}/graph`).then((model) => {
    const graph = modelGraph(model);
    show(drawing, drawGraph(graph, `A model of ${(model.nodes ?? []).length} nodes; the text below has all of it`));
  }, (error) => show(drawing, h('p', {class: 'quiet'}, `Not drawn: ${error.message}`)));
  const isFirst = report.passes?.[0]?.name === pass;
  return sheet(`The graph after ${pass}`, isFirst ? h('p', {class: 'quiet small'}, 'The model as it came, with the types that were found for its values.') : null, drawing,
    h('details', {}, h('summary', {}, 'As text'), h('pre', {tabindex: 0}, report.printedGraph)));
}

// `printAfter(pass)` asks for the graph as it is after a pass.
function compilationSheets(job, printAfter) {
  const result = job.compilationResult;
  const spec = job.compilation;
  const report = result?.report ?? {};
  let start = 0;
  const stages = (report.stages ?? []).map((stage) => {
    const length = Number(stage.durationNs ?? 0);
    const row = {name: stage.name, start, length, group: stage.name, note: stage.nodesAfter ? `${stage.nodesAfter} nodes after it` : ''};
    start += length;
    return row;
  });
  const slowest = Math.max(...(report.passes ?? []).map((pass) => Number(pass.durationNs ?? 0)), 1);
  const passes = liveTable({caption: 'Passes in their order', key: (pass) => pass.index, columns: [
    {title: '#', number: true, cell: (pass) => String(pass.index + 1), sort: (pass) => pass.index},
    {title: 'Pass', class: 'mono', cell: (pass) => pass.name, sort: (pass) => pass.name},
    {title: 'Time', number: true, cell: (pass) => [duration(pass.durationNs ?? 0), shareBar(pass.durationNs / slowest)], sort: (pass) => Number(pass.durationNs ?? 0)},
    {title: 'Nodes after it', number: true, cell: (pass) => [pass.nodesAfter ?? '–', pass.less > 0 ? ` (−${pass.less})` : pass.less < 0 ? ` (+${-pass.less})` : ''], sort: (pass) => Number(pass.nodesAfter ?? 0)},
    {title: 'Notes', cell: (pass) => (pass.notes ?? []).join('; ')},
    {title: 'Graph after it', unseen: true, cell: (pass) => h('button', {type: 'button', class: 'plain', 'aria-label': `graph after ${pass.name}`, click: () => printAfter(pass.name)}, 'Graph')}]});
  const imported = Number((report.stages ?? []).find((stage) => stage.name === 'import')?.nodesAfter ?? 0);
  passes.update((report.passes ?? []).map((pass, index, all) => {
    const before = index > 0 ? Number(all[index - 1].nodesAfter ?? 0) : imported;
    return {...pass, index, less: pass.nodesAfter && before ? before - Number(pass.nodesAfter) : 0};
  }));
  const options = spec.options ?? {};
  return [options.printAfter ? printedSheet(job) : null,
  h('div', {class: 'columns'},
    sheet('What was asked for', facts([
      ['Target', h('span', {class: 'mono'}, spec.target?.name)], ['Files', (spec.model?.files ?? []).map((file) => h('div', {}, `${file.name}, ${bytes(file.digest?.sizeBytes)}`))],
      ['Dimensions', (options.dimensions ?? []).map((d) => `${d.symbol}=${d.value}${d.max ? `..${d.max}` : ''}`).join(', ')],
      ['Products in', options.precision ? precisionOf(options.precision) : null], ['Kept values', (options.keep ?? []).join(', ')], ['Left out', (options.without ?? []).join(', ')]])),
    result && sheet('Artifact', facts([
      ['Artifact', h('a', {class: 'mono', href: artifactPath(result.manifest)}, result.manifest.sha256.slice(0, 16))],
      ['From the cache', result.cached ? 'yes: nothing was compiled' : null],
      ['Size', bytes(result.artifactBytes)], ['Code', bytes(report.codeBytes)], ['Constants', bytes(report.constantBytes)], ['Working memory', bytes(report.arenaBytes)],
      ['Kernels', `${report.kernels ?? 0}${report.kernelsCached ? `, ${report.kernelsCached} of them from the cache` : ''}`], ['Products in', precisionOf(report.precision)]]))),
  stages.length > 0 && sheet(`Stages: ${duration(start)} together`, h('figure', {}, waterfall('Stages of the compilation', stages, start))),
  (report.passes ?? []).length > 0 && h('section', {class: 'sheet flush'}, h('h2', {}, `Passes: ${imported} nodes before, ${report.passes.at(-1).nodesAfter ?? '?'} after`), passes.element)];
}

function runSheets(job) {
  const outputs = liveTable({caption: 'Outputs', key: (tensor) => tensor.name, empty: 'No outputs.', columns: [
    {title: 'Output', class: 'mono', cell: (tensor) => tensor.name}, {title: 'Type', class: 'mono', cell: (tensor) => shapeOf(tensor.type)},
    {title: 'Blob', class: 'mono', cell: (tensor) => (tensor.blob ? `${tensor.blob.sha256.slice(0, 16)}, ${bytes(tensor.blob.sizeBytes)}` : 'with the job')}]});
  outputs.update(job.runResult?.outputs ?? []);
  const timings = job.runResult?.timings ?? {};
  const remark = clockRemark([Number(timings.runNs ?? 0)], Number(job.runResult?.clockResolutionNs ?? 0), 'runs is');
  return job.runResult ? [h('section', {class: 'sheet flush'}, h('h2', {}, 'Outputs'), outputs.element),
    sheet('Where the time went', facts([['Fetching', duration(timings.fetchNs ?? 0)], ['Starting', duration(timings.spawnNs ?? 0)], ['Loading', duration(timings.loadNs ?? 0)], ['Running', duration(timings.runNs ?? 0)], ['Clock tells apart', Number(job.runResult.clockResolutionNs ?? 0) ? duration(job.runResult.clockResolutionNs) : null], ['Sending back', duration(timings.uploadNs ?? 0)]])),
    remark && h('p', {class: 'note-box'}, remark),
    h('p', {class: 'quiet'}, 'Values come to a file by ', h('code', {}, `slipway results ${job.id} --output-dir DIR`), '.')] : [];
}

export const artifactPath = (digest) => `/artifacts/${digest?.sha256}/${digest?.sizeBytes}`;

export async function open(main, {parts, setTitle, go}) {
  const [id] = parts;
  setTitle(`Job ${id}`);
  const trouble = h('div', {'aria-live': 'assertive'});
  const head = h('div', {class: 'head'});
  const moving = h('div', {'aria-live': 'polite'});
  const about = h('div');
  const results = h('div');
  let state = null;
  let stopped = false;

  async function cancel() {
    if (!(await confirmed('End this job?', 'End it'))) return;
    await post(`/jobs/${id}/cancel`).catch((error) => show(trouble, problem(error)));
  }

  async function measure(job) {
    try {
      const made = await post('/benchmarks', {spec: {run: {manifest: job.compilationResult.manifest, name: subjectOf(job)}, profile: true}});
      go(`/jobs/${made.jobId}`);
    } catch (error) {
      show(trouble, problem(error));
    }
  }

  // The same compilation once more, kernels from the cache: a graph in between is printed while it is compiled.
  async function printAfter(job, pass) {
    try {
      const options = {...(job.compilation.options ?? {}), printAfter: pass};
      const made = await post('/compilations', {spec: {...job.compilation, options}});
      go(`/jobs/${made.jobId}`);
    } catch (error) {
      show(trouble, problem(error));
    }
  }

  function drawHead(job) {
    setTitle(`${subjectOf(job)}: ${jobState(job.state)[1]}`);
    const firstPass = job.compilationResult?.report?.passes?.[0]?.name;
    const manifest = job.benchmark?.run?.manifest ?? job.run?.manifest;
    show(head, h('h1', {}, subjectOf(job)), badge(...jobState(job.state)), h('div', {class: 'end'},
      !hasEnded(job) ? h('button', {type: 'button', class: 'bad', click: cancel}, 'Cancel') : null,
      job.compilationResult ? h('button', {type: 'button', class: 'strong', click: () => measure(job)}, 'Benchmark it') : null,
      firstPass && job.compilation.options?.printAfter !== firstPass ? h('button', {type: 'button', click: () => printAfter(job, firstPass)}, 'Graph before passes') : null,
      job.benchmarkResult ? h('a', {class: 'button', href: `/compare?ids=${job.id}`}, 'Compare') : null,
      job.benchmarkResult ? h('a', {class: 'button', href: `/history?model=${encodeURIComponent(job.subject ?? '')}&device=${encodeURIComponent(job.benchmarkResult.device ?? '')}`}, 'History') : null,
      manifest ? h('a', {class: 'button', href: `${artifactPath(manifest)}${job.benchmarkResult ? `?result=${job.id}` : ''}`}, 'Program') : null),
    h('div', {class: 'under'}, `${kindOf(job)} `, h('span', {class: 'mono'}, job.id)));
  }

  async function drawResults(job) {
    if (job.compilation) show(results, compilationSheets(job, (pass) => printAfter(job, pass)));
    else if (job.run) show(results, runSheets(job));
    else if (job.benchmarkResult) {
      const [{benchmarkSheets}, result] = await Promise.all([import('./benchmark.js'), get(`/jobs/${id}/benchmark`)]);
      if (!stopped) show(results, benchmarkSheets(result, h('a', {href: `${artifactPath(job.benchmark.run.manifest)}?result=${id}`}, result.artifact_digest.slice(0, 16))));
    }
  }

  function draw(job) {
    const isNew = job.state !== state;
    if (isNew) {
      drawHead(job);
      announce(`Job ${jobState(job.state)[1]}`);
    }
    state = job.state;
    show(moving, progressOf(job), isNew || job.error ? errorOf(job) : null);
    show(about, sheet('Life', life(job)));
    if (isNew) drawResults(job).catch((error) => show(results, problem(error)));
  }

  // Of a job that is forgotten, what the history has.
  async function drawFromHistory() {
    const [{benchmarkSheets}, result] = await Promise.all([import('./benchmark.js'), get(`/jobs/${id}/benchmark`)]);
    setTitle(result.model);
    show(head, h('h1', {}, result.model), badge('good', 'succeeded'), h('div', {class: 'under'}, 'a result of the history, whose job is forgotten ', h('span', {class: 'mono'}, id)));
    show(results, benchmarkSheets(result, result.artifact_digest.slice(0, 16)));
  }

  show(main, head, trouble, moving, results, about);
  try {
    draw(await get(`/jobs/${encodeURIComponent(id)}`));
  } catch (error) {
    if (error.code !== 'NOT_FOUND') throw error;
    try {
      await drawFromHistory();
    } catch {
      throw error;
    }
    return () => {};
  }
  const stop = followJob(id, draw, (error) => show(trouble, problem(error)));
  return () => {
    stopped = true;
    stop();
  };
}
