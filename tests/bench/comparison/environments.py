"""Virtual environments of pinned packages, one for each engine and one for what exports models.

They lie in a cache folder, named after what was asked for, so that other pins make another one.
"""

import hashlib
import os
import shutil
import subprocess

REQUIREMENTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'requirements')
FINISHED = 'finished'


class Missing(Exception):
    """Why there is no such environment, in a line."""


def digest_of(*paths):
    """Eight characters that tell apart what files hold."""
    total = hashlib.sha256()
    for path in paths:
        with open(path, 'rb') as file:
            total.update(hashlib.sha256(file.read()).digest())
    return total.hexdigest()[:8]


def folder_of(name, cache, requirements=REQUIREMENTS):
    """Where the environment `name` lies; Missing where nobody says what it holds."""
    path = os.path.join(requirements, name + '.txt')
    if not os.path.exists(path):
        raise Missing(f'no {path}')
    return os.path.join(cache, f'{name}-{digest_of(path)}'), path


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else 'it said nothing'


def _run(command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise Missing(f'{" ".join(command[:4])}: {last_line(done.stdout)}')


def ensure(name, cache, say, python='/usr/bin/python3', run=_run, requirements=REQUIREMENTS):
    """The Python of the environment `name`, which is made when it is not there yet."""
    folder, path = folder_of(name, cache, requirements)
    own = os.path.join(folder, 'bin/python')
    if os.path.exists(os.path.join(folder, FINISHED)):
        return own
    say(f'installing {name} into {folder}')
    shutil.rmtree(folder, ignore_errors=True)
    try:
        run([python, '-m', 'venv', folder])
        run([own, '-m', 'pip', 'install', '--quiet', '--requirement', path])
    except (Missing, OSError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise Missing(f'{name} cannot be installed: {error}') from error
    with open(os.path.join(folder, FINISHED), 'w', encoding='utf-8'):
        pass
    return own
