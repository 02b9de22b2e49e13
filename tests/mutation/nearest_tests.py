"""Which tests stand nearest to a file: a pure function of Bazel's graph."""

import collections
import re

EDGE = re.compile(r'^\s*"([^"]+)" -> "([^"]+)"')


def parse_graph(lines):
    """`bazel query --output=graph` as {label: labels that depend on it}."""
    users = collections.defaultdict(set)
    for line in lines:
        match = EDGE.match(line)
        if match:
            users[match[2]].add(match[1])
    return users


def distances(users, label):
    """{label that depends on `label`: the dependencies between them}."""
    found, pending = {label: 0}, collections.deque([label])
    while pending:
        at = pending.popleft()
        for user in users.get(at, ()):
            if user not in found:
                found[user] = found[at] + 1
                pending.append(user)
    return found


def package(label):
    return label.partition(':')[0]


def nearest_tests(users, tests, label, most):
    """Tests to run after a change of the source file `label`, step by step.

    First those of its own package, then at most `most` others: a step for each
    number of dependencies between, the fewest first. No step is empty.
    """
    found = distances(users, label)
    reached = sorted((package(test) != package(label), found[test], test)
                     for test in tests if test in found)
    own = [row for row in reached if not row[0]]
    steps = collections.defaultdict(list)
    for is_other, distance, test in reached[:len(own) + most]:
        steps[distance if is_other else -1].append(test)
    return list(steps.values())
