// call_kernels.c for programs of wasm-32, in Node:
//     call_kernels PROGRAM.wasm CALLS RESULTS
// Files and their order are the same. A module's memory has no pages that fault: what is beside arguments and scratch memory is
// watched for writes, and reads beyond the memory's end alone are seen.
'use strict';
const fs = require('fs');

const PAGE = 1 << 16;
const MARGIN = 64;
const UNTOUCHED = 0xa5;
const align = (n) => Math.ceil(n / 64) * 64;

function fail(what) {
  process.stderr.write(`call_kernels: ${what}\n`);
  process.exit(1);
}

class Calls {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }
  number() {
    if (this.at + 8 > this.bytes.length) fail('the file of calls ends early');
    const number = Number(this.bytes.readBigInt64LE(this.at));
    this.at += 8;
    return number;
  }
  take(count) {
    if (this.at + count > this.bytes.length) fail('the file of calls ends early');
    this.at += count;
    return this.bytes.subarray(this.at - count, this.at);
  }
}

// Memory behind the module's own, one block after another, each between margins.
class Blocks {
  constructor(memory, base) {
    this.memory = memory;
    this.base = align(base);
    this.live = [];
  }
  make(bytes) {
    const last = this.live[this.live.length - 1];
    const from = last ? last.end : this.base;
    const block = { from, data: from + MARGIN, bytes, end: from + MARGIN + align(bytes) + MARGIN };
    const missing = block.end - this.memory.buffer.byteLength;
    if (missing > 0) this.memory.grow(Math.ceil(missing / PAGE));
    new Uint8Array(this.memory.buffer).fill(UNTOUCHED, block.from, block.end);
    this.live.push(block);
    return block;
  }
  isIntact(block) {
    const bytes = new Uint8Array(this.memory.buffer);
    for (let i = block.from; i < block.data; ++i) if (bytes[i] !== UNTOUCHED) return false;
    for (let i = block.data + block.bytes; i < block.end; ++i) if (bytes[i] !== UNTOUCHED) return false;
    return true;
  }
}

const [program, callsPath, resultsPath] = process.argv.slice(2);
if (resultsPath === undefined) fail('usage: call_kernels PROGRAM.wasm CALLS RESULTS');
const code = fs.readFileSync(program);
const module_ = new WebAssembly.Module(code);
for (const { module, name } of WebAssembly.Module.imports(module_)) {
  if (module !== 'slipway' && `${module}.${name}` !== 'env.memory') fail(`it imports ${module}.${name}`);
}
const memory = new WebAssembly.Memory({ initial: Math.ceil(((1 << 20) + code.length) / PAGE) + 1 });
let scratch = [];
let blocks;
const instance = new WebAssembly.Instance(module_, {
  env: { memory },
  slipway: {
    parallel_for(context, task, min, extent, closure) {
      // The last one first: no iteration may count on those before it.
      for (let i = min + extent - 1; i >= min; --i) {
        const result = table.get(task)(context, i, closure);
        if (result !== 0) return result;
      }
      return 0;
    },
    allocate(context, bytes) {
      const block = blocks.make(Number(bytes));
      scratch.push(block);
      return block.data;
    },
    release(context, at) {
      const block = scratch.find((one) => one.data === at);
      if (block === undefined) fail('the kernel released what it was not given');
      if (!blocks.isIntact(block)) fail('the kernel wrote beside its scratch memory');
      scratch = scratch.filter((one) => one !== block);
    },
    error(context, message) {
      const bytes = Buffer.from(memory.buffer);
      fail(`the kernel says: ${bytes.toString('utf8', message, bytes.indexOf(0, message))}`);
    },
  },
});
const table = instance.exports.__indirect_function_table;
const query = instance.exports.slipway_program_query;
if (query(0, 0) !== 0) fail('the program speaks an ABI that there is not');
const [version, kernelCount, rows] = new Uint32Array(memory.buffer, query(1, 0), 3);
if (version !== 1) fail('the program does not speak this version of the kernel ABI');
const stack = instance.exports.__stack_pointer.value;
blocks = new Blocks(memory, instance.exports.__heap_base.value);

const calls = new Calls(fs.readFileSync(callsPath));
const results = [];
const count = calls.number();
for (let call = 0; call < count; ++call) {
  process.stderr.write(`call_kernels: call ${call}\n`);
  const kernel = calls.number();
  if (kernel < 0 || kernel >= kernelCount) fail('there is no such kernel');
  const size = calls.number();
  const descriptions = blocks.make(16 + 4 * (size + 1) + size * (40 + 16 * 16));
  new Uint8Array(memory.buffer).fill(0, descriptions.data, descriptions.data + descriptions.bytes);
  const list = descriptions.data + 8;
  let next = list + 8 * Math.ceil((size + 1) / 2);
  const operands = [];
  new DataView(memory.buffer).setUint32(list, descriptions.data, true);
  for (let i = 0; i < size; ++i) {
    const isInput = calls.number() === 1;
    const type = [calls.number(), calls.number()];
    const extents = Array.from({ length: calls.number() }, () => calls.number());
    const block = blocks.make(calls.number());
    if (isInput) new Uint8Array(memory.buffer).set(calls.take(block.bytes), block.data);
    const view = new DataView(memory.buffer);
    view.setUint32(list + 4 * (i + 1), next, true);
    view.setUint32(next + 12, block.data, true);
    view.setUint8(next + 24, type[0]);
    view.setUint8(next + 25, type[1]);
    view.setUint16(next + 26, 1, true);
    view.setInt32(next + 28, extents.length, true);
    view.setUint32(next + 32, next + 40, true);
    let stride = 1;
    extents.forEach((extent, d) => {
      view.setInt32(next + 40 + 16 * d + 4, extent, true);
      view.setInt32(next + 40 + 16 * d + 8, stride, true);
      stride *= Math.max(extent, 1);
    });
    next += 40 + 16 * extents.length;
    operands.push({ isInput, block });
  }
  const row = new Uint32Array(memory.buffer, rows + 12 * kernel, 2);
  if (row[1] !== size) fail('wrong number of arguments');
  if (table.get(row[0])(list) !== 0) fail('the kernel failed');
  if (scratch.length !== 0) fail('the kernel kept scratch memory');
  if (instance.exports.__stack_pointer.value !== stack) fail('the kernel left its stack in use');
  for (const { isInput, block } of operands) {
    if (!blocks.isIntact(block)) fail('the kernel wrote beside an argument');
    if (!isInput) results.push(Buffer.from(memory.buffer.slice(block.data, block.data + block.bytes)));
  }
  blocks.live = [];
}
fs.writeFileSync(resultsPath, Buffer.concat(results));
