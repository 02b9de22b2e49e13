"""A plug-in of pytest: tests that fail when a model has become slower. It is there where the package is installed.

    def test_speed(slipway_gate):
        slipway_gate('net.onnx', {'baseline': 'main'})

    $ pytest --slipway-server buildhost:7411 --slipway-device board-1
"""

from __future__ import annotations

import warnings
from typing import Any, Callable, Iterator, Mapping, Optional

import pytest

from slipway._client import Client
from slipway._comparison import Gate

_DEFAULT_MAX_REGRESSION = 0.03
_DEFAULT_LIMIT = 60.0


class UndecidedWarning(UserWarning):
    """Whether a model has become slower could not be told."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup('slipway', 'models that must not become slower')
    group.addoption('--slipway-server', metavar='ADDRESS', help='HOST:PORT or unix:PATH; else $SLIPWAY_SERVER, else one of its own.')
    group.addoption('--slipway-device', metavar='ID|SELECTOR', default='', help='What is measured on; else any device.')
    group.addoption('--slipway-max-regression', metavar='SHARE', type=float, default=_DEFAULT_MAX_REGRESSION,
                    help='How much slower a model may be, such as 0.03.')
    group.addoption('--slipway-limit', metavar='SECONDS', type=float, default=_DEFAULT_LIMIT,
                    help='How long a gate may measure.')
    group.addoption('--slipway-undecided', choices=['warn', 'fail'], default='warn',
                    help='What becomes of a test whose gate could not tell in this time.')


@pytest.fixture(scope='session')
def slipway_client(pytestconfig: pytest.Config) -> Iterator[Client]:
    """A client of the server that the command line names."""
    with Client(pytestconfig.getoption('slipway_server')) as client:
        yield client


@pytest.fixture
def slipway_gate(slipway_client: Client, pytestconfig: pytest.Config) -> Callable[..., Gate]:  # pylint: disable=redefined-outer-name
    """gate(model, baseline, inputs=None, max_regression=None): fails the test when the model is slower than its baseline, which is
    another model or artifact, or a mapping of tags for the newest result of the history that has them (Client.gate)."""

    def gate(model: Any, baseline: Any, inputs: Optional[Mapping[str, Any]] = None,
             max_regression: Optional[float] = None, threads: int = 1) -> Gate:
        allowed = pytestconfig.getoption('slipway_max_regression') if max_regression is None else max_regression
        found = slipway_client.gate(model, baseline, inputs, max_regression=allowed, threads=threads,
                                    device=pytestconfig.getoption('slipway_device'),
                                    limit=pytestconfig.getoption('slipway_limit'))
        if found.verdict == 'regressed' or (found.verdict == 'undecided'
                                            and pytestconfig.getoption('slipway_undecided') == 'fail'):
            pytest.fail(f'{model}: {found}', pytrace=False)
        if found.verdict == 'undecided':
            warnings.warn(f'{model}: {found}', UndecidedWarning, stacklevel=2)
        return found

    return gate
