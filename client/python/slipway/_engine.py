"""Engine: moves a conversation over gRPC's blocking calls.

Who waits for an answer takes it from gRPC himself ("pumps"), so that no thread is woken between gRPC and him; one pumps at a time.
While nobody waits a thread of the engine's reads what comes of heartbeats. A second one keeps time: it sends heartbeats, makes
broken connections anew, and finds out who is gone when nothing comes.
"""

from __future__ import annotations

import atexit
import threading
import time
from typing import Optional, TypeVar

import grpc

from slipway import _proto, errors
from slipway._calls import Backoff
from slipway._conversation import Conversation, SessionOptions
from slipway._line import Batch
from slipway._proof import Proof
from slipway._session_work import SessionWork
from slipway._stream import Stream

T = TypeVar('T')
_LONGEST_PAUSE = 1.0
_LAST_CHANCE = 0.8
_QUESTION_DEADLINE = 1.0
_CLOSE_DEADLINE = 2.0


class Engine:
    """Thread-safe."""

    def __init__(self, address: str, proof: Proof, options: SessionOptions) -> None:
        self.address = address
        self._proof = proof
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self.conversation = Conversation(address, options)
        self._channel = proof.channel(grpc, address)
        self._pumping = False
        self._waiters = 0
        # Something is to be read that nobody waits for.
        self._unread = True
        self._backoff = Backoff()
        self._connect_at: Optional[float] = None
        self._give_up_at: Optional[float] = None
        self._last_failure = ''
        with self._lock:
            self._stream: Optional[Stream] = self._connect()
        self._threads = [threading.Thread(target=run, daemon=True, name=f'slipway session {name}')
                         for name, run in (('reader', self._read_idle), ('clock', self._keep_time))]
        for each in self._threads:
            each.start()
        # A process that ends without having closed it gives the device back all the same.
        atexit.register(self.close)

    def await_opened(self) -> None:
        """Waits for the device. Errors of SessionService.Open."""
        conversation = self.conversation
        try:
            with self._lock:
                while conversation.opened is None and conversation.end is None:
                    self._wait_once()
                if conversation.end is not None:
                    raise conversation.end
        except BaseException:
            self.close()
            raise

    def run(self, work: SessionWork[T]) -> T:
        """Carries out what is asked of the session. Ctrl-C cancels what is under way, not the session."""
        try:
            requests = next(work)
            while True:
                batch = Batch(requests)
                self._ask(batch)
                requests = work.send(batch)
        except StopIteration as end:
            result: T = end.value
            return result

    def drop(self, handle: int) -> None:
        """Nobody has this handle any more. May be called anywhere, as by the garbage collector."""
        self.conversation.line.dropped.append(handle)

    def close(self) -> None:
        """Ends the session, and with it the lease; waits a moment until that is heard. May be called again."""
        atexit.unregister(self.close)
        conversation = self.conversation
        until = time.monotonic() + _CLOSE_DEADLINE
        with self._lock:
            if conversation.end is None:
                conversation.close()
                self._flush()
                self._unread = True
                self._changed.notify_all()
                while conversation.end is None and time.monotonic() < until:
                    self._changed.wait(0.05)
                self._finish(errors.FailedPrecondition('the session is closed'))
        for each in self._threads:
            if each is not threading.current_thread():
                each.join(_CLOSE_DEADLINE)
        self._channel.close()

    # With the lock.

    def _ask(self, batch: Batch) -> None:
        with self._lock:
            self.conversation.submit(batch)
            self._flush()
            try:
                while batch.left:
                    self._wait_once()
            except BaseException:
                self.conversation.line.cancel(batch)
                self.conversation.line.give_up(batch, errors.Cancelled('interrupted'))
                self._flush()
                # What could not be sent at once is, as soon as somebody reads.
                self._unread = True
                self._changed.notify_all()
                raise

    def _wait_once(self) -> None:
        """Pumps, or waits for who does."""
        if self._pumping or self._stream is None:
            self._waiters += 1
            try:
                self._changed.wait(self.conversation.options.interval)
            finally:
                self._waiters -= 1
        else:
            self._pump(self._stream)

    def _pump(self, stream: Stream) -> None:
        self._pumping = True
        error: Optional[errors.SlipwayError] = None
        message: Optional[bytes] = None
        interrupt: Optional[BaseException] = None
        self._lock.release()
        try:
            message = stream.read(self._more)
        except errors.SlipwayError as failure:
            error = failure
        except BaseException as caught:  # pylint: disable=broad-except
            interrupt = caught
        interrupt = _acquire(self._lock) or interrupt
        self._pumping = False
        if self._stream is stream:
            if message is not None:
                self._received(message)
            elif interrupt is None:
                self._disconnected(error)
            else:
                # What was being read is lost with the connection, and comes again over the next.
                self._drop_stream()
                self._connect_at = time.monotonic()
                self._changed.notify_all()
        if interrupt is not None:
            self._changed.notify_all()
            raise interrupt
        if self._waiters or self.conversation.end is not None:
            self._changed.notify_all()

    def _received(self, message: bytes) -> None:
        conversation = self.conversation
        conversation.received(message)
        if conversation.is_connected:
            self._backoff = Backoff()
        if conversation.news:
            news, conversation.news = conversation.news, []
            self._lock.release()
            try:
                for tell in news:
                    tell()
            finally:
                self._lock.acquire()
        if conversation.end is not None:
            self._drop_stream()
        else:
            self._flush()

    def _disconnected(self, error: Optional[errors.SlipwayError]) -> None:
        self._drop_stream()
        if isinstance(error, errors.Unavailable) and self.conversation.is_first:
            error = errors.Unavailable(f'"{self.address}" cannot be reached: {error.message}')
        self.conversation.disconnected(error)
        if self.conversation.end is None and error is not None:
            self._last_failure = error.message
            self._connect_at = time.monotonic() + min(self._backoff.next(), _LONGEST_PAUSE)
            self._changed.notify_all()

    def _finish(self, error: errors.SlipwayError) -> None:
        self.conversation.finish(error)
        self._drop_stream()
        self._changed.notify_all()

    def _drop_stream(self) -> None:
        if self._stream is not None:
            self._stream.leave()
            self._stream = None
            if self.conversation.end is None:
                self.conversation.line.suspend()
                self.conversation.suspended()

    def _connect(self) -> Stream:
        self._connect_at = None
        self._unread = True
        return Stream(self._channel, self._proof.metadata(), self.conversation.first_message())

    def _flush(self) -> None:
        stream = self._stream
        if stream is None or not stream.is_idle:
            return
        parts = self.conversation.line.next_message()
        if parts is not None:
            stream.send(b''.join(parts))

    # Without it.

    def _more(self, stream: Stream) -> Optional[bytes]:
        """What is to be said next, asked by the thread that reads when what was said before is out."""
        with self._lock:
            if self._stream is not stream:
                return None
            parts = self.conversation.line.next_message()
            if parts is None:
                stream.is_idle = True
                return None
        return b''.join(parts)

    def _read_idle(self) -> None:
        with self._lock:
            while self.conversation.end is None:
                if self._unread and not self._pumping and not self._waiters and self._stream is not None:
                    self._pump(self._stream)
                    self._unread = self.conversation.is_owed
                else:
                    self._changed.wait(self.conversation.options.interval)

    def _keep_time(self) -> None:
        conversation = self.conversation
        with self._lock:
            while conversation.end is None:
                now = time.monotonic()
                action = conversation.liveness.at(now)
                if action == 'beat':
                    conversation.beat()
                    self._flush()
                    self._unread = True
                    self._changed.notify_all()
                elif action == 'ask':
                    self._find_out()
                    continue
                if self._give_up_at is not None:
                    if conversation.liveness.has_heard:
                        self._give_up_at = None
                    elif now >= self._give_up_at:
                        self._finish(conversation.blame(True, self._last_failure))
                        break
                if self._stream is None and self._connect_at is not None and now >= self._connect_at:
                    self._stream = self._connect()
                    self._changed.notify_all()
                due = [conversation.liveness.next] + [at for at in (self._give_up_at, self._connect_at) if at is not None]
                self._changed.wait(max(0.0, min(due) - now))

    def _find_out(self) -> None:
        """Asks the server whether it lives, over a connection of its own, and goes on over that."""
        channel = self._proof.channel(grpc, self.address)
        ask = channel.unary_unary('/slipway.v1.ServerService/GetServerInfo',
                                  request_serializer=_proto.GetServerInfoRequest.SerializeToString,
                                  response_deserializer=None)
        lives, why = True, ''
        self._lock.release()
        try:
            ask(_proto.GetServerInfoRequest(), timeout=_QUESTION_DEADLINE, metadata=self._proof.metadata())
        except grpc.RpcError as error:
            # Any answer is a sign of life, refusals too.
            lives = error.code() not in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)
            why = error.details() or ''
        finally:
            self._lock.acquire()
        if self.conversation.end is not None or self.conversation.liveness.has_heard or not lives:
            channel.close()
            if self.conversation.end is None and not self.conversation.liveness.has_heard:
                self._finish(self.conversation.blame(False, why))
            return
        before, self._channel = self._channel, channel
        self._drop_stream()
        before.close()
        self._give_up_at = time.monotonic() + _LAST_CHANCE
        self._connect_at = time.monotonic()


def _acquire(lock: threading.Lock) -> Optional[BaseException]:
    """Takes the lock whatever happens; returns the interrupt that came meanwhile."""
    interrupt: Optional[BaseException] = None
    while True:
        try:
            lock.acquire()
            return interrupt
        except BaseException as caught:  # pylint: disable=broad-except
            interrupt = caught
