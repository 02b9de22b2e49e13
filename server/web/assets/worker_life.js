// Whether a worker is still there. It holds a lock for as long as it lives, whatever it is doing, and browsers give the locks of what has ended to
// who waits for them: an end without a word, the browser's doing or its own, shows at once.

// In the worker: resolves once it holds the lock of this name, which is nobody else's.
export function holdLife(name) {
  return new Promise((resolve) => {
    navigator.locks.request(name, () => {
      resolve();
      return new Promise(() => {});
    });
  });
}

// Elsewhere, from when the worker holds it: calls `ended` when the worker has ended, unless `signal` comes first.
export function whenEnded(name, signal, ended) {
  navigator.locks.request(name, {signal}, ended).catch((error) => {
    if (!signal.aborted) throw error;
  });
}
