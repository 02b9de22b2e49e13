"""Carries out effects on gRPC's blocking calls."""

from __future__ import annotations

import time
from typing import Any, Callable, Generator, Iterator, List, NoReturn, Optional, Tuple, TypeVar

import grpc

from slipway import errors
from slipway._calls import Effect, NeedDevice, Pause, ReadStream, REQUEST_ID_NAME, Unary, WriteStream
from slipway._proof import Proof

T = TypeVar('T')

# A channel that is ready by then was before.
_AT_ONCE = 0.005


def raise_error(server: str, error: Any, deadline: float, is_over_tls: bool = False) -> NoReturn:
    """What a gRPC call that failed means to the caller."""
    code, message = error.code(), error.details() or ''
    if code == grpc.StatusCode.DEADLINE_EXCEEDED:
        raise errors.Unavailable(f'server "{server}" cannot be reached: no answer within {deadline:g} s') from None
    if code == grpc.StatusCode.UNAVAILABLE:
        if 'connect' not in message:
            raise errors.Unavailable(f'server "{server}" says: {message}') from None
        raise errors.Unavailable(f'server "{server}" cannot be reached: {message}; '
                                 + _likely_cause(message, is_over_tls)) from None
    raise errors.of(code.value[0], message) from None


def _likely_cause(message: str, is_over_tls: bool) -> str:
    if is_over_tls and ('certificate verify failed' in message or 'not in peer certificate' in message):
        return 'it is not the server that the identity is for, or a clock is wrong'
    if is_over_tls and 'wrong version number' in message:
        return 'it serves without TLS: pass insecure=True if that is meant'
    if is_over_tls and ('Socket closed' in message or 'reset by peer' in message or 'andshake' in message):
        return 'it does not take the identity or token: it was revoked, or is another server\'s'
    return 'is slipwayd running there'


class SyncCalls:
    """A connection to a server, made when it is first used. Thread-safe."""

    def __init__(self, address: str, proof: Proof, need_device: Callable[[], None]) -> None:
        self.address = address
        self._need_device = need_device
        self.proof = proof
        self._channel = proof.channel(grpc, address)

    def close(self) -> None:
        self._channel.close()

    def run(self, work: Generator[Effect, Any, T]) -> T:
        """Carries out `work` on this thread. Ctrl-C goes into it, so that it may end what it has begun."""
        effect = None
        try:
            effect = next(work)
            while True:
                try:
                    came = self._perform(effect)
                except BaseException as error:  # pylint: disable=broad-except
                    effect = work.throw(error)
                else:
                    effect = work.send(came)
        except StopIteration as end:
            result: T = end.value
            return result

    def _metadata(self, request_id: str = '') -> List[Tuple[str, str]]:
        extra = [(REQUEST_ID_NAME, request_id)] if request_id else []
        return self.proof.metadata() + extra

    def _perform(self, effect: Effect) -> Any:
        if isinstance(effect, Pause):
            return self._pause(effect.seconds)
        if isinstance(effect, NeedDevice):
            return self._need_device()
        try:
            if isinstance(effect, Unary):
                return self._unary(effect)
            if isinstance(effect, ReadStream):
                return self._read(effect)
            return self._write(effect)
        except grpc.RpcError as error:
            raise_error(self.address, error, effect.deadline, bool(self.proof.authority))

    def _pause(self, seconds: float) -> None:
        begin = time.monotonic()
        ready = grpc.channel_ready_future(self._channel)
        try:
            ready.result(timeout=seconds)
        except grpc.FutureTimeoutError:
            return
        finally:
            ready.cancel()
        # Whose connection was there is one that was refused, and must not ask again at once.
        if time.monotonic() - begin < _AT_ONCE:
            time.sleep(max(0.0, seconds - _AT_ONCE))

    def _unary(self, effect: Unary) -> Any:
        call = self._channel.unary_unary(effect.method.path, request_serializer=_serialize,
                                         response_deserializer=effect.method.response.FromString)
        return call(effect.request, timeout=effect.deadline, metadata=self._metadata(effect.request_id))

    def _read(self, effect: ReadStream) -> None:
        begin = self._channel.unary_stream(effect.method.path, request_serializer=_serialize,
                                           response_deserializer=effect.method.response.FromString)
        call = begin(effect.request, timeout=effect.deadline, metadata=self._metadata())
        try:
            for message in call:
                if not effect.take(message):
                    return
        finally:
            call.cancel()

    def _write(self, effect: WriteStream) -> Any:
        failed: List[BaseException] = []

        def pieces() -> Iterator[Any]:
            # gRPC draws them on a thread of its own and would only log what goes wrong there.
            try:
                yield from effect.requests()
            except BaseException as error:  # pylint: disable=broad-except
                failed.append(error)
                raise

        begin = self._channel.stream_unary(effect.method.path, request_serializer=_serialize,
                                           response_deserializer=effect.method.response.FromString)
        call: Optional[Any] = None
        try:
            call = begin.future(pieces(), timeout=effect.deadline, metadata=self._metadata())
            return call.result()
        except grpc.RpcError:
            if failed:
                raise failed[0] from None
            raise
        finally:
            if call is not None:
                call.cancel()


def _serialize(message: Any) -> bytes:
    data: bytes = message.SerializeToString()
    return data
