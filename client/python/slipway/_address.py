"""Addresses of servers, and of agents that listen."""

from __future__ import annotations

import os
from typing import Optional

from slipway import errors

UNIX = 'unix:'
# sizeof(sockaddr_un.sun_path), with its zero.
MOST_SOCKET_BYTES = 108


def check_address(address: str) -> str:
    """The address, if it is HOST:PORT or unix:PATH."""
    if address.startswith(UNIX):
        size = len(os.fsencode(address)) - len(UNIX)
        if size >= MOST_SOCKET_BYTES:
            raise errors.InvalidArgument(
                f'server address "{address}" names a socket of {size} bytes; at most {MOST_SOCKET_BYTES - 1} are possible')
        if size > 0:
            return address
    else:
        host, colon, port = address.rpartition(':')
        if colon and host and port.isascii() and port.isdigit() and 0 < int(port) < 65536:
            return address
    raise errors.InvalidArgument(f'server address "{address}" is neither HOST:PORT nor unix:PATH')


def server_wished_for(server: Optional[str]) -> Optional[str]:
    """The server that is named, else $SLIPWAY_SERVER, else none: a local one is to be started."""
    return check_address(server) if server else check_address(named) if (named := os.environ.get('SLIPWAY_SERVER')) else None
