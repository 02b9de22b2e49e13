// The agent of this page, in a worker: what is shown does not hold it up, and it is not slowed down when nobody looks. Gets one message, {token, id, device,
// maxMemoryBytes, life}, and tells {isAlive}, {status}, {instance}, {device, resolution}, {attempt} and, when it has ended for good, {refused}.
import {clockResolution} from './clock.js';
import {CODES, Connection, eventsOf, ServerError} from './connection.js';
import {AttemptError, runAttempt} from './device_attempt.js';
import {hasVectors} from './slipway.js';
import {holdLife} from './worker_life.js';

const PROTOCOL = 1;
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 10_000;
const LONGEST_PARK = 10_000;
// What passes; all else stays wrong however often it is tried.
const PASSING = ['UNAVAILABLE', 'DEADLINE_EXCEEDED', 'ALREADY_EXISTS', 'RESOURCE_EXHAUSTED', 'ABORTED', 'NOT_FOUND', 'CANCELLED'];
const ACTIVE = ['PREPARING', 'RUNNING'];

const wait = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

// Ends what asks with it, for a reason.
class Ending {
  #controller = new AbortController();
  get signal() {
    return this.#controller.signal;
  }
  end(reason) {
    this.#controller.abort(reason);
  }
  check() {
    if (this.signal.aborted) throw this.signal.reason;
  }
}

function newInstance() {
  return [...crypto.getRandomValues(new Uint8Array(8))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

// What an agent does next, as device_agent/reconcile.h decides it: an attempt begins once nothing else is under way.
export function reconcile(held, wanted) {
  const ids = new Set(wanted.map(({attemptId}) => attemptId));
  const active = [...held.values()].some(({state}) => ACTIVE.includes(state));
  const others = [...held.keys()].filter((id) => !ids.has(id));
  return {
    stop: others.filter((id) => ACTIVE.includes(held.get(id).state)),
    forget: others.filter((id) => !ACTIVE.includes(held.get(id).state)),
    start: active ? null : wanted.find(({attemptId}) => !held.has(attemptId)) ?? null,
  };
}

// The agent for as long as its stream lasts: an instance of its own, since the server was told that the one before has left.
class Instance {
  #held = new Map();
  #endings = new Map();
  #ending = new Ending();
  #id = newInstance();
  #applied = '';
  #parkMs = LONGEST_PARK;
  #isReporting = false;
  #isStale = false;
  #pause = FIRST_PAUSE;

  constructor({token, device, maxMemoryBytes}) {
    Object.assign(this, {token, device, maxMemoryBytes});
    this.server = new Connection({token}, this.#ending);
  }

  // Until the stream ends, by an error or not. `answered` is called when the server answers.
  async live(answered) {
    try {
      const answer = await this.server.fetch('/api/v1/agents', {method: 'POST', type: 'application/json', body: this.#state()});
      postMessage({instance: this.#id});
      for await (const {name, data} of eventsOf(answer.body)) {
        if (name === 'problem') {
          if (!PASSING.includes(data.code)) throw new ServerError(data.code, data.message);
          postMessage({status: 'away', message: data.message});
          await wait(this.#pause);
          this.#pause = Math.min(2 * this.#pause, LONGEST_PAUSE);
          this.#report();
        } else if (name === 'wanted') {
          this.#pause = FIRST_PAUSE;
          answered();
          await this.#act();
        }
      }
    } finally {
      this.#ending.end(new ServerError('UNAVAILABLE', 'the connection has ended'));
      for (const ending of this.#endings.values()) ending.end(new ServerError('CANCELLED', 'the connection has ended'));
    }
  }

  #state() {
    const attempts = [...this.#held].map(([attemptId, attempt]) => ({attemptId, ...attempt}));
    return JSON.stringify({agentId: this.device.id, instanceId: this.#id, minProtocol: PROTOCOL, maxProtocol: PROTOCOL, devices: [this.device], attempts,
      parkNs: String(Math.round(this.#parkMs * 1e6)), appliedVersion: this.#applied});
  }

  // One report at a time; what has changed meanwhile goes with the next.
  async #report() {
    this.#isStale = true;
    if (this.#isReporting) return;
    this.#isReporting = true;
    try {
      while (this.#isStale) {
        this.#isStale = false;
        await this.server.fetch(`/api/v1/agents/${this.#id}/state`, {method: 'POST', type: 'application/json', body: this.#state()});
      }
    } catch (error) {
      if (PASSING.includes(error.code) && error.code !== 'RESOURCE_EXHAUSTED') this.#ending.end(error);
      else this.#failResults(error);
    } finally {
      this.#isReporting = false;
    }
  }

  // What the report cannot carry is the attempt's failure and not the agent's.
  #failResults(error) {
    const results = [...this.#held].filter(([, {state}]) => state === 'SUCCEEDED');
    if (results.length === 0) return this.#ending.end(error);
    for (const [id] of results) this.#held.set(id, {state: 'FAILED', error: {code: CODES.indexOf(error.code), message: `the result cannot be reported: ${error.message}`}});
    queueMicrotask(() => this.#report());
  }

  async #act() {
    const wanted = await this.server.json(`/api/v1/agents/${this.#id}/wanted`);
    const {stop, forget, start} = reconcile(this.#held, wanted.attempts ?? []);
    for (const id of stop) this.#endings.get(id)?.end(new ServerError('CANCELLED', 'not wanted any more'));
    for (const id of forget) this.#held.delete(id);
    if (start) this.#begin(start);
    this.#applied = wanted.version ?? '';
    this.#parkMs = Math.min(LONGEST_PARK, Number(wanted.silenceNs ?? 0) / 2e6 || LONGEST_PARK);
    this.#report();
  }

  async #begin(assignment) {
    const {attemptId: id} = assignment;
    const ending = new Ending();
    this.#endings.set(id, ending);
    const set = (attempt) => {
      this.#held.set(id, attempt);
      this.#report();
    };
    const deadlineMs = Number(assignment.deadlineNs ?? 0) / 1e6;
    const timer = deadlineMs > 0 && setTimeout(() => ending.end(new AttemptError('DEADLINE_EXCEEDED', `the program did not end in ${deadlineMs / 1000} s, and its worker was ended`)), deadlineMs);
    const told = {id, job: assignment.jobId, kind: assignment.benchmark ? 'benchmark' : 'run', begin: Date.now()};
    this.#held.set(id, {state: 'PREPARING', progress: {stage: 'fetch'}});
    postMessage({attempt: {...told, state: 'running'}});
    try {
      const {resolution, ...result} = await runAttempt(assignment, {
        server: new Connection({token: this.token}, ending), device: this.device, maxMemoryBytes: this.maxMemoryBytes,
        staged: (stage) => set({state: 'RUNNING', progress: {stage}}),
      });
      set({state: 'SUCCEEDED', ...result});
      postMessage({attempt: {...told, state: 'done', end: Date.now(), resolution, result: result.benchmarkResult ?? {runNs: result.runResult.timings.runNs}}});
    } catch (error) {
      const isStopped = error.code === 'CANCELLED';
      set(isStopped ? {state: 'STOPPED'} : {state: 'FAILED', error: {code: CODES.indexOf(error.code), message: error.message}, retriable: error.retriable ?? false});
      postMessage({attempt: {...told, state: isStopped ? 'stopped' : 'failed', end: Date.now(), message: error.message}});
    } finally {
      clearTimeout(timer);
      this.#endings.delete(id);
    }
  }
}

// Who has a token but no name for the device gets the name by which he was let in.
async function nameOf(token) {
  const {signedIn, server} = await new Connection({token}, new Ending()).json('/api/v1/session');
  if (!signedIn) throw new ServerError('UNAUTHENTICATED', 'this is no token');
  return server?.caller?.owner || 'page';
}

async function live({token, id, device, maxMemoryBytes}) {
  const resolution = clockResolution();
  let described = null;
  for (let pause = FIRST_PAUSE; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
    try {
      described ??= {...device, id: id || await nameOf(token), target: ['wasm-32-wasi', hasVectors() && 'simd128', crossOriginIsolated && 'threads'].filter(Boolean).join('-'),
        os: `${device.os}, a clock of ${Number((resolution * 1000).toPrecision(3))} us`};
      postMessage({device: described, resolution});
      await new Instance({token, device: described, maxMemoryBytes}).live(() => {
        pause = FIRST_PAUSE;
        postMessage({status: 'ready'});
      });
      postMessage({status: 'away', message: 'the connection has ended'});
    } catch (error) {
      if (!PASSING.includes(error.code)) return postMessage({refused: error.message ?? String(error)});
      postMessage({status: 'away', message: error.message});
    }
    await wait(pause);
  }
}

onmessage = async ({data}) => {
  await holdLife(data.life);
  postMessage({isAlive: true});
  live(data);
};
