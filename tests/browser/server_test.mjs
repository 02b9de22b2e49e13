// client/js against a server, in Node's own test runner; started by compile_in_page_test.py.
import assert from 'node:assert';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

const { BASE: base, TOKEN: token, CLIENT, DIGITS, IMAGES } = process.env;
const { compile, load, ServerError } = await import(pathToFileURL(`${CLIENT}/server.js`));
const { MemoryLimitError, Program } = await import(pathToFileURL(`${CLIENT}/slipway.js`));
const digits = readFileSync(DIGITS);
// Pixels are the end of an image's file.
const image = (digit) => new Float32Array(new Uint8Array(readFileSync(`${IMAGES}/${digit}.npy`)).slice(-256).buffer);
const largest = (scores) => scores.indexOf(Math.max(...scores));
const failure = (promise) => promise.then(() => assert.fail('it went well'), (error) => error);
const cancelled = async (job) => {
  for (;;) {
    const answer = await fetch(`${base}/api/v1/jobs/${job}`, { headers: { Authorization: `Bearer ${token}` } });
    const { state } = await answer.json();
    if (!['QUEUED', 'ASSIGNED', 'RUNNING'].includes(state)) return state;
  }
};
// A model that takes long to compile: many kernels that are alike to nobody.
const slow = () => {
  const lines = Array.from({ length: 200 }, (_, i) => `  const %w${i}: f32[${i % 7 + 3}, 1, 3, 3] = splat 0.5\n  %c${i} = Conv(%x${i % 5}, %w${i})`);
  const inputs = Array.from({ length: 5 }, (_, i) => `%x${i}: f32[1, 1, ${20 + 3 * i}, ${31 + i}]`).join(', ');
  const outputs = lines.map((_, i) => `%c${i}`).join(', ');
  return new TextEncoder().encode(`graph "slow" (${inputs}) -> (${outputs}) {\n${lines.join('\n')}\n}`);
};

test('a model is compiled, fetched and run', async () => {
  const stages = [];
  const program = await compile(digits, { base, token, name: 'digits.onnx', onProgress: ({ stage }) => stages.push(stage) });
  assert.ok(program instanceof Program);
  assert.equal(program.target, 'wasm-32-wasi-simd128');
  const [{ name }] = program.inputs;
  for (let digit = 0; digit < 10; ++digit) assert.equal(largest(program.run({ [name]: image(digit) })[program.outputs[0].name]), digit);
  assert.equal(stages[0], 'upload');
  assert.equal(stages.at(-1), 'fetch');
  const scalar = await compile(digits, { base, token, target: 'wasm-32-wasi' });
  assert.equal(largest(scalar.run({ [name]: image(7) })[scalar.outputs[0].name]), 7);
  const parallel = await compile(digits, { base, token, threads: 2 });
  assert.equal(parallel.target, 'wasm-32-wasi-simd128-threads');
  assert.deepEqual(parallel.run({ [name]: image(7) }), program.run({ [name]: image(7) }));
  parallel.close();
});

test('what the server says comes with its code', async () => {
  const stranger = await failure(compile(digits, { base, token: 'slipway_wrong.TOKEN' }));
  assert.ok(stranger instanceof ServerError);
  assert.equal(stranger.code, 'UNAUTHENTICATED');
  const nonsense = await failure(compile(new TextEncoder().encode('no model'), { base, token }));
  assert.ok(nonsense instanceof ServerError);
  assert.equal(nonsense.code, 'INVALID_ARGUMENT');
  assert.match(nonsense.job, /^[0-9A-Z]{26}$/);
  const open = new TextEncoder().encode('graph "g" [batch in 1..64] (%x: f32[batch, 3]) -> (%y) {\n  %y = Relu(%x)\n}');
  const size = await failure(compile(open, { base, token, name: 'open.graph' }));
  assert.equal(size.code, 'FAILED_PRECONDITION', size.message);
  assert.match(size.message, /input "x" is f32\[batch, 3\]/);
  // Which a model in this form cannot have given a size.
  const given = await failure(compile(open, { base, token, name: 'open.graph', dimensions: { batch: 2 } }));
  assert.equal(given.code, 'INVALID_ARGUMENT');
  assert.match(given.message, /"batch"/);
  const native = await failure(compile(digits, { base, token, target: 'x86-64-v2-linux' }));
  assert.equal(native.code, 'FAILED_PRECONDITION');
  assert.match(native.message, /x86-64-v2-linux/);
  const nowhere = await failure(load({ sha256: '0'.repeat(64), sizeBytes: 10 }, { base, token }));
  assert.equal(nowhere.code, 'NOT_FOUND');
  const away = await failure(compile(digits, { base: 'http://127.0.0.1:1', token }));
  assert.equal(away.code, 'UNAVAILABLE');
});

test('memory has a limit, and the next one works', async () => {
  const error = await failure(compile(digits, { base, token, maxMemoryBytes: 1 << 20 }));
  assert.ok(error instanceof MemoryLimitError);
  assert.ok(await compile(digits, { base, token, maxMemoryBytes: 64 << 20 }) instanceof Program);
});

test('who gives up ends what has begun', async () => {
  const controller = new AbortController();
  const reason = new Error('enough');
  let job;
  const error = await failure(compile(slow(), { base, token, name: 'slow.graph', signal: controller.signal, onProgress: (progress) => {
    job ??= progress.job;
    if (job) controller.abort(reason);
  } }));
  assert.equal(error, reason);
  assert.equal(await cancelled(job), 'CANCELLED');
  assert.equal(await failure(compile(digits, { base, token, signal: controller.signal })), reason);
});

test('a deadline ends it', async () => {
  let job;
  const error = await failure(compile(slow(), { base, token, name: 'slower.graph', timeoutMs: 300, onProgress: (progress) => { job ??= progress.job; } }));
  assert.equal(error.code, 'DEADLINE_EXCEEDED');
  if (job) assert.notEqual(await cancelled(job), 'SUCCEEDED');
});
