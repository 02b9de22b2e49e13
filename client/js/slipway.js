// Runs models that "slipway export" made for wasm-32: in Node, in pages and in their workers.
// slipway.d.ts says what everything is; the form of plans is told in README.md.
import { align, Instance, Scratch } from "./instance.js";

export class SlipwayError extends Error {
  name = "SlipwayError";
}
export class FileError extends SlipwayError {
  name = "FileError";
}
export class PlanError extends SlipwayError {
  name = "PlanError";
}
export class EngineError extends SlipwayError {
  name = "EngineError";
}
export class MemoryLimitError extends SlipwayError {
  name = "MemoryLimitError";
}
export class InputError extends SlipwayError {
  name = "InputError";
}
export class StepError extends SlipwayError {
  name = "StepError";
}

const ABI_VERSION = 1;
const PAGE = 65536;
const MOST_PAGES = 65536;
const INVALID_ARGUMENT = 3; // Of core/kernel_abi/kernel_abi.h.
// Sizes and members of slipway_buffer and slipway_dimension where pointers have 32 bits.
const BUFFER = { bytes: 40, host: 12, code: 24, bits: 25, lanes: 26, rank: 28, dimensions: 32 };
const DIMENSION = { bytes: 16, extent: 4, stride: 8 };

// How JavaScript has elements of a type; those of all others as bytes.
const ARRAYS = {
  f32: Float32Array, f64: Float64Array, i8: Int8Array, i16: Int16Array, i32: Int32Array,
  i64: BigInt64Array, u16: Uint16Array, u32: Uint32Array, u64: BigUint64Array,
  f16: Uint16Array, bf16: Uint16Array,
};
const arrayOf = (dtype) => ARRAYS[dtype] ?? Uint8Array;
export const elementsOf = (dtype, bytes) => new (arrayOf(dtype))(bytes);

// A module of one function of 128-bit vectors.
const VECTORS = Uint8Array.of(
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11);

export const hasVectors = () => WebAssembly.validate(VECTORS);

const quoted = (name) => JSON.stringify(name);
const typeText = ({ dtype, shape }) => `${dtype}[${shape.join(", ")}]`;

function check(holds, what) {
  if (!holds) throw new PlanError(`the plan is damaged: ${what}`);
}
const isSize = (number) => Number.isSafeInteger(number) && number >= 0;

function checkPorts(ports, kind) {
  check(Array.isArray(ports), `it has no ${kind}s`);
  for (const port of ports) {
    check(typeof port?.name === "string" && typeof port.dtype === "string" && isSize(port.bytes) &&
          Array.isArray(port.shape) && port.shape.every(isSize), `an ${kind} is none`);
    check(port.range === undefined || (Array.isArray(port.range) && port.range.every(Number.isInteger)), `an ${kind} has no range`);
    check(port.bytes % arrayOf(port.dtype).BYTES_PER_ELEMENT === 0, `${kind} ${quoted(port.name)} has a part of an element`);
  }
}

// That everything the plan says lies where it may: what it is made of may have come from anywhere.
function checkPlan(plan) {
  check(plan !== null && typeof plan === "object", "it is no object");
  if (![1, 2].includes(plan.version)) {
    throw new PlanError(`the plan is of version ${quoted(plan.version)}, and this reads 1 and 2: take the slipway.js beside it`);
  }
  check(typeof plan.target === "string", "it has no target");
  check(plan.abi === ABI_VERSION, "its code is of another kernel ABI");
  for (const size of ["kernels", "code_bytes", "weights_bytes", "weights_hash", "arena_bytes", "scratch_bytes"]) {
    check(isSize(plan[size]), `its ${size} is no size`);
  }
  checkPorts(plan.inputs, "input");
  checkPorts(plan.outputs, "output");
  const isList = (list) => Array.isArray(list) && list.every((one) => one !== null && typeof one === "object");
  check(isList(plan.values) && isList(plan.steps), "it has no values or steps");
  for (const { place, index, offset, bytes, element, shape } of plan.values) {
    const room = { arena: plan.arena_bytes, weights: plan.weights_bytes, input: plan.inputs[index]?.bytes, output: plan.outputs[index]?.bytes }[place];
    check(isSize(room) && isSize(offset) && isSize(bytes) && offset + bytes <= room, "a value lies outside of memory");
    check(Array.isArray(shape) && shape.every(isSize) && Array.isArray(element), "a value has no type");
  }
  for (const { do: deed, name, kernel, copy, arguments: operands } of plan.steps) {
    check(typeof name === "string" && Array.isArray(operands) && operands.every((value) => isSize(value) && value < plan.values.length), "a step has no such value");
    if (deed && plan.version > 1) continue; // For control.js.
    if (kernel === undefined) {
      check(isSize(copy) && operands.length === 2 && operands.every((value) => plan.values[value].bytes === copy), "a step copies what does not fit");
    } else {
      check(isSize(kernel) && kernel < plan.kernels, "a step calls no kernel");
    }
  }
  return plan;
}

// Of elements that have fewer bits than the bytes they lie in, all must be ones: kernels count on it.
function checkRange(bytes, { range: [lowest, count] }, what) {
  const at = bytes.findIndex((byte) => ((byte << 24) >> 24) < lowest || ((byte << 24) >> 24) >= lowest + count);
  if (at >= 0) throw new InputError(`${what}, and element ${at} is ${bytes[at]}, which is none`);
}

// FNV-1a (Fowler, Noll and Vo) of 32 bits, over words.
function hashOf(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let hash = 0x811c9dc5;
  for (let i = 0; i < bytes.byteLength; i += 4) hash = Math.imul(hash ^ view.getUint32(i, true), 0x01000193);
  return hash >>> 0;
}

async function compile(code, target) {
  if (code instanceof WebAssembly.Module) return code;
  try {
    return await WebAssembly.compile(code);
  } catch (cause) {
    if (target.includes("simd128") && !hasVectors()) {
      throw new EngineError("this WebAssembly engine has no 128-bit vectors: export the model for \"wasm-32-wasi\"", { cause });
    }
    throw new PlanError(`the module is none: ${cause.message}`, { cause });
  }
}

// Where everything lies, from where the module's own memory ends. Scratch memory is last, to grow.
function layOut(plan, threads) {
  let end = align(plan.code_bytes);
  const take = (bytes) => {
    const at = end;
    end += align(bytes);
    return at;
  };
  const weights = take(plan.weights_bytes);
  const arena = take(plan.arena_bytes);
  const inputs = plan.inputs.map((port) => take(port.bytes));
  const outputs = plan.outputs.map((port) => take(port.bytes));
  const context = take(4);
  const buffers = plan.values.map((value) => take(BUFFER.bytes + DIMENSION.bytes * value.shape.length));
  const lists = plan.steps.map((step) => take(4 * (1 + step.arguments.length)));
  threads?.layOut(take);
  const scratch = end;
  take(plan.scratch_bytes);
  const placeOf = ({ place, index, offset }) => offset + (place === "arena" ? arena : place === "weights" ? weights : place === "input" ? inputs[index] : outputs[index]);
  return { weights, inputs, outputs, context, buffers, lists, scratch, end, hosts: plan.values.map(placeOf) };
}

export class Program {
  #plan;
  #layout;
  #memory;
  #limit;
  #kernels;
  #instance;
  #threads;
  #control;

  static async load(base, options = {}) {
    const read = async (name) => readFile(new URL(name, base), options);
    const text = await read("plan.json");
    let plan;
    try {
      plan = JSON.parse(new TextDecoder().decode(text));
    } catch (cause) {
      throw new PlanError(`the plan is no JSON: ${cause.message}`, { cause });
    }
    checkPlan(plan);
    const [module, weights] = await Promise.all([read("model.wasm"), plan.weights_bytes > 0 ? read("weights.bin") : new Uint8Array(0)]);
    return Program.create({ plan, module, weights }, options);
  }

  static async create({ plan, module, weights = new Uint8Array(0) }, { maxMemoryBytes = MOST_PAGES * PAGE, threads: count = 1, life } = {}) {
    checkPlan(plan);
    const threads = count === 1 ? null : new (await import("./threads.js")).Threads(count, plan);
    const bytes = ArrayBuffer.isView(weights) ? new Uint8Array(weights.buffer, weights.byteOffset, weights.byteLength) : new Uint8Array(weights);
    if (bytes.byteLength !== plan.weights_bytes || hashOf(bytes) !== plan.weights_hash) {
      throw new PlanError("these are other weights than the plan's");
    }
    const compiled = await compile(module, plan.target);
    const program = new Program(plan, compiled, bytes, maxMemoryBytes, threads);
    if (plan.version > 1) program.#control = new (await import("./control.js")).Control(plan);
    await threads?.begin(compiled, program.#memory, life);
    return program;
  }

  constructor(plan, module, weights, maxMemoryBytes, threads) {
    const isShared = plan.target.endsWith("-threads");
    if (isShared && globalThis.SharedArrayBuffer === undefined) {
      throw new EngineError(`the program is for "${plan.target}", which takes shared memory, of an isolated page (crossOriginIsolated)`);
    }
    const layout = layOut(plan, threads);
    const mostPages = Math.min(MOST_PAGES, Math.floor(maxMemoryBytes / PAGE));
    const pages = Math.ceil(layout.end / PAGE);
    if (pages > mostPages) {
      throw new MemoryLimitError(`the model takes ${pages * PAGE} bytes of memory, and may have ${mostPages * PAGE}`);
    }
    let memory;
    try {
      memory = new WebAssembly.Memory({ initial: pages, maximum: mostPages, shared: isShared });
    } catch (cause) {
      throw new MemoryLimitError(`the engine has no ${pages * PAGE} bytes`, { cause });
    }
    this.#plan = plan;
    this.#layout = layout;
    this.#memory = memory;
    this.#limit = mostPages * PAGE;
    this.#threads = threads;
    this.#kernels = this.#instantiate(module, new Scratch(memory, layout.scratch, pages * PAGE));
    new Uint8Array(memory.buffer).set(weights, layout.weights);
    this.#describe();
    const told = (ports) => Object.freeze(ports.map(({ name, dtype, shape }) => Object.freeze({ name, dtype, shape: Object.freeze([...shape]) })));
    this.inputs = told(plan.inputs);
    this.outputs = told(plan.outputs);
  }

  get target() {
    return this.#plan.target;
  }
  get memoryBytes() {
    return this.#memory.buffer.byteLength;
  }

  close() {
    this.#threads?.end("the program is closed");
  }

  #instantiate(module, scratch) {
    let table;
    try {
      this.#instance = new Instance(module, this.#memory, scratch, this.#threads?.loopOn(this.#memory));
      const { slipway_program_query: query, __heap_base: base } = this.#instance.exports;
      table = query(ABI_VERSION, 0);
      check(table > 0 && base.value <= this.#layout.weights, "the module's memory is larger than it says");
      const [version, count, rows] = new Uint32Array(this.#memory.buffer, table, 3);
      check(version === ABI_VERSION && count === this.#plan.kernels, "the module is another's");
      const entries = new Uint32Array(this.#memory.buffer, rows, 3 * count);
      for (const { kernel, arguments: operands } of this.#plan.steps) {
        check(kernel === undefined || entries[3 * kernel + 1] === operands.length, "the module is another's");
      }
      return Array.from({ length: count }, (_, i) => this.#instance.exports.__indirect_function_table.get(entries[3 * i]));
    } catch (cause) {
      if (cause instanceof SlipwayError) throw cause;
      throw new PlanError(`the module cannot be instantiated: ${cause.message}`, { cause });
    }
  }

  // What kernels are called with, which is the same in every run.
  #describe() {
    const view = new DataView(this.#memory.buffer);
    const { buffers, hosts, lists, context } = this.#layout;
    this.#plan.values.forEach(({ element: [code, bits], shape }, i) => {
      const at = buffers[i];
      view.setUint32(at + BUFFER.host, hosts[i], true);
      view.setUint8(at + BUFFER.code, code);
      view.setUint8(at + BUFFER.bits, bits);
      view.setUint16(at + BUFFER.lanes, 1, true);
      view.setInt32(at + BUFFER.rank, shape.length, true);
      view.setUint32(at + BUFFER.dimensions, at + BUFFER.bytes, true);
      let stride = 1;
      [...shape].reverse().forEach((extent, d) => {
        view.setInt32(at + BUFFER.bytes + DIMENSION.bytes * d + DIMENSION.extent, extent, true);
        view.setInt32(at + BUFFER.bytes + DIMENSION.bytes * d + DIMENSION.stride, stride, true);
        stride *= extent;
      });
    });
    this.#plan.steps.forEach((step, i) => {
      view.setUint32(lists[i], context, true);
      step.arguments.forEach((value, k) => view.setUint32(lists[i] + 4 * (k + 1), buffers[value], true));
    });
  }

  run(inputs = {}, { onStep } = {}) {
    this.#threads?.check();
    this.#take(inputs);
    for (const i of this.#control?.order(this.#memory, this.#layout.hosts) ?? this.#plan.steps.keys()) {
      const step = this.#plan.steps[i];
      const begin = onStep && performance.now();
      this.#instance.scratch.clear();
      this.#step(step, i);
      onStep?.(step.name, performance.now() - begin, i);
    }
    return Object.fromEntries(this.#plan.outputs.map(({ name, dtype, bytes }, i) => {
      const at = this.#layout.outputs[i];
      return [name, new (arrayOf(dtype))(new Uint8Array(this.#memory.buffer, at, bytes).slice().buffer)];
    }));
  }

  #take(inputs) {
    for (const name of Object.keys(inputs)) {
      if (!this.#plan.inputs.some((port) => port.name === name)) {
        throw new InputError(`the model has no input ${quoted(name)}, but ${this.#plan.inputs.map((port) => quoted(port.name)).join(", ") || "none"}`);
      }
    }
    const arrays = this.#plan.inputs.map((port) => {
      const what = `input ${quoted(port.name)} is ${typeText(port)}`;
      if (!Object.hasOwn(inputs, port.name)) throw new InputError(`${what}, and is not given`);
      const given = inputs[port.name];
      const data = ArrayBuffer.isView(given) ? given : given?.data;
      const wanted = arrayOf(port.dtype);
      // By name, since arrays of other pages are of other classes.
      if (!ArrayBuffer.isView(data) || data[Symbol.toStringTag] !== wanted.name) {
        throw new InputError(`${what}, a ${wanted.name}, and is given a ${data?.[Symbol.toStringTag] ?? typeof given}`);
      }
      if (data.byteLength !== port.bytes) {
        throw new InputError(`${what}, ${port.bytes / wanted.BYTES_PER_ELEMENT} elements, and is given ${data.length}`);
      }
      const shape = data === given ? port.shape : given.shape;
      if (!Array.isArray(shape) || shape.length !== port.shape.length || shape.some((extent, d) => extent !== port.shape[d])) {
        throw new InputError(`${what}, and is given the shape ${quoted(shape)}`);
      }
      const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
      if (port.range !== undefined) checkRange(bytes, port, what);
      return bytes;
    });
    const memory = new Uint8Array(this.#memory.buffer);
    arrays.forEach((bytes, i) => memory.set(bytes, this.#layout.inputs[i]));
  }

  #step({ kernel, copy, name, arguments: operands }, i) {
    if (kernel === undefined) {
      const [from, to] = operands.map((value) => this.#layout.hosts[value]);
      new Uint8Array(this.#memory.buffer).copyWithin(to, from, from + copy);
      return;
    }
    const { result, trap } = this.#instance.call(() => this.#kernels[kernel](this.#layout.lists[i]));
    if (result === 0) return;
    const what = `step ${i} ${quoted(name)}`;
    const why = this.#instance.said || trap?.message || `its kernel returned ${result}`;
    if (this.#instance.scratch.isExhausted) {
      throw new MemoryLimitError(`${what} wants more memory than the ${this.#limit} bytes that the model may have`, { cause: trap });
    }
    if (result === INVALID_ARGUMENT) throw new InputError(`${what}: ${why}`);
    throw new StepError(`${what} failed: ${why}`, { cause: trap });
  }
}

async function readFile(url, { fetch: read = globalThis.fetch } = {}) {
  try {
    if (url.protocol === "file:" && read === globalThis.fetch) {
      return await (await import("node:fs/promises")).readFile(url);
    }
    const answer = await read(url);
    if (!answer.ok) throw new Error(`${answer.status} ${answer.statusText}`.trim());
    return new Uint8Array(await answer.arrayBuffer());
  } catch (cause) {
    throw new FileError(`${url} cannot be read: ${cause.message}`, { cause });
  }
}
