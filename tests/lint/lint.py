#!/usr/bin/env python3
"""Checks of the source text that no compiler makes. Usage: tests/lint/lint.py

Prints each finding as "path:line: message", then a line for each check:
"lint/NAME PASSED" or "lint/NAME FAILED". Exits with 1 if one failed.
"""

import collections
import fnmatch
import os
import re
import subprocess
import sys

import definitions
import proto_comments
import sources

MAX_LINES = 700

# Whole folders of data, and a text that is not ours to format.
NOT_SOURCE = ('tests/testdata/', 'tests/models/', 'LICENSE')

# Inputs of slipway_fuzz_test: their bytes are the point.
CORPUS = '_corpus/'

# Layers with visibilities made by slipway.bzl from tests/layering/layers.bzl.
LAYERED = ('core/', 'server/', 'device_agent/', 'client/', 'proto/')


class Source:
    """A text file of the repository."""

    def __init__(self, path, data):
        self.path = path
        self.data = data
        self.text = data.decode('utf-8', errors='replace')
        self.lines = self.text.split('\n')

    def is_cc(self):
        return self.path.endswith(('.h', '.cc', '.c'))

    def find(self, pattern):
        """Yields the numbers of the lines that contain `pattern`."""
        for number, line in enumerate(self.lines, 1):
            if re.search(pattern, line):
                yield number


def read_sources():
    """Returns all text files of the repository."""
    found = []
    for path in sources.list_files():
        if path.startswith(NOT_SOURCE) or CORPUS in path:
            continue
        with open(os.path.join(sources.ROOT, path), 'rb') as file:
            data = file.read()
        if b'\0' not in data:
            found.append(Source(path, data))
    return found


def check_length(files):
    for source in files:
        count = len(source.lines) - 1
        if count > MAX_LINES:
            yield f'{source.path}:1: {count} lines; at most {MAX_LINES}'


def check_whitespace(files):
    for source in files:
        if b'\r' in source.data:
            yield f'{source.path}:1: has carriage returns'
        if source.data and not source.data.endswith(b'\n'):
            yield f'{source.path}:{len(source.lines)}: no newline at the end'
        if source.data.endswith(b'\n\n'):
            yield f'{source.path}:{len(source.lines) - 1}: blank last line'
        for number in source.find(r'[ \t]$'):
            yield f'{source.path}:{number}: trailing blanks'


def check_unfinished(files):
    for source in files:
        # In two parts, so that this file does not contain the word.
        for number in source.find(r'\b(TO' r'DO|FIX' r'ME|XX' r'X)\b'):
            yield f'{source.path}:{number}: finish it or open an issue'


def _confined_include(files, pattern, is_allowed, message):
    for source in files:
        if source.is_cc() and not is_allowed(source.path):
            for number in source.find(r'^\s*#\s*include\s*[<"]' + pattern):
                yield f'{source.path}:{number}: {message}'


def check_spdlog(files):
    return _confined_include(
        files, 'spdlog/',
        lambda path: path in ('core/base/log.cc',
                              'tests/build_rules/libraries_link_test.cc'),
        'only core/base/log.cc includes spdlog')


def check_boost(files):
    return _confined_include(
        files, 'boost/',
        lambda path: path in ('core/http/http_connection.h',
                              'core/http/http_listener.cc'),
        'only core/http includes Boost, in two files')


def check_grpc(files):
    return _confined_include(
        files, r'(grpcpp/|grpc\+\+/|grpc/|.*\.grpc\.pb\.h)',
        lambda path: path.startswith('server/services/') or
        os.path.basename(path).startswith('grpc_'),
        'only server/services and files named grpc_* include gRPC')


def check_halide(files):
    return _confined_include(
        files, r'(halide14/|Halide)',
        lambda path: path.startswith('core/codegen/') or
        path == 'tests/build_rules/halide_link_test.cc',
        'only core/codegen includes Halide')


def check_onnx(files):
    return _confined_include(
        files, r'(onnx/|third_party/onnx/)',
        lambda path: path.startswith(('core/importers/onnx/',
                                      'core/exporters/onnx/', 'tests/')),
        'only core/importers/onnx and core/exporters/onnx include ONNX')


def check_nlohmann(files):
    return _confined_include(
        files, 'nlohmann/', lambda path: path == 'tests/common/json.h',
        'only tests read JSON, and through tests/common/json.h')


# One word for one thing: a pattern, what to write instead, and where the other
# one still stands. Of a line, only what is no character literal is looked at.
CHARACTER = r"'(?:\\.|[^'\\])'"
DIALECT = [
    (r'"\'|^[^"]*(?:"[^"]*"[^"]*)*"[^"]*\'"',
     'names in messages stand in double quotes',
     ('core/artifact/', 'core/base/', 'core/runtime/', 'core/store/',
      'core/symbolic/', 'core/target/', 'core/tensor/', 'core/wire/',
      'server/', 'tests/')),
    (r'\babsl::(optional|nullopt|make_optional)\b', 'write std::optional',
     ('server/', 'core/tensor/')),
    (r'\babsl::Mutex (?!\w*mutex_?\b)\w+', 'a mutex is called mutex_',
     ('server/', 'tests/')),
    (r'\b' r'resp\. ', 'write the word out',
     ('core/graph/', 'core/kernels/', 'core/codegen/')),
]


def check_dialect(files):
    for source in files:
        if not source.path.endswith(('.h', '.cc')):
            continue
        lines = [re.sub(CHARACTER, '', line) for line in source.lines]
        for pattern, message, elsewhere in DIALECT:
            if source.path.startswith(elsewhere):
                continue
            for number, line in enumerate(lines, 1):
                if re.search(pattern, line):
                    yield f'{source.path}:{number}: {message}'


def check_build_files(files):
    """Layers are only enforced on targets made with the rules of slipway.bzl."""
    for source in files:
        if (os.path.basename(source.path) != 'BUILD' or
                not source.path.startswith(LAYERED)):
            continue
        for number in source.find(r'^\s*cc_(library|binary|test)\('):
            yield f'{source.path}:{number}: use the rules of //:slipway.bzl'
        for number in source.find(r'//visibility:public'):
            yield (f'{source.path}:{number}: leave visibility to '
                   'tests/layering/layers.bzl')


# What an operator is made of, a file a family in each; core/kernels also has
# what families share.
FAMILY_FOLDERS = ('core/operators', 'core/kernels', 'core/reference',
                  'core/codegen/lower')
SHARED_KERNELS = ('batch', 'big_number', 'broadcast', 'call', 'elements',
                  'extents', 'fourier', 'letter_case', 'math', 'number_text',
                  'numbers', 'pair', 'panels', 'parallel', 'places', 'resize_axis', 'saturate',
                  'small_types', 'sorting', 'string_operand', 'trigonometry',
                  'types', 'vectors', 'window', 'winograd')


def check_families(files):
    """A family of operators has one stem in every folder; its kernels may take several files that begin with it."""
    families = set()
    kernels = {}
    for source in files:
        folder, name = os.path.split(source.path)
        stem = os.path.splitext(name)[0]
        if folder not in FAMILY_FOLDERS:
            continue
        if folder == 'core/kernels' and source.is_cc():
            kernels[stem.removesuffix('_test')] = source.path
        if not name.endswith('.cc'):
            continue
        for number in source.find(r'^absl::Status Register\w+\('):
            family = re.search(r'Register(\w+?)(Operators|Kernels|Lowerings)\(',
                               source.lines[number - 1])
            if family and family[1] == 'All':
                continue
            if not family or family[1].lower() != stem:
                yield (f'{source.path}:{number}: the families of {stem}.cc are '
                       f'to be added by a function Register{stem.capitalize()}'
                       'Operators, ...Kernels or ...Lowerings')
            elif folder == 'core/operators':
                families.add(stem)
    for stem, path in kernels.items():
        if stem.partition('_')[0] not in families and stem not in SHARED_KERNELS:
            yield f'{path}:1: core/operators has no family {stem}'


def check_proto_comments(files):
    for source in files:
        if source.path.endswith('.proto'):
            for number, what in proto_comments.find_uncommented(source.lines):
                yield f'{source.path}:{number}: {what} has no comment'


def check_one_definition(files):
    """Two meanings of a name in one program are undefined behaviour."""
    places = collections.defaultdict(dict)  # By name, a line for each path.
    for source in files:
        if source.path.endswith(('.h', '.cc')):
            # What a .cc file implements was declared by a header.
            for line, name in definitions.find(
                    source.text, types_only=source.path.endswith('.cc')):
                places[name].setdefault(source.path, line)
    for name, lines in places.items():
        (first, _), *others = lines.items()
        for path, line in others:
            yield f'{path}:{line}: {name} is also defined in {first}'


# In a document: `a/file.h`, `files.*`, `folder/`; and [text](link).
NAMED_FILE = re.compile(r'`([\w./*-]+(?:\.(?:h|cc|c|py|sh|bzl|proto|md|\*)|/))`')
LINK = re.compile(r'\]\(([^)#:]*)(?:#([^)]*))?\)')
# What stands for a name of the reader's choice: x_pass.h, verb_x.cc, NAME.md.
PLACEHOLDER = re.compile(r'(^|[/_])[xy]([/_.]|$)|[A-Z]{4}')


def _headings(text):
    """The names by which links reach the headings of a document."""
    return {re.sub(r'[^\w -]', '', heading).strip().lower().replace(' ', '-')
            for heading in re.findall(r'^#+ (.*)$', text, re.MULTILINE)}


def _is_there(name, document, paths):
    """Whether a file or folder of that name is below the document or anywhere."""
    if os.path.exists(os.path.join(sources.ROOT, os.path.dirname(document), name)):
        return True
    pattern = f'*/{name}*' if name.endswith('/') else f'*/{name}'
    return any(fnmatch.fnmatchcase('/' + path, pattern) for path in paths)


def check_documents(files):
    """Documents name files that exist, and link to headings that do."""
    texts = {source.path: source.text for source in files}
    for source in files:
        if not source.path.endswith('.md'):
            continue
        for number, line in enumerate(source.lines, 1):
            for name in NAMED_FILE.findall(line):
                if not PLACEHOLDER.search(name) and not _is_there(name, source.path, texts):
                    yield f'{source.path}:{number}: there is no {name}'
            for link, heading in LINK.findall(line):
                path = os.path.normpath(os.path.join(
                    os.path.dirname(source.path), link)) if link else source.path
                if path not in texts and not os.path.exists(os.path.join(sources.ROOT, path)):
                    yield f'{source.path}:{number}: links to {link}, which is not there'
                elif heading and heading not in _headings(texts.get(path, '')):
                    yield f'{source.path}:{number}: {path} has no heading #{heading}'


def check_format(files):
    paths = [source.path for source in files if source.is_cc()]
    if not paths:
        return
    done = subprocess.run(
        ['clang-format-14', '--dry-run', '-Werror', '--ferror-limit=1'] + paths,
        cwd=sources.ROOT, stderr=subprocess.PIPE, text=True, check=False)
    places = re.findall(r'^(\S+?:\d+):\d+: error', done.stderr, re.MULTILINE)
    for place in places:
        yield f'{place}: run tests/lint/format'
    if done.returncode != 0 and not places:
        yield f'clang-format-14: {done.stderr}'


CHECKS = {
    'length': check_length,
    'whitespace': check_whitespace,
    'unfinished': check_unfinished,
    'spdlog': check_spdlog,
    'boost': check_boost,
    'grpc': check_grpc,
    'halide': check_halide,
    'onnx': check_onnx,
    'nlohmann': check_nlohmann,
    'dialect': check_dialect,
    'build_files': check_build_files,
    'families': check_families,
    'proto_comments': check_proto_comments,
    'documents': check_documents,
    'one_definition': check_one_definition,
    'format': check_format,
}


def main():
    files = read_sources()
    status = 0
    for name, check in CHECKS.items():
        findings = list(check(files))
        for finding in findings:
            print(finding)
        print(f'lint/{name} {"FAILED" if findings else "PASSED"}')
        status = 1 if findings else status
    return status


if __name__ == '__main__':
    sys.exit(main())
