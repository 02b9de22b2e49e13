"""What the calls of a client have in common: to accept a job, and to follow it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, TypeVar

from slipway import _blobs, _progress, _proto, errors
from slipway._blobs import Blob
from slipway._calls import INTERRUPTS, ReadStream, RetryPolicy, Unary, Work, new_request_id
from slipway._results import ServerInfo

# The version of proto/slipway/v1 that this client speaks.
_PROTOCOL = 1
# A stream that is silent for longer is opened again, lest a job's end be missed behind a broken middlebox.
_WATCH_DEADLINE = 600.0
# Whoever interrupts does not want to wait long for a server to hear of it.
_CANCEL_DEADLINE = 5.0
_ITEMS_PER_PAGE = 100
_ENDED = 4
_FAILED = 5
_CANCELLED = 6
_SUCCEEDED = 4

T = TypeVar('T')


@dataclass(frozen=True)
class Context:
    """A server, and how it is spoken to."""

    address: str
    policy: RetryPolicy
    info: ServerInfo
    show: _progress.Silent

    def with_progress(self, wanted: Optional[bool]) -> 'Context':
        return self if wanted is None else replace(self, show=_progress.make(wanted))

    def check_device(self, device: str) -> None:
        """That the server knows a selector for one."""
        is_id = all(c in 'abcdefghijklmnopqrstuvwxyz0123456789._-' for c in device)
        if not is_id and not self.info.selectors:
            raise errors.FailedPrecondition(f'the server, version "{self.info.version}", knows devices by their ids '
                                            'alone: name one, or update the server')

    def call(self, service: str, name: str, request: Any) -> Work[Any]:
        return (yield from self.policy.call(service, name, request))

    def upload(self, blobs: Sequence[Blob]) -> Work[None]:
        if blobs:
            yield from _blobs.send(blobs, self.policy, self.show.sent)

    def submit(self, service: str, name: str, request: Any, blobs: Sequence[Blob], *, priority: int,
               tags: Optional[Mapping[str, str]], deadline: Optional[float]) -> Work[str]:
        """Sends what the server lacks, then has the job accepted, under one request id however often it is asked. A job of
        which an interrupt leaves it open whether it was accepted is cancelled."""
        request.request_id = new_request_id()
        request.priority = priority
        request.tags.extend(tags_to_protos(tags))
        if deadline is not None:
            request.total_deadline_ns = int(deadline * 1e9)
        yield from self.upload(blobs)

        def create() -> Work[str]:
            response = yield from self.policy.call(service, name, request, request.request_id)
            return str(response.job_id)

        try:
            try:
                return (yield from create())
            except errors.FailedPrecondition:
                # Blobs may have been evicted in between.
                if not blobs:
                    raise
            yield from self.upload(blobs)
            return (yield from create())
        except INTERRUPTS:
            job = (yield Unary(_proto.method(service, name), request, _CANCEL_DEADLINE, request.request_id)).job_id
            yield _cancel(job)
            raise

    def wait(self, job: str, what: str) -> Work[Any]:
        """The job once it has ended, in whatever way; an interrupt cancels it."""
        latest = _proto.Job()

        def attempt(progress: Any) -> Work[None]:
            def take(message: Any) -> bool:
                progress.made = True
                latest.CopyFrom(message)
                self.show.job(what, message)
                return True

            request = _proto.WatchJobRequest(id=job, after_revision=latest.revision)
            yield ReadStream(_proto.method('JobService', 'WatchJob'), request, _WATCH_DEADLINE, take)
            if latest.state < _ENDED and not progress.made:
                raise errors.Internal(f'the server stopped telling of job "{job}" before its end')

        try:
            while latest.state < _ENDED:
                yield from self.policy.persist(attempt)
        except INTERRUPTS:
            yield _cancel(job)
            raise
        finally:
            self.show.close()
        return latest

    def result(self, job: str, what: str) -> Work[Any]:
        """The job when it has succeeded; else the error that it ended with."""
        proto = yield from self.wait(job, what)
        if proto.state == _FAILED:
            raise errors.of(proto.error.code, f'{what}: {proto.error.message}', proto.error.log_tail)
        if proto.state != _SUCCEEDED:
            raise errors.Cancelled(f'{what}: the job was cancelled')
        return proto

    def pages(self, service: str, name: str, request: Any, limit: int,
              items: Callable[[Any], Iterable[T]]) -> Work[List[T]]:
        """The items of a list, page by page, until `limit` have come or there are no more."""
        found: List[T] = []
        while len(found) < limit:
            request.page_size = min(limit - len(found), _ITEMS_PER_PAGE)
            response = yield from self.call(service, name, request)
            found.extend(items(response))
            if not response.next_page_token:
                break
            if response.next_page_token == request.page_token:
                raise errors.Internal('the server gives the same page of a list again and again')
            request.page_token = response.next_page_token
        return found


def _cancel(job: str) -> Unary:
    return Unary(_proto.method('JobService', 'CancelJob'), _proto.CancelJobRequest(id=job), _CANCEL_DEADLINE)


def greet(address: str, timeout: float) -> Work[ServerInfo]:
    """Asks the server what it is, once."""
    method = _proto.method('ServerService', 'GetServerInfo')
    try:
        info = yield Unary(method, _proto.GetServerInfoRequest(), timeout)
    except errors.Unimplemented:
        raise errors.FailedPrecondition(f'"{address}" is no server for jobs; an agent that listens takes sessions '
                                        'alone: slipway.open(server=...)') from None
    if not info.min_protocol <= _PROTOCOL <= info.max_protocol:
        raise errors.FailedPrecondition(
            f'server version {info.version} speaks protocols {info.min_protocol} to {info.max_protocol}, this client '
            f'{_PROTOCOL}; update the older one')
    return ServerInfo(version=info.version, targets=tuple(info.targets), max_model_bytes=info.limits.max_model_bytes,
                      max_input_bytes=info.limits.max_input_bytes, selectors=info.selectors != 0)


def tags_to_protos(tags: Optional[Mapping[str, str]]) -> List[Any]:
    """Which there may be, the server says."""
    made: Dict[str, str] = dict(tags or {})
    return [_proto.Tag(key=key, value=str(value)) for key, value in sorted(made.items())]
