"""Which model a seed makes."""

import numpy as np
from onnx import defs

import families
import maker
import oracles

OLDEST_OPSET = 7


def opsets_of(op, domain):
    """The opsets at which the operator's form changed, and the last ones."""
    versions = {schema.since_version for schema in defs.get_all_schemas_with_history()
                if (schema.name, schema.domain) == (op, domain) and not schema.deprecated}
    return sorted(versions)


def choose_opset(rng, op, domain):
    """The newest one that ONNX Runtime takes as a rule, else any from that of one of the operator's forms on."""
    versions = opsets_of(op, domain)
    if not versions:
        return 1 if domain else oracles.RUNTIME_OPSET
    if domain:
        return int(rng.choice(versions))
    withdrawn = [schema.since_version for schema in defs.get_all_schemas_with_history()
                 if (schema.name, schema.domain) == (op, domain) and schema.deprecated and
                 schema.since_version > versions[-1]]
    last = min(withdrawn) - 1 if withdrawn else max(versions[-1], oracles.RUNTIME_OPSET)
    if rng.random() < 0.55:
        return last
    start = int(rng.choice([max(version, OLDEST_OPSET) for version in versions]))
    following = [version for version in versions if version > start]
    end = min(following) - 1 if following else last
    return int(rng.integers(start, max(end, start) + 1))


def single(op, domain, seed):
    """A model of one operator; the same for the same seed."""
    name = f'{domain}.{op}' if domain else op
    for attempt in range(20):
        numbers = [seed, attempt] + [ord(c) for c in op]
        rng = np.random.default_rng(numbers)
        made = maker.Maker(numbers, op, choose_opset(rng, op, domain), domain)
        try:
            families.GENERATORS[domain, op](made)
        except maker.Refused:
            continue
        return made.case(f'{name}-{seed}')
    return None
