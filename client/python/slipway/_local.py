"""A server and an agent for this process, on this machine, gone with it: as client/local has it for the shell command.

Each has a folder of its own for state and sockets, under $TMPDIR. If this process is killed, they notice and end.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import select
import shutil
import signal
import stat
import subprocess
import tempfile
import threading
import time
from typing import Any, Dict, List, Optional

from slipway import errors
from slipway._address import MOST_SOCKET_BYTES

_PREFIX = 'slipway-local'
_LIFELINE = 'SLIPWAY_LIFELINE_FD'
_READY_TIMEOUT = 20.0
_GRACE = 2.0
_SHOWN_LOG_BYTES = 2000

# The variable that names it; and the folder in which Bazel leaves it, beside that of the `slipway` command.
_BINARIES = {'slipwayd': ('SLIPWAY_SERVER_BINARY', 'server'), 'slipway-agent': ('SLIPWAY_AGENT_BINARY', 'device_agent')}


def find_binary(name: str, wish: Optional[str] = None) -> str:
    """Where a binary is: what is wished for, else what a variable names, else the wheel's own, else on PATH, or where Bazel
    leaves it beside a `slipway` that is on PATH. NOT_FOUND says where it was looked for."""
    variable, built = _BINARIES[name]
    wish = wish or os.environ.get(variable)
    if wish:
        if not os.access(wish, os.X_OK):
            raise errors.NotFound(f'"{wish}" is no program that can be run')
        return os.path.abspath(wish)
    packed = os.path.join(os.path.dirname(__file__), '_bin', name)
    found = packed if os.access(packed, os.X_OK) else shutil.which(name)
    command = shutil.which('slipway')
    if found is None and command is not None:
        folder = os.path.dirname(os.path.realpath(command))
        places = [os.path.join(folder, name), os.path.join(os.path.dirname(folder), built, name)]
        found = next((place for place in places if os.access(place, os.X_OK)), None)
    if found is None:
        raise errors.NotFound(
            f'"{name}" is needed to work without a server, and is neither in this package, which was built without '
            f'--with-binaries, nor on PATH; name a server with server=, or the binary with ${variable}')
    return os.path.abspath(found)


def _cache_folder() -> str:
    base = os.environ.get('XDG_CACHE_HOME') or os.path.join(os.path.expanduser('~'), '.cache')
    return os.path.join(base, 'slipway')


class _Sibling:
    """A process that says when it is ready, and ends with this one."""

    def __init__(self, name: str, argv: List[str], log: str) -> None:
        self._name = name
        self._log = log
        ready, tell = os.pipe()
        # Whose end of file means the end of this process (core/base/lifeline.h).
        lifeline, self._alive = os.pipe()
        try:
            with open(log, 'wb') as output:
                self._process = subprocess.Popen(  # pylint: disable=consider-using-with
                    [*argv, f'--ready-fd={tell}'], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                    pass_fds=[tell, lifeline], start_new_session=True, env={**os.environ, _LIFELINE: str(lifeline)})
        except OSError as error:
            os.close(ready)
            os.close(self._alive)
            raise errors.FailedPrecondition(f'cannot start "{argv[0]}": {error.strerror}') from None
        finally:
            os.close(tell)
            os.close(lifeline)
        try:
            self._await(ready)
        except BaseException:
            self.end()
            raise
        finally:
            os.close(ready)

    def _await(self, ready: int) -> None:
        give_up = time.monotonic() + _READY_TIMEOUT
        line = b''
        while b'\n' not in line:
            if not select.select([ready], [], [], max(0.0, give_up - time.monotonic()))[0]:
                raise errors.DeadlineExceeded(f'"{self._name}" was not ready within {_READY_TIMEOUT:g} s')
            came = os.read(ready, 256)
            if not came:
                try:
                    how = f'with {self._process.wait(_GRACE)}'
                except subprocess.TimeoutExpired:
                    how = 'and still runs'
                raise errors.FailedPrecondition(f'"{self._name}" ended before it was ready ({how}): {self._tail()}')
            line += came

    def _tail(self) -> str:
        with open(self._log, 'rb') as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _SHOWN_LOG_BYTES))
            return file.read().decode('utf-8', 'replace').strip() or 'no log'

    def terminate(self) -> None:
        if self._process.poll() is None:
            self._process.terminate()

    def end(self) -> None:
        self.terminate()
        try:
            self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            # Its group: what it has started, too.
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        if self._alive >= 0:
            os.close(self._alive)
            self._alive = -1


class LocalFleet:
    """The server, ready to be called; and, from when it is wanted, an agent. Thread-safe."""

    def __init__(self, server_binary: Optional[str] = None, agent_binary: Optional[str] = None,
                 flags: Optional[Dict[str, List[str]]] = None) -> None:
        self._agent_binary = agent_binary
        self._flags = flags or {}
        self._lock = threading.Lock()
        self._agent: Optional[_Sibling] = None
        self._server: Optional[_Sibling] = None
        binary = find_binary('slipwayd', server_binary)
        self._cache = _cache_folder()
        os.makedirs(self._cache, mode=0o700, exist_ok=True)
        _remove_leftovers()
        self._folder = tempfile.mkdtemp(prefix=_PREFIX)
        self._claim = _lock_file(os.path.join(self._folder, 'lock'))
        # An interpreter that ends without having closed it.
        atexit.register(self.close)
        socket = os.path.join(self._folder, 'server.sock')
        self.address = f'unix:{socket}'
        try:
            if len(os.fsencode(socket)) >= MOST_SOCKET_BYTES:
                raise errors.FailedPrecondition(
                    f'"{socket}" is too long for a socket; set TMPDIR to a folder with a shorter name')
            self._server = self._start('slipwayd', binary, [
                f'--listen={self.address}', f'--data-dir={self._path("server")}',
                f'--blob-dir={os.path.join(self._cache, "blobs")}', f'--cache-dir={self._cache}'])
        except BaseException:
            self.close()
            raise

    def need_device(self) -> None:
        """Returns once an agent has reported to the server; the first call starts it."""
        with self._lock:
            if self._agent is None and self._server is not None:
                self._agent = self._start('slipway-agent', find_binary('slipway-agent', self._agent_binary), [
                    f'--server={self.address}', f'--state-dir={self._path("agent")}',
                    f'--cache-dir={os.path.join(self._cache, "agent")}', '--id=local'])

    def close(self) -> None:
        """Ends both. May be called again."""
        with self._lock:
            siblings = [each for each in (self._agent, self._server) if each is not None]
            for each in siblings:
                each.terminate()
            for each in siblings:
                each.end()
            self._agent = self._server = None
            if self._claim >= 0:
                os.close(self._claim)
                self._claim = -1
                shutil.rmtree(self._folder, ignore_errors=True)
                atexit.unregister(self.close)

    def __enter__(self) -> 'LocalFleet':
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, name)

    def _start(self, name: str, binary: str, flags: List[str]) -> _Sibling:
        return _Sibling(name, [binary, *flags, *self._flags.get(name, [])], self._path(f'{name}.log'))


def _lock_file(path: str) -> int:
    """A descriptor that holds the lock of a file as long as it is open; OSError where another process has it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _remove_leftovers() -> None:
    """Removes folders of this user's processes that were killed: those whose lock nobody holds."""
    root = tempfile.gettempdir()
    for name in os.listdir(root):
        path = os.path.join(root, name)
        lock = os.path.join(path, 'lock')
        if not name.startswith(_PREFIX):
            continue
        try:
            info = os.lstat(path)
            # Without a lock it is just being made.
            if not stat.S_ISDIR(info.st_mode) or info.st_uid != os.getuid() or not os.path.exists(lock):
                continue
            descriptor = _lock_file(lock)
        except OSError:
            continue
        # Whoever removes it first is fine; a leftover is only clutter.
        shutil.rmtree(path, ignore_errors=True)
        os.close(descriptor)
