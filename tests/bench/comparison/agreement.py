"""Whether two engines made the same of a model."""

import numpy

# The largest difference, as a share of the largest number of the output that is expected. Sums in
# another order differ in the last bits of f32, deep networks enlarge that, and Winograd's way has
# larger sums in between; bf16 keeps 8 bits, which ResNet-50 with random weights enlarges to a tenth; in
# int8 each step falls to the one side or to the other of a half, so that two ways are more apart still.
TOLERANCES = {'f32': 1e-3, 'bf16': 0.15, 'int8': 0.25}


def difference(made, expected):
    """The largest difference of any output as a share; infinite where they cannot be compared."""
    if len(made) != len(expected):
        return float('inf')
    return max((_difference(a, b) for a, b in zip(made, expected)), default=0.0)


def _difference(made, expected):
    if made.shape != expected.shape:
        return float('inf')
    if expected.dtype.kind != 'f':
        return 0.0 if numpy.array_equal(made, expected) else float('inf')
    if expected.size == 0:
        return 0.0
    made, expected = made.astype(numpy.float64), expected.astype(numpy.float64)
    finite = numpy.isfinite(expected)
    # What is not finite must be the same: NaN where NaN is expected, and infinities with their signs.
    if not numpy.array_equal(made[~finite], expected[~finite], equal_nan=True):
        return float('inf')
    if not numpy.isfinite(made[finite]).all():
        return float('inf')
    most = numpy.abs(expected[finite]).max(initial=0.0)
    apart = numpy.abs(made[finite] - expected[finite]).max(initial=0.0)
    return float(apart / max(most, 1e-30)) if apart else 0.0
