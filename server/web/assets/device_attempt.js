// An attempt on this page, from its assignment to its result (device_agent/attempt.h has the same of other devices).
import {CODES} from './connection.js';
import {whenEnded} from './worker_life.js';

// What is reported inline; all else is sent as blobs.
const MOST_INLINE_BYTES = 1 << 20;
const DEFAULTS = {warmup: 10, samples: 100};
const DTYPES = {
  f32: 'FLOAT32', f64: 'FLOAT64', f16: 'FLOAT16', bf16: 'BFLOAT16', bool: 'BOOL', i8: 'INT8', i16: 'INT16', i32: 'INT32', i64: 'INT64', u8: 'UINT8', u16: 'UINT16',
  u32: 'UINT32', u64: 'UINT64', i4: 'INT4', u4: 'UINT4', i2: 'INT2', u2: 'UINT2', f8e4m3fn: 'FLOAT8E4M3FN', f8e4m3fnuz: 'FLOAT8E4M3FNUZ', f8e5m2: 'FLOAT8E5M2',
  f8e5m2fnuz: 'FLOAT8E5M2FNUZ', f4e2m1: 'FLOAT4E2M1', f8e8m0: 'FLOAT8E8M0', f6e2m3: 'FLOAT6E2M3', f6e3m2: 'FLOAT6E3M2', c64: 'COMPLEX64', c128: 'COMPLEX128',
};
// Errors of slipway.js, by what they mean to who asked for the attempt.
const MEANINGS = {MemoryLimitError: 'RESOURCE_EXHAUSTED', RangeError: 'RESOURCE_EXHAUSTED', InputError: 'INVALID_ARGUMENT', EngineError: 'FAILED_PRECONDITION', PlanError: 'FAILED_PRECONDITION'};

export class AttemptError extends Error {
  constructor(code, message, retriable = false) {
    super(message);
    Object.assign(this, {code, retriable});
  }
}

const nanoseconds = (ms) => String(Math.max(0, Math.round(ms * 1e6)));

function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)).buffer;
}

function base64Of(bytes) {
  const all = new Uint8Array(bytes);
  let text = '';
  for (let at = 0; at < all.length; at += 8192) text += String.fromCharCode(...all.subarray(at, at + 8192));
  return btoa(text);
}

const featuresOf = (target) => target.split('-').slice(3);

function check(assignment, device) {
  const {run, benchmark} = assignment;
  if (!run && !benchmark) throw new AttemptError('UNIMPLEMENTED', 'pages take runs and benchmarks alone');
  if (assignment.device && assignment.device !== device.id) throw new AttemptError('INVALID_ARGUMENT', `this page is no device "${assignment.device}", only "${device.id}"`);
  const spec = run ?? benchmark.run;
  if ((spec.threads ?? 0) > 1 && !featuresOf(device.target).includes('threads')) {
    throw new AttemptError('FAILED_PRECONDITION', `${spec.threads} threads: this page has one, since its browser shares no memory with it (it is not isolated)`);
  }
  if (benchmark?.scenario || benchmark?.settling) throw new AttemptError('UNIMPLEMENTED', 'pages measure calls that follow each other, at once: no scenario and no settling');
  return spec;
}

async function fetchFiles(server, {sha256, sizeBytes}, device) {
  const read = (name) => server.fetch(`/api/v1/artifacts/${sha256}/${sizeBytes}/module/${name}`);
  const plan = await (await read('plan.json')).json();
  const lacking = featuresOf(plan.target).filter((feature) => !featuresOf(device.target).includes(feature));
  if (lacking.length > 0) throw new AttemptError('FAILED_PRECONDITION', `the program is for ${plan.target}, and this page is ${device.target}: it lacks ${lacking.join(', ')}`);
  const [module, weights] = await Promise.all(['model.wasm', plan.weights_bytes > 0 ? 'weights.bin' : null].map(async (name) => name && (await read(name)).arrayBuffer()));
  return {plan, module, weights: weights ?? new ArrayBuffer(0)};
}

async function fetchInputs(server, tensors = []) {
  return Object.fromEntries(await Promise.all(tensors.map(async ({name, inlineData, blob}) => [name,
    blob ? await (await server.fetch(`/api/v1/blobs/${blob.sha256}/${blob.sizeBytes ?? 0}`)).arrayBuffer() : bytesOf(inlineData ?? '')])));
}

// What the program's worker answers with. However it ends before that, it is an error.
function ask(message, patience, staged) {
  const worker = new Worker('/assets/device_program.js', {type: 'module', name: 'program'});
  const life = `slipway-program-${crypto.randomUUID()}`;
  const answered = new AbortController();
  return new Promise((resolve, reject) => {
    const {signal} = patience;
    const stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    worker.onerror = (event) => {
      event.preventDefault();
      reject(new AttemptError('ABORTED', `the program's worker ended: ${event.message ?? 'its browser ended it'}`));
    };
    worker.onmessageerror = () => reject(new AttemptError('ABORTED', 'the program\'s worker answered with what cannot be read'));
    worker.onmessage = ({data}) => {
      if (data.lives) {
        for (const life of data.lives) whenEnded(life, answered.signal, () => reject(new AttemptError('ABORTED', 'a worker of the program ended without a word')));
        return;
      }
      if (data.stage) return staged(data.stage);
      if (data.done) return resolve(data.done);
      const more = data.error.name === 'MemoryLimitError' ? `; this page allows ${Math.floor(message.maxMemoryBytes / 2 ** 20)} MiB` : '';
      reject(new AttemptError(MEANINGS[data.error.name] ?? 'INTERNAL', data.error.message + more));
    };
    const {files, inputs} = message;
    worker.postMessage({...message, life}, [...new Set([files.module, files.weights, ...Object.values(inputs)])]);
  }).finally(() => {
    answered.abort();
    worker.terminate();
  });
}

async function sendOutputs(server, outputs) {
  let left = MOST_INLINE_BYTES;
  const sent = [];
  for (const {name, dtype, shape, bytes} of outputs) {
    const tensor = {name, type: {dtype: `DATA_TYPE_${DTYPES[dtype]}`, shape: shape.map(String)}};
    if (bytes.byteLength <= left) {
      left -= bytes.byteLength;
      sent.push({...tensor, inlineData: base64Of(bytes)});
    } else {
      sent.push({...tensor, blob: await server.json('/api/v1/blobs', {method: 'POST', type: 'application/octet-stream', body: bytes})});
    }
  }
  return sent;
}

// The result, {runResult} or {benchmarkResult}. `server` ends by its patience's signal, whose reason is then thrown; else AttemptError. `staged` is told what is done.
export async function runAttempt(assignment, {server, device, maxMemoryBytes, staged}) {
  try {
    const spec = check(assignment, device);
    const begin = performance.now();
    const [files, inputs] = await Promise.all([fetchFiles(server, spec.manifest, device), fetchInputs(server, spec.inputs)]);
    const fetched = performance.now();
    const {benchmark} = assignment;
    const options = benchmark && {
      warmup: (benchmark.warmup ?? 0) < 0 ? DEFAULTS.warmup : benchmark.warmup ?? 0, samples: benchmark.samples || DEFAULTS.samples, profile: benchmark.profile ?? false};
    const done = await ask({files, inputs, seed: spec.seed ?? '0', threads: spec.threads || 1, benchmark: options, maxMemoryBytes}, server.patience, staged);
    const ran = performance.now();
    const outputs = done.outputs && await sendOutputs(server, done.outputs);
    const timings = {fetchNs: nanoseconds(fetched - begin), spawnNs: nanoseconds(ran - fetched - done.loadMs - done.runMs), loadNs: nanoseconds(done.loadMs),
      runNs: nanoseconds(done.runMs), uploadNs: nanoseconds(performance.now() - ran)};
    if (outputs) return {runResult: {outputs, timings, device: device.id, clockResolutionNs: done.clockResolutionNs}};
    return {benchmarkResult: {...done.benchmark, timings, device: device.id, deviceTarget: device.target}, resolution: done.resolution};
  } catch (error) {
    server.patience.check();
    if (error instanceof AttemptError) throw error;
    // The server's own words; what it is away for, another attempt may not find.
    if (CODES.includes(error.code)) throw new AttemptError(error.code, error.message, error.code === 'UNAVAILABLE');
    throw new AttemptError(MEANINGS[error.name] ?? 'INTERNAL', error.message);
  }
}
