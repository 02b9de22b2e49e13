"""Which of two programs is faster on a device: both are timed in turns, as client/comparison.h has it."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Sequence, Tuple

from slipway import _session_work as work
from slipway import _arrays, _statistics, _wire, errors
from slipway._conversation import Conversation
from slipway._results import Artifact, Benchmark, Comparison
from slipway._session_work import ProgramHeld, SessionWork, TensorHeld
from slipway._statistics import Estimate

CONFIDENCE = 0.99
# A cycle is A B B A and, with the programs loaded anew, B A A B.
_ROUNDS = ((0, 1, 1, 0), (1, 0, 0, 1))
_BLOCK_NS = 20e6
_MOST_SAMPLES = 20
# Below it there is no interval at CONFIDENCE.
_LEAST_CYCLES = 8
_MOST_CYCLES = 1000
_LOAD_DEADLINE = 60.0
_TIME_DEADLINE = 600.0


def _block_ns(block: Benchmark) -> float:
    """Of a sample."""
    return max(1.0, _statistics.median(block.samples_ns))


@dataclass
class Ratios:
    """What the cycles so far say of B against A."""

    margin: float
    logarithms: List[float] = field(default_factory=list)
    a_ns: List[float] = field(default_factory=list)
    b_ns: List[float] = field(default_factory=list)

    def add(self, rounds: Sequence[Tuple[Sequence[int], Sequence[Benchmark]]]) -> None:
        """A cycle: an order of sides and their blocks, for each of its rounds."""
        logarithm = 0.0
        for order, blocks in rounds:
            for side, block in zip(order, blocks):
                call_ns = _block_ns(block) / block.iterations_per_sample
                logarithm += (math.log(call_ns) if side else -math.log(call_ns)) / 4
                (self.b_ns if side else self.a_ns).append(call_ns)
        self.logarithms.append(logarithm)

    def result(self, device: str) -> Comparison:
        estimate = _statistics.centre(self.logarithms, CONFIDENCE)
        verdict, is_certain, interval = 'same', False, None
        if estimate.interval is not None:
            low, high = estimate.interval
            interval = (math.exp(low), math.exp(high))
            most = math.log1p(self.margin)
            verdict = 'worse' if low > most else 'better' if high < -most else 'same'
            is_certain = verdict != 'same' or (-most <= low and high <= most)
        return Comparison(verdict=verdict, is_certain=is_certain, ratio=Estimate(math.exp(estimate.value), interval),
                          a_ns=_statistics.median(self.a_ns), b_ns=_statistics.median(self.b_ns),
                          cycles=len(self.logarithms), margin=self.margin, device=device)


def check_takes_the_same(a: Artifact, b: Artifact) -> None:
    if [port.type for port in a.inputs] != [port.type for port in b.inputs]:
        raise errors.InvalidArgument('A and B take different inputs: '
                                     + ' and '.join(f'({", ".join(map(str, each.inputs))})' for each in (a, b)))


def compare_programs(conversation: Conversation, a: Artifact, b: Artifact, inputs: Dict[str, Any], *, seed: int,
                     threads: int, margin: float, limit: float,
                     clock: Callable[[], float] = time.monotonic) -> SessionWork[Comparison]:
    """No cycle begins after `limit` seconds, unless there are too few for an interval."""
    held: List[TensorHeld] = []
    for port in a.inputs:
        held.append((yield from _input(conversation, port, inputs, seed)))

    def time_blocks(order: Sequence[int], samples: int) -> SessionWork[List[Benchmark]]:
        programs: Dict[int, ProgramHeld] = {}
        for side in (order[0], 1 - order[0]):
            artifact = b if side else a
            programs[side] = yield from work.load(conversation, artifact.digest, None, artifact.name, threads,
                                                  _LOAD_DEADLINE)
        # One waits for the other on the device, so that the way there and back lies in no gap between them.
        requests = [_wire.request(int(_TIME_DEADLINE * 1e9), time={
            'call': {'program': programs[side].handle, 'inputs': [each.handle for each in held]}, 'warmup': 1,
            'samples': samples, 'min_sample_ns': 1_000_000}) for side in order]
        answers = (yield requests).check()
        for program in programs.values():
            program.free()
        return [Benchmark.from_proto(answer.response.timed.result) for answer in answers]

    until = clock() + limit
    # Finds out how long samples are, and wakes the machine up.
    blocks = yield from time_blocks(_ROUNDS[0], 1)
    samples = int(min(max(_BLOCK_NS / max(map(_block_ns, blocks)), 1), _MOST_SAMPLES))
    ratios = Ratios(margin)
    device = conversation.opened.device if conversation.opened is not None else ''
    while True:
        rounds = []
        for order in _ROUNDS:
            rounds.append((order, (yield from time_blocks(order, samples))))
        ratios.add(rounds)
        if len(ratios.logarithms) < _LEAST_CYCLES:
            continue
        result = ratios.result(device)
        if result.is_certain or len(ratios.logarithms) == _MOST_CYCLES or clock() >= until:
            return result


def _input(conversation: Conversation, port: Any, inputs: Dict[str, Any], seed: int) -> SessionWork[TensorHeld]:
    if port.name in inputs:
        return (yield from work.put(conversation, inputs[port.name], port.name))
    known = _arrays.parse_static(port.type)
    if known is None:
        raise errors.InvalidArgument(f'input "{port.name}" must be given: its type, {port.type}, is open')
    return (yield from work.allocate(conversation, known, port.name, seed))


@dataclass(frozen=True)
class Gate:
    """Whether a program has become slower than its baseline, by timing both in turns (client/gate.h)."""

    # "passed": a regression of `max_regression` is excluded; "regressed": one of half of it is shown; else "undecided".
    verdict: str
    max_regression: float
    comparison: Comparison

    def __str__(self) -> str:
        ratio = self.comparison.ratio
        interval = ' (99 %: {:.4f} to {:.4f})'.format(*ratio.interval) if ratio.interval else ''
        return (f'{self.verdict}: the candidate takes {ratio.value:.4f} times as long{interval}, '
                f'{self.max_regression:.1%} is allowed')


def judge(ratio: Estimate, max_regression: float) -> str:
    if ratio.interval is None:
        return 'undecided'
    low, high = ratio.interval
    if high < 1 + max_regression:
        return 'passed'
    return 'regressed' if low > 1 + max_regression / 2 else 'undecided'
