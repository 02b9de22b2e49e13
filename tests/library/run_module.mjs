// run_module.mjs FOLDER INPUTS OUTPUTS: runs an export twice, and writes what the second run gives, which is the same on any number of threads. Files hold
// tensors, one behind the other.
import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const [folder, inputs, outputs] = process.argv.slice(2);
const { load } = await import(pathToFileURL(`${folder}/index.js`));
const plan = JSON.parse(readFileSync(`${folder}/plan.json`, 'utf8'));
const program = await load();
const bytes = readFileSync(inputs);
const arrays = {
  f32: Float32Array, f64: Float64Array, i8: Int8Array, i16: Int16Array, i32: Int32Array, i64: BigInt64Array, u16: Uint16Array,
  u32: Uint32Array, u64: BigUint64Array, f16: Uint16Array, bf16: Uint16Array,
};
let at = 0;
const given = Object.fromEntries(plan.inputs.map((port) => {
  const data = new Uint8Array(bytes.subarray(at, at + port.bytes)).buffer;
  at += port.bytes;
  return [port.name, { data: new (arrays[port.dtype] ?? Uint8Array)(data), shape: port.shape }];
}));
if (at !== bytes.length) throw new Error('there are more inputs than the model has');
const resultsOf = (model) => {
  model.run(given);
  const results = model.run(given);
  return Buffer.concat(model.outputs.map(({ name }) => new Uint8Array(results[name].buffer)));
};
const results = resultsOf(program);
for (const threads of plan.target.endsWith('-threads') ? [2, 3] : []) {
  if (!resultsOf(await load({ threads })).equals(results)) throw new Error(`it has other results on ${threads} threads`);
}
writeFileSync(outputs, results);
