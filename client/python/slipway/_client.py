"""Client: a server, for who waits for it."""

from __future__ import annotations

import functools
import inspect
from typing import Any, Callable, Mapping, Optional, TypeVar

from typing import Concatenate, ParamSpec

from slipway import _progress, _work, errors
from slipway._calls import RetryPolicy, Work
from slipway._comparison import Gate, check_takes_the_same, compare_programs, judge
from slipway._context import Context, greet
from slipway._conversation import SessionOptions
from slipway._place import CONNECT_TIMEOUT, RETRY_FOR, Wish, find_place
from slipway._results import Comparison
from slipway._session import Session
from slipway._sync import SyncCalls

P = ParamSpec('P')
T = TypeVar('T')



def faced(wrapper: Any, work: Callable[..., Any], result: str) -> Any:
    """Gives a method the name, documentation and signature of the work that it carries out."""
    functools.update_wrapper(wrapper, work)
    signature = inspect.signature(work)
    _, *rest = signature.parameters.values()
    own = inspect.Parameter('self', inspect.Parameter.POSITIONAL_OR_KEYWORD)
    inner = str(signature.return_annotation).replace('Work[', '', 1)[:-1]
    wrapper.__signature__ = signature.replace(parameters=[own, *rest], return_annotation=result.format(inner))
    return wrapper


def _blocking(work: Callable[Concatenate[Context, P], Work[T]]) -> Callable[Concatenate['Client', P], T]:
    def method(self: 'Client', *args: P.args, **kwargs: P.kwargs) -> T:
        return self._run(work(self._context, *args, **kwargs))

    made: Callable[Concatenate[Client, P], T] = faced(method, work, '{}')
    return made


class Client:
    """A connection to a server: of `server`, HOST:PORT or unix:PATH, else of $SLIPWAY_SERVER, else to one that this client
    starts for itself, with an agent on this machine, and that ends with it.

    Over TCP it is the user that this one has joined the server as (`slipway join`), or what `identity`, `authority` and
    `token_file` say, as the flags of these names do; `insecure` is for a server that was started with --insecure.

    Methods block until what they do is done. A server that goes away is waited for, for `retry_for` seconds; calls are made
    again under the same request id, and transfers go on where they broke off: nothing is done twice. Ctrl-C cancels the job
    that is waited for. What goes wrong is a slipway.errors.SlipwayError. Thread-safe.
    """

    def __init__(self, server: Optional[str] = None, *, identity: Optional[str] = None, authority: Optional[str] = None,
                 token_file: Optional[str] = None, insecure: bool = False, local: bool = False,
                 server_binary: Optional[str] = None, agent_binary: Optional[str] = None,
                 connect_timeout: float = CONNECT_TIMEOUT, retry_for: float = RETRY_FOR,
                 on_waiting: Optional[Callable[[errors.SlipwayError], None]] = None,
                 progress: Optional[bool] = None) -> None:
        self._place = find_place(server, local, server_binary, agent_binary, Wish(identity, authority, token_file, insecure))
        self._calls = SyncCalls(self._place.address, self._place.proof, self._place.need_device)
        try:
            info = self._calls.run(greet(self._place.address, connect_timeout))
        except BaseException:
            self.close()
            raise
        self._context = Context(self._place.address, RetryPolicy(self._place.retry_for(retry_for), on_waiting), info,
                                _progress.make(progress))

    def __enter__(self) -> 'Client':
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Gives the connection up, and ends a server of one's own. May be called again."""
        self._calls.close()
        self._place.close()

    @property
    def address(self) -> str:
        """Of the server."""
        return self._calls.address

    @property
    def is_local(self) -> bool:
        """Whether the server is this client's own."""
        return self._place.fleet is not None

    def _run(self, work: Work[T]) -> T:
        return self._calls.run(work)

    def open(self, device: str = '', *, target: str = '', purpose: str = '', tags: Optional[Mapping[str, str]] = None,
             priority: int = 0, wait: float = 3600, idle: float = 10, longest: float = 0, patience: float = 3.5,
             on_waiting: Optional[Callable[[int, str], None]] = None,
             on_log: Optional[Callable[[str], None]] = None) -> Session:
        """Holds a device: an id, or a selector for any that matches; none: any of `target`. Seconds: `wait` for it at most while
        others hold it, 0: not at all; after `idle` without a word from this process it is free again, after `longest` in any
        case; `patience` is how long it may be silent. `on_waiting` is told how many come before, and who holds it; `on_log` what
        programs write, on whichever thread reads it."""
        self._context.check_device(device)
        self._place.need_device()
        options = SessionOptions(device=device, target=target, purpose=purpose, tags=tags, priority=priority, wait=wait,
                                 idle=idle, longest=longest, patience=patience, on_waiting=on_waiting, on_log=on_log)
        return Session(self.address, self._place.proof, options,
                       lambda model, compiled_for: self.compile(model, target=compiled_for).artifact)

    def compare(self, a: Any, b: Any, inputs: Optional[Mapping[str, Any]] = None, *, device: str = '', target_a: str = '',
                target_b: str = '', margin: float = 0.01, limit: float = 60, threads: int = 1, seed: int = 0,
                tags: Optional[Mapping[str, str]] = None) -> Comparison:
        """Whether B is faster than A: models or artifacts, timed in turns on a device, so that what else it does strikes both
        alike. Times that differ by less than `margin` are the same; after `limit` seconds it ends, even if nothing is certain.
        Inputs are those of both, by their names in A."""
        if not 0 < margin < 1:
            raise errors.InvalidArgument(f'the margin {margin} is no share between 0 and 1')
        given = _work.by_name(inputs)
        self._place.need_device()
        first = self._run(_work.prepare(self._context, a, {'target': target_a, 'device': device}))
        second = self._run(_work.prepare(self._context, b, {'target': target_b, 'device': device}))
        check_takes_the_same(first, second)
        _work.check_inputs(first, given)
        with self.open(device, target=first.target, purpose='compare', tags=tags) as session:
            return session._run(compare_programs(session._engine.conversation, first, second, dict(given), seed=seed,
                                                 threads=threads, margin=margin, limit=limit))

    def gate(self, model: Any, baseline: Any, inputs: Optional[Mapping[str, Any]] = None, *, max_regression: float = 0.03,
             device: str = '', limit: float = 60, threads: int = 1, seed: int = 0) -> Gate:
        """Whether a model has become slower than its baseline, a model or artifact, too, or a mapping of tags: then the newest
        result of the history with these tags, of a model of this name, if its artifact is still there. Both are timed in turns.

        NOT_FOUND: the history has no such result."""
        if not 0 < max_regression < 1:
            raise errors.InvalidArgument(f'the largest regression {max_regression} is no share between 0 and 1')
        if isinstance(baseline, Mapping):
            baseline = self._run(_work.baseline(self._context, model, baseline, device))
        compared = self.compare(baseline, model, inputs, device=device, margin=max_regression / 2, limit=limit,
                                threads=threads, seed=seed)
        return Gate(judge(compared.ratio, max_regression), max_regression, compared)

    compile = _blocking(_work.compile_model)
    upload = _blocking(_work.upload)
    export = _blocking(_work.export)
    run = _blocking(_work.run)
    bench = _blocking(_work.bench)
    devices = _blocking(_work.devices)
    jobs = _blocking(_work.jobs)
    job = _blocking(_work.job)
    wait = _blocking(_work.wait)
    cancel = _blocking(_work.cancel)
    history = _blocking(_work.history)
    info = _blocking(_work.info)
