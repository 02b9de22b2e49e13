// What this browser's clock can do.

// The least that performance.now tells apart, milliseconds.
export function clockResolution() {
  let least = Infinity;
  const end = performance.now() + 50;
  for (let last = performance.now(); last < end;) {
    const now = performance.now();
    if (now > last) least = Math.min(least, now - last);
    last = now;
  }
  return least;
}
