// Programs of several threads: what these are in their memory, the one loop that they share, and how they begin. Loaded by programs that have some, and by
// each of their threads.
import { align, Instance, Scratch, textAt } from "./instance.js";
import { EngineError } from "./slipway.js";

const MOST_THREADS = 64;
const TEXT_BYTES = 1000;
// Looks for the next loop before a thread sleeps, since a kernel's loops follow each other closely, and waking takes as long as a short one.
const LOOKS = 2000;
// SLIPWAY_MODULE_STACK_BYTES of core/kernel_abi/kernel_abi.h.
const STACK_BYTES = 1 << 20;
// What lies behind a stack's end is nobody's for so far, and at the end stands what nothing may write over.
const OVERFLOW_BYTES = 65536;
const GUARD = 0x5afe57ac;

// Words of the loop, and behind them what the failure says. GATE counts the threads inside.
const [BEGUN, GATE, NEXT, EXTENT, MIN, TASK, CONTEXT, CLOSURE, RESULT, FAILURE] = Array(10).keys();
const WORDS = 16;
const TEXT = 4 * WORDS;
const CLOSED = -1;
const FAILURES = { RETURNED: 0, TRAPPED: 1, EXHAUSTED: 2 };
// In the place of a result where there is none; FAILURE tells it from a kernel's own.
const NONE = -1;

// Whether this thread may have others and wait for them: a page's own may not, nor one that shares no memory.
export function mayWait() {
  try {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 0);
    return true;
  } catch {
    return false;
  }
}

// Whoever begins it takes part and goes on when it is done: he opens the gate, and closes it when nobody is inside. Who comes late finds it closed, or no index
// left.
export class SharedLoop {
  #memory;
  #at;
  #words;
  #isInside = false;

  constructor(memory, at) {
    this.#memory = memory;
    this.#at = at;
    this.#words = new Int32Array(memory.buffer, at, WORDS);
  }

  // Not loops within tasks, nor what is none.
  takes(extent) {
    return !this.#isInside && extent > 1;
  }
  // Its result, or throws what trapped, wherever it did.
  run(instance, loop) {
    this.#begin(loop);
    let trapped;
    try {
      this.#share(instance);
    } catch (trap) {
      trapped = trap;
    }
    const { result, failure, said } = this.#finish();
    if (trapped) throw trapped;
    if (result === 0) return 0;
    instance.said = said;
    instance.scratch.isExhausted ||= failure === FAILURES.EXHAUSTED;
    if (failure !== FAILURES.RETURNED) throw new Error(said);
    return result;
  }
  #begin({ task, context, min, extent, closure }) {
    const words = this.#words;
    words[NEXT] = 0;
    words[EXTENT] = extent;
    words[MIN] = min;
    words[TASK] = task;
    words[CONTEXT] = context;
    words[CLOSURE] = closure;
    words[RESULT] = 0;
    words[FAILURE] = FAILURES.RETURNED;
    Atomics.store(words, GATE, 0);
    Atomics.add(words, BEGUN, 1);
    Atomics.notify(words, BEGUN);
  }
  // {result, failure, said} of the first that failed.
  #finish() {
    const words = this.#words;
    for (let inside; (inside = Atomics.compareExchange(words, GATE, 0, CLOSED)) !== 0;) {
      for (let look = 0; look < LOOKS && Atomics.load(words, GATE) === inside; ++look);
      Atomics.wait(words, GATE, inside);
    }
    const result = words[RESULT];
    return { result, failure: words[FAILURE], said: result === 0 ? "" : textAt(this.#memory, this.#at + TEXT) };
  }

  // What another thread does for as long as it lives.
  serve(instance, guard) {
    const words = this.#words;
    for (;;) {
      const begun = Atomics.load(words, BEGUN);
      if (this.#enter()) {
        instance.scratch.clear();
        const { trap } = instance.call(() => this.#share(instance));
        if (trap) this.#fail(NONE, instance.scratch.isExhausted ? FAILURES.EXHAUSTED : FAILURES.TRAPPED, instance.said || trap.message);
        if (guard[0] !== GUARD) this.#fail(NONE, FAILURES.TRAPPED, "a thread's stack has overflowed");
        if (Atomics.sub(words, GATE, 1) === 1) Atomics.notify(words, GATE);
      }
      for (let look = 0; look < LOOKS && Atomics.load(words, BEGUN) === begun; ++look);
      Atomics.wait(words, BEGUN, begun);
    }
  }
  #enter() {
    for (let inside = Atomics.load(this.#words, GATE); inside !== CLOSED;) {
      const found = Atomics.compareExchange(this.#words, GATE, inside, inside + 1);
      if (found === inside) return true;
      inside = found;
    }
    return false;
  }

  // Runs indices as long as there are any, also after one that failed.
  #share(instance) {
    const words = this.#words;
    const [extent, min, context, closure] = [words[EXTENT], words[MIN], words[CONTEXT], words[CLOSURE]];
    const body = instance.exports.__indirect_function_table.get(words[TASK]);
    this.#isInside = true;
    try {
      for (let index; (index = Atomics.add(words, NEXT, 1) >>> 0) < extent;) {
        const result = body(context, min + index, closure);
        if (result !== 0) this.#fail(result, FAILURES.RETURNED, instance.said);
      }
    } finally {
      this.#isInside = false;
    }
  }
  #fail(result, failure, said) {
    const words = this.#words;
    if (Atomics.compareExchange(words, RESULT, 0, result) !== 0) return;
    words[FAILURE] = failure;
    const text = new TextEncoder().encode(said).subarray(0, TEXT_BYTES);
    new Uint8Array(this.#memory.buffer, this.#at + TEXT, TEXT_BYTES).fill(0);
    new Uint8Array(this.#memory.buffer, this.#at + TEXT, TEXT_BYTES).set(text);
  }
}

// A worker's part (thread.js), of what it was sent.
export function serveLoops({ module, memory, loop: at, stack, scratch }, begun) {
  const loop = new SharedLoop(memory, at);
  const instance = new Instance(module, memory, new Scratch(memory, scratch.begin, scratch.end), loop);
  instance.exports.__stack_pointer.value = stack + STACK_BYTES;
  const guard = new Uint32Array(memory.buffer, stack, 1);
  guard[0] = GUARD;
  begun();
  loop.serve(instance, guard);
}

// With `on(what, f)`, as Node's have it.
async function newWorker() {
  const file = new URL("./thread.js", import.meta.url);
  if (globalThis.Worker === undefined) {
    const { Worker } = await import("node:worker_threads");
    return new Worker(file);
  }
  const worker = new globalThis.Worker(file, { type: "module", name: "thread" });
  worker.on = (what, f) => worker.addEventListener(what, (event) => {
    if (what === "error") event.preventDefault();
    f(what === "message" ? event.data : event);
  });
  return worker;
}

// All threads of a program but the one that runs it.
export class Threads {
  #count;
  #scratchBytes;
  #laidOut;
  #workers = [];
  #lost = null;

  // Throws where a program of this plan cannot have so many threads here, that one among them.
  constructor(count, { target, scratch_bytes: scratchBytes }) {
    if (!Number.isInteger(count) || count < 1 || count > MOST_THREADS) throw new RangeError(`${count} threads: a program has 1 to ${MOST_THREADS}`);
    if (!target.endsWith("-threads")) {
      throw new EngineError(`${count} threads: the program is for "${target}" and has one; compile the model for "${target}-threads"`);
    }
    if (!mayWait()) throw new EngineError(`${count} threads: they belong into a worker of an isolated page, since others may not wait for them`);
    this.#count = count;
    this.#scratchBytes = scratchBytes;
  }

  // In memory, whose pieces `take` gives.
  layOut(take) {
    const others = Array.from({ length: this.#count - 1 }, () => {
      const begin = take(this.#scratchBytes);
      // Stacks grow downwards.
      return { scratch: { begin, end: begin + align(this.#scratchBytes) }, stack: take(OVERFLOW_BYTES + STACK_BYTES) + OVERFLOW_BYTES };
    });
    this.#laidOut = { loop: take(TEXT + TEXT_BYTES), others };
  }
  // Before they begin.
  loopOn(memory) {
    const { loop } = this.#laidOut;
    new Int32Array(memory.buffer, loop, WORDS)[GATE] = CLOSED;
    return new SharedLoop(memory, loop);
  }

  // EngineError where one cannot begin; then none is left.
  async begin(module, memory, life) {
    const { loop, others } = this.#laidOut;
    try {
      await Promise.all(others.map((other, i) => this.#add({ ...other, loop, module, memory, life: life && `${life}-${i + 1}` })));
    } catch (cause) {
      this.end(cause.message);
      throw new EngineError(`a thread of the program cannot begin: ${cause.message}`, { cause });
    }
  }
  // Throws where they are there no more.
  check() {
    if (this.#lost !== null) throw new EngineError(this.#lost);
  }
  end(why) {
    this.#lost ??= why;
    for (const worker of this.#workers.splice(0)) worker.terminate();
  }

  async #add(message) {
    const worker = await newWorker();
    this.#workers.push(worker);
    await new Promise((resolve, reject) => {
      const lose = (why) => {
        this.#lost ??= `a thread of the program has ended: ${why}`;
        reject(new Error(why));
      };
      worker.on("message", ({ failed }) => {
        if (failed !== undefined) return lose(failed);
        // A process of Node may end while its threads wait for work.
        worker.unref?.();
        resolve();
      });
      worker.on("error", (error) => lose(error.message ?? "its file cannot be read"));
      worker.on("exit", () => lose("it has ended"));
      worker.postMessage(message);
    });
  }
}
