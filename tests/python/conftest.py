"""What tests share: a client with a server and an agent of its own, and the digits model, compiled."""

import sys

import numpy as np
import pytest

import processes
import slipway


@pytest.fixture(scope='session')
def client():
    with slipway.Client(local=True) as made:
        yield made


@pytest.fixture(scope='session')
def digits(client):
    return client.compile(processes.DIGITS)


@pytest.fixture(scope='session')
def slip(client, digits, tmp_path_factory):
    """The same as a file."""
    path = tmp_path_factory.mktemp('slip') / 'digits.slip'
    client.export(digits, path)
    return path


@pytest.fixture(scope='session')
def seven():
    return np.load(processes.image(7))


@pytest.fixture
def folder(tmp_path_factory):
    """A short one: sockets lie in it."""
    return str(tmp_path_factory.mktemp('f'))


assert sys.version_info >= (3, 10)
