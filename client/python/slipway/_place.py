"""The server that is meant, and who calls it: one that is named, or one of this process's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from slipway import errors
from slipway._address import server_wished_for
from slipway._local import LocalFleet
from slipway._proof import Proof, find_proof

CONNECT_TIMEOUT = 5.0
RETRY_FOR = 30.0
# Nobody starts a server of one's own again.
_LOCAL_RETRY_FOR = 1.0


@dataclass(frozen=True)
class Wish:
    """What a user says of how he proves who he is; see Client."""

    identity: Optional[str] = None
    authority: Optional[str] = None
    token_file: Optional[str] = None
    insecure: bool = False


@dataclass(frozen=True)
class Place:
    """A server, not connected to yet."""

    address: str
    proof: Proof
    # One's own.
    fleet: Optional[LocalFleet]

    def need_device(self) -> None:
        """That there be a device, where the server is one's own; others have the devices that they have."""
        if self.fleet is not None:
            self.fleet.need_device()

    def retry_for(self, wished: float) -> float:
        return wished if self.fleet is None else min(wished, _LOCAL_RETRY_FOR)

    def close(self) -> None:
        if self.fleet is not None:
            self.fleet.close()


def find_place(server: Optional[str], local: bool, server_binary: Optional[str], agent_binary: Optional[str],
               wish: Wish) -> Place:
    """The server that is named, else that of $SLIPWAY_SERVER, else one that is started. Blocks where it is."""
    if local and server:
        raise errors.InvalidArgument('local and server exclude each other')
    address = None if local else server_wished_for(server)
    if address is None:
        fleet = LocalFleet(server_binary, agent_binary)
        return Place(fleet.address, Proof(), fleet)
    proof = find_proof(address, identity=wish.identity, authority=wish.authority, token_file=wish.token_file,
                       insecure=wish.insecure)
    return Place(address, proof, None)
