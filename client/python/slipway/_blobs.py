"""Blobs: immutable bytes named by their SHA-256, which move in pieces and go on where they broke off."""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass
from typing import Any, BinaryIO, Callable, Dict, Iterable, Iterator, List, Optional, Union

from slipway import _proto, errors
from slipway._calls import Progress, ReadStream, RetryPolicy, Unary, Work, WriteStream

PIECE_BYTES = 1 << 20
# Answers of more than so many blobs are asked for in turns.
_MOST_ASKED = 10_000


@dataclass(frozen=True)
class Digest:
    """The name of a blob: SHA-256 of its bytes, 64 hexadecimal digits, and their number."""

    sha256: str
    size: int

    def __str__(self) -> str:
        return self.sha256

    @classmethod
    def of(cls, data: Union[bytes, memoryview]) -> 'Digest':
        return cls(hashlib.sha256(data).hexdigest(), len(data))

    @classmethod
    def from_proto(cls, proto: Any) -> 'Digest':
        digest = cls(proto.sha256, proto.size_bytes)
        is_hex = len(digest.sha256) == 64 and all(c in '0123456789abcdef' for c in digest.sha256)
        if not is_hex or digest.size < 0:
            raise errors.Internal('the server names a blob by what is no digest')
        return digest

    def to_proto(self) -> Any:
        return _proto.Digest(sha256=self.sha256, size_bytes=self.size)


class BytesBlob:
    """A blob in memory."""

    def __init__(self, data: Union[bytes, memoryview]) -> None:
        self._data = memoryview(data).cast('B')
        self.digest = Digest.of(self._data)

    def pieces(self, offset: int) -> Iterator[bytes]:
        for at in range(offset, len(self._data), PIECE_BYTES):
            yield bytes(self._data[at:at + PIECE_BYTES])


class FileBlob:
    """A part of a file, which must not change meanwhile. A piece at a time is in memory."""

    def __init__(self, path: str, offset: int = 0, digest: Optional[Digest] = None) -> None:
        self._path = path
        self._offset = offset
        if digest is None:
            hasher = hashlib.sha256()
            size = 0
            with open_regular(path) as file:
                buffer = bytearray(PIECE_BYTES)
                while count := file.readinto(buffer):  # type: ignore[attr-defined]
                    hasher.update(memoryview(buffer)[:count])
                    size += count
            digest = Digest(hasher.hexdigest(), size)
        self.digest = digest

    def pieces(self, offset: int) -> Iterator[bytes]:
        with open_regular(self._path) as file:
            file.seek(self._offset + offset)
            left = self.digest.size - offset
            while left > 0:
                piece = file.read(min(PIECE_BYTES, left))
                if not piece:
                    raise errors.DataLoss(f'"{self._path}" became shorter while it was sent')
                left -= len(piece)
                yield piece


Blob = Union[BytesBlob, FileBlob]
# Told how many bytes of a blob have moved, of how many.
OnBytes = Callable[[Digest, int], None]


def open_regular(path: str) -> BinaryIO:
    """Opens what is to be read as a whole: no folder, no pipe."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        raise errors.NotFound(f'there is no "{path}"') from None
    except OSError as error:
        raise errors.PermissionDenied(f'cannot open "{path}": {error.strerror}') from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise errors.InvalidArgument(f'"{path}" is no file')
    return os.fdopen(descriptor, 'rb', buffering=0)


def _transfer_deadline(size: int) -> float:
    """As blob.proto advises."""
    return 60.0 + (size >> 20)


def send(blobs: Iterable[Blob], policy: RetryPolicy, on_bytes: Optional[OnBytes] = None) -> Work[None]:
    """Sends those that the server lacks."""
    by_digest: Dict[Digest, Blob] = {blob.digest: blob for blob in blobs}
    digests = list(by_digest)
    # Of one blob QueryWrite tells as much.
    if len(digests) == 1:
        yield from _send_one(by_digest[digests[0]], policy, on_bytes)
        return
    for begin in range(0, len(digests), _MOST_ASKED):
        asked = digests[begin:begin + _MOST_ASKED]
        request = _proto.FindMissingRequest(digests=[digest.to_proto() for digest in asked])
        response = yield from policy.call('BlobService', 'FindMissing', request)
        for proto in response.missing:
            missing = Digest.from_proto(proto)
            if missing not in by_digest:
                raise errors.Internal('the server misses a blob that it was not asked for')
            yield from _send_one(by_digest[missing], policy, on_bytes)


def _send_one(blob: Blob, policy: RetryPolicy, on_bytes: Optional[OnBytes]) -> Work[None]:
    furthest = 0
    query = Unary(_proto.method('BlobService', 'QueryWrite'), _proto.QueryWriteRequest(digest=blob.digest.to_proto()))

    def attempt(progress: Progress) -> Work[None]:
        nonlocal furthest
        held = yield query
        if held.complete:
            return
        committed = held.committed_bytes
        if not 0 <= committed <= blob.digest.size:
            raise errors.Internal(f'the server claims to hold {committed} of {blob.digest.size} bytes')
        progress.made = committed > furthest
        furthest = max(furthest, committed)
        try:
            yield _write_from(committed, blob, on_bytes)
        except errors.OutOfRange:
            # What is held may be forgotten since, or be another writer's; 0 is always right.
            try:
                yield _write_from(0, blob, on_bytes)
            except errors.OutOfRange as error:
                raise errors.Unavailable(error.message) from None

    try:
        yield from policy.persist(attempt)
    except errors.SlipwayError as error:
        raise error.within(f'cannot send blob {blob.digest}') from None


def _write_from(offset: int, blob: Blob, on_bytes: Optional[OnBytes]) -> WriteStream:
    def requests() -> Iterator[Any]:
        at = offset
        request = _proto.WriteRequest(digest=blob.digest.to_proto(), offset=at)
        for piece in blob.pieces(offset):
            request.offset, request.data = at, piece
            yield request
            at += len(piece)
            if on_bytes is not None:
                on_bytes(blob.digest, at)
            request = _proto.WriteRequest()
        if at == offset:
            yield request

    return WriteStream(_proto.method('BlobService', 'Write'), requests, _transfer_deadline(blob.digest.size - offset))


def fetch(digest: Digest, take: Callable[[bytes], None], policy: RetryPolicy,
          on_bytes: Optional[OnBytes] = None) -> Work[None]:
    """Fetches a blob; `take` gets its pieces, each once. DATA_LOSS, after them, for bytes that are not the blob's."""
    hasher = hashlib.sha256()
    at = 0

    def attempt(progress: Progress) -> Work[None]:
        def piece_came(piece: Any) -> bool:
            nonlocal at
            if at + len(piece.data) > digest.size:
                raise errors.DataLoss('the server sent more bytes than the blob has')
            hasher.update(piece.data)
            take(piece.data)
            at += len(piece.data)
            progress.made = progress.made or bool(piece.data)
            if on_bytes is not None:
                on_bytes(digest, at)
            return True

        request = _proto.ReadRequest(digest=digest.to_proto(), offset=at)
        yield ReadStream(_proto.method('BlobService', 'Read'), request, _transfer_deadline(digest.size - at), piece_came)
        if at < digest.size:
            raise errors.Unavailable(f'the server sent {at} of {digest.size} bytes')

    try:
        yield from policy.persist(attempt)
        if hasher.hexdigest() != digest.sha256:
            raise errors.DataLoss('the server sent something else')
    except errors.SlipwayError as error:
        raise error.within(f'cannot fetch blob {digest}') from None


def fetch_bytes(digest: Digest, policy: RetryPolicy, most: int) -> Work[bytes]:
    """A blob of at most so many bytes."""
    if digest.size > most:
        raise errors.ResourceExhausted(f'blob {digest} has {digest.size} bytes; at most {most} are taken')
    pieces: List[bytes] = []
    yield from fetch(digest, pieces.append, policy)
    return b''.join(pieces)
