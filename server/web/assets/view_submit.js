// Submitting by dropping a model: it is uploaded, compiled for a device's target, and measured there if wanted.
import {followJob, get, post, upload} from './api.js';
import {announce, badge, h, problem, show} from './dom.js';
import {bytes, jobState} from './format.js';

// As the command takes them (client/model_files.h).
const FORMATS = [['.graphpb', 'MODEL_FORMAT_GRAPH_PROTO'], ['.graph', 'MODEL_FORMAT_GRAPH_TEXT'], ['-symbol.json', 'MODEL_FORMAT_NNVM_JSON']];
const formatOf = (name) => FORMATS.find(([end]) => name.endsWith(end))?.[1] ?? 'MODEL_FORMAT_ONNX';

// "batch=8, seq=1..512".
export function readDimensions(text) {
  return text.split(',').map((part) => part.trim()).filter(Boolean).map((part) => {
    const found = /^([^=\s]+)\s*=\s*(\d+)(?:\.\.(\d+))?$/.exec(part);
    if (!found) throw new Error(`"${part}" is no dimension: write NAME=VALUE or NAME=LEAST..MOST.`);
    return {symbol: found[1], value: found[2], ...(found[3] ? {max: found[3]} : {})};
  }).sort((a, b) => (a.symbol < b.symbol ? -1 : 1));
}

function readTags(text) {
  return text.split(/[\s,]+/).filter(Boolean).map((part) => {
    const at = part.indexOf('=');
    if (at < 1) throw new Error(`"${part}" is no tag: write KEY=VALUE.`);
    return {key: part.slice(0, at), value: part.slice(at + 1)};
  });
}

export async function open(main, {session, setTitle, go}) {
  setTitle('Submit a model');
  const devices = ((await get('/devices', {available: true, pageSize: 1000, fields: 'devices.description.id,devices.description.target,devices.state'})).devices ?? []);
  const limit = Number(session.maxUploadBytes ?? 0);
  const trouble = h('div', {'aria-live': 'assertive'});
  const done = h('ol', {class: 'steps-done'});
  const input = h('input', {type: 'file', id: 'file', class: 'unseen', change: () => input.files[0] && begin(input.files[0])});
  const device = h('select', {id: 'device'}, devices.map((d) => h('option', {value: d.description.id}, `${d.description.id}: ${d.description.target}`)));
  const dimensions = h('input', {placeholder: 'batch=8, seq=1..512', spellcheck: 'false'});
  const tags = h('input', {placeholder: 'branch=main', spellcheck: 'false'});
  const precision = h('select', {}, h('option', {value: 'PRECISION_UNSPECIFIED'}, 'f32'), h('option', {value: 'PRECISION_BF16'}, 'bf16'), h('option', {value: 'PRECISION_F16'}, 'f16'), h('option', {value: 'PRECISION_TF32'}, 'tf32'));
  const threads = h('input', {type: 'number', min: 1, max: 1024, value: 1});
  const benchmark = h('input', {type: 'checkbox', checked: true});
  let running = null;
  let stopFollowing = null;

  function step(text) {
    const state = h('span', {});
    const detail = h('span', {class: 'quiet'});
    done.append(h('li', {}, h('strong', {}, text), state, detail));
    return {state: (...parts) => { show(state, ...parts); }, detail: (...parts) => { show(detail, ...parts); }};
  }

  // The job when it has ended.
  const ended = (id, row) => new Promise((resolve, reject) => {
    row.detail(h('a', {class: 'mono', href: `/jobs/${id}`}, id));
    stopFollowing = followJob(id, (job) => {
      row.state(badge(...jobState(job.state)), job.progress?.stage ? ` ${job.progress.stage}` : '');
      if (job.state === 'SUCCEEDED') resolve(job);
      if (job.state === 'FAILED' || job.state === 'CANCELLED') reject(new Error(job.error?.message ?? 'The job was cancelled.'));
    }, reject);
  });

  async function begin(file) {
    if (running) return;
    show(trouble);
    done.replaceChildren();
    running = new AbortController();
    try {
      if (limit > 0 && file.size > limit) throw new Error(`"${file.name}" has ${bytes(file.size)}; this page takes ${bytes(limit)}; slipway bench in a shell sends larger ones.`);
      const chosen = devices.find((d) => d.description.id === device.value);
      if (!chosen) throw new Error('There is no device to compile for. Start an agent first.');
      const options = {dimensions: readDimensions(dimensions.value), precision: precision.value};
      const marks = readTags(tags.value);
      const sending = step(`Sending ${file.name}`);
      const bar = h('progress', {max: 1, value: 0, 'aria-label': `sending ${file.name}`});
      sending.state(bar);
      const sent = await upload(file, (share) => { bar.value = share; }, running.signal);
      sending.state(badge('good', 'sent'));
      sending.detail(bytes(file.size));
      const compiling = step(`Compiling for ${chosen.description.target}`);
      const made = await post('/compilations', {requestId: crypto.randomUUID?.(), tags: marks, spec: {
        model: {format: formatOf(file.name), files: [{name: sent.name, digest: sent.digest}], displayName: file.name}, target: {name: chosen.description.target}, options}});
      const compiled = await ended(made.jobId, compiling);
      announce(`${file.name} is compiled`);
      if (!benchmark.checked) return go(`/jobs/${made.jobId}`);
      const measuring = step(`Measuring on ${chosen.description.id}`);
      const measured = await post('/benchmarks', {tags: marks, spec: {profile: true, run: {manifest: compiled.compilationResult.manifest, device: chosen.description.id, name: file.name, threads: Number(threads.value) || 1}}});
      await ended(measured.jobId, measuring);
      announce(`${file.name} is measured`);
      go(`/jobs/${measured.jobId}`);
    } catch (error) {
      if (error.name !== 'AbortError') show(trouble, problem(error));
    } finally {
      running = null;
      input.value = '';
    }
  }

  const drop = h('div', {class: 'drop', dragover: (event) => { event.preventDefault(); drop.classList.add('over'); }, dragleave: () => drop.classList.remove('over'),
    drop: (event) => {
      event.preventDefault();
      drop.classList.remove('over');
      const file = event.dataTransfer.files[0];
      if (file) begin(file);
    }},
  h('p', {}, h('strong', {}, 'Drop a model here'), ' or'), h('p', {}, h('button', {type: 'button', class: 'strong', click: () => input.click()}, 'Choose a file'), h('label', {class: 'unseen', for: 'file'}, 'Model', input)),
  h('p', {class: 'quiet small'}, 'ONNX, Slipway\'s graph forms, or NNVM\'s JSON, in one file', limit ? ` of at most ${bytes(limit)}` : '', '. A model with files beside it is for ', h('code', {}, 'slipway bench'), '.'));
  show(main, h('div', {class: 'head'}, h('h1', {}, 'Submit a model')), trouble,
    h('div', {class: 'row'}, h('label', {class: 'grow', for: 'device'}, 'Device', device), h('label', {}, 'Threads', threads), h('label', {}, 'Products in', precision),
      h('label', {}, 'Dimensions', dimensions), h('label', {}, 'Tags', tags), h('label', {class: 'line'}, benchmark, 'measure when compiled')),
    drop, done);
  return () => {
    running?.abort();
    stopFollowing?.();
  };
}
