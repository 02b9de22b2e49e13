"""The messages of a session (session.proto) as bytes, whose data is copied once: into a message, or out of one.

A request is kept without its id, which it gets when it is sent: fields of a message may stand in any order, and messages that
are put behind each other are one message with what is in both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, List, Optional, Sequence, Tuple, Union

from slipway import _proto, errors

# Limits of core/wire/session_messages.h.
MOST_DATA_BYTES = 1 << 20
MOST_REQUEST_BYTES = 1 << 20
# From so many bytes on, data is looked for by hand.
_LARGE_BYTES = 16 << 10
_DATA_KEY = b'\xfa\x01'
_MOST_NAME_BYTES = 1024

LONGEST_DEADLINE_NS = 24 * 3600 * 1_000_000_000


def varint(number: int) -> bytes:
    if number < 0x80:
        return bytes((number,))
    if number < 0x4000:
        return bytes((number & 0x7f | 0x80, number >> 7))
    made = bytearray()
    while number > 0x7f:
        made.append(number & 0x7f | 0x80)
        number >>= 7
    made.append(number)
    return bytes(made)


_MAY_WAIT = b'\x10' + varint(LONGEST_DEADLINE_NS)


@dataclass
class Answer:
    """What the device says to a request: the message without its data, and that."""

    response: Any
    data: Union[bytes, memoryview]

    @property
    def error(self) -> Optional[errors.SlipwayError]:
        response = self.response
        return errors.of(response.code, response.message, response.log_tail) if response.code else None


@dataclass(eq=False)
class Request:
    """A request without its id. `take` is told of the answer, if it is no error, as it comes."""

    body: bytes
    data: Optional[memoryview] = None
    # Bytes of data that the answer has.
    asked: int = 0
    take: Optional[Callable[[Answer], None]] = None
    is_free: bool = False
    # The batch that it belongs to, and which of it it is; the line's.
    batch: Any = None
    place: int = 0
    is_cancelled: bool = False

    @property
    def data_bytes(self) -> int:
        return self.asked + (0 if self.data is None else len(self.data))


def _inner(key: bytes, contents: bytes) -> bytes:
    return key + varint(len(contents)) + contents


def request(deadline_ns: int = LONGEST_DEADLINE_NS, data: Optional[memoryview] = None, **kind: Any) -> Request:
    """Any kind: request(load=...)."""
    body: bytes = _proto.SessionRequest(deadline_ns=deadline_ns, **kind).SerializeToString()
    if len(body) > MOST_REQUEST_BYTES:
        raise errors.ResourceExhausted(f'a request of {len(body)} bytes is over the limit of {MOST_REQUEST_BYTES}: give '
                                       'shorter names, or fewer tensors')
    return Request(body, data)


def allocate_request(tensor: int, type_bytes: bytes, name: str) -> Request:
    """Of a tensor whose elements are whichever they are until they are written; `type_bytes` is a TensorType."""
    named = name.encode()[:_MOST_NAME_BYTES].decode('utf-8', 'ignore').encode()
    contents = b'\x08' + varint(tensor) + _inner(b'\x12', type_bytes) + (_inner(b'\x1a', named) if named else b'') + b'\x30\x01'
    return Request(_MAY_WAIT + _inner(b'\x52', contents))


def write_request(tensor: int, offset: int, data: memoryview) -> Request:
    return Request(_MAY_WAIT + _inner(b'\x5a', b'\x08' + varint(tensor) + b'\x10' + varint(offset)), data)


def read_request(tensor: int, offset: int, size: int, take: Callable[[Answer], None]) -> Request:
    contents = b'\x08' + varint(tensor) + b'\x10' + varint(offset) + b'\x18' + varint(size)
    return Request(_MAY_WAIT + _inner(b'\x62', contents), asked=size, take=take)


def call_contents(program: int, function: str, inputs: Sequence[int], outputs: Sequence[int], profile: bool) -> bytes:
    """The message SessionRequest.Call."""
    contents = b'\x08' + varint(program)
    if function:
        contents += _inner(b'\x12', function.encode())
    if inputs:
        contents += _inner(b'\x1a', b''.join(map(varint, inputs)))
    if outputs:
        contents += _inner(b'\x22', b''.join(map(varint, outputs)))
    return contents + (b'\x28\x01' if profile else b'')


def call_request(contents: bytes, deadline_ns: int, take: Optional[Callable[[Answer], None]]) -> Request:
    deadline = b'\x10' + varint(deadline_ns) if deadline_ns else b''
    return Request(deadline + _inner(b'\x7a', contents), take=take)


# A request that steers the connection, as it stands in a message.
HEARTBEAT = b'\x12\x02\x2a\x00'
CLOSE = b'\x12\x02\x3a\x00'


def cancel_bytes(number: int) -> bytes:
    return _inner(b'\x12', _inner(b'\x32', b'\x08' + varint(number)))


def ack_bytes(number: int) -> bytes:
    return b'\x08' + varint(number)


def request_parts(sent: Request, number: int) -> List[Union[bytes, memoryview]]:
    """A request of a message."""
    head = b'\x08' + varint(number) + sent.body
    if sent.data is None:
        return [_inner(b'\x12', head)]
    head += _DATA_KEY + varint(len(sent.data))
    return [b'\x12' + varint(len(head) + len(sent.data)) + head, sent.data]


def parse_responses(message: bytes) -> List[Answer]:
    """The responses of a message. INTERNAL for bytes that are none."""
    try:
        if len(message) < _LARGE_BYTES:
            return [Answer(each, each.data) for each in _proto.SessionResponses.FromString(message).responses]
        return _parse_large(memoryview(message))
    except errors.SlipwayError:
        raise
    except Exception:  # Of protobuf's, which differ by version.
        raise errors.Internal('the device breaks the protocol: it sends what is no message') from None


def _parse_large(message: memoryview) -> List[Answer]:
    """Without copying data."""
    answers = []
    for key, begin, end in _fields(message, 0):
        if key != 0x0a:
            continue
        contents = message[begin:end]
        data: memoryview = contents[:0]
        if len(contents) >= _LARGE_BYTES:
            for inner, first, last in _fields(contents, 0):
                if inner == 0xfa:
                    data = contents[first:last]
                    contents = contents[:first - len(varint(last - first)) - len(_DATA_KEY)]
                    break
        answers.append(Answer(_proto.SessionResponse.FromString(bytes(contents)), data))
        if not len(data):
            answers[-1].data = answers[-1].response.data
    return answers


def _fields(data: memoryview, at: int) -> List[Tuple[int, int, int]]:
    """Key, begin and end of each field; the key of field 31 is 0xfa (its number and kind, 250)."""
    found = []
    end = len(data)

    def number() -> int:
        nonlocal at
        value = shift = 0
        while True:
            if at >= end or shift > 63:
                raise ValueError('cut off')
            byte = data[at]
            at += 1
            value |= (byte & 0x7f) << shift
            if byte < 0x80:
                return value
            shift += 7

    while at < end:
        key = number()
        kind = key & 7
        if kind == 0:
            begin = at
            number()
        elif kind in (1, 5):
            begin = at
            at += 8 if kind == 1 else 4
        elif kind == 2:
            size = number()
            begin = at
            at += size
        else:
            raise ValueError('no field')
        if at > end:
            raise ValueError('cut off')
        found.append((key, begin, at))
    return found
