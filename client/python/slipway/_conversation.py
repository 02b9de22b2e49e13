"""Conversation: a session from its client's side, without threads, loops or sockets: what came in goes into it, what is to be
done comes out. `_engine` moves it on threads, `aio` in an event loop.
"""

from __future__ import annotations

import functools
import time
from dataclasses import dataclass
from typing import Any, Callable, List, Optional

from slipway import _proto, _wire, errors
from slipway._calls import new_request_id
from slipway._context import tags_to_protos
from slipway._line import Batch, Liveness, RequestLine

_NS = 1e9
_HEARTBEAT_INTERVAL = 1.0
_SHORTEST_IDLE, _LONGEST_IDLE = 1.0, 3600.0
_LONGEST_WAIT = 24 * 3600.0
# Of elements: pieces hold a whole number of them.
_ELEMENT_BYTES = 16


@dataclass(frozen=True)
class SessionOptions:
    """What a session is opened with. Times are seconds."""

    device: str = ''
    target: str = ''
    purpose: str = ''
    tags: Optional[Any] = None
    priority: int = 0
    wait: float = 3600.0
    idle: float = 10.0
    longest: float = 0.0
    patience: float = 3.5
    on_waiting: Optional[Callable[[int, str], None]] = None
    on_log: Optional[Callable[[str], None]] = None

    def check(self) -> None:
        if not _SHORTEST_IDLE <= self.idle <= _LONGEST_IDLE:
            raise errors.InvalidArgument(f'a session cannot be idle for {self.idle:g} s: 1 s to 1 h')
        if not 0 <= self.wait <= _LONGEST_WAIT:
            raise errors.InvalidArgument(f'a device cannot be waited for {self.wait:g} s: 0 to 24 h')
        if not 0 < self.patience <= self.idle:
            raise errors.InvalidArgument(f'the patience {self.patience:g} s is not between 0 and the idle time')

    @property
    def interval(self) -> float:
        return min(_HEARTBEAT_INTERVAL, self.idle / 4, self.patience / 3)

    def to_proto(self) -> Any:
        """The first request of a session."""
        first = _proto.SessionRequest()
        wish = first.open
        wish.device, wish.target, wish.purpose = self.device, self.target, self.purpose
        wish.idle_ns, wish.longest_ns = int(self.idle * _NS), int(self.longest * _NS)
        wish.wait_ns = int(self.wait * _NS) if self.wait else -1
        wish.request_id, wish.priority = new_request_id(), self.priority
        wish.tags.extend(tags_to_protos(self.tags))
        return first


class Conversation:
    """Not thread-safe."""

    def __init__(self, address: str, options: SessionOptions, clock: Callable[[], float] = time.monotonic) -> None:
        options.check()
        self.options = options
        self.line = RequestLine()
        self.liveness = Liveness(options.interval, options.patience, clock())
        # The device; none before it was opened.
        self.opened: Optional[Any] = None
        # Why the session has ended.
        self.end: Optional[errors.SlipwayError] = None
        self.is_closed = False
        self._clock = clock
        self._address = address
        self._open = options.to_proto()
        self._session = self._ticket = ''
        self._is_connected = False
        self._is_closing = False
        self._beats_owed = 0
        self._last_handle = 0
        # What came for callbacks of the user's.
        self.news: List[Callable[[], Any]] = []

    def new_handle(self) -> int:
        self._last_handle += 1
        return self._last_handle

    @property
    def piece_bytes(self) -> int:
        most = min(int(self.opened.max_data_bytes), _wire.MOST_DATA_BYTES) if self.opened is not None else 1
        return most if most < _ELEMENT_BYTES else most - most % _ELEMENT_BYTES

    def first_message(self) -> bytes:
        """What a connection begins with."""
        first = self._open
        if self._session:
            first = _proto.SessionRequest(resume={'session': self._session, 'ticket': self._ticket,
                                                  'received': self.line.received})
        data: bytes = _proto.SessionRequests(requests=[first]).SerializeToString()
        return data

    @property
    def is_first(self) -> bool:
        """Whether the device has not told of the session yet."""
        return not self._session

    @property
    def is_connected(self) -> bool:
        return self._is_connected

    @property
    def is_owed(self) -> bool:
        """Whether the device is to say something that nobody waits for."""
        return not self._is_connected or self._is_closing or self._beats_owed > 0

    def beat(self) -> None:
        """A heartbeat goes along with the next message."""
        self._beats_owed += 1
        self.line.beat()

    def submit(self, batch: Batch) -> None:
        if self.end is not None or self._is_closing:
            raise self.end or errors.FailedPrecondition('the session is being closed')
        self.line.add(batch)

    def close(self) -> None:
        self._is_closing = True
        self.line.close()

    def received(self, message: bytes) -> List[Batch]:
        """A message came; returns the batches that it completes."""
        self.liveness.heard(self._clock())
        done: List[Batch] = []
        try:
            for answer in _wire.parse_responses(message):
                if self.end is not None:
                    break
                if answer.response.id == 0:
                    self._take_news(answer.response, done)
                elif not self._is_connected:
                    raise errors.Internal('the device breaks the protocol: it answers before the session is opened')
                else:
                    self._take_answer(answer, done)
        except errors.SlipwayError as error:
            done.extend(self.finish(error))
        return done

    def _take_answer(self, answer: _wire.Answer, done: List[Batch]) -> None:
        request = self.line.answer(answer.response.id)
        batch = request.batch
        if batch is None:
            return
        batch.answers[request.place] = answer
        batch.left -= 1
        error = answer.error
        if error is None and request.take is not None:
            try:
                request.take(answer)
            except errors.SlipwayError as refused:
                error = refused
        if error is not None and batch.error is None:
            self.line.give_up(batch, error)
        if batch.is_done:
            done.append(batch)

    def _take_news(self, news: Any, done: List[Batch]) -> None:
        kind = news.WhichOneof('kind')
        if kind == 'waiting':
            if self.opened is not None or not news.waiting.session:
                raise errors.Internal('the device breaks the protocol: it lets a session wait that has none to wait for')
            self._session, self._ticket = news.waiting.session, news.waiting.ticket
            if self.options.on_waiting is not None:
                self.news.append(functools.partial(self.options.on_waiting, news.waiting.ahead, news.waiting.holder))
        elif kind == 'opened':
            self._take_opened(news.opened)
        elif kind == 'log':
            if self.options.on_log is not None:
                self.news.append(functools.partial(self.options.on_log, news.log.text))
        elif kind == 'heartbeat':
            self._beats_owed = 0
        elif kind == 'ended':
            done.extend(self.finish(errors.of(news.code, news.message, news.log_tail)))

    def _take_opened(self, opened: Any) -> None:
        if self._is_connected or not opened.session or self._session not in ('', opened.session):
            raise errors.Internal('the device breaks the protocol: it opens another session than the one asked for')
        if min(opened.max_data_bytes, opened.max_requests, opened.max_data_under_way_bytes) < 1:
            raise errors.Internal('the device breaks the protocol: its limits allow nothing')
        self.line.resume(opened.taken)
        self._session, self._ticket = opened.session, opened.ticket
        self._is_connected = True
        self._beats_owed = 0
        if self.opened is None:
            self.line.max_requests = opened.max_requests
            self.line.max_data_under_way = opened.max_data_under_way_bytes
            self.opened = opened

    def suspended(self) -> None:
        """The connection was left; another will follow."""
        self._is_connected = False

    def disconnected(self, error: Optional[errors.SlipwayError]) -> List[Batch]:
        """The connection has ended, with an error or none. Returns the batches that end with the session; it goes on if `end` is
        none."""
        self._is_connected = False
        self.line.suspend()
        if self.end is not None:
            return []
        if self._is_closing and (error is None or isinstance(error, errors.NotFound)):
            self.is_closed = True
            return self.finish(errors.FailedPrecondition('the session is closed'))
        if error is None:
            return self.finish(errors.Internal('the device breaks the protocol: it ended the session without a reason'))
        # What gRPC says of connections that break; UNKNOWN has no class of its own.
        if not isinstance(error, errors.Unavailable) and error.code != 'UNKNOWN':
            return self.finish(error)
        if self.is_first:
            return self.finish(error)
        return []

    def finish(self, error: errors.SlipwayError) -> List[Batch]:
        """The session ends; returns all that was waited for, which ends with it."""
        if self.end is not None:
            return []
        self.end = error
        ended: List[Batch] = []
        for request in self.line.take_all():
            batch = request.batch
            if batch is None:
                continue
            batch.left -= 1
            batch.error = batch.error or error
            if batch.is_done:
                ended.append(batch)
        return ended

    def blame(self, server_lives: bool, why: str) -> errors.SlipwayError:
        """Who went away, after nothing has come for too long."""
        silent = self.liveness.silent_for(self._clock())
        device = self.opened.device if self.opened is not None else self.options.device
        name = f'device "{device}"' if device else 'the device'
        who = (f'the agent of {name} does not answer, though the server at "{self._address}" does' if server_lives
               else f'the server at "{self._address}" does not answer')
        return errors.Unavailable(f'{who}: nothing has come for {silent:.3f} s' + (f' ({why})' if why else ''))
