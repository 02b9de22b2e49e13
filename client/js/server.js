// Compiles models on a server, by the API of its slipway-web, and runs them here: in pages of slipway-web, and in Node. No dependencies, nothing to build.
// server.d.ts says what everything is.
import { CODES, Connection, eventsOf, ServerError } from "./connection.js";
import { FileError, Program } from "./slipway.js";

export { ServerError };

const TEN_MINUTES = 600_000;
// Between two tries of a connection that broke.
const PAUSE = 500;
const FORMATS = [[".graphpb", "MODEL_FORMAT_GRAPH_PROTO"], [".graph", "MODEL_FORMAT_GRAPH_TEXT"], ["-symbol.json", "MODEL_FORMAT_NNVM_JSON"]];
const STAGES = { QUEUED: "queued", ASSIGNED: "assigned", RUNNING: "compile" };

const formatOf = (name) => FORMATS.find(([end]) => name.endsWith(end))?.[1] ?? "MODEL_FORMAT_ONNX";

// Ends by a signal or after a time; `check` throws why.
class Patience {
  #controller = new AbortController();
  #timer;
  #outer;
  #stop;
  constructor(timeoutMs, outer) {
    const after = (reason) => this.#controller.abort(reason);
    this.#timer = setTimeout(() => after(new ServerError("DEADLINE_EXCEEDED", `the model was not there in ${timeoutMs} ms`)), timeoutMs);
    this.#outer = outer;
    this.#stop = () => after(outer.reason);
    if (outer?.aborted) this.#stop();
    else outer?.addEventListener("abort", this.#stop);
  }
  get signal() {
    return this.#controller.signal;
  }
  check() {
    if (this.signal.aborted) throw this.signal.reason;
  }
  pause(ms) {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.signal.removeEventListener("abort", end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      this.signal.addEventListener("abort", end);
    });
  }
  end() {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener("abort", this.#stop);
  }
}

// The job when it has ended, over connections that break.
async function follow(server, id, changed) {
  let revision = 0;
  for (;;) {
    try {
      const answer = await server.fetch(`/api/v1/jobs/${encodeURIComponent(id)}/events${revision ? `?after=${revision}` : ""}`);
      for await (const { name, data } of eventsOf(answer.body)) {
        if (name === "problem") throw new ServerError(data.code, data.message, { job: id });
        if (name !== "job") continue;
        revision = data.revision;
        changed(data);
        if (["SUCCEEDED", "FAILED", "CANCELLED"].includes(data.state)) return data;
      }
    } catch (error) {
      server.patience.check();
      if (error instanceof ServerError && error.code !== "UNAVAILABLE") throw error;
    }
    await server.patience.pause(PAUSE);
    server.patience.check();
  }
}

async function compileJob(server, sent, { name, target, dimensions, timeoutMs }, told) {
  const { jobId } = await server.post("/api/v1/compilations", {
    requestId: globalThis.crypto?.randomUUID?.(),
    totalDeadlineNs: String(Math.ceil(timeoutMs * 1e6)),
    spec: {
      model: { format: formatOf(name), files: [{ name: sent.name, digest: sent.digest }], displayName: name },
      target: { name: target },
      options: { dimensions: Object.entries(dimensions).map(([symbol, value]) => ({ symbol, value: String(value) })).sort((a, b) => (a.symbol < b.symbol ? -1 : 1)) },
    },
  });
  let job;
  try {
    job = await follow(server, jobId, ({ state, progress = {} }) => {
      if (STAGES[state]) told({ stage: STAGES[state], job: jobId, what: progress.stage, done: Number(progress.done ?? 0), total: Number(progress.total ?? 0) });
    });
  } catch (error) {
    // Nobody waits for it any more; whether that is heard changes nothing here.
    server.post(`/api/v1/jobs/${encodeURIComponent(jobId)}/cancel`, {}, { signal: null }).catch(() => {});
    throw error;
  }
  if (job.state === "CANCELLED") throw new ServerError("CANCELLED", "the compilation was cancelled on the server", { job: jobId });
  if (job.state === "FAILED") throw new ServerError(CODES[job.error?.code] ?? "INTERNAL", job.error?.message ?? "it failed", { job: jobId, log: job.error?.logTail });
  return job.compilationResult.manifest;
}

export async function compile(model, { name = model.name ?? "model.onnx", threads = 1, target = threads > 1 ? "wasm-32-wasi-simd128-threads" : "wasm-32-wasi-simd128", dimensions = {}, timeoutMs = TEN_MINUTES, signal, onProgress = () => {}, ...options } = {}) {
  const patience = new Patience(timeoutMs, signal);
  try {
    patience.check();
    const server = new Connection(options, patience);
    // Who shows a token for the first time sends no large body with it.
    const session = await server.json("/api/v1/session");
    if (!session.signedIn) throw new ServerError("UNAUTHENTICATED", "sign in first, or give a token");
    onProgress({ stage: "upload" });
    const sent = await server.json(`/api/v1/models?name=${encodeURIComponent(name)}`, { method: "POST", type: "application/octet-stream", body: model });
    const { sha256, sizeBytes } = await compileJob(server, sent, { name, target, dimensions, timeoutMs }, onProgress);
    onProgress({ stage: "fetch" });
    return await loadArtifact(server, { sha256, sizeBytes }, { threads, ...options });
  } finally {
    patience.end();
  }
}

export async function load({ sha256, sizeBytes }, { timeoutMs = TEN_MINUTES, signal, ...options } = {}) {
  const patience = new Patience(timeoutMs, signal);
  try {
    patience.check();
    return await loadArtifact(new Connection(options, patience), { sha256, sizeBytes }, options);
  } finally {
    patience.end();
  }
}

async function loadArtifact(server, { sha256, sizeBytes }, { maxMemoryBytes, threads }) {
  const base = new URL(`/api/v1/artifacts/${sha256}/${sizeBytes}/module/`, server.base);
  try {
    return await Program.load(base, { maxMemoryBytes, threads, fetch: (url) => server.fetch(url.pathname) });
  } catch (error) {
    server.patience.check();
    throw error instanceof FileError && error.cause instanceof ServerError ? error.cause : error;
  }
}
