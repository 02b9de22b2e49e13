#!/usr/bin/env python3
"""Compares Slipway's engines with oracles on random models; README.md tells how.

    differential.py --runner onnx_backend_test [--engine reference] [--seed 0] [--count 1000] [--graphs 100]
                    [--operator REGEX] [--keep FOLDER] [--verbose]

Exit codes: 0 nothing failed, 1 something did, 2 an operator has no generator, 77 no oracle is installed.
"""

import argparse
import collections
import importlib.util
import re
import sys
import time

NEEDED = ('ml_dtypes', 'numpy', 'onnx.defs')
ORACLES = ('onnxruntime', 'onnx.reference')
# Of maps, which no Maker makes yet.
WITHOUT_GENERATOR = ('ZipMap',)
ABSENT = 77
UNCOVERED = 2
BATCH = 100
PROGRESS_SECONDS = 30


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--runner', required=True, help='the onnx_backend_test to run engines by')
    parser.add_argument('--engine', action='append', help='reference (the default), compiled, a target; repeatable')
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--count', type=int, default=1000, help='how many models of one operator')
    parser.add_argument('--graphs', type=int, default=0, help='how many models of 5 to 50 nodes')
    parser.add_argument('--operator', default='', help='regular expression that an operator, with its domain, contains')
    parser.add_argument('--document', help='OPERATORS.md, whose operators must all have a generator')
    parser.add_argument('--keep', help='folder for what fails, made small')
    parser.add_argument('--verbose', action='store_true', help='tells every outcome but agreement')
    return parser.parse_args()


def is_installed(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def generate(arguments):
    import families
    import graphs
    import sampling
    names = {key: '.'.join(key).lstrip('.') for key in sorted(families.GENERATORS)}
    chosen = [key for key, name in names.items() if re.search(arguments.operator, name)]
    for number in range(arguments.count):
        domain, op = chosen[number % len(chosen)]
        case = sampling.single(op, domain, arguments.seed + number // len(chosen))
        if case is not None:
            yield names[domain, op], case
    for number in range(arguments.graphs):
        yield '(graph)', graphs.graph(arguments.seed + number)


def batches(items):
    batch = []
    for item in items:
        batch.append(item)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def keep(session, case, engine, outcome, folder):
    """Writes a failing case, made small, with what an oracle makes of it."""
    import engines
    import shrinking
    small = shrinking.shrink(case, session.fails_as(engine, outcome.kind))
    expected = next((arrays for arrays, _ in session.answers(small).values() if arrays is not None), ())
    engines.write_case(small, folder, expected)


class Progress:
    """Says now and then how far a long run is, on standard error."""

    def __init__(self, models):
        self.models, self.done = models, 0
        self.start = self.said = time.time()

    def add(self, models):
        self.done += models
        now = time.time()
        if now - self.said >= PROGRESS_SECONDS:
            self.said = now
            print(f'{self.done} of {self.models} models in {now - self.start:.0f} s', file=sys.stderr, flush=True)


def run(arguments):
    import outcomes
    from session import Session
    session = Session(arguments.runner)
    progress = Progress(arguments.count + arguments.graphs)
    table = collections.defaultdict(collections.Counter)
    for batch in batches(generate(arguments)):
        cases = [case for _, case in batch]
        answers = [session.answers(case) for case in cases]
        for engine in arguments.engine or ['reference']:
            for (op, case), outcome in zip(batch, session.judge(cases, engine, answers)):
                table[op][outcome.kind] += 1
                failed = outcome.kind in outcomes.FAILURES
                if failed or (arguments.verbose and outcome.kind != outcomes.AGREE):
                    opset = case.model.opset_import[-1].version
                    print(f'{outcome.kind} {case.name} {engine} opset {opset}: {outcome.reason[:600]}', flush=True)
                if failed and arguments.keep:
                    keep(session, case, engine, outcome, arguments.keep)
        progress.add(len(batch))
    session.close()
    return table


def uncovered(document):
    """Operators of OPERATORS.md that ONNX has and no generator makes."""
    import families
    from onnx import defs
    known = {(schema.domain, schema.name) for schema in defs.get_all_schemas_with_history()}
    missing = []
    with open(document, encoding='utf-8') as file:
        for name in re.findall(r'^(?:\| |- )([\w.]+)(?: \||,|$)', file.read(), re.MULTILINE):
            domain, _, op = name.rpartition('.')
            if (domain, op) in known and (domain, op) not in families.GENERATORS and op not in WITHOUT_GENERATOR:
                missing.append(name)
    return missing


def main():
    arguments = parse_arguments()
    absent = [name for name in NEEDED if not is_installed(name)]
    if absent or not any(is_installed(name) for name in ORACLES):
        print('absent: ' + ', '.join(absent or ORACLES))
        return ABSENT
    import outcomes
    if arguments.document and uncovered(arguments.document):
        print('no generator makes ' + ', '.join(uncovered(arguments.document)))
        return UNCOVERED
    start = time.time()
    table = run(arguments)
    if arguments.verbose:
        for op, row in sorted(table.items()):
            print(f'{op:28}', ', '.join(f'{kind} {count}' for kind, count in sorted(row.items())))
    total = sum(table.values(), collections.Counter())
    print(', '.join(f'{count} {kind}' for kind, count in total.most_common()), f'in {time.time() - start:.0f} s')
    return 1 if any(total[kind] for kind in outcomes.FAILURES) else 0


if __name__ == '__main__':
    sys.exit(main())
