// module_bench.mjs FOLDER SAMPLES THREADS [STEPS]: the least milliseconds of a run of an export of f32 inputs, on stdout, and its slowest steps, on stderr.
import { pathToFileURL } from 'node:url';
import { timeModule } from './module_timing.mjs';

const [folder, samples, threads, shown = '0'] = process.argv.slice(2);
const { load } = await import(pathToFileURL(`${folder}/index.js`));
const { least, steps } = await timeModule(() => load({ threads: Number(threads) }), Number(samples), Number(shown) > 0);
for (const [name, ms] of steps.sort((a, b) => b[1] - a[1]).slice(0, Number(shown))) console.error(`${(1000 * ms).toFixed(1).padStart(10)} us  ${name}`);
console.log(least);
