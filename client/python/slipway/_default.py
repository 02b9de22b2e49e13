"""The functions of the package: methods of a client that is made when it is first needed, to $SLIPWAY_SERVER or else to a
server of one's own, and ends with the process."""

from __future__ import annotations

import atexit
import functools
import inspect
import os
import threading
from typing import Callable, Optional, TypeVar

from typing import Concatenate, ParamSpec

from slipway._address import check_address
from slipway._client import Client
from slipway._conversation import SessionOptions
from slipway._proof import find_proof
from slipway._session import Session

P = ParamSpec('P')
T = TypeVar('T')


class _Default:
    """The client of the functions, one for each server that $SLIPWAY_SERVER names in turn."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._client: Optional[Client] = None
        self._made_for: Optional[str] = None
        self._process = 0

    def get(self) -> Client:
        wish = os.environ.get('SLIPWAY_SERVER') or None
        with self._lock:
            # A process that was forked has connections of another one.
            if self._client is not None and self._process == os.getpid() and self._made_for == wish:
                return self._client
            if self._client is not None and self._process == os.getpid():
                self._client.close()
            self._client, self._made_for, self._process = Client(), wish, os.getpid()
            return self._client

    def close(self) -> None:
        if self._client is not None and self._process == os.getpid():
            self._client.close()
        self._client = None


_DEFAULT = _Default()
atexit.register(_DEFAULT.close)


def _function(method: Callable[Concatenate[Client, P], T]) -> Callable[P, T]:
    def function(*args: P.args, **kwargs: P.kwargs) -> T:
        return method(_DEFAULT.get(), *args, **kwargs)

    functools.update_wrapper(function, method)
    signature = inspect.signature(method)
    shown = signature.replace(parameters=list(signature.parameters.values())[1:])
    function.__signature__ = shown  # type: ignore[attr-defined]
    return function


bench = _function(Client.bench)
cancel = _function(Client.cancel)
compare = _function(Client.compare)
compile = _function(Client.compile)  # pylint: disable=redefined-builtin
devices = _function(Client.devices)
export = _function(Client.export)
gate = _function(Client.gate)
history = _function(Client.history)
job = _function(Client.job)
jobs = _function(Client.jobs)
open = _function(Client.open)  # pylint: disable=redefined-builtin
run = _function(Client.run)
upload = _function(Client.upload)
wait = _function(Client.wait)


def open_agent(address: str, *, insecure: bool = False, token_file: Optional[str] = None, purpose: str = '',
               wait: float = 3600, idle: float = 10, patience: float = 3.5,
               on_log: Optional[Callable[[str], None]] = None) -> Session:
    """Holds the device of an agent that listens without a server (`slipway-agent --listen`); see `open`."""
    proof = find_proof(check_address(address), insecure=insecure, token_file=token_file)
    return Session(address, proof, SessionOptions(purpose=purpose, wait=wait, idle=idle, patience=patience, on_log=on_log))
