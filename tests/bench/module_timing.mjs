// How fast an export of f32 inputs runs, in whatever engine this is.

// {least, steps}: the least milliseconds of a run, and of each step by its name, if these are wanted.
export async function timeModule(load, samples, wantsSteps) {
  const program = await load();
  const inputs = Object.fromEntries(program.inputs.map(({ name, shape }) =>
    [name, Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => Math.sin(i))]));
  // Until the engine's optimizing compiler has been at work on everything.
  const warm = performance.now() + 1500;
  while (performance.now() < warm) {
    program.run(inputs);
    await new Promise((resolve) => { setTimeout(resolve); });
  }
  let least = Infinity;
  for (let i = 0; i < samples; ++i) {
    const begin = performance.now();
    program.run(inputs);
    least = Math.min(least, performance.now() - begin);
  }
  const steps = new Map();
  for (let i = 0; wantsSteps && i < samples; ++i) {
    program.run(inputs, { onStep: (name, ms, index) => steps.set(`${index} ${name}`, Math.min(ms, steps.get(`${index} ${name}`) ?? Infinity)) });
  }
  return { least, steps: [...steps] };
}
