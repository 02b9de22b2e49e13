"""AsyncEngine: moves a conversation over grpc.aio, in one event loop."""

from __future__ import annotations

import asyncio
import time
from typing import Any, List, Optional, TypeVar

import grpc
import grpc.aio

from slipway import _proto, errors
from slipway._calls import Backoff
from slipway._conversation import Conversation, SessionOptions
from slipway._line import Batch
from slipway._proof import Proof
from slipway._session_work import SessionWork

T = TypeVar('T')

_LONGEST_PAUSE = 1.0
_LAST_CHANCE = 0.8
_QUESTION_DEADLINE = 1.0
_CLOSE_DEADLINE = 2.0


class AsyncEngine:
    """Of one event loop."""

    def __init__(self, address: str, proof: Proof, options: SessionOptions) -> None:
        self.address = address
        self._proof = proof
        self.conversation = Conversation(address, options)
        self._channel = proof.channel(grpc.aio, address)
        self._call: Optional[Any] = None
        self._backoff = Backoff()
        self._give_up_at: Optional[float] = None
        self._last_failure = ''
        # Something is to be said, or to be looked at.
        self._wake_writer = asyncio.Event()
        self._changed = asyncio.Event()
        self._tasks: List['asyncio.Task[None]'] = []

    async def open(self) -> None:
        """Waits for the device. Errors of SessionService.Open."""
        self._tasks = [asyncio.ensure_future(each) for each in (self._stay_connected(), self._keep_time())]
        try:
            while self.conversation.opened is None:
                if self.conversation.end is not None:
                    raise self.conversation.end
                self._changed.clear()
                await self._changed.wait()
        except BaseException:
            await self.close()
            raise

    async def run(self, work: SessionWork[T]) -> T:
        """Carries out what is asked of the session. A task that is cancelled cancels what is under way, not the session."""
        try:
            requests = next(work)
            while True:
                batch = Batch(requests)
                if batch.left:
                    batch.done = asyncio.get_running_loop().create_future()
                    self.conversation.submit(batch)
                    self._wake_writer.set()
                    try:
                        await batch.done
                    except asyncio.CancelledError:
                        self.conversation.line.cancel(batch)
                        self.conversation.line.give_up(batch, errors.Cancelled('cancelled'))
                        self._wake_writer.set()
                        raise
                requests = work.send(batch)
        except StopIteration as end:
            result: T = end.value
            return result

    async def close(self) -> None:
        """Ends the session, and with it the lease; waits a moment until that is heard. May be called again."""
        if self.conversation.end is None:
            self.conversation.close()
            self._wake_writer.set()
            until = time.monotonic() + _CLOSE_DEADLINE
            while self.conversation.end is None and time.monotonic() < until:
                self._changed.clear()
                try:
                    await asyncio.wait_for(self._changed.wait(), until - time.monotonic())
                except asyncio.TimeoutError:
                    break
        self._settle(self.conversation.finish(errors.FailedPrecondition('the session is closed')))
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._channel.close()

    def _settle(self, batches: List[Batch]) -> None:
        for batch in batches:
            if batch.done is not None and not batch.done.done():
                batch.done.set_result(None)
        if self.conversation.end is not None and self._call is not None:
            self._call.cancel()
        self._changed.set()

    async def _stay_connected(self) -> None:
        """Reads what comes over one connection after the other, for as long as the session lasts."""
        conversation = self.conversation
        while conversation.end is None:
            begin = self._channel.stream_stream('/slipway.v1.SessionService/Open', request_serializer=None,
                                                response_deserializer=None)
            self._call = call = begin(metadata=self._proof.metadata())
            writing = asyncio.ensure_future(self._write(call))
            error: Optional[errors.SlipwayError] = None
            try:
                while (message := await call.read()) is not grpc.aio.EOF:
                    self._settle(conversation.received(message))
                    news, conversation.news = conversation.news, []
                    for tell in news:
                        tell()
                    if conversation.is_connected:
                        self._backoff = Backoff()
                    self._wake_writer.set()
                code = await call.code()
                if code is not grpc.StatusCode.OK:
                    error = errors.of(code.value[0], await call.details() or '')
            except grpc.RpcError as failure:
                error = errors.of(failure.code().value[0], failure.details() or '')
            except asyncio.CancelledError:
                # The task's own end, or the call's, which another connection follows.
                if call is self._call and not call.cancelled():
                    raise
                error = errors.Unavailable('the connection was left')
            finally:
                writing.cancel()
                call.cancel()
            if isinstance(error, errors.Cancelled) and call is not self._call:
                error = errors.Unavailable('the connection was left')
            was_left = call is not self._call
            if isinstance(error, errors.Unavailable) and conversation.is_first:
                error = errors.Unavailable(f'"{self.address}" cannot be reached: {error.message}')
            self._settle(conversation.disconnected(error))
            if conversation.end is None and not was_left:
                self._last_failure = '' if error is None else error.message
                await asyncio.sleep(min(self._backoff.next(), _LONGEST_PAUSE))

    async def _write(self, call: Any) -> None:
        try:
            await call.write(self.conversation.first_message())
            while True:
                parts = self.conversation.line.next_message()
                if parts is not None:
                    await call.write(b''.join(parts))
                    continue
                self._wake_writer.clear()
                await self._wake_writer.wait()
        except (grpc.RpcError, asyncio.InvalidStateError):
            # Whoever reads finds out why.
            pass

    async def _keep_time(self) -> None:
        conversation = self.conversation
        while conversation.end is None:
            now = time.monotonic()
            action = conversation.liveness.at(now)
            if action == 'beat':
                conversation.beat()
                self._wake_writer.set()
            elif action == 'ask':
                await self._find_out()
                continue
            if self._give_up_at is not None:
                if conversation.liveness.has_heard:
                    self._give_up_at = None
                elif now >= self._give_up_at:
                    self._settle(conversation.finish(conversation.blame(True, self._last_failure)))
                    return
            due = min([conversation.liveness.next] + ([self._give_up_at] if self._give_up_at is not None else []))
            await asyncio.sleep(max(0.001, due - now))

    async def _find_out(self) -> None:
        """Asks the server whether it lives, over a connection of its own, and goes on over that."""
        channel = self._proof.channel(grpc.aio, self.address)
        ask = channel.unary_unary('/slipway.v1.ServerService/GetServerInfo',
                                  request_serializer=_proto.GetServerInfoRequest.SerializeToString,
                                  response_deserializer=None)
        lives, why = True, ''
        try:
            await ask(_proto.GetServerInfoRequest(), timeout=_QUESTION_DEADLINE, metadata=self._proof.metadata())
        except grpc.RpcError as error:
            # Any answer is a sign of life, refusals too.
            lives = error.code() not in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)
            why = error.details() or ''
        conversation = self.conversation
        if conversation.end is not None or conversation.liveness.has_heard or not lives:
            await channel.close()
            if conversation.end is None and not conversation.liveness.has_heard:
                self._settle(conversation.finish(conversation.blame(False, why)))
            return
        before, self._channel = self._channel, channel
        self._give_up_at = time.monotonic() + _LAST_CHANCE
        call, self._call = self._call, None
        if call is not None:
            call.cancel()
        await before.close()
