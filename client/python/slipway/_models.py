"""Models, whatever they are given as: a path, bytes, an onnx.ModelProto, a torch module; and the files that each is made of."""

from __future__ import annotations

import io
import mmap
import os
import re
import stat
from dataclasses import dataclass, field
from typing import Any, Dict, Iterator, List, Optional, Tuple, Union

from slipway import _proto, errors
from slipway._blobs import Blob, BytesBlob, FileBlob, open_regular

# What the numbers of ModelFormat are, by how a name ends.
_ONNX = 1
_FORMATS = [('.graph', 2), ('.graphpb', 3), ('-symbol.json', 4)]
_NNVM_JSON = 4
_MOST_FILES = 1000
_MOST_NAME_BYTES = 255
# Of a model in memory; what is larger protobuf refuses, and ONNX has it in files beside the model.
_MOST_MESSAGE_BYTES = (1 << 31) - 1


@dataclass
class Model:
    """A model as it is sent: its main file first, then the files that it refers to."""

    name: str
    format: int
    files: List[Tuple[str, Blob]] = field(default_factory=list)

    def to_proto(self) -> Any:
        files = [_proto.ModelFile(name=name, digest=blob.digest.to_proto()) for name, blob in self.files]
        return _proto.Model(format=self.format, display_name=self.name, files=files)

    @property
    def blobs(self) -> List[Blob]:
        return [blob for _, blob in self.files]


def is_path(model: Any) -> bool:
    return isinstance(model, (str, os.PathLike))


def read_model(model: Any, most_bytes: int, example: Optional[Tuple[Any, ...]] = None,
               name: Optional[str] = None) -> Model:
    """The files of a model. RESOURCE_EXHAUSTED, before anything is read, when they have more than `most_bytes` together."""
    if is_path(model):
        return _read_files(os.fspath(model), most_bytes, name)
    data: Union[bytes, memoryview]
    if isinstance(model, (bytes, bytearray, memoryview)):
        data, default = memoryview(model), 'model.onnx'
    elif _is_a(model, 'onnx', 'ModelProto'):
        data, default = _serialize(model), (model.graph.name or 'model') + '.onnx'
    elif _is_a(model, 'torch', 'Module'):
        data, default = _export(model, example), type(model).__name__ + '.onnx'
    else:
        raise errors.InvalidArgument(f'{type(model).__name__} is no model: a path, bytes, an onnx.ModelProto or a '
                                     'torch.nn.Module is wanted')
    if len(data) == 0:
        raise errors.InvalidArgument('the model is empty')
    if len(data) > most_bytes:
        raise _too_large(most_bytes, default)
    shown = (name or default)[:_MOST_NAME_BYTES]
    beside = find_external_data(data)
    if beside:
        raise errors.InvalidArgument(f'the model refers to the file "{beside[0]}": save it, with its files, and give its path')
    return Model(shown, _ONNX, [(shown, BytesBlob(data))])


def _is_a(value: Any, package: str, name: str) -> bool:
    """Whether it is an object of that package, which need not be there to know."""
    return any(each.__name__ == name and each.__module__.partition('.')[0] in (package, f'{package}_ml_pb2')
               for each in type(value).__mro__)


def _serialize(model: Any) -> bytes:
    try:
        data: bytes = model.SerializeToString()
    except Exception as error:  # Of protobuf's, which differ by version.
        raise errors.ResourceExhausted(
            f'the onnx.ModelProto cannot be serialized ({error}); at most {_MOST_MESSAGE_BYTES} bytes: save it with its '
            'tensors in files (onnx.save with save_as_external_data) and give its path') from None
    return data


def _export(module: Any, example: Optional[Tuple[Any, ...]]) -> bytes:
    """What torch's exporter makes of a module."""
    import torch  # pylint: disable=import-outside-toplevel
    if example is None:
        raise errors.InvalidArgument(f'torch module {type(module).__name__} is exported by being called: pass '
                                     'example=(x,), the tensors that it takes')
    tensors = tuple(each if isinstance(each, torch.Tensor) else torch.as_tensor(each) for each in example)
    buffer = io.BytesIO()
    was_training = module.training
    module.eval()
    try:
        with torch.no_grad():
            torch.onnx.export(module, tensors, buffer, **_export_options(torch))
    except Exception as error:
        raise errors.InvalidArgument(f'torch cannot export {type(module).__name__}: {error}') from error
    finally:
        module.train(was_training)
    return buffer.getvalue()


def _export_options(torch: Any) -> Dict[str, Any]:
    """Since torch 2.5 there are two exporters; the one that all versions have needs no package besides."""
    version = tuple(int(part) for part in re.findall(r'\d+', torch.__version__)[:2])
    return {'dynamo': False} if version >= (2, 5) else {}


def _too_large(most: int, name: str) -> errors.SlipwayError:
    return errors.ResourceExhausted(f'the model\'s files are larger than the limit of {most} bytes, with "{name}"; '
                                    '--max-model-size of the server allows more')


def _read_files(path: str, most_bytes: int, name: Optional[str]) -> Model:
    folder, base = os.path.split(path)
    shown = (name or base)[:_MOST_NAME_BYTES]
    model = Model(shown, next((number for end, number in _FORMATS if base.endswith(end)), _ONNX))
    left = most_bytes

    def add(file_name: str, file_path: str) -> None:
        nonlocal left
        with open_regular(file_path) as file:
            left -= os.fstat(file.fileno()).st_size
        if left < 0:
            raise _too_large(most_bytes, file_name)
        model.files.append((file_name, FileBlob(file_path)))

    try:
        add(base[:_MOST_NAME_BYTES], path)
    except errors.NotFound as error:
        raise error.within('model') from None
    if model.files[0][1].digest.size == 0:
        raise errors.InvalidArgument(f'model "{path}" is empty')
    if model.format == _NNVM_JSON:
        parameters = _find_parameters(folder or '.', base)
        if parameters is not None:
            add(parameters, _beneath(folder, parameters))
    if model.format != _ONNX:
        return model
    with open_regular(path) as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        locations = find_external_data(memoryview(mapped))
    if len(locations) >= _MOST_FILES:
        raise errors.ResourceExhausted(f'model "{path}" refers to too many files; at most {_MOST_FILES - 1}')
    for location in locations:
        _check_file_name(location, path)
        # A tensor may lie in the main file itself.
        if location == base:
            continue
        try:
            add(location, _beneath(folder, location))
        except errors.NotFound:
            raise errors.NotFound(f'model "{path}" refers to external data "{location}", which is missing; put it at '
                                  f'"{os.path.join(folder, location)}"') from None
    return model


def _find_parameters(folder: str, symbol: str) -> Optional[str]:
    """The parameters beside a symbol file, as MXNet names them: NAME-0010.params."""
    start = symbol[:-len('-symbol.json')] + '-'
    found = sorted(name for name in os.listdir(folder)
                   if name.startswith(start) and re.fullmatch(r'\d+\.params', name[len(start):]))
    if len(found) > 1:
        raise errors.InvalidArgument(f'model "{symbol}" has parameters of several epochs, "{found[0]}" and "{found[1]}"; '
                                     'keep one in its folder')
    return found[0] if found else None


def _check_file_name(name: str, model: str) -> None:
    parts = name.split('/')
    why = None
    if not name:
        why = 'is empty'
    elif len(name.encode()) > _MOST_NAME_BYTES:
        why = 'is longer than 255 bytes'
    elif name.startswith('/'):
        why = 'is absolute'
    elif any(ord(c) < 0x20 or c in '\x7f\\' for c in name):
        why = 'has control characters or a backslash'
    elif '..' in parts:
        why = 'points outside'
    elif '' in parts or '.' in parts:
        why = 'has an empty part'
    if why is not None:
        raise errors.InvalidArgument(f'model "{model}", external data: file name {name[:_MOST_NAME_BYTES]!r} {why}; '
                                     'external data must lie in the model\'s folder')


def _beneath(folder: str, name: str) -> str:
    """Its path, if no link leads there: whoever made the model chose the name."""
    path = folder
    for part in name.split('/'):
        path = os.path.join(path, part)
        try:
            mode = os.lstat(path).st_mode
        except FileNotFoundError:
            raise errors.NotFound(f'there is no "{path}"') from None
        if stat.S_ISLNK(mode):
            raise errors.InvalidArgument(f'"{path}" is a link; what a model refers to is not reached through one')
    return path


# The messages of onnx.proto on the way to a tensor, and by which field each is reached: as client/external_data.cc has them.
_EDGES: Dict[str, Dict[int, str]] = {
    'model': {7: 'graph', 25: 'function'},
    'graph': {1: 'node', 5: 'tensor', 15: 'sparse'},
    'function': {7: 'node'},
    'node': {5: 'attribute'},
    'attribute': {5: 'tensor', 6: 'graph', 10: 'tensor', 11: 'graph', 22: 'sparse', 23: 'sparse'},
    'sparse': {1: 'tensor', 2: 'tensor'},
    'tensor': {13: 'entry'},
}
_MOST_DEPTH = 64
# Of the largest models a million.
_MOST_FIELDS = 50_000_000


def find_external_data(model: Union[bytes, memoryview]) -> List[str]:
    """The `location` of every tensor with external data, each once, found without understanding the model. Bytes that are no
    model give what was found before they stopped making sense. Nothing is copied but names."""
    found: Dict[str, None] = {}
    seen = 0
    with memoryview(model) as data:
        pending = [('model', 0, len(data), 0)]
        while pending and len(found) < _MOST_FILES:
            message, begin, end, depth = pending.pop()
            inner = []
            for number, first, last in _fields(data, begin, end):
                seen += 1
                if seen > _MOST_FIELDS:
                    raise errors.InvalidArgument(f'it is no model: it has more than {_MOST_FIELDS} parts')
                following = _EDGES[message].get(number)
                if following == 'entry':
                    entry = {field: bytes(data[a:b]) for field, a, b in _fields(data, first, last)}
                    if entry.get(1) == b'location':
                        found.setdefault(entry.get(2, b'').decode('utf-8', 'replace'))
                elif following is not None and depth < _MOST_DEPTH:
                    inner.append((following, first, last, depth + 1))
            pending.extend(reversed(inner))
    return list(found)


def _fields(data: memoryview, at: int, end: int) -> Iterator[Tuple[int, int, int]]:
    """Number, begin and end of each field with contents, as far as `data` makes sense."""
    def varint(at: int) -> Tuple[int, int]:
        value = 0
        for shift in range(0, 70, 7):
            if at >= end:
                break
            byte = data[at]
            value |= (byte & 127) << shift
            at += 1
            if byte < 128:
                return value, at
        return -1, end

    while at < end:
        key, at = varint(at)
        kind = key & 7
        if key < 8:
            return
        if kind == 0:
            value, at = varint(at)
            if value < 0:
                return
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        elif kind == 2:
            size, at = varint(at)
            if size < 0 or at + size > end:
                return
            yield key >> 3, at, at + size
            at += size
        else:
            return
