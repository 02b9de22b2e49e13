// A program of an attempt, in a worker of its own, which has those of its other threads: whatever it does, ending the worker ends it. Gets one message, and answers with
// {lives}, names of locks that its workers hold, {stage}, then {done} or {error}.
import {clockResolution} from './clock.js';
import {randomBytes} from './random.js';
import {elementsOf, Program} from './slipway.js';
import {holdLife} from './worker_life.js';

// A sample lasts so long at least, and as many times what the clock tells apart: then that is 0.5 % of it.
const LEAST_SAMPLE_MS = 1;
const RESOLUTIONS_PER_SAMPLE = 200;
const MOST_CALLS = 2 ** 20;
// Engines run code slowly first, and find out while it runs what is worth optimizing.
const OPTIMIZING_MS = 1000;
const LEAST_PROFILED_CALLS = 20;
const MOST_PROFILED_CALLS = 20_000;
const RESOLUTIONS_OF_STEP = 20;
const PROFILED_MS = 2000;

const nanoseconds = (ms) => String(Math.max(0, Math.round(ms * 1e6)));

function timed(f) {
  const begin = performance.now();
  f();
  return performance.now() - begin;
}

// Lets the engine do what it does between messages.
const turn = () => new Promise((resolve) => {
  const {port1, port2} = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    resolve();
  };
  port2.postMessage(null);
});

async function gatherInputs(ports, given, seed) {
  const inputs = {};
  for (const port of ports) {
    const bytes = given[port.name] ?? await randomBytes(port, BigInt(seed));
    if (bytes === null) throw Object.assign(new Error(`input "${port.name}" is ${port.dtype}, of which no random one is made: give it`), {name: 'InputError'});
    inputs[port.name] = {data: elementsOf(port.dtype, bytes), shape: port.shape};
  }
  return inputs;
}

// Calls that time steps are apart from the samples, since timing costs. Of what a step takes in a call, which loops may run often, the least, or where the clock
// tells too little of it apart, the mean of many: what it cuts off of one it adds to another.
function profile(program, inputs, resolution) {
  const byIndex = new Map();
  program.run(inputs);
  const begin = performance.now();
  let calls = 0;
  const steps = () => [...byIndex.values()];
  const mayGoOn = () => calls < LEAST_PROFILED_CALLS || steps().some(({least}) => least < RESOLUTIONS_OF_STEP * resolution);
  for (; calls === 0 || (calls < MOST_PROFILED_CALLS && mayGoOn() && performance.now() - begin < PROFILED_MS); ++calls) {
    program.run(inputs, {onStep: (name, ms, index) => {
      if (!byIndex.has(index)) byIndex.set(index, {index, name, least: Infinity, sum: 0, now: 0});
      byIndex.get(index).now += ms;
    }});
    for (const step of byIndex.values()) {
      step.least = Math.min(step.least, step.now);
      step.sum += step.now;
      step.now = 0;
    }
  }
  return steps().sort((a, b) => a.index - b.index)
      .map(({name, least, sum}) => ({name, durationNs: nanoseconds(least < RESOLUTIONS_OF_STEP * resolution ? sum / calls : least)}));
}

async function measure(program, load, inputs, threads, {warmup, samples, profile: wantsSteps}) {
  const resolution = clockResolution();
  const leastSample = Math.max(LEAST_SAMPLE_MS, RESOLUTIONS_PER_SAMPLE * resolution);
  const result = {threads, firstRunNs: nanoseconds(timed(() => program.run(inputs)))};
  const begin = performance.now();
  const again = await load();
  result.loadWarmNs = nanoseconds(performance.now() - begin);
  again.close();
  for (const end = performance.now() + OPTIMIZING_MS; performance.now() < end;) {
    program.run(inputs);
    await turn();
  }
  let calls = 1;
  const sample = () => timed(() => {
    for (let i = 0; i < calls; ++i) program.run(inputs);
  });
  for (;;) {
    // The least of some, since whoever was interrupted is slow for once alone.
    const ms = Math.min(sample(), sample(), sample());
    if (ms >= leastSample || calls >= MOST_CALLS) break;
    // A tenth more than needed, and at most ten times as many: a first guess is a bad one.
    calls = Math.min(MOST_CALLS, 10 * calls, Math.max(calls + 1, Math.floor(calls * leastSample / Math.max(ms, resolution) * 1.1) + 1));
  }
  for (let i = 0; i < warmup; ++i) sample();
  result.startTimeNs = nanoseconds(Date.now());
  result.samplesNs = Array.from({length: samples}, () => String(Math.max(1, Math.round(sample() * 1e6))));
  result.iterationsPerSample = String(calls);
  result.peakMemoryBytes = String(program.memoryBytes);
  result.clockResolutionNs = nanoseconds(resolution);
  result.energyUnknown = 'a browser tells none';
  if (wantsSteps) result.steps = profile(program, inputs, resolution);
  return {result, resolution};
}

async function work({files, inputs: given, seed, threads, benchmark, maxMemoryBytes, life}) {
  const load = (options) => Program.create(files, {maxMemoryBytes, threads, ...options});
  let begin = performance.now();
  const program = await load({life});
  const loadMs = performance.now() - begin;
  postMessage({lives: Array.from({length: threads - 1}, (_, i) => `${life}-${i + 1}`)});
  const inputs = await gatherInputs(program.inputs, given, seed);
  postMessage({stage: benchmark ? 'measure' : 'run'});
  begin = performance.now();
  if (benchmark) {
    const {result, resolution} = await measure(program, load, inputs, threads, benchmark);
    return {benchmark: {...result, loadColdNs: nanoseconds(loadMs)}, resolution, loadMs, runMs: performance.now() - begin};
  }
  const outputs = program.run(inputs);
  const runMs = performance.now() - begin;
  return {loadMs, runMs, clockResolutionNs: nanoseconds(clockResolution()), outputs: program.outputs.map(({name, dtype, shape}) => ({name, dtype, shape, bytes: outputs[name].buffer}))};
}

onmessage = async ({data}) => {
  await holdLife(data.life);
  postMessage({lives: [data.life]});
  try {
    const done = await work(data);
    postMessage({done}, (done.outputs ?? []).map(({bytes}) => bytes));
  } catch (error) {
    postMessage({error: {name: error.name, message: error.message}});
  }
};
