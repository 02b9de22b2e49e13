// What client/js refuses, of the exports in the folders $DIGITS, $PICKS and $DECIDES.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';

const { DIGITS, PICKS, DECIDES } = process.env;
const library = await import(pathToFileURL(join(DIGITS, 'slipway.js')));
const { EngineError, FileError, InputError, MemoryLimitError, PlanError, Program, SlipwayError } = library;
const base = (folder) => pathToFileURL(folder + '/');
const filesOf = (folder) => ({
  plan: JSON.parse(readFileSync(join(folder, 'plan.json'), 'utf8')),
  module: readFileSync(join(folder, 'model.wasm')),
  weights: readFileSync(join(folder, 'weights.bin')),
});
const digits = filesOf(DIGITS);
const [image] = digits.plan.inputs;
const [scores] = digits.plan.outputs;
const pixels = new Float32Array(image.bytes / 4);

const scratch = mkdtempSync(join(tmpdir(), 'runner'));
after(() => rmSync(scratch, { recursive: true }));

test('errors are of their classes, and of one', () => {
  for (const name of ['FileError', 'PlanError', 'EngineError', 'MemoryLimitError', 'InputError', 'StepError']) {
    const error = new library[name]('x');
    assert.ok(error instanceof SlipwayError && error instanceof Error);
    assert.equal(error.name, name);
  }
  assert.ok(EngineError);
});

test('a program says what it takes and gives', async () => {
  const program = await Program.load(base(DIGITS));
  assert.deepEqual(program.inputs, [{ name: image.name, dtype: 'f32', shape: image.shape }]);
  assert.equal(program.target, 'wasm-32-wasi-simd128');
  assert.ok(program.memoryBytes > digits.plan.weights_bytes);
  const results = program.run({ [image.name]: pixels });
  assert.deepEqual(Object.keys(results), [scores.name]);
  assert.ok(results[scores.name] instanceof Float32Array);
  assert.equal(results[scores.name].byteLength, scores.bytes);
});

test('inputs are checked by name, type and shape, and the next run works', async () => {
  const program = await Program.create(digits);
  const refused = (inputs, message) => assert.throws(() => program.run(inputs), (error) => error instanceof InputError && message.test(error.message));
  refused({}, /is not given/);
  refused(undefined, /is not given/);
  refused({ [image.name]: pixels, other: pixels }, /no input "other"/);
  refused({ [image.name]: new Float64Array(pixels.length) }, /Float32Array, and is given a Float64Array/);
  refused({ [image.name]: [...pixels] }, /is given a object/);
  refused({ [image.name]: null }, /Float32Array/);
  refused({ [image.name]: pixels.subarray(1) }, /elements, and is given/);
  refused({ [image.name]: { data: pixels, shape: [1, pixels.length] } }, /the shape \[1,/);
  refused({ [image.name]: { data: pixels } }, /the shape/);
  assert.ok(program.run({ [image.name]: { data: pixels, shape: image.shape } })[scores.name]);
});

test('what a kernel refuses is an error of its step', async () => {
  const picks = { ...filesOf(PICKS) };
  const program = await Program.create(picks);
  const inputs = { x: new Float32Array(40000), i: BigInt64Array.of(0n, -1n, 0n), b: Uint8Array.of(0, 1) };
  assert.deepEqual([...program.run(inputs).picked], [3n, 3n, 3n]);
  assert.throws(() => program.run({ ...inputs, i: BigInt64Array.of(0n, 5n, 0n) }), (error) => error instanceof InputError && /pick"/.test(error.message));
  assert.throws(() => program.run({ ...inputs, b: Uint8Array.of(0, 2) }), (error) => error instanceof InputError && /element 1 is 2/.test(error.message));
  assert.deepEqual([...program.run(inputs).n], [1, 0]);
});

test('memory has a limit', async () => {
  await assert.rejects(Program.create(digits, { maxMemoryBytes: 1 << 20 }), MemoryLimitError);
  await assert.rejects(Program.create({ ...digits, plan: { ...digits.plan, arena_bytes: 2 ** 40 } }), MemoryLimitError);
  // What steps take while they run counts, too.
  const picks = filesOf(PICKS);
  const plan = { ...picks.plan, scratch_bytes: 0 };
  const inputs = { x: new Float32Array(40000), i: new BigInt64Array(3), b: new Uint8Array(2) };
  const free = await Program.create({ ...picks, plan });
  const before = free.memoryBytes;
  free.run(inputs);
  assert.ok(free.memoryBytes > before);
  const bound = await Program.create({ ...picks, plan }, { maxMemoryBytes: before });
  for (let i = 0; i < 3; ++i) {
    assert.throws(() => bound.run(inputs), (error) => error instanceof MemoryLimitError && /determinant"/.test(error.message));
  }
});

test('files that do not belong together are refused', async () => {
  const rejects = (files, message) => assert.rejects(Program.create({ ...digits, ...files }), (error) => error instanceof PlanError && message.test(error.message));
  const other = Uint8Array.from(digits.weights);
  other[100] ^= 1;
  await rejects({ weights: other }, /other weights/);
  await rejects({ weights: other.subarray(64) }, /other weights/);
  await rejects({ weights: undefined }, /other weights/);
  await rejects({ module: filesOf(PICKS).module }, /another's/);
  await rejects({ module: digits.module.subarray(0, 1000) }, /module is none/);
  await rejects({ module: new Uint8Array(0) }, /module is none/);
  // A module of nothing.
  await rejects({ module: Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0) }, /cannot be instantiated/);
  await rejects({ plan: { ...digits.plan, version: 3 } }, /version 3/);
  await rejects({ plan: { ...digits.plan, code_bytes: 1 << 20 } }, /another's|damaged|instantiated/);
});

// Each number and list of a plan, made wrong: a typed error or a run like any other, and nothing else.
test('damaged plans are refused, or harmless', async () => {
  const wrong = [-1, 1.5, 2 ** 31, 2 ** 53, null, 'x', [], {}];
  const paths = [];
  const visit = (value, path) => {
    if (paths.length > 400) return;
    if (path.length > 0) paths.push(path);
    if (value !== null && typeof value === 'object') for (const key of Object.keys(value)) visit(value[key], [...path, key]);
  };
  visit(digits.plan, []);
  let refused = 0;
  for (const [i, path] of paths.entries()) {
    const plan = structuredClone(digits.plan);
    let at = plan;
    for (const key of path.slice(0, -1)) at = at[key];
    at[path.at(-1)] = wrong[i % wrong.length];
    try {
      const program = await Program.create({ ...digits, plan }, { maxMemoryBytes: 64 << 20 });
      program.run(Object.fromEntries(program.inputs.map((port) => [port.name, pixels])));
    } catch (error) {
      assert.ok(error instanceof SlipwayError, `${path}: ${error.stack}`);
      ++refused;
    }
  }
  assert.ok(refused > paths.length / 2);
});

test('steps that decide are checked', async () => {
  const decides = filesOf(DECIDES);
  const { steps } = decides.plan;
  assert.equal(decides.plan.version, 2);
  const kinds = new Set(steps.map((step) => step.do));
  for (const kind of ['begin', 'while', 'next', 'unless', 'take_slice', 'put_slice']) assert.ok(kinds.has(kind), kind);
  const refuse = async (i, wrong) => {
    const plan = structuredClone(decides.plan);
    Object.assign(plan.steps[i], wrong);
    await assert.rejects(Program.create({ ...decides, plan }), PlanError, `${i}: ${JSON.stringify(wrong)}`);
  };
  for (const [i, step] of steps.entries()) {
    if (step.do === undefined) continue;
    for (const deed of ['constructor', 'call', 1, null]) await refuse(i, { do: deed });
    if (step.do !== 'go_to') await refuse(i, { arguments: [] });
    await refuse(i, { kernel: 0 });
    if (step.target === undefined) continue;
    for (const target of [steps.length + 1, -1, 0.5, 'x', null]) await refuse(i, { target });
  }
  await assert.rejects(Program.create({ ...decides, plan: { ...decides.plan, version: 1 } }), PlanError);
});

test('steps of a loop are told of as often as they run', async () => {
  const decides = filesOf(DECIDES);
  const program = await Program.create(decides);
  const told = new Map();
  const inputs = Object.fromEntries(program.inputs.map(({ name, shape }) => [name, new Float32Array(shape.reduce((a, b) => a * b, 1))]));
  program.run(inputs, { onStep: (name, ms, index) => {
    assert.equal(name, decides.plan.steps[index].name);
    told.set(index, (told.get(index) ?? 0) + 1);
  } });
  const [{ shape: [rows] }] = program.inputs;
  assert.ok([...told.values()].includes(rows));
  for (const index of told.keys()) assert.equal(decides.plan.steps[index].do, undefined);
});

test('files that are not there, and answers that are errors', async () => {
  await assert.rejects(Program.load(pathToFileURL('/nowhere/')), FileError);
  const missing = async () => ({ ok: false, status: 404, statusText: 'Not Found' });
  await assert.rejects(Program.load('http://localhost/', { fetch: missing }), (error) => error instanceof FileError && /plan.json cannot be read: 404/.test(error.message));
  const folder = join(scratch, 'broken');
  cpSync(DIGITS, folder, { recursive: true });
  writeFileSync(join(folder, 'plan.json'), '{');
  await assert.rejects(Program.load(base(folder)), PlanError);
});

test('in a worker', async () => {
  const worker = new Worker(`
    import(${JSON.stringify(base(DIGITS) + 'index.js')}).then(async ({ load }) => {
      const { parentPort } = await import('node:worker_threads');
      const program = await load();
      const [{ name, shape }] = program.inputs;
      parentPort.postMessage(program.run({ [name]: new Float32Array(shape.reduce((a, b) => a * b, 1)) }));
    });`, { eval: true });
  const results = await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
  assert.equal(results[scores.name].byteLength, scores.bytes);
});
