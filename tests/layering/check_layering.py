"""Checks a dependency graph against the table of layers.bzl.

Usage: check_layering.py TABLE.json GRAPH [ROOT]

GRAPH is the output of `bazel query --output=graph --nograph:factored`. ROOT is
a folder that stands for the workspace, in fixtures. Prints each forbidden
dependency with the path that leads to it, and exits with 1 if there is one.
"""

import collections
import json
import re
import sys

LABEL = re.compile(r'"(//[^"]*)"')


def read_graph(text):
    """Returns {label: [labels that it depends on]}."""
    graph = collections.defaultdict(list)
    for line in text.splitlines():
        labels = LABEL.findall(line)
        for label in labels:
            graph[label]
        if len(labels) == 2 and '->' in line:
            graph[labels[0]].append(labels[1])
    return graph


def layer_of(label, table, root):
    """Returns ('folder' or 'library', name), or None if no rule holds."""
    package, _, name = label[2:].partition(':')
    if package.split('/')[0] == 'third_party':
        return 'library', name
    if root:
        package = package.removeprefix(root + '/')
    parts = package.split('/')
    for length in range(len(parts), 0, -1):
        folder = '/'.join(parts[:length])
        if folder in table:
            return 'folder', folder
    return None


def forbidden(label, folder, table, libraries, root):
    """Returns what `folder` sees in `label` although the table forbids it."""
    layer = layer_of(label, table, root)
    if layer is None:
        return None
    kind, name = layer
    if kind == 'folder':
        allowed = [folder] + table[folder]['folders']
        return None if name in allowed else name
    # Libraries that no row names are for tests, or parts of a library.
    allowed = table[folder]['libraries']
    if name not in libraries or name in allowed:
        return None
    return '//third_party:' + name


def check_folder(folder, graph, table, libraries, root):
    """Returns one message for each thing that `folder` must not see."""
    messages = {}
    for start in sorted(graph):
        if layer_of(start, table, root) != ('folder', folder):
            continue
        paths = collections.deque([(start, (start,))])
        visited = {start}
        while paths:
            label, path = paths.popleft()
            what = forbidden(label, folder, table, libraries, root)
            if what:
                messages.setdefault(
                    what, f'{folder} must not depend on {what}: '
                    + ' -> '.join(path))
                continue
            for dependency in graph[label]:
                # What a library of third_party consists of is its own affair.
                own = label.startswith('//third_party')
                if dependency not in visited and not own:
                    visited.add(dependency)
                    paths.append((dependency, path + (dependency,)))
    return list(messages.values())


def main(arguments):
    with open(arguments[0]) as file:
        table = json.load(file)
    with open(arguments[1]) as file:
        graph = read_graph(file.read())
    root = arguments[2] if len(arguments) > 2 else ''
    libraries = {name for row in table.values() for name in row['libraries']}
    failures = []
    present = {layer_of(label, table, root) for label in graph}
    for folder in table:
        if ('folder', folder) in present:
            messages = check_folder(folder, graph, table, libraries, root)
            print(f'{folder}: {"forbidden" if messages else "allowed"}')
            failures += messages
    for message in failures:
        print(message)
    if failures:
        print('the table is in tests/layering/layers.bzl')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
