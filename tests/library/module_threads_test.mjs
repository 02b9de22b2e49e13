// What goes wrong on a thread of a program that is not its own: the module $FAULTS, of faults.c, by the library at $LIBRARY.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

const { EngineError, InputError, MemoryLimitError, Program, StepError } = await import(pathToFileURL(join(process.env.LIBRARY, 'slipway.js')));
const module = readFileSync(process.env.FAULTS);
const KERNELS = ['goes_well', 'fails', 'refuses', 'traps', 'wants_all_memory', 'overflows', 'nests'];
const TARGET = 'wasm-32-wasi-simd128-threads';
const LIMIT = 64 << 20;

const planOf = (kernel) => ({
  version: 1, target: TARGET, abi: 1, kernels: KERNELS.length, code_bytes: 2 << 20, weights_bytes: 0, weights_hash: 0x811c9dc5, arena_bytes: 0, scratch_bytes: 0,
  inputs: [], outputs: [{ name: 'out', dtype: 'i32', shape: [8], bytes: 32 }], values: [{ place: 'output', index: 0, offset: 0, bytes: 32, element: [0, 32], shape: [8] }],
  steps: [{ name: kernel, kernel: KERNELS.indexOf(kernel), arguments: [0] }],
});
const programOf = (kernel, threads) => Program.create({ plan: planOf(kernel), module }, { threads, maxMemoryBytes: LIMIT });

test('every index runs once, on more than one thread', async () => {
  for (const threads of [2, 3, 8]) {
    const program = await programOf('goes_well', threads);
    for (let i = 0; i < 200; ++i) {
      const ran = [...program.run().out];
      assert.ok(ran.every((by) => by === 1 || by === 2) && ran.includes(2), `${ran}`);
    }
    program.close();
  }
});

// Of each: the error, and that the program runs again and fails again.
for (const [kernel, type, words] of [
  ['fails', StepError, /step 0 "fails" failed: the other says no/],
  ['refuses', InputError, /the other takes no such number/],
  ['traps', StepError, /unreachable/],
  ['wants_all_memory', MemoryLimitError, /"wants_all_memory" wants more memory than the 67108864 bytes/],
  ['overflows', StepError, /stack has overflowed/],
]) {
  test(`a task that ${kernel}`, async () => {
    const program = await programOf(kernel, 3);
    for (let i = 0; i < 5; ++i) assert.throws(() => program.run(), (error) => error.constructor === type && words.test(error.message));
    program.close();
  });
}

test('loops within tasks, and memory of each thread', async () => {
  const threads = 4;
  const program = await programOf('nests', threads);
  // A thread takes memory when it first has a part in a loop, which on a busy machine may be late.
  let grown = -1;
  for (let memoryBytes = 0; memoryBytes !== program.memoryBytes; ++grown) {
    ({ memoryBytes } = program);
    for (let i = 0; i < 50; ++i) program.run();
  }
  assert.ok(grown <= threads, `memory grew ${grown} times`);
  program.close();
});

test('a program that is closed', async () => {
  const program = await programOf('goes_well', 2);
  program.run();
  program.close();
  assert.throws(() => program.run(), (error) => error instanceof EngineError && /is closed/.test(error.message));
});

test('numbers of threads that there are not, and programs of one', async () => {
  for (const threads of [0, -1, 1.5, 65, '2']) await assert.rejects(programOf('goes_well', threads), RangeError);
  const plan = { ...planOf('goes_well'), target: 'wasm-32-wasi-simd128' };
  await assert.rejects(Program.create({ plan, module }, { threads: 2 }), (error) => error instanceof EngineError && /compile the model for "wasm-32-wasi-simd128-threads"/.test(error.message));
  const { SharedArrayBuffer: shared } = globalThis;
  delete globalThis.SharedArrayBuffer;
  try {
    await assert.rejects(programOf('goes_well', 1), (error) => error instanceof EngineError && /isolated/.test(error.message));
  } finally {
    globalThis.SharedArrayBuffer = shared;
  }
  await assert.rejects(Program.create({ plan: planOf('goes_well'), module }, { threads: 8, maxMemoryBytes: 4 << 20 }), MemoryLimitError);
});
