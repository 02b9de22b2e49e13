"""The protocol of proto/slipway/v1: its messages, and what its calls take and give.

The messages are made from descriptors, in a pool of their own: other packages may have messages of the same names, and
whichever version of protobuf is installed reads them. `_proto.Digest(...)` is a message, `_proto.Job.State` an enum.
"""

from __future__ import annotations

import importlib.resources
from typing import Any, NamedTuple

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_PACKAGE = 'slipway.v1'


def _read_pool() -> Any:
    data = importlib.resources.files(__name__).joinpath('protocol.binpb').read_bytes()
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(data).file:
        pool.AddSerializedFile(file.SerializeToString())
    return pool


_POOL = _read_pool()
# protobuf 3 has the one, later versions have the other.
_FACTORY = None if hasattr(message_factory, 'GetMessageClass') else message_factory.MessageFactory(_POOL)


def _class_of(descriptor: Any) -> Any:
    if _FACTORY is None:
        return message_factory.GetMessageClass(descriptor)
    return _FACTORY.GetPrototype(descriptor)


def __getattr__(name: str) -> Any:
    try:
        made = _class_of(_POOL.FindMessageTypeByName(f'{_PACKAGE}.{name}'))
    except KeyError:
        raise AttributeError(f'the protocol has no message {name}') from None
    globals()[name] = made
    return made


class Method(NamedTuple):
    """A call: its path on the wire, and what it gives."""

    path: str
    response: Any


def method(service: str, name: str) -> Method:
    """A method of a service, such as "JobService" and "GetJob"."""
    found = _POOL.FindServiceByName(f'{_PACKAGE}.{service}').methods_by_name[name]
    return Method(f'/{_PACKAGE}.{service}/{name}', _class_of(found.output_type))


def enum_name(enum: str, number: int) -> str:
    """The name of a value of an enum of a file, such as "DataType"; empty where this version does not know it."""
    value = _POOL.FindEnumTypeByName(f'{_PACKAGE}.{enum}').values_by_number.get(number)
    return '' if value is None else str(value.name)
