// A thread of a program, in a worker of its own: gets what it works with in one message, answers {ready} or {failed}, and then takes part in the program's
// loops until its worker is ended.
import { serveLoops } from "./threads.js";

async function begin(given, answer) {
  try {
    if (given.life !== undefined) await new Promise((held) => { navigator.locks.request(given.life, () => (held(), new Promise(() => {}))); });
    serveLoops(given, () => answer({ ready: true }));
  } catch (error) {
    answer({ failed: error.message });
  }
}

if (globalThis.postMessage) {
  globalThis.onmessage = ({ data }) => begin(data, (message) => globalThis.postMessage(message));
} else {
  import("node:worker_threads").then(({ parentPort }) => parentPort.once("message", (data) => begin(data, (message) => parentPort.postMessage(message))));
}
