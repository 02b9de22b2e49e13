"""What became of a case: compares an engine's result with those of the oracles."""

import dataclasses

import numpy as np

import comparison
import departures
import elements
import tolerances

AGREE = 'agree'
DISPUTED = 'disputed'  # Oracles differ, and one agrees.
DEPARTED = 'departed'  # departures.py says why the oracle is not followed.
BOTH_REFUSE = 'both refuse'
UNCHECKED = 'unchecked'  # No oracle takes the model.
GAP = 'gap'  # UNIMPLEMENTED, and an oracle runs it.
REFUSED = 'refused'  # Said to be wrong, and an oracle runs it.
WRONG = 'wrong'
CRASHED = 'crashed'
FAILURES = (REFUSED, WRONG, CRASHED)


@dataclasses.dataclass
class Outcome:
    kind: str
    reason: str = ''


def compare(actual, expected, operators, lowered):
    """None, or how two lists of outputs differ."""
    if len(actual) != len(expected):
        return f'{len(actual)} outputs instead of {len(expected)}'
    for i, (ours, theirs) in enumerate(zip(actual, expected)):
        found = comparison.difference(ours, theirs, tolerances.of(operators, lowered), lowered)
        if found:
            return f'output {i}: {found}'
    return None


def like(made, arrays):
    """What ONNX's reference makes, whose floats are of the types that NumPy promotes to, in ours."""
    if len(made) != len(arrays):
        return arrays
    floats = [elements.is_float(elements.name_of(a)) and elements.is_float(elements.name_of(b))
              for a, b in zip(made, arrays)]
    with np.errstate(all='ignore'):
        return [b.astype(a.dtype) if both else b for a, b, both in zip(made, arrays, floats)]


def judge(case, made, why_not, answers, lowered):
    """The outcome of an engine that made the arrays `made`, or none because of `why_not`.

    `answers` maps an oracle's name to its (arrays, why none).
    """
    ran = {name: arrays for name, (arrays, _) in answers.items() if arrays is not None}
    if made is None:
        if why_not.startswith('it '):  # It crashed, it hung, it exited.
            return Outcome(CRASHED, why_not)
        if not ran:
            return Outcome(BOTH_REFUSE, why_not)
        if all(departures.reason(case, name, lowered) for name in ran):
            return Outcome(DEPARTED, why_not)
        return Outcome(GAP if why_not.startswith('UNIMPLEMENTED') else REFUSED, why_not)
    if not ran:
        return Outcome(UNCHECKED, '; '.join(why for _, why in answers.values()))
    operators = case.operators()
    found = {name: compare(made, like(made, arrays) if name == 'onnx' else arrays, operators, lowered)
             for name, arrays in ran.items()}
    wrong = {name: text for name, text in found.items() if text}
    if not wrong:
        return Outcome(AGREE)
    text = '; '.join(f'{name}: {difference}' for name, difference in wrong.items())
    if len(wrong) < len(found):
        return Outcome(DISPUTED, text)
    return Outcome(DEPARTED if all(departures.reason(case, name, lowered) for name in wrong) else WRONG, text)
