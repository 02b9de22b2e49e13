// Programs that decide, while they run, which step is next. Loaded by those alone.
import { PlanError } from "./slipway.js";

const NUMBER_BYTES = 8;

// By what a step is to `do`: whether it says all that this takes. `sizes` are of its operands.
const isTarget = (target, plan) => Number.isSafeInteger(target) && target >= 0 && target <= plan.steps.length;
const DEEDS = {
  take_slice: ({ bytes }, [, to, turn]) => bytes === to && turn === NUMBER_BYTES,
  put_slice: ({ bytes }, [from, , turn]) => bytes === from && turn === NUMBER_BYTES,
  begin: (step, [turn]) => turn === NUMBER_BYTES,
  while: ({ target, turns }, [turn, most], plan) => turn === NUMBER_BYTES && (most === undefined ? Number.isSafeInteger(turns) : most === NUMBER_BYTES) && isTarget(target, plan),
  next: ({ target }, [turn], plan) => turn === NUMBER_BYTES && isTarget(target, plan),
  unless: ({ target }, [condition], plan) => condition === 1 && isTarget(target, plan),
  go_to: ({ target }, sizes, plan) => isTarget(target, plan),
};

export class Control {
  #steps;

  // Throws where a step cannot be followed, or is none.
  constructor(plan) {
    for (const step of plan.steps) {
      if (step.do === undefined) continue;
      const sizes = step.arguments.map((value) => plan.values[value].bytes);
      if (!Object.hasOwn(DEEDS, step.do) || step.kernel !== undefined || !DEEDS[step.do](step, sizes, plan)) {
        throw new PlanError("the plan is damaged: a step cannot be followed");
      }
    }
    this.#steps = plan.steps;
  }
  // The numbers of steps that call or copy, as they are to be done; what stands between them it does itself. `hosts` are where values begin.
  *order(memory, hosts) {
    for (let i = 0; i < this.#steps.length;) {
      const step = this.#steps[i];
      if (step.do === undefined) yield i++;
      else i = this.#follow(step, i, memory, hosts);
    }
  }
  // Which step comes next.
  #follow({ do: deed, bytes, target, turns, arguments: operands }, i, memory, hosts) {
    const [first, second, turn] = operands.map((value) => hosts[value]);
    const view = new DataView(memory.buffer);
    const copy = (from, to) => new Uint8Array(memory.buffer).copyWithin(to, from, from + bytes);
    const numberAt = (at) => view.getBigInt64(at, true);
    switch (deed) {
      case "take_slice":
        copy(first + bytes * Number(numberAt(turn)), second);
        return i + 1;
      case "put_slice":
        copy(first, second + bytes * Number(numberAt(turn)));
        return i + 1;
      case "begin":
        view.setBigInt64(first, 0n, true);
        return i + 1;
      case "while":
        return numberAt(first) < (second === undefined ? turns : numberAt(second)) ? i + 1 : target;
      case "next":
        view.setBigInt64(first, numberAt(first) + 1n, true);
        return target;
      case "unless":
        return view.getUint8(first) ? i + 1 : target;
      default:
        return target;
    }
  }
}
