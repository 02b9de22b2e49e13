"""Session: a device in your hand, for who waits for it."""

from __future__ import annotations

import os
from typing import Any, Callable, List, Optional, Sequence, Tuple, TypeVar, Union

from slipway import _session_work as work
from slipway import errors
from slipway._arrays import Array, TensorType
from slipway._blobs import Digest
from slipway._conversation import SessionOptions
from slipway._engine import Engine
from slipway._models import is_path
from slipway._proof import Proof
from slipway._results import Artifact, Benchmark, Compilation
from slipway._session_work import CallReport, Facts, Function, ProgramHeld, SessionWork, TensorHeld
from slipway._slip import SlipFile, looks_like_slip

T = TypeVar('T')
# What a model is compiled to, for a target.
Compile = Callable[[Any, str], Artifact]


def source_of(artifact: Any, compiled: Callable[[Any], Artifact]) -> Tuple[Digest, Any, str]:
    """What is to be loaded: its digest, what finds its blobs where the device's server has them not, and its name."""
    if isinstance(artifact, Compilation):
        artifact = artifact.artifact
    if is_path(artifact) and looks_like_slip(os.fspath(artifact)):
        slip = SlipFile(os.fspath(artifact))
        return slip.digest, slip.find, os.path.basename(slip.path)
    if not isinstance(artifact, Artifact):
        artifact = compiled(artifact)
    return artifact.digest, None, artifact.name


class DeviceTensor:
    """A tensor on the device, which goes with this object. Made by a Session or a Program."""

    def __init__(self, engine: Engine, held: TensorHeld) -> None:
        self._engine = engine
        self.held = held

    @property
    def type(self) -> TensorType:
        return self.held.type

    def __repr__(self) -> str:
        return f'<DeviceTensor {self.held.name} {self.type}>'

    def get(self, out: Optional[Array] = None) -> Array:
        """Its elements, in a new array or in `out`, a dense one of the same type."""
        return self._engine.run(work.get(self._engine.conversation, self.held, out))

    def assign(self, value: Any) -> None:
        """Writes the elements of an array of the same type into it."""
        self._engine.run(work.assign(self._engine.conversation, self.held, value))

    def slice(self, begin: Sequence[int], shape: Sequence[int], name: str = '') -> 'DeviceTensor':
        """A copy of a box of it, which begins at an index along each dimension."""
        return DeviceTensor(self._engine, self._engine.run(
            work.cut(self._engine.conversation, self.held, begin, shape, name)))

    def free(self) -> None:
        """Frees it now, and not when this object goes."""
        self.held.free()


class Program:
    """A program on the device, which goes with this object: `y = f(x)`. Made by Session.load."""

    def __init__(self, engine: Engine, held: ProgramHeld) -> None:
        self._engine = engine
        self.held = held

    @property
    def functions(self) -> Tuple[Function, ...]:
        """What can be called, that first which is unless another is named."""
        return self.held.functions

    def __repr__(self) -> str:
        return f'<Program {self.held.name}: {self.functions[0]}>'

    def __call__(self, *inputs: Any, function: str = '', **named: Any) -> Union[Array, Tuple[Array, ...]]:
        """Calls it on arrays, or on tensors of the device, in the order of the function or by name, and gives an array, or a
        tuple of them where the function gives several. INVALID_ARGUMENT names an input that does not fit."""
        arrays = self._engine.run(work.call_arrays(self._engine.conversation, self.held, inputs, named, function))
        return arrays[0] if len(arrays) == 1 else tuple(arrays)

    def call(self, *inputs: Any, function: str = '', deadline: float = 0, **named: Any) -> List[DeviceTensor]:
        """The same, with outputs that stay on the device. A call that takes longer than `deadline` seconds, 1 min unless it is
        said, ends the process that runs it."""
        tensors, _ = self._engine.run(work.call(self._engine.conversation, self.held, inputs, named, function,
                                                deadline=deadline))
        return [DeviceTensor(self._engine, each) for each in tensors]

    def call_into(self, inputs: Sequence[DeviceTensor], outputs: Sequence[DeviceTensor], *, function: str = '',
                  profile: bool = False, deadline: float = 0) -> CallReport:
        """Calls it on tensors of the device and writes others, of the types that the function makes."""
        return self._engine.run(work.call_into(self._engine.conversation, self.held, inputs, outputs, function, profile,
                                               deadline))

    def time(self, *inputs: Any, function: str = '', samples: int = 100, warmup: int = 10, min_sample: float = 1e-3,
             flush_cache: bool = False, cool_down: float = 0, profile: bool = False, deadline: float = 60,
             **named: Any) -> Benchmark:
        """Times calls, on the device. A sample lasts `min_sample` seconds at least, by several calls."""
        return self._engine.run(work.time_calls(
            self._engine.conversation, self.held, inputs, named, function, samples, warmup, min_sample, flush_cache,
            cool_down, profile, deadline))

    def free(self) -> None:
        """Unloads it now, and not when this object goes."""
        self.held.free()


class Session:
    """A device that is held for as long as this lives: `with slipway.open('board-1') as d`.

    Requests are carried out in the order in which they are made, whichever thread makes them. A connection that breaks is
    taken up again by itself: nothing is lost and nothing done twice. When nothing is heard from the device for `patience`
    seconds, the session ends with UNAVAILABLE, which says who went away. An error of a request leaves the session as it is; when a
    program crashes (ABORTED), what was on the device is lost: load and put anew. Thread-safe.
    """

    def __init__(self, address: str, proof: Proof, options: SessionOptions, compile_for: Optional[Compile] = None) -> None:
        self._compile_for = compile_for
        self._engine = Engine(address, proof, options)
        self._engine.await_opened()

    def __enter__(self) -> 'Session':
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Gives the device back. May be called again."""
        self._engine.close()

    @property
    def id(self) -> str:
        return str(self._opened.session)

    @property
    def device(self) -> str:
        """The device that is held."""
        return str(self._opened.device)

    @property
    def target(self) -> str:
        """Its target."""
        return str(self._opened.target)

    @property
    def _opened(self) -> Any:
        return self._engine.conversation.opened

    def _run(self, asked: SessionWork[T]) -> T:
        return self._engine.run(asked)

    def load(self, artifact: Any, *, threads: int = 1, name: str = '', deadline: float = 60) -> Program:
        """Loads what `compile` gave, a .slip file, or a model, which is compiled for the device. FAILED_PRECONDITION for a program
        that the device cannot run."""
        digest, find, own_name = source_of(artifact, self._compiled)
        held = self._run(work.load(self._engine.conversation, digest, find, name or own_name, threads, deadline))
        return Program(self._engine, held)

    def _compiled(self, model: Any) -> Artifact:
        if self._compile_for is None:
            raise errors.InvalidArgument('an agent compiles no models: load a .slip file, or open the session at a server')
        return self._compile_for(model, self.target)

    def put(self, value: Any, name: str = '') -> DeviceTensor:
        """An array as a tensor on the device."""
        return DeviceTensor(self._engine, self._run(work.put(self._engine.conversation, value, name)))

    def zeros(self, tensor_type: Union[TensorType, str], name: str = '') -> DeviceTensor:
        """A tensor of zeros, of a type such as "f32[2, 3]"."""
        return DeviceTensor(self._engine, self._run(work.allocate(self._engine.conversation, tensor_type, name, None)))

    def random(self, tensor_type: Union[TensorType, str], seed: int = 0, name: str = '') -> DeviceTensor:
        """A tensor of random elements, which are the same for the same seed and name."""
        return DeviceTensor(self._engine, self._run(work.allocate(self._engine.conversation, tensor_type, name, seed)))

    def facts(self) -> Facts:
        """What state the device is in."""
        return self._run(work.facts(self._engine.conversation))
