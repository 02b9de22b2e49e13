"""What is asked of a session, as generators that yield requests and are sent the batch of them when it is done: programs are
loaded, tensors move in pieces, calls are made. As for a client (`_work`), one engine carries them out blocking and one in an
event loop.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Generator, List, Optional, Sequence, Tuple, TypeVar, Union

import numpy as np

from slipway import _arrays, _wire, errors
from slipway._arrays import Array, TensorType
from slipway._blobs import Blob, Digest
from slipway._conversation import Conversation
from slipway._line import Batch
from slipway._results import Benchmark, Steps
from slipway._slip import Port
from slipway._wire import Answer, Request

T = TypeVar('T')
SessionWork = Generator[List[Request], Batch, T]

# Rounds in which the device got no further with any blob, after which it is given up.
_MOST_IDLE_ROUNDS = 3
_NS = 1e9
_MOST_KEPT = 16
_MOST_KEPT_BYTES = 64 << 10


@dataclass(frozen=True)
class Function:
    """A function of a program: what it takes and gives."""

    name: str
    inputs: Tuple[Port, ...]
    outputs: Tuple[Port, ...]

    def __str__(self) -> str:
        return f'{self.name}({", ".join(map(str, self.inputs))}) -> {", ".join(map(str, self.outputs))}'


@dataclass(eq=False)
class Held:
    """Something on the device, behind a handle that goes with this object: whether or not it came about, since freeing what
    is not there does no harm."""

    conversation: Conversation
    handle: int
    name: str
    is_held: bool = True

    def free(self) -> None:
        """Lets it go. May be called anywhere, as by the garbage collector, and again."""
        if self.is_held:
            self.is_held = False
            self.conversation.line.dropped.append(self.handle)

    def __del__(self) -> None:
        self.free()


@dataclass(eq=False)
class TensorHeld(Held):
    """A tensor on the device."""

    type: TensorType = field(default_factory=lambda: TensorType('u8', (0,)))


@dataclass(eq=False)
class ProgramHeld(Held):
    """A program on the device."""

    functions: Tuple[Function, ...] = ()
    load_ns: int = 0
    # Small tensors that calls on arrays go through, by function, port and type, so that the next call need not make them.
    # Calls of several threads share them: the requests of a call stand together, and are carried out in their order.
    kept: Dict[Tuple[str, str, TensorType], TensorHeld] = field(default_factory=dict)

    def function(self, name: str) -> Function:
        for each in self.functions:
            if name in ('', each.name):
                return each
        raise errors.NotFound(f'program "{self.name}" has no function "{name}"; there are '
                              + ', '.join(each.name for each in self.functions))


@dataclass(frozen=True)
class CallReport:
    """What the device tells of a call."""

    duration_ns: int
    threads: int
    # With `profile`.
    steps: Steps


@dataclass(frozen=True)
class Facts:
    """What state a device is in. What is not known is 0."""

    free_bytes: int
    limit_bytes: int
    tensor_bytes: int
    tensors: int
    programs: int
    cpu_frequency_hz: int
    temperature_millicelsius: int
    load_millis: int


def _check_usable(held: Held, conversation: Conversation, what: str) -> int:
    if held.conversation is not conversation:
        raise errors.InvalidArgument(f'{what} is of another session')
    if not held.is_held:
        raise errors.FailedPrecondition(f'{what} was freed')
    return held.handle


# Programs.

def load(conversation: Conversation, manifest: Digest, find: Optional[Callable[[Digest], Optional[Blob]]], name: str,
         threads: int, deadline: float) -> SessionWork[ProgramHeld]:
    """Loads a program. `find` has the blobs that the device may lack, where its server has not got them."""
    program = ProgramHeld(conversation, conversation.new_handle(), name)
    sent: Dict[Digest, None] = {}
    idle_rounds = 0
    while True:
        request = _wire.request(int(deadline * _NS), load={
            'program': program.handle, 'manifest': manifest.to_proto(), 'threads': threads,
            'name': name.encode()[:255].decode('utf-8', 'ignore')})
        batch = yield [request]
        answer = batch.answers[0]
        missing = [] if answer is None else [Digest.from_proto(each) for each in answer.response.loaded.missing]
        blobs: List[Blob] = []
        for digest in missing:
            blob = find(digest) if find is not None else None
            # What was sent once is not sent again.
            if blob is None or digest in sent:
                batch.check()
            assert blob is not None
            sent[digest] = None
            blobs.append(blob)
        if not blobs:
            loaded = batch.check()[0].response.loaded
            break
        idle_rounds = yield from _write_blobs(conversation, blobs, idle_rounds)
    program.load_ns = loaded.load_ns
    program.functions = tuple(
        Function(each.name, tuple(Port(port.name, port.type) for port in each.inputs),
                 tuple(Port(port.name, port.type) for port in each.outputs)) for each in loaded.functions)
    if not program.functions:
        raise errors.Internal('the device loaded a program without functions')
    return program


def _write_blobs(conversation: Conversation, blobs: Sequence[Blob], idle_rounds: int) -> SessionWork[int]:
    """Writes blobs into the device's cache, each from where the device has it."""
    for blob in blobs:
        size = at = 0
        is_begun = False
        while not is_begun or at < blob.digest.size:
            pieces = blob.pieces(at)
            # The first round finds out what the device has, the others send windows of pieces.
            wanted = 1 if not is_begun else 8
            requests: List[Request] = []
            offset = at
            for piece in pieces:
                requests.append(_wire.request(write_blob={'blob': blob.digest.to_proto(), 'offset': offset},
                                              data=memoryview(piece)))
                offset += len(piece)
                if len(requests) == wanted:
                    break
            if not requests:
                requests = [_wire.request(write_blob={'blob': blob.digest.to_proto(), 'offset': at}, data=memoryview(b''))]
            batch = yield requests
            for answer in batch.answers:
                if answer is None:
                    continue
                error = answer.error
                is_elsewhere = isinstance(error, errors.OutOfRange) and answer.response.HasField('blob_written')
                if error is not None and not is_elsewhere:
                    raise error
                at = answer.response.blob_written.size
                if not 0 <= at <= blob.digest.size:
                    raise errors.Internal(f'the device says it has {at} bytes of blob {blob.digest}')
            if batch.answers[0] is None:
                batch.check()
            idle_rounds = 0 if at > size or blob.digest.size == 0 else idle_rounds + 1
            size = max(size, at)
            is_begun = True
            if idle_rounds == _MOST_IDLE_ROUNDS:
                raise errors.Aborted('blobs were sent again and again, and the device does not have them')
    return idle_rounds


# Tensors.

def allocate(conversation: Conversation, tensor_type: Union[TensorType, str], name: str,
             seed: Optional[int]) -> SessionWork[TensorHeld]:
    if isinstance(tensor_type, str):
        tensor_type = TensorType.parse(tensor_type)
    how = {} if seed is None else {'random': True, 'seed': seed}
    tensor = TensorHeld(conversation, conversation.new_handle(), name, type=tensor_type)
    (yield [_wire.request(allocate={'tensor': tensor.handle, 'type': tensor_type.to_proto(), 'name': name, **how})]).check()
    return tensor


def _put(conversation: Conversation, array: Array, name: str) -> Tuple[TensorHeld, List[Request]]:
    if _arrays.is_text(array):
        raise errors.InvalidArgument(f'tensor "{name}": a device has no tensors of strings')
    tensor_type = _arrays.type_of(array)
    tensor = TensorHeld(conversation, conversation.new_handle(), name, type=tensor_type)
    request = _wire.allocate_request(tensor.handle, tensor_type.wire_bytes, name)
    return tensor, [request, *_writes(conversation, tensor.handle, array)]


def _writes(conversation: Conversation, handle: int, array: Array) -> List[Request]:
    data = _arrays.elements(array)
    step = conversation.piece_bytes
    return [_wire.write_request(handle, at, data[at:at + step]) for at in range(0, len(data), step)]


def put(conversation: Conversation, value: Any, name: str) -> SessionWork[TensorHeld]:
    tensor, requests = _put(conversation, _arrays.as_array(value, f'tensor "{name}"'), name)
    (yield requests).check()
    return tensor


def assign(conversation: Conversation, tensor: TensorHeld, value: Any) -> SessionWork[None]:
    """Writes the elements of an array of the same type into a tensor."""
    handle = _check_usable(tensor, conversation, f'tensor "{tensor.name}"')
    array = _arrays.as_array(value)
    if _arrays.type_of(array) != tensor.type:
        raise errors.InvalidArgument(f'tensor "{tensor.name}": {_arrays.type_of(array)} is given where {tensor.type} is taken')
    (yield _writes(conversation, handle, array)).check()


def _reads(conversation: Conversation, handle: int, into: memoryview) -> List[Request]:
    step = conversation.piece_bytes

    def reading(at: int, size: int) -> Request:
        def take(answer: Answer) -> None:
            if len(answer.data) != size:
                raise errors.Internal(f'the device sent {len(answer.data)} bytes of a tensor where {size} were asked for')
            into[at:at + size] = answer.data
            answer.data = b''

        return _wire.read_request(handle, at, size, take)

    return [reading(at, min(step, len(into) - at)) for at in range(0, len(into), step)]


def _bytes_of(array: Array) -> memoryview:
    flat = array.reshape(-1).view(np.uint8)
    return flat.data if flat.size else memoryview(bytearray())


def get(conversation: Conversation, tensor: TensorHeld, out: Optional[Array]) -> SessionWork[Array]:
    """The elements of a tensor, in a new array or in `out`."""
    handle = _check_usable(tensor, conversation, f'tensor "{tensor.name}"')
    array = tensor.type.empty() if out is None else out
    if out is not None and (_arrays.type_of(out) != tensor.type or not out.flags.c_contiguous or not out.flags.writeable):
        raise errors.InvalidArgument(f'out is {_arrays.type_of(out)}: a dense, writeable array of {tensor.type} is wanted')
    (yield _reads(conversation, handle, _bytes_of(array))).check()
    return array


def cut(conversation: Conversation, tensor: TensorHeld, begin: Sequence[int], shape: Sequence[int],
        name: str) -> SessionWork[TensorHeld]:
    """A copy of a box of a tensor."""
    handle = _check_usable(tensor, conversation, f'tensor "{tensor.name}"')
    made = TensorHeld(conversation, conversation.new_handle(), name or tensor.name,
                      type=TensorType(tensor.type.dtype, tuple(shape)))
    (yield [_wire.request(slice={'from': handle, 'tensor': made.handle, 'begin': begin, 'shape': shape,
                                 'name': made.name})]).check()
    return made


# Calls.

class _Asked:
    """Requests of a call, as they come together, and the tensors that it makes."""

    def __init__(self, conversation: Conversation, program: ProgramHeld, function: str) -> None:
        self.conversation = conversation
        self.program = program
        self.handle = _check_usable(program, conversation, f'program "{program.name}"')
        self.name = function
        self.function = program.function(function)
        self.requests: List[Request] = []
        self._made: List[TensorHeld] = []
        self._new: List[Tuple[str, str, TensorType]] = []

    def put(self, array: Array, port: str) -> int:
        """An array as a tensor that goes with the call, or was there."""
        key = (self.name, f'input {port}', _arrays.type_of(array))
        kept = self.program.kept.get(key)
        if kept is not None:
            self.requests.extend(_writes(self.conversation, kept.handle, array))
            return kept.handle
        tensor, requests = _put(self.conversation, array, port)
        self.requests.extend(requests)
        self._keep(key, tensor)
        return tensor.handle

    def output(self, tensor_type: TensorType, port: str) -> int:
        """A tensor that the call writes, and goes with it or was there."""
        key = (self.name, f'output {port}', tensor_type)
        kept = self.program.kept.get(key)
        if kept is None:
            kept = TensorHeld(self.conversation, self.conversation.new_handle(), port, type=tensor_type)
            self._keep(key, kept)
        return kept.handle

    def _keep(self, key: Tuple[str, str, TensorType], tensor: TensorHeld) -> None:
        self._made.append(tensor)
        if tensor.type.byte_size <= _MOST_KEPT_BYTES and len(self.program.kept) < _MOST_KEPT:
            self.program.kept[key] = tensor
            self._new.append(key)

    def check(self, batch: Batch) -> List[Answer]:
        """As Batch.check; what an error left unmade is kept no longer."""
        if batch.error is not None:
            for key in self._new:
                self.program.kept.pop(key, None)
        return batch.check()

    def inputs(self, values: Sequence[Any], named: Dict[str, Any]) -> List[int]:
        """Handles of what the function reads; what is an array is put before."""
        ports = self.function.inputs
        if len(values) > len(ports):
            raise errors.InvalidArgument(f'{len(values)} inputs are given to {self.function}')
        given = dict(zip((port.name for port in ports), values))
        for name, value in named.items():
            if name in given:
                raise errors.InvalidArgument(f'input "{name}" is given twice to {self.function}')
            given[name] = value
        lacking = [port.name for port in ports if port.name not in given]
        if lacking:
            raise errors.InvalidArgument(f'input "{lacking[0]}" is not given to {self.function}')
        values = [given.pop(port.name) for port in ports]
        if given:
            raise errors.InvalidArgument(f'there is no input "{next(iter(given))}" of {self.function}')
        # All are looked at before any is put.
        checked = [self._check(value, port) for value, port in zip(values, ports)]
        return [self.put(each, port.name) if isinstance(each, np.ndarray) else each for each, port in zip(checked, ports)]

    def _check(self, value: Any, port: Port) -> Union[int, Array]:
        held = getattr(value, 'held', None)
        if isinstance(held, TensorHeld):
            return _check_usable(held, self.conversation, f'input "{port.name}"')
        array = _arrays.as_array(value, f'input "{port.name}"')
        _arrays.check_fits(array, port.type, f'input "{port.name}"')
        return array


def _report(answer: Answer) -> CallReport:
    called = answer.response.called
    return CallReport(called.duration_ns, called.threads, Steps.from_protos(called.steps))


def call(conversation: Conversation, program: ProgramHeld, values: Sequence[Any], named: Dict[str, Any], function: str = '',
         profile: bool = False, deadline: float = 0) -> SessionWork[Tuple[List[TensorHeld], CallReport]]:
    """Calls a function; its outputs stay on the device."""
    asked = _Asked(conversation, program, function)
    inputs = asked.inputs(values, named)
    outputs = [TensorHeld(conversation, conversation.new_handle(), port.name) for port in asked.function.outputs]
    contents = _wire.call_contents(asked.handle, function, inputs, [each.handle for each in outputs], profile)
    asked.requests.append(_wire.call_request(contents, int(deadline * _NS), None))
    answer = asked.check((yield asked.requests))[-1]
    types = answer.response.called.outputs
    if len(types) != len(outputs):
        raise errors.Internal(f'the device tells the types of {len(types)} outputs of {asked.function}')
    for tensor, proto in zip(outputs, types):
        tensor.type = TensorType.from_proto(proto)
    return outputs, _report(answer)


def call_into(conversation: Conversation, program: ProgramHeld, inputs: Sequence[Any], outputs: Sequence[Any],
              function: str = '', profile: bool = False, deadline: float = 0) -> SessionWork[CallReport]:
    """Calls a function that writes tensors that are there."""
    handle = _check_usable(program, conversation, f'program "{program.name}"')
    handles = [_check_usable(each.held, conversation, 'a tensor') for each in (*inputs, *outputs)]
    contents = _wire.call_contents(handle, function, handles[:len(inputs)], handles[len(inputs):], profile)
    batch = yield [_wire.call_request(contents, int(deadline * _NS), None)]
    return _report(batch.check()[0])


def call_arrays(conversation: Conversation, program: ProgramHeld, values: Sequence[Any], named: Dict[str, Any],
                function: str = '') -> SessionWork[List[Array]]:
    """Calls a function on arrays and gives arrays: in one round where the sizes of the outputs are known before."""
    asked = _Asked(conversation, program, function)
    static = [_arrays.parse_static(port.type) for port in asked.function.outputs]
    arrays: List[Array] = []
    if any(each is None for each in static):
        outputs, _ = yield from call(conversation, program, values, named, function)
        for tensor in outputs:
            arrays.append((yield from get(conversation, tensor, None)))
        return arrays
    inputs = asked.inputs(values, named)
    reads: List[Request] = []
    handles = []
    for port, known in zip(asked.function.outputs, static):
        assert known is not None
        array = known.empty()
        handles.append(asked.output(known, port.name))
        reads.extend(_reads(conversation, handles[-1], _bytes_of(array)))
        arrays.append(array)
    asked.requests.append(_wire.call_request(_wire.call_contents(asked.handle, function, inputs, handles, False), 0, None))
    asked.check((yield asked.requests + reads))
    return arrays


def time_calls(conversation: Conversation, program: ProgramHeld, values: Sequence[Any], named: Dict[str, Any],
               function: str, samples: int, warmup: int, min_sample: float, flush_cache: bool, cool_down: float,
               profile: bool, deadline: float) -> SessionWork[Benchmark]:
    """Times calls, on the device."""
    asked = _Asked(conversation, program, function)
    inputs = asked.inputs(values, named)
    timing = {'call': {'program': asked.handle, 'function': function, 'inputs': inputs, 'profile': profile},
              'warmup': warmup, 'samples': samples, 'min_sample_ns': int(min_sample * _NS),
              'flush_cache': flush_cache, 'cool_down_ns': int(cool_down * _NS)}
    asked.requests.append(_wire.request(int(deadline * _NS), time=timing))
    result = asked.check((yield asked.requests))[-1].response.timed.result
    # The device leaves out what its client knows.
    if conversation.opened is not None:
        result.device, result.device_target = conversation.opened.device, conversation.opened.target
    return Benchmark.from_proto(result, model=program.name)


def facts(conversation: Conversation) -> SessionWork[Facts]:
    told = (yield [_wire.request(get_facts={})]).check()[0].response.facts
    machine = told.machine
    return Facts(told.free_bytes, told.limit_bytes, told.tensor_bytes, told.tensors, told.programs,
                 machine.cpu_frequency_hz, machine.temperature_millicelsius, machine.load_millis)
