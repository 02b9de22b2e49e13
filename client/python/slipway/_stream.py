"""One connection of a session: a call of two streams without threads of its own.

gRPC's streams of two directions have a thread that draws messages out of an iterator and one that hands on what came, and each costs
a wake for every message. Its blocking calls have none: they carry out a call's operations on the caller's thread, which gRPC wakes
itself. So does this, by the same means of the library (`segregated_call`).
"""

from __future__ import annotations

import threading
from typing import Any, Callable, Optional, Set

import grpc
from grpc._cython import cygrpc

from slipway import errors

_PATH = b'/slipway.v1.SessionService/Open'
_NO_FLAGS = 0


class Stream:
    """Whoever `is_idle` lets may send, on any thread; one thread reads at a time. An interrupt of a read ends the connection."""

    def __init__(self, channel: grpc.Channel, metadata: Any, first: bytes) -> None:
        # Whether a message may be sent; else the reader asks for the next one when the one before is out.
        self.is_idle = False
        self._reading = threading.Lock()
        # Of the set below: gRPC frees the call when nothing of it is due any more, and whoever waits for it then is lost.
        self._lock = threading.Lock()
        self._due: Set[str] = {'begin', 'sent', 'end'}
        self._is_receiving = False
        self._is_left = False
        self._end: Any = None
        begin = (cygrpc.SendInitialMetadataOperation(metadata, _NO_FLAGS), cygrpc.ReceiveInitialMetadataOperation(_NO_FLAGS))
        try:
            self._call = channel._channel.segregated_call(
                _NO_FLAGS, _PATH, None, None, metadata, None,
                ((begin, 'begin'), ((cygrpc.SendMessageOperation(first, _NO_FLAGS),), 'sent'),
                 ((cygrpc.ReceiveStatusOnClientOperation(_NO_FLAGS),), 'end')), None)
        except (AttributeError, TypeError) as error:
            raise errors.Unimplemented(f'sessions know no way to talk through grpcio {grpc.__version__} ({error}): install '
                                       'another version of it') from None

    def _operate(self, operation: Any, tag: str) -> None:
        """Begins an operation; none where the call is over, which a reader sees."""
        with self._lock:
            self._due.add(tag)
            if not self._call.operate((operation,), tag):
                self._due.discard(tag)

    def _next_event(self) -> Any:
        """None when nothing will come any more."""
        with self._lock:
            if not self._due:
                return None
        try:
            event = self._call.next_event()
        except BaseException:
            # gRPC has dropped the call.
            self._due.clear()
            raise
        with self._lock:
            self._due.discard(event.tag)
        if event.tag == 'end':
            self._end = event.batch_operations[0]
        return event

    def send(self, message: bytes) -> None:
        """Only while `is_idle`, which it ends."""
        self.is_idle = False
        self._operate(cygrpc.SendMessageOperation(message, _NO_FLAGS), 'sent')

    def read(self, more: Callable[['Stream'], Optional[bytes]]) -> Optional[bytes]:
        """The next message; none when the connection was ended well, and an error when it was not. Sends meanwhile what `more`
        has, which sets `is_idle` where it has nothing."""
        with self._reading:
            try:
                return self._read(more)
            finally:
                if self._is_left:
                    self._drain()

    def _read(self, more: Callable[['Stream'], Optional[bytes]]) -> Optional[bytes]:
        if not self._is_receiving:
            self._operate(cygrpc.ReceiveMessageOperation(_NO_FLAGS), 'received')
            self._is_receiving = True
        while (event := self._next_event()) is not None:
            if event.tag == 'sent':
                message = more(self)
                if message is not None:
                    self.send(message)
            elif event.tag == 'received':
                self._is_receiving = False
                received: Optional[bytes] = event.batch_operations[0].message()
                if received is not None:
                    return received
        if self._end is not None and self._end.code():
            raise errors.of(self._end.code(), self._end.details())
        return None

    def leave(self) -> None:
        """Ends it at once. May be called while another thread reads."""
        self._is_left = True
        self._call.cancel(cygrpc.StatusCode.cancelled, 'the connection was left')
        # A reader does it else.
        if self._reading.acquire(blocking=False):
            try:
                self._drain()
            finally:
                self._reading.release()

    def _drain(self) -> None:
        """gRPC keeps a call until all that was due was taken."""
        while self._next_event() is not None:
            pass
