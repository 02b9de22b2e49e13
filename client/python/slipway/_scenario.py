"""How calls of a benchmark come: the scenarios of MLPerf's LoadGen, as proto/slipway/v1/run.proto (Scenario) has them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Tuple

from slipway import _proto, errors

_KINDS = {'single-stream': 1, 'multi-stream': 2, 'offline': 3, 'server': 4}
_VERDICTS = {1: 'met', 2: 'missed', 3: 'undecided'}
_DEFAULT_SAMPLES = 100
_OFFLINE_GROUPS = 1000
_SERVER_SECONDS = 10
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Scenario:
    """`kind` is "single-stream" (one call after the other), "multi-stream" (`calls` at once), "offline" (all at once) or "server"
    (at random, `qps` queries a second, whose latency at `percentile` is held against `latency_bound` seconds; with `find_qps`
    the highest rate that meets it is looked for). `instances` are contexts of the program; 0: as many as there are processors."""

    kind: str
    instances: int = 0
    calls: int = 0
    qps: float = 0
    latency_bound: float = 0
    percentile: float = 0.99
    find_qps: bool = False

    def to_proto(self) -> Any:
        if self.kind not in _KINDS:
            raise errors.InvalidArgument(f'scenario "{self.kind}" is none of {", ".join(_KINDS)}')
        is_server = self.kind == 'server'
        if is_server and not self.qps > 0 and not self.find_qps:
            raise errors.InvalidArgument('scenario "server" wants qps, how many queries come a second')
        return _proto.Scenario(kind=_KINDS[self.kind], instances=self.instances, calls_per_query=self.calls,
                               qps_millis=round(self.qps * 1e3), latency_bound_ns=round(self.latency_bound * 1e9),
                               percentile_ppm=round(self.percentile * 1e6) if is_server else 0, find_qps=self.find_qps)

    @classmethod
    def from_proto(cls, proto: Any) -> 'Scenario':
        kind = next((name for name, number in _KINDS.items() if number == proto.kind), '')
        return cls(kind, proto.instances, proto.calls_per_query, proto.qps_millis / 1e3, proto.latency_bound_ns / 1e9,
                   proto.percentile_ppm / 1e6, proto.find_qps)

    @property
    def default_samples(self) -> int:
        """As many as 10 s bring, and as the percentile needs for an interval."""
        if self.kind == 'offline':
            return _OFFLINE_GROUPS
        if self.kind != 'server':
            return _DEFAULT_SAMPLES
        needed = math.ceil(math.log((1 - _CONFIDENCE) / 2) / math.log(max(self.percentile, 1 - self.percentile)))
        return max(math.ceil(self.qps * _SERVER_SECONDS), needed)


@dataclass(frozen=True)
class Trial:
    """A rate that was tried, with what came of it."""

    qps: float
    latency_ns: int
    verdict: str


@dataclass(frozen=True)
class ScenarioResult:
    """What a scenario gave, beside its samples."""

    # With what was left open filled in.
    scenario: Scenario
    duration_ns: int
    calls: int
    # "met", "missed" or "undecided"; empty where there was no bound.
    verdict: str
    trials: Tuple[Trial, ...]

    @classmethod
    def from_proto(cls, proto: Any) -> 'ScenarioResult':
        if proto.duration_ns < 1 or proto.calls < 1:
            raise errors.Internal('the result of a scenario came without calls')
        trials = tuple(Trial(each.qps_millis / 1e3, each.latency_ns, _VERDICTS.get(each.verdict, '')) for each in proto.trials)
        return cls(Scenario.from_proto(proto.scenario), proto.duration_ns, proto.calls, _VERDICTS.get(proto.verdict, ''), trials)

    @property
    def calls_per_second(self) -> float:
        return self.calls * 1e9 / self.duration_ns

    def __str__(self) -> str:
        bound = f', bound {self.verdict}' if self.verdict else ''
        rate = f', {self.scenario.qps:g} queries a second' if self.scenario.kind == 'server' else ''
        return f'{self.scenario.kind}{rate}: {self.calls_per_second:.4g} calls a second{bound}'
