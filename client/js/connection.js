// The API of a slipway-web, asked from its pages, their workers, and Node: answers and errors. No dependencies.
import { SlipwayError } from "./slipway.js";

// Of google.rpc.Code, by its numbers.
export const CODES = ["OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED",
  "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED"];

export class ServerError extends SlipwayError {
  name = "ServerError";
  constructor(code, message, { job, log, ...options } = {}) {
    super(message, options);
    Object.assign(this, { code, job, log });
  }
}

// Events of a body of server-sent events: {name, data}. UNAVAILABLE where it breaks off.
export async function* eventsOf(body) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause) => {
        throw new ServerError("UNAVAILABLE", `the connection broke: ${cause.message}`, { cause });
      });
      if (done) return;
      text += decoder.decode(value, { stream: true });
      for (let end; (end = text.indexOf("\n\n")) >= 0; text = text.slice(end + 2)) {
        const fields = Object.fromEntries(text.slice(0, end).split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]));
        if (fields.event) yield { name: fields.event, data: JSON.parse(fields.data) };
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

// `patience` has a signal, which ends what is asked, and `check()`, which throws why if that has happened.
export class Connection {
  constructor({ base = globalThis.location?.origin, token, fetch: ask = globalThis.fetch }, patience) {
    if (base === undefined) throw new ServerError("INVALID_ARGUMENT", "outside of a page \"base\" says where slipway-web is");
    Object.assign(this, { base: new URL(base), token, ask, patience });
  }

  // An answer that is none of an error.
  async fetch(path, { method = "GET", type, body, signal = this.patience.signal } = {}) {
    const headers = { ...(this.token ? { Authorization: `Bearer ${this.token}` } : {}), ...(type ? { "Content-Type": type } : {}) };
    const { ask } = this; // No method of this: a browser's own has no other.
    let answer;
    try {
      answer = await ask(new URL(path, this.base), { method, headers, body, signal });
    } catch (cause) {
      this.patience.check();
      throw new ServerError("UNAVAILABLE", `${this.base.origin} cannot be reached: ${cause.cause?.message ?? cause.message}`, { cause });
    }
    if (answer.ok) return answer;
    const { code = "INTERNAL", message = `${this.base.origin} answered ${answer.status}` } = await answer.json().catch(() => ({}));
    throw new ServerError(code, message);
  }

  async json(path, options) {
    const answer = await this.fetch(path, options);
    try {
      return await answer.json();
    } catch (cause) {
      this.patience.check();
      throw new ServerError("UNAVAILABLE", `the answer of ${this.base.origin} broke off: ${cause.message}`, { cause });
    }
  }

  post(path, value, options) {
    return this.json(path, { method: "POST", type: "application/json", body: JSON.stringify(value), ...options });
  }
}
