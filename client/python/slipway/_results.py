"""What comes of work: plain values, made of a server's answers."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from typing import Any, Dict, Generic, Iterator, List, Mapping, Optional, Sequence, Tuple, TypeVar, overload

from slipway import _statistics, errors
from slipway._arrays import Array, type_of
from slipway._blobs import Digest
from slipway._scenario import ScenarioResult
from slipway._slip import Port
from slipway._statistics import Estimate
from slipway._table import Row, Shown, size_text, time_text, to_html

_NS = 1_000_000_000
T = TypeVar('T', bound=Shown)


def time_of(ns: int) -> Optional[datetime.datetime]:
    """Of nanoseconds since 1970, UTC; none of 0."""
    return datetime.datetime.fromtimestamp(ns / _NS, datetime.timezone.utc) if ns else None


def _tags(protos: Any) -> Dict[str, str]:
    return {proto.key: proto.value for proto in protos}


@dataclass(frozen=True)
class StageTime:
    """Time that one stage or pass of a compilation took."""

    name: str
    duration_ns: int


@dataclass(frozen=True)
class Artifact(Shown):
    """A program at the server: what `compile` gives and `run`, `bench`, `compare` and `Session.load` take."""

    digest: Digest
    name: str
    target: str
    inputs: Tuple[Port, ...]
    outputs: Tuple[Port, ...]

    def rows(self) -> List[Row]:
        return [{'port': kind, 'name': port.name, 'type': port.type}
                for kind, ports in (('input', self.inputs), ('output', self.outputs)) for port in ports]

    def _caption(self) -> str:
        return f'{self.name} for {self.target}, artifact {self.digest.sha256[:12]}'


@dataclass(frozen=True)
class Compilation(Shown):
    """What a compilation gave."""

    artifact: Artifact
    cached: bool
    compile_key: str
    artifact_bytes: int
    kernels: int
    kernels_compiled: int
    code_bytes: int
    constant_bytes: int
    arena_bytes: int
    stages: Tuple[StageTime, ...]
    passes: Tuple[StageTime, ...]

    @classmethod
    def from_proto(cls, proto: Any, artifact: Artifact) -> 'Compilation':
        report = proto.report
        return cls(artifact=artifact, cached=proto.cached, compile_key=proto.compile_key,
                   artifact_bytes=proto.artifact_bytes, kernels=report.kernels,
                   kernels_compiled=report.kernels_compiled, code_bytes=report.code_bytes,
                   constant_bytes=report.constant_bytes, arena_bytes=report.arena_bytes,
                   stages=tuple(StageTime(each.name, each.duration_ns) for each in report.stages),
                   passes=tuple(StageTime(each.name, each.duration_ns) for each in report.passes))

    def rows(self) -> List[Row]:
        return [{'stage': stage.name, 'ns': stage.duration_ns} for stage in self.stages]

    def _shown(self) -> List[Row]:
        return [{'stage': stage.name, 'time': time_text(stage.duration_ns)} for stage in self.stages]

    def _caption(self) -> str:
        return (f'{self.artifact.name} for {self.artifact.target}: {self.kernels} kernels, '
                f'{size_text(self.artifact_bytes)}{", cached" if self.cached else ""}')


@dataclass(frozen=True)
class Timings:
    """Where the time of an attempt on a device went, nanoseconds."""

    fetch_ns: int
    spawn_ns: int
    load_ns: int
    run_ns: int
    upload_ns: int

    @classmethod
    def from_proto(cls, proto: Any) -> 'Timings':
        return cls(proto.fetch_ns, proto.spawn_ns, proto.load_ns, proto.run_ns, proto.upload_ns)


@dataclass(frozen=True, eq=False)
class RunResult(Shown, Mapping[str, Array]):
    """The outputs of a run, by name and in the program's order: `result['scores']`."""

    outputs: Dict[str, Array]
    timings: Timings
    device: str
    job: str
    # What the clock of timings.run_ns tells apart; 0: unknown.
    clock_resolution_ns: int = 0

    def __getitem__(self, name: str) -> Array:
        if name not in self.outputs:
            raise KeyError(f'no output "{name}"; there are {", ".join(self.outputs)}')
        return self.outputs[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.outputs)

    def __len__(self) -> int:
        return len(self.outputs)

    def only(self) -> Array:
        """The output of a program that has one."""
        if len(self.outputs) != 1:
            raise ValueError(f'there are {len(self.outputs)} outputs: {", ".join(self.outputs)}')
        return next(iter(self.outputs.values()))

    def rows(self) -> List[Row]:
        return [{'output': name, 'type': str(type_of(array)), **_summary(array)} for name, array in self.outputs.items()]

    def _caption(self) -> str:
        return f'on {self.device} in {time_text(self.timings.run_ns)}'


def _summary(array: Array) -> Dict[str, Optional[float]]:
    if array.size == 0 or array.dtype.kind not in 'biuf':
        return {'min': None, 'max': None, 'mean': None}
    return {'min': float(array.min()), 'max': float(array.max()), 'mean': float(array.mean())}


@dataclass(frozen=True)
class ThreadWork:
    """What one thread did of a step: nanoseconds from the step's begin, the first the calling thread. Without tasks, no times."""

    begin_ns: int
    end_ns: int
    busy_ns: int
    tasks: int


@dataclass(frozen=True)
class StepTime:
    """Time of one step of a program, over profiled calls; what it computes and moves where the artifact tells."""

    name: str
    operators: Tuple[str, ...]
    ns: int
    flops: Optional[int]
    bytes: Optional[int]
    threads: Tuple[ThreadWork, ...] = ()  # Where several ran it and the agent tells it.


class Steps(Shown):
    """The steps of a program, in its order."""

    def __init__(self, steps: Sequence[StepTime]) -> None:
        self.steps = tuple(steps)

    @classmethod
    def from_protos(cls, protos: Any) -> 'Steps':
        return cls([StepTime(each.name, tuple(each.operators), each.duration_ns,
                             each.flops if each.HasField('flops') else None,
                             each.bytes if each.HasField('bytes') else None,
                             tuple(ThreadWork(thread.begin_ns, thread.end_ns, thread.busy_ns, thread.tasks)
                                   for thread in each.threads)) for each in protos])

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[StepTime]:
        return iter(self.steps)

    def __getitem__(self, index: int) -> StepTime:
        return self.steps[index]

    def slowest(self, count: int = 10) -> 'Steps':
        """The steps that take longest, the slowest first."""
        return Steps(sorted(self.steps, key=lambda step: -step.ns)[:count])

    def rows(self) -> List[Row]:
        return [{'step': step.name, 'operators': ' '.join(step.operators), 'ns': step.ns, 'flops': step.flops,
                 'bytes': step.bytes} for step in self.steps]

    def _shown(self) -> List[Row]:
        total = sum(step.ns for step in self.steps) or 1
        return [{'step': step.name, 'time': time_text(step.ns), 'share': f'{100 * step.ns / total:.1f} %',
                 'operators': ' '.join(step.operators)} for step in self.steps]


@dataclass(frozen=True)
class Benchmark(Shown):
    """What was measured: every sample, and what samples say. Percentiles are by nearest rank, with intervals at a
    confidence of 95 % that count samples which depend on each other as fewer (core/statistics)."""

    samples_ns: Tuple[int, ...] = field(repr=False)
    iterations_per_sample: int = 1
    device: str = ''
    device_target: str = ''
    threads: int = 1
    disturbed: bool = False
    load_cold_ns: int = 0
    load_warm_ns: int = 0
    first_run_ns: int = 0
    peak_memory_bytes: int = 0
    # What the clock of samples tells apart; 0: unknown.
    clock_resolution_ns: int = 0
    # With a goal for it: how exactly the median is known, a share of it; none where there are too few samples to tell.
    precision: Optional[float] = None
    steps: Steps = field(default=Steps([]), repr=False)
    # Where one was asked for. Samples are then queries or, of "offline", the ends of groups of calls from when all were issued.
    scenario: Optional[ScenarioResult] = None
    started_at: Optional[datetime.datetime] = None
    job: str = ''
    model: str = ''

    @classmethod
    def from_proto(cls, proto: Any, job: str = '', model: str = '') -> 'Benchmark':
        if not proto.samples_ns or proto.iterations_per_sample < 1:
            raise errors.Internal(f'the benchmark of job "{job}" came without samples')
        knows_precision = proto.HasField('precision_ppm') and proto.precision_ppm >= 0
        return cls(samples_ns=tuple(proto.samples_ns), iterations_per_sample=proto.iterations_per_sample,
                   device=proto.device, device_target=proto.device_target, threads=proto.threads,
                   disturbed=proto.disturbed, load_cold_ns=proto.load_cold_ns, load_warm_ns=proto.load_warm_ns,
                   first_run_ns=proto.first_run_ns, peak_memory_bytes=proto.peak_memory_bytes,
                   clock_resolution_ns=proto.clock_resolution_ns,
                   precision=proto.precision_ppm / 1e6 if knows_precision else None,
                   steps=Steps.from_protos(proto.steps),
                   scenario=ScenarioResult.from_proto(proto.scenario) if proto.HasField('scenario') else None, started_at=time_of(proto.start_time_ns), job=job, model=model)

    @property
    def calls_ns(self) -> List[float]:
        """The time of one call of each sample; in scenarios, of one sample."""
        if self.scenario is not None and self.scenario.scenario.kind != 'single-stream':
            return [float(sample) for sample in self.samples_ns]
        return _statistics.per_call(self.samples_ns, self.iterations_per_sample)

    @property
    def min_ns(self) -> float:
        return min(self.calls_ns)

    @property
    def p50_ns(self) -> float:
        return self.quantile(0.5).value

    def quantile(self, p: float) -> Estimate:
        """A quantile of the time of a call, with its interval where the sample supports one."""
        return _statistics.quantile(self.calls_ns, p)

    def rows(self) -> List[Row]:
        return [{'sample': number, 'ns': ns} for number, ns in enumerate(self.calls_ns)]

    def _shown(self) -> List[Row]:
        if self.scenario is not None and self.scenario.scenario.kind == 'offline':
            return [{'calls': self.scenario.calls, 'time': time_text(self.scenario.duration_ns),
                     'calls a second': self.scenario.calls_per_second}]
        rows: List[Row] = [{'': 'min', 'time': time_text(self.min_ns), 'interval': ''}]
        for name, p in (('p50', 0.5), ('p90', 0.9), ('p99', 0.99)):
            estimate = self.quantile(p)
            # A percentile that the sample does not support is none.
            if estimate.interval is None and p > 0.5:
                rows.append({'': name, 'time': '-', 'interval': ''})
                continue
            interval = ' to '.join(map(time_text, estimate.interval)) if estimate.interval else ''
            rows.append({'': name, 'time': time_text(estimate.value), 'interval': interval})
        return rows

    def _caption(self) -> str:
        return (f'{self.model} on {self.device}, {self.threads} thread{"s" if self.threads > 1 else ""}, '
                f'{len(self.samples_ns)} samples{", disturbed: others took CPU time" if self.disturbed else ""}'
                + (f', {self.scenario}' if self.scenario is not None else ''))

    def _repr_html_(self) -> str:
        steps = to_html(self.steps.slowest()._shown(), 'slowest steps') if len(self.steps) else ''
        return to_html(self._shown(), self._caption()) + steps


@dataclass(frozen=True)
class Comparison(Shown):
    """Of B against A, timed in turns (client/comparison.h)."""

    # "same", "better" or "worse"; "same", too, where time was over before anything else was shown.
    verdict: str
    is_certain: bool
    # The time of B over the time of A, at a confidence of 99 %.
    ratio: Estimate
    a_ns: float
    b_ns: float
    cycles: int
    margin: float
    device: str

    def rows(self) -> List[Row]:
        low, high = self.ratio.interval or (None, None)
        return [{'verdict': self.verdict, 'is_certain': self.is_certain, 'ratio': self.ratio.value, 'ratio_low': low,
                 'ratio_high': high, 'a_ns': self.a_ns, 'b_ns': self.b_ns, 'cycles': self.cycles}]

    def _shown(self) -> List[Row]:
        interval = '{:.4f} to {:.4f}'.format(*self.ratio.interval) if self.ratio.interval else '-'
        return [{'B is': self.verdict + ('' if self.is_certain else ', as far as is known'), 'ratio': f'{self.ratio.value:.4f}',
                 'interval': interval, 'A': time_text(self.a_ns), 'B': time_text(self.b_ns), 'cycles': self.cycles}]

    def _caption(self) -> str:
        return f'B against A on {self.device}, margin {self.margin:.1%}'


@dataclass(frozen=True)
class Device(Shown):
    """A device as the server sees it."""

    id: str
    target: str
    model: str
    os: str
    cores: int
    memory_bytes: int
    # "idle", "busy" or "lost".
    state: str
    # Whether it is given work: "available", "reserved", "draining", "drained", "quarantined"; empty where the server
    # does not tell.
    availability: str
    labels: Dict[str, str]
    held_by: str
    agent_version: str
    last_seen: Optional[datetime.datetime]
    # Now, as its agent last read them: degrees Celsius, and the load average over a minute. None where it does not tell.
    temperature: Optional[float]
    load: Optional[float]

    @classmethod
    def from_proto(cls, proto: Any) -> 'Device':
        described = proto.description
        machine = proto.machine if proto.HasField('machine') else None
        labels = {each.key: each.value for each in described.labels}
        labels.update((each.key, each.value) for each in proto.labels)
        states = {1: 'idle', 2: 'busy', 3: 'lost'}
        availabilities = {1: 'available', 2: 'reserved', 3: 'draining', 4: 'drained', 5: 'quarantined'}
        return cls(id=described.id, target=described.target, model=described.model, os=described.os,
                   cores=described.cores, memory_bytes=described.memory_bytes, state=states.get(proto.state, ''),
                   availability=availabilities.get(proto.availability.state, ''), labels=labels,
                   held_by=proto.lease.owner, agent_version=proto.agent_version, last_seen=time_of(proto.last_seen_ns),
                   temperature=machine.temperature_millicelsius / 1e3 if machine and machine.temperature_millicelsius else None,
                   load=machine.load_millis / 1e3 if machine else None)

    def rows(self) -> List[Row]:
        return [{'id': self.id, 'state': self.state, 'availability': self.availability, 'target': self.target,
                 'cores': self.cores, 'memory_bytes': self.memory_bytes, 'model': self.model, 'labels': self.labels,
                 'held_by': self.held_by, 'last_seen': self.last_seen, 'temperature': self.temperature,
                 'load': self.load}]

    def _shown(self) -> List[Row]:
        return [{'device': self.id, 'state': self.state, 'target': self.target, 'cores': self.cores,
                 'memory': size_text(self.memory_bytes), 'model': self.model, 'labels': self.labels}]


@dataclass(frozen=True)
class Job(Shown):
    """A job: work that the server has accepted."""

    id: str
    # "compilation", "run", "benchmark" or "session".
    kind: str
    # "queued", "assigned", "running", "succeeded", "failed" or "cancelled".
    state: str
    owner: str
    subject: str
    tags: Dict[str, str]
    assignee: str
    stage: str
    error: Optional[errors.SlipwayError]
    created: Optional[datetime.datetime]
    started: Optional[datetime.datetime]
    ended: Optional[datetime.datetime]

    @classmethod
    def from_proto(cls, proto: Any) -> 'Job':
        states = ['', 'queued', 'assigned', 'running', 'succeeded', 'failed', 'cancelled']
        if not 0 < proto.state < len(states):
            raise errors.Internal(f'the server\'s answer on job "{proto.id}" has an unknown state {proto.state}')
        error = errors.of(proto.error.code, proto.error.message, proto.error.log_tail) if proto.HasField('error') else None
        return cls(id=proto.id, kind=proto.WhichOneof('spec') or '', state=states[proto.state], owner=proto.owner,
                   subject=proto.subject, tags=_tags(proto.tags), assignee=proto.assignee, stage=proto.progress.stage,
                   error=error, created=time_of(proto.create_time_ns), started=time_of(proto.start_time_ns),
                   ended=time_of(proto.end_time_ns))

    @property
    def is_ended(self) -> bool:
        return self.state in ('succeeded', 'failed', 'cancelled')

    def rows(self) -> List[Row]:
        return [{'id': self.id, 'kind': self.kind, 'state': self.state, 'subject': self.subject, 'owner': self.owner,
                 'assignee': self.assignee, 'tags': self.tags, 'created': self.created, 'started': self.started,
                 'ended': self.ended, 'error': None if self.error is None else self.error.message}]

    def _shown(self) -> List[Row]:
        return [{'job': self.id, 'kind': self.kind, 'state': self.state, 'subject': self.subject,
                 'on': self.assignee, 'tags': self.tags, 'created': _time_text(self.created)}]


@dataclass(frozen=True)
class HistoryEntry(Shown):
    """A benchmark that succeeded, as the server keeps it for longer than its job. Times are of one call."""

    id: str
    model: str
    target: str
    device: str
    threads: int
    # Equal where times can be compared.
    conditions: str
    tags: Dict[str, str]
    artifact: Digest
    tools: Tuple[str, ...]
    samples: int
    min_ns: float
    p50_ns: float
    p90_ns: float
    max_ns: float
    disturbed: bool
    # Where samples were asked for.
    calls_ns: Tuple[float, ...] = field(repr=False)
    created: Optional[datetime.datetime]

    @classmethod
    def from_proto(cls, proto: Any) -> 'HistoryEntry':
        result, summary = proto.result, proto.summary
        calls = _statistics.per_call(result.samples_ns, max(1, result.iterations_per_sample))
        return cls(id=proto.id, model=proto.model, target=proto.target, device=proto.device.id, threads=result.threads,
                   conditions=proto.conditions, tags=_tags(proto.tags), artifact=Digest.from_proto(proto.manifest),
                   tools=tuple(proto.tools), samples=summary.count, min_ns=summary.min_ns, p50_ns=summary.p50_ns,
                   p90_ns=summary.p90_ns, max_ns=summary.max_ns, disturbed=result.disturbed, calls_ns=tuple(calls),
                   created=time_of(proto.create_time_ns))

    def rows(self) -> List[Row]:
        return [{'id': self.id, 'model': self.model, 'device': self.device, 'target': self.target,
                 'threads': self.threads, 'conditions': self.conditions, 'tags': self.tags,
                 'artifact': self.artifact.sha256, 'samples': self.samples, 'min_ns': self.min_ns,
                 'p50_ns': self.p50_ns, 'p90_ns': self.p90_ns, 'max_ns': self.max_ns, 'disturbed': self.disturbed,
                 'created': self.created}]

    def _shown(self) -> List[Row]:
        return [{'model': self.model, 'device': self.device, 'threads': self.threads, 'tags': self.tags,
                 'p50': time_text(self.p50_ns), 'min': time_text(self.min_ns), 'artifact': self.artifact.sha256[:12],
                 'created': _time_text(self.created)}]


def _time_text(time: Optional[datetime.datetime]) -> str:
    return '-' if time is None else f'{time:%Y-%m-%d %H:%M:%S} UTC'


class Listing(Shown, Sequence[T], Generic[T]):
    """A list of results, as a table with a line for each."""

    def __init__(self, items: Sequence[T], explanation: str = '') -> None:
        self._items = tuple(items)
        # Why it is empty, where the server says.
        self.explanation = explanation

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> 'Listing[T]': ...

    def __getitem__(self, index: Any) -> Any:
        return Listing(self._items[index]) if isinstance(index, slice) else self._items[index]

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return f'Listing({list(self._items)!r})'

    def rows(self) -> List[Row]:
        return [row for item in self._items for row in item.rows()]

    def _shown(self) -> List[Row]:
        return [row for item in self._items for row in item._shown()]

    def _caption(self) -> str:
        return self.explanation


@dataclass(frozen=True)
class ServerInfo:
    """What a server is, and what it allows."""

    version: str
    targets: Tuple[str, ...]
    max_model_bytes: int
    max_input_bytes: int
    # Whether devices may be named by selectors.
    selectors: bool
