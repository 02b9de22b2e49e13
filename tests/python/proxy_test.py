"""A client behind HAProxy with the configuration in deploy/haproxy."""

import contextlib
import os
import socket
import subprocess
import time

import numpy as np
import pytest

import processes
import slipway
from slipway import errors
from slipway._proof import identity_path

HAPROXY = '/usr/sbin/haproxy'
CONFIGURATION = os.path.join(processes.RUNFILES, 'deploy', 'haproxy', 'haproxy.cfg')


def free_address():
    with socket.socket() as listener:
        listener.bind(('127.0.0.1', 0))
        return f'127.0.0.1:{listener.getsockname()[1]}'


@contextlib.contextmanager
def haproxy(folder, front, server):
    with open(f'{folder}/haproxy.log', 'ab') as log:
        process = subprocess.Popen([HAPROXY, '-db', '-f', CONFIGURATION], stdout=log, stderr=log,
                                   env={**os.environ, 'SLIPWAY_FRONT': front, 'SLIPWAY_SERVER': server})
    host, _, port = front.rpartition(':')
    try:
        while process.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection((host, int(port))):
                break
            time.sleep(0.01)
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.fixture(name='front')
def front_fixture(folder):
    """The address of a front, and the identity of the server's own user."""
    front, behind = free_address(), free_address()
    with processes.server(folder, f'--proxied-listen={behind}') as server, \
            processes.agent(folder, server.line), haproxy(folder, front, behind):
        yield front, identity_path(server.line)


def test_jobs_and_sessions_pass(front, seven):
    address, identity = front
    with slipway.Client(address, identity=identity) as client:
        program = client.compile(processes.DIGITS)
        ran = client.run(program, {'image': seven})
        with client.open() as session:
            f = session.load(program)
            np.testing.assert_array_equal(f(seven), next(iter(ran.outputs.values())))
            large = np.arange(40 << 20, dtype=np.uint8)
            np.testing.assert_array_equal(session.put(large).get(), large)


def test_a_front_without_a_server_is_named(folder):
    front, behind = free_address(), free_address()
    with processes.server(folder) as server, haproxy(folder, front, behind):
        with pytest.raises(errors.Unavailable, match=front):
            slipway.Client(front, identity=identity_path(server.line), connect_timeout=2)
