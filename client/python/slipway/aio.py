"""slipway.aio: the same for an event loop.

    async with slipway.aio.Client('buildhost:7411') as client:
        compilation = await client.compile('net.onnx', device='board-1')
        async with client.open('board-1') as d:
            f = await d.load(compilation)
            y = await f(x)

Arguments, results and errors are those of slipway.Client and slipway.Session. A task that is cancelled cancels the job, or the
call, that it waits for. Objects are of the event loop that they were made in.
"""

from __future__ import annotations

import asyncio
from typing import Any, Awaitable, Callable, Coroutine, List, Mapping, Optional, Sequence, Tuple, TypeVar, Union

from typing import Concatenate, ParamSpec

from slipway import _progress, errors
from slipway import _session_work as session_work
from slipway import _work
from slipway._aio_calls import AsyncCalls
from slipway._aio_engine import AsyncEngine
from slipway._arrays import Array, TensorType
from slipway._calls import RetryPolicy, Work
from slipway._client import faced
from slipway._comparison import Gate, check_takes_the_same, compare_programs, judge
from slipway._context import Context, greet
from slipway._conversation import SessionOptions
from slipway._place import CONNECT_TIMEOUT, RETRY_FOR, Place, Wish, find_place
from slipway._results import Artifact, Benchmark, Comparison
from slipway._session import source_of
from slipway._session_work import CallReport, Facts, Function, ProgramHeld, TensorHeld

__all__ = ['Client', 'DeviceTensor', 'Program', 'Session']

P = ParamSpec('P')
T = TypeVar('T')


class DeviceTensor:
    """A tensor on the device; see slipway.DeviceTensor."""

    def __init__(self, engine: AsyncEngine, held: TensorHeld) -> None:
        self._engine = engine
        self.held = held

    @property
    def type(self) -> TensorType:
        return self.held.type

    def __repr__(self) -> str:
        return f'<DeviceTensor {self.held.name} {self.type}>'

    async def get(self, out: Optional[Array] = None) -> Array:
        return await self._engine.run(session_work.get(self._engine.conversation, self.held, out))

    async def assign(self, value: Any) -> None:
        await self._engine.run(session_work.assign(self._engine.conversation, self.held, value))

    async def slice(self, begin: Sequence[int], shape: Sequence[int], name: str = '') -> 'DeviceTensor':
        return DeviceTensor(self._engine, await self._engine.run(
            session_work.cut(self._engine.conversation, self.held, begin, shape, name)))

    def free(self) -> None:
        self.held.free()


class Program:
    """A program on the device; see slipway.Program."""

    def __init__(self, engine: AsyncEngine, held: ProgramHeld) -> None:
        self._engine = engine
        self.held = held

    @property
    def functions(self) -> Tuple[Function, ...]:
        return self.held.functions

    async def __call__(self, *inputs: Any, function: str = '', **named: Any) -> Union[Array, Tuple[Array, ...]]:
        arrays = await self._engine.run(
            session_work.call_arrays(self._engine.conversation, self.held, inputs, named, function))
        return arrays[0] if len(arrays) == 1 else tuple(arrays)

    async def call(self, *inputs: Any, function: str = '', deadline: float = 0, **named: Any) -> List[DeviceTensor]:
        tensors, _ = await self._engine.run(session_work.call(self._engine.conversation, self.held, inputs, named, function,
                                                              deadline=deadline))
        return [DeviceTensor(self._engine, each) for each in tensors]

    async def call_into(self, inputs: Sequence[DeviceTensor], outputs: Sequence[DeviceTensor], *, function: str = '',
                        profile: bool = False, deadline: float = 0) -> CallReport:
        return await self._engine.run(session_work.call_into(self._engine.conversation, self.held, inputs, outputs,
                                                             function, profile, deadline))

    async def time(self, *inputs: Any, function: str = '', samples: int = 100, warmup: int = 10, min_sample: float = 1e-3,
                   flush_cache: bool = False, cool_down: float = 0, profile: bool = False, deadline: float = 60,
                   **named: Any) -> Benchmark:
        return await self._engine.run(session_work.time_calls(
            self._engine.conversation, self.held, inputs, named, function, samples, warmup, min_sample, flush_cache,
            cool_down, profile, deadline))

    def free(self) -> None:
        self.held.free()


class Session:
    """A device that is held within `async with`; see slipway.Session."""

    def __init__(self, place: Callable[[], Awaitable[Place]], options: SessionOptions,
                 compile_for: Callable[[Any, str], Awaitable[Artifact]]) -> None:
        self._find = place
        self._options = options
        self._compile_for = compile_for
        self._opened: Optional[AsyncEngine] = None

    async def __aenter__(self) -> 'Session':
        place = await self._find()
        self._opened = AsyncEngine(place.address, place.proof, self._options)
        await self._opened.open()
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.close()

    async def close(self) -> None:
        """Gives the device back. May be called again."""
        if self._opened is not None:
            await self._opened.close()

    @property
    def _engine(self) -> AsyncEngine:
        if self._opened is None:
            raise errors.FailedPrecondition('the session is opened by `async with`')
        return self._opened

    @property
    def device(self) -> str:
        opened: Any = self._engine.conversation.opened
        return str(opened.device)

    @property
    def target(self) -> str:
        opened: Any = self._engine.conversation.opened
        return str(opened.target)

    async def load(self, artifact: Any, *, threads: int = 1, name: str = '', deadline: float = 60) -> Program:
        compiled = artifact
        try:
            digest, find, own_name = await asyncio.to_thread(source_of, artifact, _refuse)
        except _NotCompiled:
            compiled = await self._compile_for(artifact, self.target)
            digest, find, own_name = source_of(compiled, _refuse)
        return Program(self._engine, await self._engine.run(
            session_work.load(self._engine.conversation, digest, find, name or own_name, threads, deadline)))

    async def put(self, value: Any, name: str = '') -> DeviceTensor:
        return DeviceTensor(self._engine, await self._engine.run(
            session_work.put(self._engine.conversation, value, name)))

    async def zeros(self, tensor_type: Union[TensorType, str], name: str = '') -> DeviceTensor:
        return DeviceTensor(self._engine, await self._engine.run(
            session_work.allocate(self._engine.conversation, tensor_type, name, None)))

    async def random(self, tensor_type: Union[TensorType, str], seed: int = 0, name: str = '') -> DeviceTensor:
        return DeviceTensor(self._engine, await self._engine.run(
            session_work.allocate(self._engine.conversation, tensor_type, name, seed)))

    async def facts(self) -> Facts:
        return await self._engine.run(session_work.facts(self._engine.conversation))


class _NotCompiled(Exception):
    """It is a model."""


def _refuse(_: Any) -> Artifact:
    raise _NotCompiled


def _awaited(work: Callable[Concatenate[Context, P], Work[T]]) -> Callable[Concatenate['Client', P], Coroutine[Any, Any, T]]:
    async def method(self: 'Client', *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._run(work(self._context, *args, **kwargs))

    made: Callable[Concatenate[Client, P], Coroutine[Any, Any, T]] = faced(method, work, '{}')
    return made


class Client:
    """A connection to a server, within `async with`; see slipway.Client."""

    def __init__(self, server: Optional[str] = None, *, identity: Optional[str] = None, authority: Optional[str] = None,
                 token_file: Optional[str] = None, insecure: bool = False, local: bool = False,
                 server_binary: Optional[str] = None, agent_binary: Optional[str] = None,
                 connect_timeout: float = CONNECT_TIMEOUT, retry_for: float = RETRY_FOR,
                 on_waiting: Optional[Callable[[errors.SlipwayError], None]] = None,
                 progress: Optional[bool] = None) -> None:
        self._find_place = lambda: find_place(server, local, server_binary, agent_binary,
                                              Wish(identity, authority, token_file, insecure))
        self._connect_timeout = connect_timeout
        self._retry_for = retry_for
        self._on_waiting = on_waiting
        self._progress = progress
        self._place: Optional[Place] = None
        self._calls: Optional[AsyncCalls] = None
        self._connected: Optional[Context] = None

    async def __aenter__(self) -> 'Client':
        self._place = place = await asyncio.to_thread(self._find_place)
        self._calls = AsyncCalls(place.address, place.proof, place.need_device)
        try:
            info = await self._calls.run(greet(place.address, self._connect_timeout))
        except BaseException:
            await self.close()
            raise
        policy = RetryPolicy(place.retry_for(self._retry_for), self._on_waiting)
        self._connected = Context(place.address, policy, info, _progress.make(self._progress))
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.close()

    async def close(self) -> None:
        """Gives the connection up, and ends a server of one's own. May be called again."""
        if self._calls is not None:
            await self._calls.close()
        if self._place is not None:
            await asyncio.to_thread(self._place.close)

    @property
    def address(self) -> str:
        return self._context.address

    @property
    def _context(self) -> Context:
        if self._connected is None:
            raise errors.FailedPrecondition('the client is connected by `async with`')
        return self._connected

    async def _run(self, work: Work[T]) -> T:
        assert self._calls is not None
        return await self._calls.run(work)

    async def _with_device(self) -> Place:
        assert self._place is not None
        await asyncio.to_thread(self._place.need_device)
        return self._place

    def open(self, device: str = '', *, target: str = '', purpose: str = '', tags: Optional[Mapping[str, str]] = None,
             priority: int = 0, wait: float = 3600, idle: float = 10, longest: float = 0, patience: float = 3.5,
             on_waiting: Optional[Callable[[int, str], None]] = None,
             on_log: Optional[Callable[[str], None]] = None) -> Session:
        """`async with client.open('board-1') as d`; see slipway.Client.open."""
        self._context.check_device(device)
        options = SessionOptions(device=device, target=target, purpose=purpose, tags=tags, priority=priority, wait=wait,
                                 idle=idle, longest=longest, patience=patience, on_waiting=on_waiting, on_log=on_log)

        async def compile_for(model: Any, compiled_for: str) -> Artifact:
            return (await self.compile(model, target=compiled_for)).artifact

        return Session(self._with_device, options, compile_for)

    async def compare(self, a: Any, b: Any, inputs: Optional[Mapping[str, Any]] = None, *, device: str = '',
                      target_a: str = '', target_b: str = '', margin: float = 0.01, limit: float = 60, threads: int = 1,
                      seed: int = 0, tags: Optional[Mapping[str, str]] = None) -> Comparison:
        """See slipway.Client.compare."""
        if not 0 < margin < 1:
            raise errors.InvalidArgument(f'the margin {margin} is no share between 0 and 1')
        given = _work.by_name(inputs)
        await self._with_device()
        first = await self._run(_work.prepare(self._context, a, {'target': target_a, 'device': device}))
        second = await self._run(_work.prepare(self._context, b, {'target': target_b, 'device': device}))
        check_takes_the_same(first, second)
        _work.check_inputs(first, given)
        async with self.open(device, target=first.target, purpose='compare', tags=tags) as session:
            engine = session._engine
            return await engine.run(compare_programs(engine.conversation, first, second, dict(given), seed=seed,
                                                     threads=threads, margin=margin, limit=limit))

    async def gate(self, model: Any, baseline: Any, inputs: Optional[Mapping[str, Any]] = None, *,
                   max_regression: float = 0.03, device: str = '', limit: float = 60, threads: int = 1,
                   seed: int = 0) -> Gate:
        """See slipway.Client.gate."""
        if not 0 < max_regression < 1:
            raise errors.InvalidArgument(f'the largest regression {max_regression} is no share between 0 and 1')
        if isinstance(baseline, Mapping):
            baseline = await self._run(_work.baseline(self._context, model, baseline, device))
        compared = await self.compare(baseline, model, inputs, device=device, margin=max_regression / 2, limit=limit,
                                      threads=threads, seed=seed)
        return Gate(judge(compared.ratio, max_regression), max_regression, compared)

    compile = _awaited(_work.compile_model)
    upload = _awaited(_work.upload)
    export = _awaited(_work.export)
    run = _awaited(_work.run)
    bench = _awaited(_work.bench)
    devices = _awaited(_work.devices)
    jobs = _awaited(_work.jobs)
    job = _awaited(_work.job)
    wait = _awaited(_work.wait)
    cancel = _awaited(_work.cancel)
    history = _awaited(_work.history)
    info = _awaited(_work.info)
