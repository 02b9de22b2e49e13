"""What is said of samples is what the shell command says of the same samples, whose C++ is an implementation of its own."""

import json
import math
import subprocess

import numpy as np
import pytest

import processes
from slipway import _statistics


def test_quantiles_are_those_of_the_command(client, slip):
    """On samples of a device, some of which depend on each other."""
    command = [processes.RUNFILES + '/client/slipway', 'bench', str(slip), '--json', '--server', client.address]
    for samples in (5, 40, 400):
        shown = json.loads(subprocess.run([*command, '--samples', str(samples)], stdout=subprocess.PIPE,
                                          stderr=subprocess.DEVNULL, check=True).stdout)
        calls = _statistics.per_call(shown['samples_ns'], shown['iterations_per_sample'])
        for name, p in (('p50', 0.5), ('p90', 0.9), ('p99', 0.99)):
            estimate = _statistics.quantile(calls, p)
            if shown[f'{name}_ns'] is None:
                assert estimate.interval is None
                continue
            assert estimate.value == pytest.approx(shown[f'{name}_ns'], rel=1e-9)
            interval = shown[f'{name}_interval_ns']
            assert (estimate.interval is None) == (interval is None)
            if interval is not None:
                assert estimate.interval == pytest.approx(tuple(interval), rel=1e-9)
        assert _statistics.lag1_autocorrelation(calls) == pytest.approx(shown['lag1_autocorrelation'], abs=1e-5)
        assert len(calls) / _statistics.inefficiency(calls) == pytest.approx(shown['effective_samples'], rel=1e-3)


def test_intervals_hold_the_median_as_often_as_they_say():
    random = np.random.default_rng(1)
    held = 0
    for _ in range(400):
        low, high = _statistics.quantile(random.exponential(size=50), 0.5).interval
        held += low <= math.log(2) <= high
    assert 0.93 <= held / 400 <= 1


def test_samples_that_depend_on_each_other_count_as_fewer():
    random = np.random.default_rng(2)
    noise = random.normal(size=10_000)
    walk = np.zeros(10_000)
    for i in range(1, len(walk)):
        walk[i] = 0.9 * walk[i - 1] + noise[i]
    # (1 + 0.9) / (1 - 0.9) of an autoregressive series.
    assert 12 < _statistics.inefficiency(walk) < 28
    assert _statistics.inefficiency(noise) < 1.3
    assert _statistics.inefficiency(walk[:4000]) > 8
    assert _statistics.inefficiency([1, 1, 1, 1]) == 1


def test_centre():
    # Walsh averages of 1, 2, 4: 1, 1.5, 2, 2.5, 3, 4.
    assert _statistics.centre([1, 2, 4], 0.95) == _statistics.Estimate(2.25)
    assert _statistics.centre(range(1, 6), 0.95).interval is None
    # The signed-rank table has k = 0 from 6 samples on at 5 %, and 3 from 8: Wilcoxon's critical values.
    assert _statistics.centre([3, 60, 1, 5, 2, 4], 0.95).interval == (1, 60)
    assert _statistics.centre(range(7), 0.99).interval is None
    assert _statistics.centre([1, -1, 2, -2, 3, -3, 4, -4], 0.99).interval is not None
    random = np.random.default_rng(3)
    held = 0
    for _ in range(300):
        low, high = _statistics.centre(random.normal(size=60), 0.95).interval
        held += low <= 0 <= high
    assert 0.9 <= held / 300 <= 1


def test_nearest_rank():
    assert _statistics.quantile(range(1, 101), 0.9).value == 90
    assert _statistics.quantile([3], 0.99) == _statistics.Estimate(3)
    assert _statistics.median([1, 2, 3, 10]) == 2.5
