#!/usr/bin/env python3
"""Lists the repository's files, also where it is a source archive.

Usage: tests/lint/sources.py [SUFFIX...] prints those with one of the suffixes,
each ended by a zero byte.
"""

import fnmatch
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))


def _listed_by_git(root):
    listed = subprocess.run(
        ['git', 'ls-files', '-z', '--cached', '--others',
         '--exclude-standard'],
        cwd=root, stdout=subprocess.PIPE, check=True).stdout
    return [path for path in listed.decode().split('\0')
            if os.path.isfile(os.path.join(root, path))]


def _listed_by_walking(root):
    """As git would, for the kinds of patterns that .gitignore has."""
    patterns = []
    ignore = os.path.join(root, '.gitignore')
    if os.path.exists(ignore):
        with open(ignore, encoding='utf-8') as file:
            patterns = file.read().split()

    def is_ignored(path):
        return any(
            fnmatch.fnmatchcase(path, pattern.strip('/'))
            if pattern.startswith('/') else
            fnmatch.fnmatchcase(os.path.basename(path), pattern.strip('/'))
            for pattern in patterns)

    paths = []
    for folder, folders, files in os.walk(root):
        inside = os.path.relpath(folder, root)
        prefix = '' if inside == '.' else inside + '/'
        folders[:] = [name for name in folders
                      if not is_ignored(prefix + name)]
        paths += [prefix + name for name in files
                  if not is_ignored(prefix + name)]
    return paths


def list_files(root=ROOT):
    """Returns the paths of what git tracks or would track, sorted."""
    has_git = os.path.exists(os.path.join(root, '.git'))
    return sorted(set(
        _listed_by_git(root) if has_git else _listed_by_walking(root)))


if __name__ == '__main__':
    for listed_path in list_files():
        if listed_path.endswith(tuple(sys.argv[1:]) or ''):
            sys.stdout.write(listed_path + '\0')
