#!/usr/bin/env python3
"""Makes the archive that a machine with a GPU unpacks: binaries, compiled cases, and the script that runs them.

    pack.py OUT.tar.gz --commit NAME --make-suite FILE --binary FILE... --scripts tests/gpu -- [flags of make_suite]

What cannot be compiled is named in suite.json, and on stdout.
"""

import argparse
import datetime
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile

MAX_BYTES = 64 << 20
FOLDER = 'slipway-gpu'
SCRIPTS = ['run', 'suite/table.py', 'suite/npy.py', 'suite/beside_torch.py']


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('out')
    parser.add_argument('--commit', required=True)
    parser.add_argument('--make-suite', required=True)
    parser.add_argument('--binary', action='append', default=[])
    parser.add_argument('--scripts', required=True)
    at = sys.argv.index('--') if '--' in sys.argv else len(sys.argv)
    options = parser.parse_args(sys.argv[1:at])
    options.suite_flags = sys.argv[at + 1:]
    return options


def target_of(flags):
    """The target among flags of make_suite, whose default it repeats."""
    for i, flag in enumerate(flags):
        if flag.startswith('--target='):
            return flag.split('=', 1)[1]
        if flag == '--target' and i + 1 < len(flags):
            return flags[i + 1]
    return 'x86-64-v3-linux,cuda-sm80'


def make_cases(options, folder):
    """Compiles into `folder`; returns what was left out, as {name: why}."""
    left = {}
    maker = subprocess.Popen([options.make_suite, folder] + options.suite_flags, stdout=subprocess.PIPE, text=True)
    for line in maker.stdout:
        if line.startswith('left '):
            name, why = line[len('left '):].rstrip('\n').split(': ', 1)
            left[name] = why
    if maker.wait() not in (0, 1):
        sys.exit('pack: the cases were not made')
    return left


def main():
    options = parse()
    with tempfile.TemporaryDirectory(prefix='slipway-gpu-pack') as scratch:
        folder = os.path.join(scratch, FOLDER)
        os.makedirs(os.path.join(folder, 'bin'))
        left = make_cases(options, folder)
        for binary in options.binary:
            place = os.path.join(folder, 'bin', os.path.basename(binary))
            subprocess.run(['strip', '-o', place, os.path.realpath(binary)], check=True)
        for script in SCRIPTS:
            shutil.copy(os.path.join(options.scripts, script), os.path.join(folder, os.path.basename(script)))
        names = sorted(os.listdir(os.path.join(folder, 'cases')))
        with open(os.path.join(folder, 'suite.json'), 'w') as file:
            json.dump({'format': 1, 'target': target_of(options.suite_flags), 'commit': options.commit,
                       'made': datetime.datetime.now(datetime.timezone.utc).strftime('%Y-%m-%d'),
                       'cases': names, 'left_out': left}, file, indent=1)
        with tarfile.open(options.out, 'w:gz', compresslevel=6) as archive:
            archive.add(folder, FOLDER)
    size = os.path.getsize(options.out)
    for name, why in sorted(left.items()):
        print('left out: %s: %s' % (name, why))
    print('%s: %d cases, %d left out, %.1f MiB' % (options.out, len(names), len(left), size / 2**20))
    if size > MAX_BYTES:
        os.remove(options.out)
        sys.exit('pack: more than 64 MiB; leave out models or cases')


if __name__ == '__main__':
    main()
