"""What samples say, as core/statistics computes it: quantiles and centres with intervals, though samples depend on each
other. The sources of the algorithms stand in the headers there; a test holds both against each other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import List, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

Series = npt.NDArray[np.float64]

_MOST_LAGGED = 4096
_MOST_EXACT = 50
_EVEN = 1e-9


@dataclass(frozen=True)
class Estimate:
    """A number, and between which bounds it may be; none where the sample is too small to tell."""

    value: float
    interval: Optional[Tuple[float, float]] = None


def _products(centred: Series, lag: int) -> float:
    return float(np.dot(centred[lag:], centred[:len(centred) - lag]))


def lag1_autocorrelation(series: Sequence[float]) -> float:
    """The correlation of each sample with the next; 0 for fewer than 3."""
    values = np.asarray(series, np.float64)
    if len(values) < 3:
        return 0.0
    centred = values - values.mean()
    variance = _products(centred, 0)
    return _products(centred, 1) / variance if variance > 0 else 0.0


def _inefficiency_of_few(centred: Series) -> float:
    variance = _products(centred, 0)
    if not variance > 0:
        return 1.0
    total, least = 0.0, math.inf
    for lag in range(0, len(centred) - 1, 2):
        pair = _products(centred, lag) + _products(centred, lag + 1)
        if pair <= 0:
            break
        least = min(least, pair)
        total += least
    return max(1.0, (2 * total - variance) / variance)


def inefficiency(series: Union[Sequence[float], Series]) -> float:
    """How many samples tell as much of the mean as one independent sample would: Geyer's initial monotone sequence."""
    values = np.asarray(series, np.float64)
    n = len(values)
    if n < 3:
        return 1.0
    centred = values - values.mean()
    if n <= _MOST_LAGGED:
        return min(float(n), _inefficiency_of_few(centred))
    size = -(-n // _MOST_LAGGED)
    means = centred[:n // size * size].reshape(-1, size).mean(axis=1)
    batches = means - means.mean()
    variance = _products(centred, 0) / n
    if not variance > 0:
        return 1.0
    ratio = size * (_products(batches, 0) / len(batches)) / variance
    return min(max(ratio * _inefficiency_of_few(batches), 1.0), float(n))


def _ranks_around(n: int, p: float, tail: float) -> Optional[Tuple[int, int]]:
    """Ranks, from 1, of n independent samples that lie on both sides of the quantile, but for `tail` on each."""
    odds = math.log(p) - math.log1p(-p)
    log_probability = n * math.log1p(-p)
    total, low = 0.0, 0
    for k in range(n):
        total += math.exp(log_probability)
        if total <= tail:
            low = k + 1
        if total >= 1 - tail:
            return (low, k + 1) if low else None
        log_probability += math.log(n - k) - math.log(k + 1) + odds
    return None


def quantile(series: Sequence[float], p: float, confidence: float = 0.95) -> Estimate:
    """The quantile by nearest rank, between two order statistics. `series` is in the order of time, and not empty."""
    values = np.asarray(series, np.float64)
    ordered = np.sort(values)
    n = len(ordered)
    value = float(ordered[min(max(math.ceil(n * p - _EVEN), 1), n) - 1])
    effective = int(n / inefficiency((values <= value).astype(np.float64)))
    ranks = _ranks_around(effective, p, (1 - confidence) / 2)
    if ranks is None:
        return Estimate(value)
    low = max(1, ranks[0] * n // effective)
    high = min(n, -(-ranks[1] * n // effective))
    return Estimate(value, (float(ordered[low - 1]), float(ordered[high - 1])))


def _signed_rank(n: int, tail: float) -> float:
    """The largest k such that the sum of the ranks of positive samples, of n about 0, is below k with probability `tail`."""
    if n > _MOST_EXACT:
        deviation = math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
        return max(0.0, math.floor(n * (n + 1) / 4 + 0.5 - NormalDist().inv_cdf(1 - tail) * deviation))
    shares = np.zeros(n * (n + 1) // 2 + 1)
    shares[0] = 1
    for rank in range(1, n + 1):
        moved = np.zeros_like(shares)
        moved[rank:] = shares[:-rank]
        shares = (shares + moved) / 2
    return float(np.searchsorted(np.cumsum(shares), tail, side='right'))


def centre(series: Sequence[float], confidence: float) -> Estimate:
    """The centre of differences, some of which may be far out: the median of the means of all pairs (Hodges, Lehmann)."""
    values = np.asarray(series, np.float64)
    n = len(values)
    rows, columns = np.triu_indices(n)
    means = np.sort((values[rows] + values[columns]) / 2)
    count = len(means)
    value = float(means[(count + 1) // 2 - 1] + means[count // 2]) / 2
    middle = (count + 1) / 2
    k = _signed_rank(n, (1 - confidence) / 2)
    low = middle - (middle - k) * math.sqrt(inefficiency(values))
    if k < 1 or low < 1:
        return Estimate(value)
    rank = int(low)
    return Estimate(value, (float(means[rank - 1]), float(means[count - rank])))


def median(values: Sequence[float]) -> float:
    """Of an even number, the mean of the two in the middle."""
    return float(np.median(np.asarray(values, np.float64)))


def per_call(samples_ns: Sequence[int], iterations: int) -> List[float]:
    """Times of one call, of samples of `iterations` calls each."""
    return [sample / iterations for sample in samples_ns]
