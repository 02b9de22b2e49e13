"""The plug-in of pytest: what it lets pass and what not, in a pytest of its own."""

import os
import subprocess
import sys

import pytest

import processes

TESTS = '''
MODEL = {model!r}

def test_faster(slipway_client, slipway_gate):
    slow = slipway_client.compile(MODEL, target='x86-64-linux')
    assert slipway_gate(MODEL, slow).verdict == 'passed'

def test_slower(slipway_client, slipway_gate):
    slow = slipway_client.compile(MODEL, target='x86-64-linux')
    slipway_gate(slow, MODEL)

def test_history(slipway_client, slipway_gate):
    slow = slipway_client.compile(MODEL, target='x86-64-linux')
    slipway_client.bench(slow, tags={{'baseline': 'main'}}, samples=5)
    assert slipway_gate(MODEL, {{'baseline': 'main'}}).verdict == 'passed'

def test_no_baseline(slipway_gate):
    slipway_gate(MODEL, {{'baseline': 'other'}})
'''


@pytest.fixture(scope='module')
def shown(tmp_path_factory):
    folder = tmp_path_factory.mktemp('gates')
    (folder / 'test_speed.py').write_text(TESTS.format(model=processes.DIGITS))
    # As if the package was installed, which makes the plug-in known.
    done = subprocess.run([sys.executable, '-m', 'pytest', '-p', 'slipway.pytest_plugin', '-p', 'no:cacheprovider', '-q',
                           '-rA', '--slipway-limit', '20', str(folder)], cwd=folder, env=dict(os.environ),
                          stdout=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1, done.stdout
    return done.stdout


def test_what_is_faster_passes(shown):
    assert 'PASSED test_speed.py::test_faster' in shown
    assert 'PASSED test_speed.py::test_history' in shown


def test_what_is_slower_fails_with_the_numbers(shown):
    assert 'FAILED test_speed.py::test_slower' in shown
    assert 'times as long (99 %' in shown and '3.0% is allowed' in shown


def test_a_baseline_that_is_not_there_is_an_error(shown):
    assert 'FAILED test_speed.py::test_no_baseline' in shown and 'the history has no result of "digits.onnx"' in shown
