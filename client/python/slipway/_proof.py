"""What a caller proves to a server who he is with: the identity that `slipway join` has written, a token, or both.

As core/rpc/caller_proof.h: nothing over a unix socket, or where `insecure` says so; else TLS, to the server that the identity
is for and no other.
"""

from __future__ import annotations

import datetime
import hashlib
import os
import re
import socket
import ssl
import stat
from dataclasses import dataclass
from typing import Any, Callable, List, Optional, Tuple

import grpc

from slipway import errors
from slipway._address import UNIX

# The one name of the server of an authority (core/identity/certificate_authority.h), and those of agents.
_SERVER_NAME = 'slipway-server'
_AGENT_SUFFIX = '.slipway-agent'
_JOIN_PROTOCOL = 'slipway-join/1'
_JOIN_TIMEOUT = 20.0
_MOST_PEM_BYTES = 64 << 10
_LEAST_TOKEN_CHARACTERS = 16
_MOST_TOKEN_BYTES = 4096
_AUTHORITY_CHARACTERS = 20
_ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
_BLOCK = r'-----BEGIN {0}-----\n.*?\n-----END {0}-----\n'
_IDENTITY = re.compile(''.join(f'({_BLOCK.format(label)})' for label in ('PRIVATE KEY', 'CERTIFICATE', 'CERTIFICATE')),
                       re.DOTALL)
_MESSAGE_BYTES = 64 << 20
_FRAME_BYTES = 1 << 20


@dataclass(frozen=True)
class Proof:
    """PEM, as bytes; without an authority, calls are not encrypted."""

    authority: bytes = b''
    key: Optional[bytes] = None
    certificate: Optional[bytes] = None
    token: str = ''
    # The server is known by the name in its address, and not by the one that Slipway's authorities give.
    by_address: bool = False

    def metadata(self) -> List[Tuple[str, str]]:
        return [('authorization', f'Bearer {self.token}')] if self.token else []

    def channel(self, grpc_module: Any, address: str, name: str = _SERVER_NAME) -> Any:
        """A channel of grpc or grpc.aio, with what both ends agree on (core/rpc/grpc_settings.h)."""
        options: List[Tuple[str, Any]] = [
            ('grpc.max_receive_message_length', _MESSAGE_BYTES),
            ('grpc.max_send_message_length', _MESSAGE_BYTES),
            ('grpc.http2.max_frame_size', _FRAME_BYTES),
            ('grpc.keepalive_time_ms', 12_000),
            ('grpc.keepalive_timeout_ms', 5_000),
            ('grpc.http2.max_pings_without_data', 0),
            ('grpc.initial_reconnect_backoff_ms', 50),
            ('grpc.min_reconnect_backoff_ms', 5_000),
            ('grpc.max_reconnect_backoff_ms', 2_000),
            ('grpc.use_local_subchannel_pool', 1),
            ('grpc.enable_http_proxy', int('grpc_proxy' in os.environ)),
        ]
        if not self.authority:
            return grpc_module.insecure_channel(address, options=options)
        if not self.by_address:
            options.append(('grpc.ssl_target_name_override', name))
        credentials = grpc.ssl_channel_credentials(self.authority, self.key, self.certificate)
        return grpc_module.secure_channel(address, credentials, options=options)


def agent_names(device: str) -> List[str]:
    """The name that the agent of a device bears, of whoever joined by the name that the device's id begins with."""
    return [device.partition('.')[0] + _AGENT_SUFFIX]


def read_token(path: Optional[str]) -> str:
    """What a token file holds."""
    if path is None:
        return ''
    token = _read_secret(path, 'token_file', _MOST_TOKEN_BYTES).strip().decode('utf-8', 'replace')
    if len(token) < _LEAST_TOKEN_CHARACTERS or not all('!' <= c <= '~' for c in token):
        raise errors.InvalidArgument(
            f'token_file "{path}" holds no token of at least {_LEAST_TOKEN_CHARACTERS} printable ASCII characters')
    return token


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.timezone.utc)


def find_proof(address: str, *, identity: Optional[str] = None, authority: Optional[str] = None,
               token_file: Optional[str] = None, insecure: bool = False,
               now: Callable[[], datetime.datetime] = _now) -> Proof:
    """How this user proves himself to the server at `address`. UNAUTHENTICATED says how to join."""
    token = read_token(token_file)
    if insecure or address.startswith(UNIX):
        if identity is None and authority is None:
            return Proof(token=token)
        raise errors.InvalidArgument('identity and authority are for servers that are called over TLS: '
                                     + ('not together with insecure' if insecure else 'not over a unix socket'))
    if authority is not None:
        return _given_proof(identity, authority, token)
    if identity is None and token:
        return Proof(authority=_ask_for_authority(address, token), token=token)
    path = identity if identity is not None else identity_path(address)
    try:
        text = _read_secret(path, 'identity', _MOST_PEM_BYTES).decode('ascii', 'replace')
    except errors.NotFound:
        if identity is not None:
            raise
        raise errors.Unauthenticated(
            f'this user has not joined the server at "{address}": {_how_to_join(address)}; '
            'insecure=True is for a server that was started with --insecure') from None
    parts = _IDENTITY.fullmatch(text)
    if parts is None:
        raise errors.DataLoss(f'the identity in "{path}" is damaged; remove the file and join again')
    key, certificate, signer = (part.encode() for part in parts.groups())
    ends = _not_after(certificate)
    if ends <= now():
        raise errors.Unauthenticated(f'"{path}" has expired ({ends:%Y-%m-%d %H:%M:%S} UTC), by this machine\'s clock: '
                                     + _how_to_join(address))
    return Proof(authority=signer, key=key, certificate=certificate, token=token)


def identity_path(address: str) -> str:
    """Where this user's identity towards a server is, as core/identity/identity_file.h has it."""
    host, _, port = address.rpartition(':')
    if host.startswith('[') and host.endswith(']'):
        try:
            host = '[' + socket.inet_ntop(socket.AF_INET6, socket.inet_pton(socket.AF_INET6, host[1:-1])) + ']'
        except OSError:
            raise errors.InvalidArgument(f'"{address}" is no address of a server: HOST:PORT is wanted') from None
    elif re.fullmatch(r'(?!\.)(?!.*\.\.)[A-Za-z0-9._-]{1,253}', host):
        host = '127.0.0.1' if host.lower() == 'localhost' else host.lower()
    else:
        raise errors.InvalidArgument(f'"{address}" is no address of a server: HOST:PORT is wanted')
    config = os.environ.get('XDG_CONFIG_HOME') or os.path.join(os.path.expanduser('~'), '.config')
    return os.path.join(config, 'slipway', 'servers', f'{host}:{int(port)}', 'user.pem')


def _how_to_join(address: str) -> str:
    return (f'ask its administrator for a code (`slipwayd invite user NAME` there) and type '
            f'`slipway join {address} CODE`')


def _read_secret(path: str, what: str, most: int) -> bytes:
    """A file that nobody else may read."""
    try:
        with open(path, 'rb') as file:
            info = os.fstat(file.fileno())
            data = file.read(most + 1)
    except FileNotFoundError:
        raise errors.NotFound(f'{what}: there is no "{path}"') from None
    except OSError as error:
        raise errors.PermissionDenied(f'{what}: cannot read "{path}": {error.strerror}') from None
    if info.st_uid not in (os.geteuid(), 0):
        raise errors.PermissionDenied(f'{what}: "{path}" belongs to user {info.st_uid}, who may change it')
    refused = stat.S_IRWXG | stat.S_IRWXO if info.st_uid == os.geteuid() else stat.S_IWGRP | stat.S_IRWXO
    if info.st_mode & refused:
        raise errors.PermissionDenied(f'{what}: others may read or write the secret in "{path}", which has mode '
                                      f'{stat.S_IMODE(info.st_mode):04o}; run: chmod 600 {path}')
    if len(data) > most:
        raise errors.ResourceExhausted(f'{what}: "{path}" is larger than {most} bytes')
    return data


def _given_proof(identity: Optional[str], authority: str, token: str) -> Proof:
    """By certificates that somebody else has given, whose server is known by its address."""
    if identity is None and not token:
        raise errors.InvalidArgument('authority says who vouches for the server: pass identity as well, with key and '
                                     'certificate, or token_file')
    try:
        with open(authority, 'rb') as file:
            authorities = file.read(_MOST_PEM_BYTES)
    except OSError as error:
        raise errors.NotFound(f'authority: cannot read "{authority}": {error.strerror}') from None
    if b'-----BEGIN CERTIFICATE-----' not in authorities:
        raise errors.InvalidArgument(f'authority: "{authority}" holds no certificate')
    given = _read_secret(identity, 'identity', _MOST_PEM_BYTES) if identity is not None else None
    return Proof(authority=authorities, key=given, certificate=given, token=token, by_address=True)


def _ask_for_authority(address: str, token: str) -> bytes:
    """The certificate of the authority that a token names behind its last dot, as its server shows it.

    Nothing is sent but a greeting: that the server is that authority's is proved to gRPC, before it is shown the token."""
    _, dot, wanted = token.rpartition('.')
    if not dot:
        raise errors.InvalidArgument(
            'the token of token_file is none of `slipwayd token`, so it is not known whether '
            f'"{address}" is its server; pass insecure=True to send it unencrypted')
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.set_alpn_protocols([_JOIN_PROTOCOL])
    host, _, port = address.rpartition(':')
    try:
        with socket.create_connection((host.strip('[]'), int(port)), timeout=_JOIN_TIMEOUT) as plain:
            with context.wrap_socket(plain) as connection:
                chain = _chain_of(connection)
    except (OSError, ssl.SSLError) as error:
        raise errors.Unavailable(f'the server at "{address}" cannot be reached: {error}') from None
    for certificate in chain[1:]:
        if _authority_text(certificate) == wanted:
            return ssl.DER_cert_to_PEM_cert(certificate).encode()
    raise errors.PermissionDenied(
        f'the server at "{address}" is another one than the token is for, or somebody between us pretends to be it: '
        'nothing was sent to it')


def _chain_of(connection: ssl.SSLSocket) -> List[bytes]:
    """What the other side has shown, in DER; Python tells it by this name since 3.13."""
    tell = getattr(connection, 'get_unverified_chain', None)
    if tell is not None:
        return list(tell())
    inner: Any = connection._sslobj  # type: ignore[attr-defined]
    return [ssl.PEM_cert_to_DER_cert(each.public_bytes()) for each in inner.get_unverified_chain()]


def _authority_text(certificate: bytes) -> str:
    """The first 100 bits of its fingerprint, as codes and tokens have them (core/identity/join_code.h)."""
    bits = int.from_bytes(hashlib.sha256(certificate).digest(), 'big') >> (256 - 5 * _AUTHORITY_CHARACTERS)
    return ''.join(_ALPHABET[bits >> 5 * at & 31] for at in reversed(range(_AUTHORITY_CHARACTERS)))


def _not_after(certificate: bytes) -> datetime.datetime:
    """When a certificate (PEM) ends: X.509's Certificate.tbsCertificate.validity.notAfter (RFC 5280, 4.1)."""
    der = ssl.PEM_cert_to_DER_cert(certificate.decode('ascii'))
    try:
        fields = _der(_der(_der(der)[0][1])[0][1])
        # A version, if any, goes before; then serial number, signature, issuer.
        validity = fields[4 if fields[0][0] == 0xa0 else 3][1]
        tag, text = _der(validity)[1]
        form = '%y%m%d%H%M%SZ' if tag == 0x17 else '%Y%m%d%H%M%SZ'
        return datetime.datetime.strptime(text.decode('ascii'), form).replace(tzinfo=datetime.timezone.utc)
    except (IndexError, ValueError):
        raise errors.DataLoss('the certificate of the identity is damaged; remove the file and join again') from None


def _der(data: bytes) -> List[Tuple[int, bytes]]:
    """Tag and contents of each value that stands in `data` (X.690)."""
    values = []
    while data:
        tag, size, head = data[0], data[1], 2
        if size & 0x80:
            count = size & 0x7f
            size, head = int.from_bytes(data[2:2 + count], 'big'), 2 + count
        if head + size > len(data):
            raise ValueError('a value is cut off')
        values.append((tag, data[head:head + size]))
        data = data[head + size:]
    return values
