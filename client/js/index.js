// The model whose files lie beside this one.
import { Program } from "./slipway.js";

export * from "./slipway.js";
export const load = (options) => Program.load(new URL("./", import.meta.url), options);
