"""What people see while they wait: tqdm's bars, where it is installed and somebody looks."""

from __future__ import annotations

import sys
from typing import Any, Dict, Optional

from slipway._blobs import Digest

# What is sent in a moment needs no bar.
_LEAST_BYTES = 8 << 20


class Silent:
    """Shows nothing."""

    def job(self, what: str, proto: Any) -> None:
        """A job has changed."""

    def sent(self, digest: Digest, at: int) -> None:
        """So many bytes of a blob have moved."""

    def close(self) -> None:
        """Nothing follows."""


class Bars(Silent):
    """A bar for the job that is waited for, and one for a blob that moves."""

    def __init__(self, tqdm: Any) -> None:
        self._tqdm = tqdm
        self._job: Optional[Any] = None
        self._blobs: Dict[Digest, Any] = {}

    def job(self, what: str, proto: Any) -> None:
        if self._job is None:
            self._job = self._tqdm(bar_format='{desc} {elapsed}', leave=False)
        progress = proto.progress
        share = f' {progress.done}/{progress.total}' if progress.total else ''
        states = ['', 'queued', 'assigned', progress.stage or 'running']
        ahead = f', {proto.queue_position - 1} ahead' if proto.queue_position > 1 else ''
        if 0 < proto.state < len(states):
            self._job.set_description_str(f'{what}: {states[proto.state]}{share}{ahead}')
        self._job.refresh()

    def sent(self, digest: Digest, at: int) -> None:
        if digest.size < _LEAST_BYTES:
            return
        if digest not in self._blobs:
            self._blobs[digest] = self._tqdm(total=digest.size, unit='B', unit_scale=True, leave=False,
                                             desc=digest.sha256[:12])
        bar = self._blobs[digest]
        bar.update(at - bar.n)
        if at >= digest.size:
            self._blobs.pop(digest).close()

    def close(self) -> None:
        if self._job is not None:
            self._job.close()
        for bar in self._blobs.values():
            bar.close()
        self._job = None
        self._blobs = {}


def _somebody_looks() -> bool:
    return sys.stderr.isatty() or 'ipykernel' in sys.modules


def make(wanted: Optional[bool]) -> Silent:
    """Bars where they are wanted; by default, where tqdm is installed and stderr is a terminal or a notebook."""
    if wanted is False or (wanted is None and not _somebody_looks()):
        return Silent()
    try:
        from tqdm import auto  # pylint: disable=import-outside-toplevel
    except ImportError:
        if wanted:
            raise
        return Silent()
    return Bars(auto.tqdm)
