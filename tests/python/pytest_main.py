#!/usr/bin/env python3
"""Runs files of tests with pytest, as Bazel calls it: pytest_main.py FILE..."""

import os
import sys
import tempfile

RUNFILES = os.path.join(os.environ['TEST_SRCDIR'], os.environ['TEST_WORKSPACE'])
PACKAGE = os.path.join(RUNFILES, 'client', 'python')
TESTS = os.path.join(RUNFILES, 'tests', 'python')


def main():
    # Not below TEST_TMPDIR: a socket's path has at most 107 bytes.
    with tempfile.TemporaryDirectory(prefix='slipway-py') as folder:
        for variable in ('TMPDIR', 'HOME', 'XDG_CACHE_HOME', 'XDG_CONFIG_HOME'):
            path = os.path.join(folder, variable.lower())
            os.mkdir(path, 0o700)
            os.environ[variable] = path
        tempfile.tempdir = None
        os.environ['SLIPWAY_TEST_RUNFILES'] = RUNFILES
        os.environ.update(
            PYTHONPATH=PACKAGE,
            PYTHONDONTWRITEBYTECODE='1',
            PYTHONFAULTHANDLER='1',
            SLIPWAY_SERVER_BINARY=os.path.join(RUNFILES, 'server', 'slipwayd'),
            SLIPWAY_AGENT_BINARY=os.path.join(RUNFILES, 'device_agent', 'slipway-agent'))
        os.environ.pop('SLIPWAY_SERVER', None)
        sys.path[:0] = [PACKAGE, TESTS]
        sys.dont_write_bytecode = True
        import pytest  # pylint: disable=import-outside-toplevel
        files = [name if name.startswith('-') else os.path.join(TESTS, name) for name in sys.argv[1:]]
        return pytest.main(['-q', '-p', 'no:cacheprovider', '--import-mode=importlib', '-rs',
                            f'--basetemp={folder}/t', *files])


if __name__ == '__main__':
    sys.exit(main())
