// A program's module on its memory, as each of its threads has it.

const ALIGNMENT = 64;
const PAGE = 65536;
const TEXT_BYTES = 1000;

export const align = (bytes) => Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;

// A copy, since no decoder takes shared memory.
export function textAt(memory, at) {
  const bytes = new Uint8Array(memory.buffer, at).slice(0, TEXT_BYTES);
  const end = bytes.indexOf(0);
  return new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end));
}

// Scratch memory of one thread: a stack of blocks, in pieces of memory that grow.
export class Scratch {
  #pieces;
  #blocks = [];
  isExhausted = false;

  constructor(memory, begin, end) {
    this.memory = memory;
    this.#pieces = [{ begin, end }];
  }
  clear() {
    this.#blocks = [];
    this.isExhausted = false;
  }
  allocate(bytes) {
    const size = Math.max(align(bytes), ALIGNMENT);
    let { piece, end: at } = this.#blocks.at(-1) ?? { piece: 0, end: this.#pieces[0].begin };
    for (;;) {
      const missing = at + size - this.#pieces[piece].end;
      if (missing <= 0) break;
      if (piece + 1 < this.#pieces.length) {
        at = this.#pieces[++piece].begin;
      } else if (!this.#grow(missing)) {
        this.isExhausted = true;
        return 0;
      }
    }
    this.#blocks.push({ piece, at, end: at + size, isUsed: true });
    return at;
  }
  release(at) {
    const block = this.#blocks.find((one) => one.at === at);
    if (block) block.isUsed = false;
    while (this.#blocks.length > 0 && !this.#blocks.at(-1).isUsed) this.#blocks.pop();
  }
  // What is new follows the last piece, unless another thread asked in between.
  #grow(bytes) {
    const pages = Math.ceil(bytes / PAGE);
    let begin;
    try {
      begin = this.memory.grow(pages) * PAGE;
    } catch {
      return false;
    }
    const end = begin + pages * PAGE;
    const last = this.#pieces.at(-1);
    if (last.end === begin) last.end = end;
    else this.#pieces.push({ begin, end });
    return true;
  }
}

// What it says of its last failure stands in `said`.
export class Instance {
  said = "";

  // Of a program of several threads, `loop` runs loops on all of them (threads.js).
  constructor(module, memory, scratch, loop) {
    this.scratch = scratch;
    this.exports = new WebAssembly.Instance(module, { env: { memory }, slipway: {
      parallel_for: (context, task, min, extent, closure) => {
        if (loop?.takes(extent)) return loop.run(this, { context, task, min, extent, closure });
        const body = this.exports.__indirect_function_table.get(task);
        for (let i = min; i < min + extent; ++i) {
          const result = body(context, i, closure);
          if (result !== 0) return result;
        }
        return 0;
      },
      allocate: (context, bytes) => scratch.allocate(Number(bytes)),
      release: (context, at) => scratch.release(at),
      error: (context, message) => {
        this.said = textAt(memory, message);
      },
    } }).exports;
  }

  // {result}, or {trap}, after which the stack is as before.
  call(f) {
    const stack = this.exports.__stack_pointer;
    const before = stack.value;
    this.said = "";
    try {
      return { result: f() };
    } catch (trap) {
      stack.value = before;
      return { trap };
    }
  }
}
