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
class ProgramHeld(Held):
    """A program on the device."""

    functions: Tuple[Function, ...] = ()
    load_ns: int = 0

    def function(self, name: str) -> Function:
        for each in self.functions:
            if name in ('', each.name):
                return each
        raise errors.NotFound(f'program "{self.name}" has no function "{name}"; there are '
                              + ', '.join(each.name for each in self.functions))


@dataclass(eq=False)
class TensorHeld(Held):
    """A tensor on the device."""

    type: TensorType = field(default_factory=lambda: TensorType('u8', (0,)))


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

def _allocation(conversation: Conversation, tensor_type: TensorType, name: str, **how: Any) -> Tuple[TensorHeld, Request]:
    tensor = TensorHeld(conversation, conversation.new_handle(), name, type=tensor_type)
    request = _wire.request(allocate={'tensor': tensor.handle, 'type': tensor_type.to_proto(), 'name': name, **how})
    return tensor, request


def allocate(conversation: Conversation, tensor_type: Union[TensorType, str], name: str,
             seed: Optional[int]) -> SessionWork[TensorHeld]:
    if isinstance(tensor_type, str):
        tensor_type = TensorType.parse(tensor_type)
    how = {} if seed is None else {'random': True, 'seed': seed}
    tensor, request = _allocation(conversation, tensor_type, name, **how)
    (yield [request]).check()
    return tensor


def _put(conversation: Conversation, array: Array, name: str) -> Tuple[TensorHeld, List[Request]]:
    if _arrays.is_text(array):
        raise errors.InvalidArgument(f'tensor "{name}": a device has no tensors of strings')
    tensor, request = _allocation(conversation, _arrays.type_of(array), name, unset=True)
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

def _inputs(conversation: Conversation, function: Function, values: Sequence[Any], named: Dict[str, Any],
            requests: List[Request], made: List[TensorHeld]) -> List[int]:
    """Handles of what a function reads; what is an array is put before."""
    ports = function.inputs
    if len(values) > len(ports):
        raise errors.InvalidArgument(f'{len(values)} inputs are given to {function}')
    given = dict(zip((port.name for port in ports), values))
    for name, value in named.items():
        if name in given:
            raise errors.InvalidArgument(f'input "{name}" is given twice to {function}')
        given[name] = value
    handles = []
    for port in ports:
        if port.name not in given:
            raise errors.InvalidArgument(f'input "{port.name}" is not given to {function}')
        value = given.pop(port.name)
        held = getattr(value, 'held', None)
        if isinstance(held, TensorHeld):
            handles.append(_check_usable(held, conversation, f'input "{port.name}"'))
            continue
        array = _arrays.as_array(value, f'input "{port.name}"')
        _arrays.check_fits(array, port.type, f'input "{port.name}"')
        tensor, writing = _put(conversation, array, port.name)
        requests.extend(writing)
        made.append(tensor)
        handles.append(tensor.handle)
    if given:
        raise errors.InvalidArgument(f'there is no input "{next(iter(given))}" of {function}')
    return handles


def _report(answer: Answer) -> CallReport:
    called = answer.response.called
    return CallReport(called.duration_ns, called.threads, Steps.from_protos(called.steps))


def call(conversation: Conversation, program: ProgramHeld, values: Sequence[Any], named: Dict[str, Any], function: str = '',
         profile: bool = False, deadline: float = 0) -> SessionWork[Tuple[List[TensorHeld], CallReport]]:
    """Calls a function; its outputs stay on the device."""
    handle = _check_usable(program, conversation, f'program "{program.name}"')
    called = program.function(function)
    requests: List[Request] = []
    made: List[TensorHeld] = []
    inputs = _inputs(conversation, called, values, named, requests, made)
    outputs = [TensorHeld(conversation, conversation.new_handle(), port.name) for port in called.outputs]
    contents = _wire.call_contents(handle, function, inputs, [each.handle for each in outputs], profile)
    requests.append(_wire.call_request(contents, int(deadline * _NS), None))
    batch = yield requests
    answer = batch.check()[-1]
    types = answer.response.called.outputs
    if len(types) != len(outputs):
        raise errors.Internal(f'the device tells the types of {len(types)} outputs of {called}')
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
    called = program.function(function)
    static = [_static(port.type) for port in called.outputs]
    if any(each is None for each in static):
        outputs, _ = yield from call(conversation, program, values, named, function)
        arrays = []
        for tensor in outputs:
            arrays.append((yield from get(conversation, tensor, None)))
        return arrays
    handle = _check_usable(program, conversation, f'program "{program.name}"')
    requests: List[Request] = []
    made: List[TensorHeld] = []
    inputs = _inputs(conversation, called, values, named, requests, made)
    arrays = []
    reads: List[Request] = []
    given: List[TensorHeld] = []
    for port, known in zip(called.outputs, static):
        assert known is not None
        tensor = TensorHeld(conversation, conversation.new_handle(), port.name, type=known)
        array = known.empty()
        reads.extend(_reads(conversation, tensor.handle, _bytes_of(array)))
        arrays.append(array)
        given.append(tensor)
    contents = _wire.call_contents(handle, function, inputs, [each.handle for each in given], False)
    requests.append(_wire.call_request(contents, 0, None))
    place = len(requests) - 1
    batch = yield requests + reads
    # What could not be called cannot be read either, which says less.
    answer = batch.answers[place]
    if answer is not None and answer.error is not None and batch.error is not None:
        first = next(each.error for each in batch.answers if each is not None and each.error is not None)
        raise first
    batch.check()
    return arrays



def _static(port: str) -> Optional[TensorType]:
    """The type of a port whose extents are all known; none otherwise."""
    try:
        return TensorType.parse(port)
    except errors.InvalidArgument:
        return None


def time_calls(conversation: Conversation, program: ProgramHeld, values: Sequence[Any], named: Dict[str, Any],
               function: str, samples: int, warmup: int, min_sample: float, flush_cache: bool, cool_down: float,
               profile: bool, deadline: float) -> SessionWork[Benchmark]:
    """Times calls, on the device."""
    handle = _check_usable(program, conversation, f'program "{program.name}"')
    called = program.function(function)
    requests: List[Request] = []
    made: List[TensorHeld] = []
    inputs = _inputs(conversation, called, values, named, requests, made)
    timing = {'call': {'program': handle, 'function': function, 'inputs': inputs, 'profile': profile},
              'warmup': warmup, 'samples': samples, 'min_sample_ns': int(min_sample * _NS),
              'flush_cache': flush_cache, 'cool_down_ns': int(cool_down * _NS)}
    requests.append(_wire.request(int(deadline * _NS), time=timing))
    batch = yield requests
    result = batch.check()[-1].response.timed.result
    # The device leaves out what its client knows.
    if conversation.opened is not None:
        result.device, result.device_target = conversation.opened.device, conversation.opened.target
    return Benchmark.from_proto(result, model=program.name)


def facts(conversation: Conversation) -> SessionWork[Facts]:
    told = (yield [_wire.request(get_facts={})]).check()[0].response.facts
    machine = told.machine
    return Facts(told.free_bytes, told.limit_bytes, told.tensor_bytes, told.tensors, told.programs,
                 machine.cpu_frequency_hz, machine.temperature_millicelsius, machine.load_millis)
