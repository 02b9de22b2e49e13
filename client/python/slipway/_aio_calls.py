"""Carries out effects on grpc.aio."""

from __future__ import annotations

import asyncio
import functools
import time
from typing import Any, AsyncIterator, Callable, Generator, List, Tuple, TypeVar

import grpc
import grpc.aio

from slipway._calls import REQUEST_ID_NAME, Effect, NeedDevice, Pause, ReadStream, Unary, WriteStream
from slipway._proof import Proof
from slipway._sync import raise_error

T = TypeVar('T')
_AT_ONCE = 0.005


class AsyncCalls:
    """A connection to a server, made when it is first used, of one event loop."""

    def __init__(self, address: str, proof: Proof, need_device: Callable[[], None]) -> None:
        self.address = address
        self.proof = proof
        self._need_device = need_device
        self._channel = proof.channel(grpc.aio, address)

    async def close(self) -> None:
        await self._channel.close()

    async def run(self, work: Generator[Effect, Any, T]) -> T:
        """Carries out `work`, whose own steps, which read and hash files, run on a thread. A cancelled task's end goes into it, so
        that it may end what it has begun."""
        is_over, came = await self._step(next, work)
        while not is_over:
            try:
                answer = await self._perform(came)
            except BaseException as error:  # pylint: disable=broad-except
                is_over, came = await self._step(work.throw, error)
            else:
                is_over, came = await self._step(work.send, answer)
        result: T = came
        return result

    @staticmethod
    async def _step(advance: Callable[[Any], Effect], argument: Any) -> Tuple[bool, Any]:
        def step() -> Tuple[bool, Any]:
            try:
                return False, advance(argument)
            except StopIteration as end:
                # Which no future may raise.
                return True, end.value

        running = asyncio.get_running_loop().run_in_executor(None, step)
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            # A generator cannot be left while it runs; what it asks for next is not done.
            is_over, effect = await running
            if is_over:
                raise
            return False, _Cancelled(effect)

    async def _perform(self, effect: Any) -> Any:
        if isinstance(effect, _Cancelled):
            raise asyncio.CancelledError
        if isinstance(effect, Pause):
            return await self._pause(effect.seconds)
        if isinstance(effect, NeedDevice):
            return await asyncio.to_thread(self._need_device)
        try:
            if isinstance(effect, Unary):
                return await self._unary(effect)
            if isinstance(effect, ReadStream):
                return await self._read(effect)
            return await self._write(effect)
        except grpc.RpcError as error:
            raise_error(self.address, error, effect.deadline, bool(self.proof.authority))

    async def _pause(self, seconds: float) -> None:
        begin = time.monotonic()
        try:
            await asyncio.wait_for(self._channel.channel_ready(), seconds)
        except asyncio.TimeoutError:
            return
        # Whose connection was there is one that was refused, and must not ask again at once.
        if time.monotonic() - begin < _AT_ONCE:
            await asyncio.sleep(seconds)

    def _metadata(self, request_id: str = '') -> List[Tuple[str, str]]:
        return self.proof.metadata() + ([(REQUEST_ID_NAME, request_id)] if request_id else [])

    async def _unary(self, effect: Unary) -> Any:
        call = self._channel.unary_unary(effect.method.path, request_serializer=_serialize,
                                         response_deserializer=effect.method.response.FromString)
        return await call(effect.request, timeout=effect.deadline, metadata=self._metadata(effect.request_id))

    async def _read(self, effect: ReadStream) -> None:
        begin = self._channel.unary_stream(effect.method.path, request_serializer=_serialize,
                                           response_deserializer=effect.method.response.FromString)
        call = begin(effect.request, timeout=effect.deadline, metadata=self._metadata())
        try:
            async for message in call:
                if not effect.take(message):
                    return
        finally:
            call.cancel()

    async def _write(self, effect: WriteStream) -> Any:
        failed: List[BaseException] = []

        async def pieces() -> AsyncIterator[Any]:
            requests = effect.requests()
            while True:
                # Pieces come from files.
                try:
                    piece = await asyncio.to_thread(functools.partial(next, requests, None))
                except BaseException as error:  # pylint: disable=broad-except
                    failed.append(error)
                    raise
                if piece is None:
                    return
                yield piece

        begin = self._channel.stream_unary(effect.method.path, request_serializer=_serialize,
                                           response_deserializer=effect.method.response.FromString)
        try:
            return await begin(pieces(), timeout=effect.deadline, metadata=self._metadata())
        except (grpc.RpcError, asyncio.CancelledError):
            if failed and not isinstance(failed[0], asyncio.CancelledError):
                raise failed[0] from None
            raise


class _Cancelled:
    """In place of an effect that is not carried out, since the task was cancelled before."""

    def __init__(self, effect: Effect) -> None:
        self.effect = effect


def _serialize(message: Any) -> bytes:
    data: bytes = message.SerializeToString()
    return data
