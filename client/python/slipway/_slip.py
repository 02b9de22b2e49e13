"""Artifacts: programs that are compiled, as .slip files and on a server."""

from __future__ import annotations

import hashlib
import os
import struct
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Tuple

from slipway import _proto, errors
from slipway._arrays import dtype_name
from slipway._blobs import Digest, FileBlob, open_regular

_MAGIC = b'\x89SLIP\r\n\x1a'
_HEADER = struct.Struct('<8sIIQQ32s')
_ENTRY = struct.Struct('<QQ32s16s')
_ALIGNMENT = 64 << 10
_MOST_SECTIONS = 100_000
_MOST_TEXT = 200
MOST_MANIFEST_BYTES = 64 << 20


def looks_like_slip(path: str) -> bool:
    """Whether it begins as a .slip file does."""
    with open_regular(path) as file:
        return file.read(len(_MAGIC)) == _MAGIC


@dataclass(frozen=True)
class Port:
    """An input or output: its name, and its type, such as "f32[batch, 64]"."""

    name: str
    type: str

    def __str__(self) -> str:
        return f'{self.name} {self.type}'


class SlipFile:
    """A .slip file (core/artifact/README.md). What it holds is checked as it is read: each section against its digest."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._sections = _read_sections(path)
        offset, self.digest = self._sections[0]
        if self.digest.size > MOST_MANIFEST_BYTES:
            raise errors.ResourceExhausted(f'"{path}" has a manifest of {self.digest.size} bytes')
        self.manifest_bytes = b''.join(FileBlob(path, offset, self.digest).pieces(0))
        if Digest.of(self.manifest_bytes) != self.digest:
            raise errors.DataLoss(f'"{path}" is corrupted: its manifest is not what its table says')
        self.manifest = parse_manifest(self.manifest_bytes, path)

    @property
    def bytes(self) -> int:
        return sum(digest.size for _, digest in self._sections)

    @property
    def blobs(self) -> List[FileBlob]:
        """The manifest last, so that a server that has it has all."""
        return [FileBlob(self.path, offset, digest) for offset, digest in self._sections[1:] + self._sections[:1]]

    def find(self, digest: Digest) -> Optional[FileBlob]:
        return next((blob for blob in self.blobs if blob.digest == digest), None)


def parse_manifest(data: bytes, what: str) -> Any:
    try:
        return _proto.Manifest.FromString(data)
    except Exception:  # Of protobuf's, which differ by version.
        raise errors.DataLoss(f'{what}: the manifest is damaged') from None


def _read_sections(path: str) -> List[Tuple[int, Digest]]:
    def damaged(why: str) -> errors.SlipwayError:
        return errors.DataLoss(f'"{path}" is no whole .slip file: {why}')

    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        head = file.read(_HEADER.size)
        if len(head) < _HEADER.size or not head.startswith(_MAGIC):
            raise errors.InvalidArgument(f'"{path}" is no .slip file')
        _, version, count, file_bytes, _, table_digest = _HEADER.unpack(head)
        if version != 1:
            raise errors.Unimplemented(f'"{path}" is of version {version} of .slip; this package reads 1')
        if not 1 <= count <= _MOST_SECTIONS:
            raise damaged(f'it has {count} sections')
        if file_bytes != size:
            raise damaged(f'it has {size} bytes, and says {file_bytes}')
        table = file.read(count * _ENTRY.size)
    if hashlib.sha256(table).digest() != table_digest:
        raise damaged('its table of sections is not what its head says')
    sections = []
    at = 0
    for offset, section_bytes, digest, _ in _ENTRY.iter_unpack(table):
        if offset < at or offset % _ALIGNMENT or offset + section_bytes > size:
            raise damaged('a section lies outside')
        at = offset + section_bytes
        sections.append((offset, Digest(digest.hex(), section_bytes)))
    return sections


def blobs_of(manifest: Any) -> List[Digest]:
    """The blobs that a manifest names, each once, in the order in which code and then constants first name them."""
    found: Dict[Digest, None] = {}
    for each in list(manifest.code) + list(manifest.constants):
        found.setdefault(Digest.from_proto(each.blob))
    return list(found)


def format_head(digests: List[Digest]) -> Tuple[bytes, List[int]]:
    """What precedes the sections of a .slip file, and where each begins."""
    at = _HEADER.size + _ENTRY.size * len(digests)
    offsets = []
    for digest in digests:
        at = -(-at // _ALIGNMENT) * _ALIGNMENT
        offsets.append(at)
        at += digest.size
    table = b''.join(_ENTRY.pack(offset, digest.size, bytes.fromhex(digest.sha256), bytes(16))
                     for offset, digest in zip(offsets, digests))
    return _HEADER.pack(_MAGIC, 1, len(digests), at, 0, hashlib.sha256(table).digest()) + table, offsets


class Signature:
    """What a program takes and gives."""

    def __init__(self, manifest: Any) -> None:
        self._manifest = manifest
        self._texts: Dict[int, str] = {}
        try:
            function = manifest.functions[manifest.entry]
            self.inputs = [self._port(binding) for binding in function.inputs]
            self.outputs = [self._port(binding) for binding in function.outputs]
        except (IndexError, RecursionError):
            raise errors.DataLoss('the manifest is damaged: it names what it does not have') from None

    def _port(self, binding: Any) -> Port:
        value = self._manifest.values[binding.value]
        extents = [str(extent.value) if extent.WhichOneof('kind') == 'value' else self._text(extent.expression)
                   for extent in value.shape]
        return Port(binding.name, f'{dtype_name(value.dtype)}[{", ".join(extents)}]')

    def _text(self, number: int) -> str:
        if number not in self._texts:
            # Each may stand in the next twice: what is too long for people is left out.
            text = self._make_text(number)
            self._texts[number] = text if len(text) <= _MOST_TEXT else '?'
        return self._texts[number]

    def _make_text(self, number: int) -> str:
        expression = self._manifest.expressions[number]
        kind = expression.WhichOneof('kind')
        if kind == 'constant':
            return str(expression.constant)
        if kind == 'symbol':
            return str(self._manifest.symbols[expression.symbol].name)
        # Operands come before what they are operands of.
        operation = expression.operation
        if operation.left >= number or operation.right >= number:
            raise IndexError(number)
        left, right = self._text(operation.left), self._text(operation.right)
        form = {1: '({} + {})', 2: '({} - {})', 3: '{} * {}', 4: 'floor({} / {})', 5: 'ceil({} / {})', 6: 'min({}, {})',
                7: 'max({}, {})'}.get(operation.kind, '?')
        return form.format(left, right)
