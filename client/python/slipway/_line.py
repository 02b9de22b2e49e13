"""What of a session is to be sent, under way or answered: bookkeeping that knows no connection, as client/session/request_line.h.

Requests wait in a line, get their ids when they are sent, and are kept until they are answered, since a connection that breaks
may have lost them.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any, Deque, List, Optional, Sequence, Union

from slipway import _wire, errors
from slipway._wire import Answer, Request

_FULL_MESSAGE_BYTES = 256 << 10
_MOST_HANDLES_PER_FREE = 4096

Parts = List[Union[bytes, memoryview]]


@dataclass(eq=False)
class Batch:
    """Requests that are waited for together."""

    requests: List[Request]
    left: int = 0
    answers: List[Optional[Answer]] = field(default_factory=list)
    # The first that went wrong; what is not sent then need not be.
    error: Optional[errors.SlipwayError] = None
    # Told when `is_done`; the driver's.
    done: Any = None

    def __post_init__(self) -> None:
        self.left = len(self.requests)
        self.answers = [None] * self.left
        for place, request in enumerate(self.requests):
            request.batch, request.place = self, place

    @property
    def is_done(self) -> bool:
        return self.left == 0

    def check(self) -> List[Answer]:
        """The answers, if none is an error; else the first error."""
        if self.error is not None:
            raise self.error
        return [answer for answer in self.answers if answer is not None]


class RequestLine:
    """Not thread-safe."""

    def __init__(self) -> None:
        self.max_requests = 1
        self.max_data_under_way = 1
        self.received = 0
        # Handles that nobody has any more, which go along with the next message. May be added to by any thread.
        self.dropped: Deque[int] = deque()
        self._sent: Deque[Request] = deque()
        self._unsent: Deque[Request] = deque()
        self._cancels: List[int] = []
        self._acked = 0
        self._data_under_way = 0
        self._data_not_acked = 0
        self._is_open = False
        self._beat = False
        self._closing = False
        self._close_sent = False

    def add(self, batch: Batch) -> None:
        self._unsent.extend(batch.requests)

    def beat(self) -> None:
        """A heartbeat goes along with the next message."""
        self._beat = True

    def close(self) -> None:
        """Once everything before it is sent."""
        self._closing = True

    @property
    def is_empty(self) -> bool:
        return not self._sent and not self._unsent

    def give_up(self, batch: Batch, error: errors.SlipwayError) -> None:
        """Takes what is not sent of a batch out of the line."""
        kept: Deque[Request] = deque()
        for request in self._unsent:
            if request.batch is batch:
                batch.left -= 1
            else:
                kept.append(request)
        self._unsent = kept
        batch.error = batch.error or error

    def cancel(self, batch: Batch) -> None:
        """Asks the device to give up what is sent of a batch."""
        for place, request in enumerate(self._sent):
            if request.batch is batch and not request.is_cancelled:
                request.is_cancelled = True
                self._cancels.append(self.received + 1 + place)

    def _may_send(self, request: Request) -> bool:
        if not self._is_open:
            return False
        # One is always allowed, lest a limit that is too small ends in silence.
        return not self._sent or (len(self._sent) < self.max_requests
                                  and self._data_under_way + request.data_bytes <= self.max_data_under_way)

    def _take_dropped(self) -> None:
        handles: List[int] = []
        while self.dropped and len(handles) < _MOST_HANDLES_PER_FREE:
            handles.append(self.dropped.popleft())
        if handles:
            free = _wire.request(free={'handles': handles})
            free.is_free = True
            self._unsent.append(free)

    def next_message(self) -> Optional[Parts]:
        """The next message, which counts as sent; none where there is nothing to say, or the limits forbid it. Frees alone do
        not hurry."""
        parts: Parts = []
        size = 0
        if self._beat:
            parts.append(_wire.HEARTBEAT)
            self._beat = False
        parts.extend(map(_wire.cancel_bytes, self._cancels))
        self._cancels = []
        if self.dropped and (self._unsent or parts):
            self._take_dropped()
        has_data = False  # Then nothing may follow.
        unsent = self._unsent
        while unsent and not has_data and size < _FULL_MESSAGE_BYTES and self._may_send(unsent[0]):
            request = unsent.popleft()
            self._sent.append(request)
            self._data_under_way += request.data_bytes
            number = self.received + len(self._sent)
            made = _wire.request_parts(request, number)
            if request.is_cancelled:
                self._cancels.append(number)
            parts.extend(made)
            size += sum(map(len, made))
            has_data = request.data is not None
        is_all_sent = not unsent and (self._is_open or not self._sent)
        if self._closing and not self._close_sent and is_all_sent and not has_data:
            parts.append(_wire.CLOSE)
            self._close_sent = True
        ack_alone = (2 * (self.received - self._acked) >= self.max_requests
                     or 2 * self._data_not_acked >= self.max_data_under_way)
        if self.received > self._acked and (parts or ack_alone):
            parts.insert(0, _wire.ack_bytes(self.received))
            self._acked = self.received
            self._data_not_acked = 0
        return parts or None

    def answer(self, number: int) -> Request:
        """The request that is answered next, which must be this one."""
        if not self._sent:
            raise errors.Internal(f'the device breaks the protocol: it answers request {number}, but none is under way')
        if number != self.received + 1:
            raise errors.Internal(f'the device breaks the protocol: it answers request {number} where '
                                  f'{self.received + 1} is next')
        self.received += 1
        request = self._sent.popleft()
        self._data_under_way -= request.data_bytes
        self._data_not_acked += request.data_bytes
        return request

    def suspend(self) -> None:
        """No request is sent until the next `resume`. So it begins."""
        self._is_open = False

    def resume(self, taken: int) -> None:
        """After the device said which requests it has taken: the others are to be sent again."""
        if not self.received <= taken <= self.received + len(self._sent):
            raise errors.Internal(f'the device breaks the protocol: it says that it took requests up to {taken}, where '
                                  f'{self.received} to {self.received + len(self._sent)} are possible')
        while self.received + len(self._sent) > taken:
            request = self._sent.pop()
            self._data_under_way -= request.data_bytes
            self._unsent.appendleft(request)
        self._cancels = [self.received + 1 + place for place, each in enumerate(self._sent) if each.is_cancelled]
        self._acked = self.received
        self._data_not_acked = 0
        self._beat = False
        self._close_sent = False
        self._is_open = True

    def take_all(self) -> Sequence[Request]:
        """Everything that is not answered, in order."""
        everything = [*self._sent, *self._unsent]
        self._sent.clear()
        self._unsent.clear()
        self._data_under_way = 0
        return everything


class Liveness:
    """Decides from the times at which things came when a heartbeat is due and when a peer is suspect (client/session/liveness.h)."""

    def __init__(self, interval: float, silence: float, now: float) -> None:
        self.interval = interval
        self._silence = silence
        self._heard = self._beat = self._looked = now
        self._asked = False

    def heard(self, now: float) -> None:
        """Something came."""
        self._heard = now
        self._asked = False

    def at(self, now: float) -> str:
        """What to do: "beat", "ask" (nothing has come for too long: find out who is gone) or ""."""
        # Who did not look for so long was stopped itself, and knows nothing of its peers.
        if now - self._looked > 2 * self.interval:
            self.heard(now)
        self._looked = now
        if not self._asked and now - self._heard >= self._silence:
            self._asked = True
            return 'ask'
        if now - self._beat < self.interval:
            return ''
        self._beat = now
        return 'beat'

    @property
    def next(self) -> float:
        """When to look again at the latest."""
        beat = self._beat + self.interval
        return beat if self._asked else min(beat, self._heard + self._silence)

    @property
    def has_heard(self) -> bool:
        """Whether something has come since "ask"."""
        return not self._asked

    def silent_for(self, now: float) -> float:
        return now - self._heard
