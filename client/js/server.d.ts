// Compiles models on a server, by the API of its slipway-web, and runs them here: in pages of slipway-web, and in Node (18 and later).
import { Elements, Program, ProgramOptions, SlipwayError, Tensor } from "./slipway.js";

/** What the server or its slipway-web says is wrong. */
export class ServerError extends SlipwayError {
  private constructor();
  /**
   * "UNAUTHENTICATED" without a token that it takes; "INVALID_ARGUMENT" and "UNIMPLEMENTED" for a model that is none, or that it cannot
   * compile; "FAILED_PRECONDITION" for an artifact of another architecture, and for one whose sizes are open; "RESOURCE_EXHAUSTED" for
   * what is too large; "UNAVAILABLE" when it cannot be reached; "DEADLINE_EXCEEDED" after `timeoutMs`; and others of google.rpc.Code.
   */
  readonly code: string;
  /** The job that failed, if it was one. */
  readonly job?: string;
  /** The end of what its compiler said, if anything. */
  readonly log?: string;
}

export interface ServerOptions extends Pick<ProgramOptions, "maxMemoryBytes" | "threads" | "fetch"> {
  /** Where slipway-web is, "https://lab.example"; in a page the page's own origin without it. Pages of others it does not answer. */
  base?: URL | string;
  /** What `slipwayd token user NAME` printed; without it the page's cookie is shown. */
  token?: string;
  /** For all of it; 10 minutes without it. What has begun on the server is ended then. */
  timeoutMs?: number;
  /** Ends it: the promise is rejected with the signal's reason, and what has begun on the server is ended. */
  signal?: AbortSignal;
}

export interface Progress {
  stage: "upload" | "queued" | "assigned" | "compile" | "fetch";
  /** The compilation, once there is one. */
  job?: string;
  /** What the compiler does now, and how far that is; `total` is 0 where nobody knows. */
  what?: string;
  done?: number;
  total?: number;
}

export interface CompileOptions extends ServerOptions {
  /** The model's file, whose end says what it is (".onnx", ".graph", "-symbol.json"); a File's own name, else "model.onnx". */
  name?: string;
  /** "wasm-32-wasi-simd128" without it, and with `threads` "wasm-32-wasi-simd128-threads". */
  target?: string;
  /** Sizes that the model leaves open: all of them have to be known. */
  dimensions?: Record<string, number>;
  /** Is told of each change. */
  onProgress?: (progress: Progress) => void;
}

/** Has a model, one file, compiled, and loads what came of it. Throws ServerError, the signal's reason, and what Program.create throws. */
export function compile<Inputs = Record<string, Elements | Tensor>, Outputs = Record<string, Elements>>(
  model: BufferSource | Blob, options?: CompileOptions): Promise<Program<Inputs, Outputs>>;

/** Loads what was compiled before, by the digest of its manifest. Throws as compile. */
export function load<Inputs = Record<string, Elements | Tensor>, Outputs = Record<string, Elements>>(
  artifact: { sha256: string; sizeBytes: number | string }, options?: ServerOptions): Promise<Program<Inputs, Outputs>>;
