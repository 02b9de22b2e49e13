#!/usr/bin/env python3
"""Writes README.md of this folder from the results in it.

    tests/gpu/results/make_readme.py            writes it
    tests/gpu/results/make_readme.py --check    exits with 1 where it is not what it would write
"""

import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'suite'))
import table  # noqa: E402

HEAD = '''# Results on GPUs

Each file is what [tests/gpu/run](../README.md) left on a machine with a GPU; make_readme.py makes this page of them, the newest first. Times are
medians of calls: by the host's clock with copies there and back, by the device's events from the first copy to the last, and the sum of the
kernels' own. PyTorch's are by the device's events without copies; in brackets theirs over ours.

'''
NONE = 'There is none yet: nothing of this has run on a GPU.\n'


def page(folder):
    reports = []
    for name in sorted(os.listdir(folder)):
        if name.endswith('.json'):
            with open(os.path.join(folder, name)) as file:
                reports.append((name, json.load(file)))
    reports.sort(key=lambda each: each[1]['date'], reverse=True)
    parts = ['## %s\n\n%s' % (name[:-len('.json')], table.as_markdown(report)) for name, report in reports]
    return HEAD + ('\n'.join(parts) if parts else NONE)


def main():
    path = os.path.join(HERE, 'README.md')
    wanted = page(HERE)
    if sys.argv[1:] == ['--check']:
        with open(path) as file:
            sys.exit(0 if file.read() == wanted else 'README.md is not what make_readme.py writes')
    with open(path, 'w') as file:
        file.write(wanted)


if __name__ == '__main__':
    main()
