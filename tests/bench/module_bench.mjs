// module_bench.mjs FOLDER SAMPLES STEPS: the least milliseconds of a run of an export of f32 inputs, on stdout, and its slowest steps, on stderr.
import { pathToFileURL } from 'node:url';

const [folder, samples, shown] = process.argv.slice(2);
const { load } = await import(pathToFileURL(`${folder}/index.js`));
const program = await load();
const inputs = Object.fromEntries(program.inputs.map(({ name, shape }) =>
  [name, Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => Math.sin(i))]));

// Until the engine's optimizing compiler has been at work on everything.
const warm = performance.now() + 1500;
while (performance.now() < warm) {
  program.run(inputs);
  await new Promise(setImmediate);
}
let least = Infinity;
const steps = new Map();
for (let i = 0; i < Number(samples); ++i) {
  const begin = performance.now();
  program.run(inputs);
  least = Math.min(least, performance.now() - begin);
}
if (Number(shown) > 0) {
  for (let i = 0; i < Number(samples); ++i) {
    program.run(inputs, { onStep: (name, ms, index) => steps.set(`${index} ${name}`, Math.min(ms, steps.get(`${index} ${name}`) ?? Infinity)) });
  }
}
for (const [name, ms] of [...steps].sort((a, b) => b[1] - a[1]).slice(0, Number(shown))) console.error(`${(1000 * ms).toFixed(1).padStart(10)} us  ${name}`);
console.log(least);
