"""What the client asks for, as values: a method of the client is a generator that yields effects and is sent what came of
them. It knows neither threads nor event loops; `_sync` carries effects out blocking, `aio` in an event loop.
"""

from __future__ import annotations

import asyncio
import random
import secrets
import time
from dataclasses import dataclass, field
from typing import Any, Callable, Generator, Iterator, Optional, TypeVar, Union

from slipway import _proto, errors

# Enough for one message and its answer.
CALL_DEADLINE = 30.0
REQUEST_ID_NAME = 'x-request-id'

_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 5.0

# What ends a call from outside: Ctrl-C, or a task that is cancelled.
INTERRUPTS = (KeyboardInterrupt, asyncio.CancelledError)


@dataclass(frozen=True)
class Unary:
    """A message there and one back; gives the answer."""

    method: _proto.Method
    request: Any
    deadline: float = CALL_DEADLINE
    request_id: str = ''


@dataclass(frozen=True)
class ReadStream:
    """A message there and many back; `take` gets each, and ends the call by returning False."""

    method: _proto.Method
    request: Any
    deadline: float
    take: Callable[[Any], bool]


@dataclass(frozen=True)
class WriteStream:
    """Many messages there, made one by one as they are wanted, and one back; gives the answer."""

    method: _proto.Method
    requests: Callable[[], Iterator[Any]]
    deadline: float


@dataclass(frozen=True)
class Pause:
    """Waits; for less, where there was no connection and then is one."""

    seconds: float


@dataclass(frozen=True)
class NeedDevice:
    """Where server and devices are the client's own: that there be one."""


Effect = Union[Unary, ReadStream, WriteStream, Pause, NeedDevice]
T = TypeVar('T')
Work = Generator[Effect, Any, T]


def new_request_id() -> str:
    """New for new work; a server knows repeated requests by it."""
    return 'c' + secrets.token_hex(16)


@dataclass
class Backoff:
    """Pauses that double, each with jitter of a half, so that clients that lost one server do not come back at once."""

    pause: float = _FIRST_PAUSE

    def next(self) -> float:
        pause = self.pause
        self.pause = min(2 * pause, _LONGEST_PAUSE)
        return pause * random.uniform(0.75, 1.25)


@dataclass
class Progress:
    """Whether an attempt got somewhere before it failed."""

    made: bool = False


@dataclass(frozen=True)
class RetryPolicy:
    """How long a call is worth trying again while it ends in UNAVAILABLE: counted from the first failure, and anew from
    a failure after progress."""

    retry_for: float = 30.0
    # Told why, when a call begins to wait for the server.
    on_waiting: Optional[Callable[[errors.SlipwayError], None]] = None
    clock: Callable[[], float] = field(default=time.monotonic)

    def persist(self, attempt: Callable[[Progress], Work[T]]) -> Work[T]:
        """Repeats `attempt` while it ends in UNAVAILABLE and time is left."""
        backoff = Backoff()
        failures = 0
        give_up = 0.0
        while True:
            progress = Progress()
            try:
                return (yield from attempt(progress))
            except errors.Unavailable as error:
                failures = 1 if progress.made else failures + 1
                if progress.made:
                    backoff = Backoff()
                if failures == 1:
                    give_up = self.clock() + self.retry_for
                pause = backoff.next()
                if self.clock() + pause > give_up:
                    raise
                # The first pause is too short to be told of.
                if failures == 2 and self.on_waiting is not None:
                    self.on_waiting(error)
                yield Pause(pause)

    def call(self, service: str, name: str, request: Any, request_id: str = '') -> Work[Any]:
        """Makes a call, again and again where its server is away."""
        effect = Unary(_proto.method(service, name), request, request_id=request_id)

        def attempt(_: Progress) -> Work[Any]:
            return (yield effect)

        return (yield from self.persist(attempt))
