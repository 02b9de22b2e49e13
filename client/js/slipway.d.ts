// Runs models that "slipway export" made for wasm-32: in Node (18 and later), in pages and in their workers.

/** Base of all errors of this file. */
export class SlipwayError extends Error {}
/** A file of the export cannot be read. */
export class FileError extends SlipwayError {}
/** Plan, module and weights are damaged, do not belong to each other, or are newer than this file. */
export class PlanError extends SlipwayError {}
/** The engine lacks what the model was exported for or is to run with, 128-bit vectors or threads; or a thread of the program has ended. */
export class EngineError extends SlipwayError {}
/** The model takes more memory than it may have, or than the engine has. Others may still run. */
export class MemoryLimitError extends SlipwayError {}
/** An input is missing, unknown, of another type or shape, or holds what the model cannot take. */
export class InputError extends SlipwayError {}
/** A step of the model failed. The program can be run again. */
export class StepError extends SlipwayError {}

/**
 * Elements of a tensor in order, the last dimension innermost: f32 as Float32Array, f64, i8, i16, i32, u16 and u32 as the arrays of
 * these, i64 as BigInt64Array, u64 as BigUint64Array, f16 and bf16 as their bits in a Uint16Array, all else as a Uint8Array of bytes
 * (bool: 0 or 1).
 */
export type Elements =
  | Float32Array | Float64Array | Int8Array | Int16Array | Int32Array | BigInt64Array
  | Uint8Array | Uint16Array | Uint32Array | BigUint64Array;

/** Elements of a type, of their bytes, which are not copied. Throws RangeError where a part of an element is left. */
export function elementsOf(dtype: string, bytes: ArrayBuffer): Elements;

/** Whether this engine has 128-bit vectors, which models for "wasm-32-wasi-simd128" take. */
export function hasVectors(): boolean;

/** Elements with the shape that they are meant to have, which is checked. */
export interface Tensor<T extends Elements = Elements> {
  data: T;
  shape: readonly number[];
}

/** An input or output. */
export interface Port {
  readonly name: string;
  /** "f32", "i64", "bool", ... */
  readonly dtype: string;
  readonly shape: readonly number[];
}

export interface ProgramOptions {
  /** Of WebAssembly memory, at most; by default 4 GiB, the most there is. Code of the engine's own is not in it. */
  maxMemoryBytes?: number;
  /**
   * Threads that it runs on, 1 to 64, the caller's among them; 1 without it. More take a model for "wasm-32-wasi-simd128-threads", 1 MiB of
   * memory and scratch memory each, and in a browser an isolated page (crossOriginIsolated) and a worker of it, since a page's own thread may
   * not wait; RangeError for other numbers. Each is a worker of `thread.js`, which lies beside this file, and lives until `close`.
   */
  threads?: number;
  /** In a browser: locks (Web Locks) of the names `${life}-1`, ... are held by its other threads, so that whoever waits for one hears of its end. */
  life?: string;
  /** Reads the files of an export in place of the global one. */
  fetch?: typeof fetch;
}

export interface RunOptions {
  /** Is told of each step when it has run: its name, milliseconds by performance.now, and its number. */
  onStep?: (name: string, milliseconds: number, index: number) => void;
}

/** What an export's files hold. */
export interface ProgramFiles {
  /** plan.json, parsed. */
  plan: unknown;
  /** model.wasm, or what became of it. */
  module: BufferSource | WebAssembly.Module;
  /** weights.bin, where there is one. */
  weights?: BufferSource;
}

/** A model, ready to run, with memory of its own. */
export class Program<Inputs = Record<string, Elements | Tensor>, Outputs = Record<string, Elements>> {
  private constructor();
  /** Of the files below `base`, which ends with "/". Throws all but InputError and StepError. */
  static load<Inputs, Outputs>(base: URL | string, options?: ProgramOptions): Promise<Program<Inputs, Outputs>>;
  /** The same of what is in memory. Throws all but FileError, InputError and StepError. */
  static create<Inputs, Outputs>(files: ProgramFiles, options?: ProgramOptions): Promise<Program<Inputs, Outputs>>;

  readonly inputs: readonly Port[];
  readonly outputs: readonly Port[];
  /** What the code is for, "wasm-32-wasi-simd128". */
  readonly target: string;
  /** Of its memory, now: steps may take more, up to the limit. */
  readonly memoryBytes: number;

  /**
   * One inference. Copies inputs, runs the model to its end (in a page: in a worker, where it takes long), and gives new arrays.
   * Throws InputError, StepError and MemoryLimitError; whatever it throws, the program can be run again.
   */
  run(inputs: Inputs, options?: RunOptions): Outputs;

  /** Ends its other threads: `run` throws EngineError from then on. */
  close(): void;
}
