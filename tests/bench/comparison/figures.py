"""What is computed of samples: minima, medians, ratios, and how far a model is from its machine's limits."""

import math


def minimum(samples_ns):
    return min(samples_ns)


def median(samples_ns):
    """The smaller of the two in the middle, so that it is a time that was measured."""
    ordered = sorted(samples_ns)
    return ordered[(len(ordered) - 1) // 2]


def geometric_mean(ratios):
    """None of nothing."""
    ratios = list(ratios)
    if not ratios:
        return None
    return math.exp(sum(math.log(ratio) for ratio in ratios) / len(ratios))


def fastest(minima):
    """The name with the smallest time of {name: time}; None of nothing."""
    return min(minima, key=lambda name: (minima[name], name)) if minima else None


def operations_ns(operations, peak):
    """What no engine stays below that computes products as they are written, at `peak` operations a second.

    Who computes fewer, by Winograd's way for example, may. None where something is not known.
    """
    return operations / peak * 1e9 if operations and peak else None


def samples_in(seconds, last_ns, calls, most=200):
    """How many samples of `calls` calls fit into a turn, after a call took last_ns; one at least."""
    if last_ns is None:
        return 1
    return max(1, min(most, int(seconds * 1e9 / (last_ns * calls))))
