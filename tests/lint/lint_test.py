#!/usr/bin/env python3
"""Shows that the checks of lint.py find what they look for."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import definitions
import lint
import proto_comments
import sources


def source(path, text):
    return lint.Source(path, text.encode())


def findings(check, path, text):
    return list(check([source(path, text)]))


class LintTest(unittest.TestCase):

    def test_length(self):
        self.assertEqual(
            findings(lint.check_length, 'a.cc', 'x\n' * 701),
            ['a.cc:1: 701 lines; at most 700'])
        self.assertEqual(findings(lint.check_length, 'a.cc', 'x\n' * 700), [])

    def test_whitespace(self):
        for text, message in [
                ('x', 'a:1: no newline at the end'),
                ('x\n\n', 'a:2: blank last line'),
                ('x \n', 'a:1: trailing blanks'),
                ('x\r\n', 'a:1: has carriage returns')]:
            self.assertIn(message, findings(lint.check_whitespace, 'a', text))
        self.assertEqual(findings(lint.check_whitespace, 'a', 'x\n\nx\n'), [])

    def test_confined_includes(self):
        for check, text, allowed in [
                (lint.check_spdlog, '#include <spdlog/spdlog.h>\n',
                 'core/base/log.cc'),
                (lint.check_boost, '#include <boost/beast/http.hpp>\n',
                 'core/http/http_listener.cc'),
                (lint.check_grpc, '#include <grpcpp/grpcpp.h>\n',
                 'device_agent/grpc_transport.cc'),
                (lint.check_grpc, '#include "proto/a.grpc.pb.h"\n',
                 'server/services/run_service.cc'),
                (lint.check_halide, '# include <halide14/Halide.h>\n',
                 'core/codegen/lower/softmax.cc'),
                (lint.check_nlohmann, '#include <nlohmann/json.hpp>\n',
                 'tests/common/json.h'),
                (lint.check_onnx, '#include "third_party/onnx/onnx.pb.h"\n',
                 'core/importers/onnx/onnx_importer.cc')]:
            self.assertEqual(findings(check, allowed, text), [])
            self.assertEqual(
                len(findings(check, 'core/graph/graph.cc', text)), 1)

    def test_build_files(self):
        text = 'cc_library(name = "a")\n'
        self.assertEqual(
            len(findings(lint.check_build_files, 'core/graph/BUILD', text)), 1)
        self.assertEqual(
            findings(lint.check_build_files, 'third_party/BUILD', text), [])


    def test_dialect(self):
        for line in ['StrCat("job \'", id, "\' is")', 'Error("no \'host\'");',
                     'absl::optional<int> a;', 'return absl::nullopt;',
                     'absl::Mutex mu_;', '// One, res' 'p. two of them.']:
            self.assertEqual(
                len(findings(lint.check_dialect, 'client/a.cc', line)), 1, line)
        for line in ['StrCat("job \\"", id, "\\" is")', "if (c == '\"') Take('\\'');",
                     'Error("it doesn\'t");', 'std::optional<int> a;',
                     'absl::Mutex mutex_;', 'absl::Mutex send_mutex_;',
                     "Expect('}', \"a brace\");"]:
            self.assertEqual(
                findings(lint.check_dialect, 'client/a.cc', line), [], line)

    def test_one_definition(self):
        header = source('a/x.h', '''
namespace slipway {
struct Options { int x; };
class Later;
void Show(const Options& options, int depth = 0);
}  // namespace slipway
''')
        for path, text, name in [
                ('b/y.h', 'namespace slipway { class Options final : Base {}; }',
                 'Options'),
                ('b/y.h', 'namespace slipway { using Options = int; }', 'Options'),
                ('b/y.h', 'namespace slipway {\ninline void Show(const Options& o, '
                 'int d) { { } }\n}', 'Show(const Options&, int)'),
                ('b/y.cc', 'namespace slipway {\nstruct Options { };\n}',
                 'Options')]:
            found = list(lint.check_one_definition([header, source(path, text)]))
            self.assertEqual(len(found), 1, text)
            self.assertIn(f'slipway::{name} is also defined in a/x.h', found[0])
        for path, text in [
                ('b/y.h', 'namespace slipway::b { struct Options {}; }'),
                ('b/y.h', 'namespace slipway { struct Options; class Later {}; }'),
                ('b/y.h', 'namespace slipway { void Show(const Options& o); }'),
                ('b/y.cc', 'namespace slipway { namespace { class Options {}; } }'),
                ('b/y.cc', 'namespace slipway {\n'
                 'void Show(const Options& options, int depth) {}\n}')]:
            self.assertEqual(
                list(lint.check_one_definition([header, source(path, text)])),
                [], text)

    def test_families(self):
        operators = source('core/operators/pooling.cc',
                           'absl::Status RegisterPoolingOperators(R& r) {\n')
        good = source('core/codegen/lower/pooling.cc',
                      'absl::Status RegisterPoolingLowerings(L& l) {\n')
        kernel = source('core/kernels/pooling.h', '\n')
        self.assertEqual(
            list(lint.check_families([operators, good, kernel])), [])
        for path, name in [('core/codegen/lower/pool.cc', 'PoolingLowerings'),
                           ('core/codegen/lower/pooling.cc', 'PoolLowerings'),
                           ('core/reference/pooling.cc', 'Pooling')]:
            bad = source(path, f'absl::Status Register{name}(L& l) {{\n')
            self.assertEqual(
                len(list(lint.check_families([operators, bad]))), 1)
        self.assertEqual(
            list(lint.check_families(
                [operators, source('core/kernels/pool.h', '\n')])),
            ['core/kernels/pool.h:1: core/operators has no family pool'])


class SourceArchiveTest(unittest.TestCase):
    """A small repository with the lint scripts in it, with git and without."""

    FILES = {
        '.gitignore': '/bazel-*\n/notes.txt\n__pycache__/\n*.pyc\n',
        'core/a.h': 'int a;\n',
        'core/notes.txt': 'kept\n',
        'core/bazel-x/b.txt': 'kept\n',
    }
    IGNORED = ['bazel-out/c.txt', 'notes.txt', 'core/__pycache__/d.txt',
               'core/e.pyc']

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.repository = os.path.join(self.folder.name, 'repository')
        self.archive = os.path.join(self.folder.name, 'archive')
        here = os.path.dirname(os.path.abspath(__file__))
        for name in ['definitions.py', 'lint.py', 'proto_comments.py',
                     'sources.py']:
            self.write(f'tests/lint/{name}')
            shutil.copy(os.path.join(here, name),
                        os.path.join(self.repository, 'tests/lint', name))
        for path, text in self.FILES.items():
            self.write(path, text)
        for arguments in [['init', '-q'], ['add', '-A'],
                          ['-c', 'user.name=n', '-c', 'user.email=e',
                           'commit', '-q', '-m', 'm']]:
            subprocess.run(['git'] + arguments, cwd=self.repository,
                           check=True)
        os.mkdir(self.archive)
        packed = subprocess.run(['git', 'archive', 'HEAD'], check=True,
                                cwd=self.repository, stdout=subprocess.PIPE)
        subprocess.run(['tar', 'x'], cwd=self.archive, input=packed.stdout,
                       check=True)

    def write(self, path, text='', root=None):
        path = os.path.join(root or self.repository, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)

    def lint(self, root):
        done = subprocess.run(
            [sys.executable, os.path.join(root, 'tests/lint/lint.py')],
            stdout=subprocess.PIPE, text=True, check=False)
        return done.returncode, done.stdout

    def test_lists_the_same_files_with_and_without_git(self):
        for root in [self.repository, self.archive]:
            for path in self.IGNORED:
                self.write(path, 'ignored \n', root)
        listed = sources.list_files(self.repository)
        self.assertEqual(listed, sources.list_files(self.archive))
        for path in self.FILES:
            self.assertIn(path, listed)
        for path in self.IGNORED:
            self.assertNotIn(path, listed)

    def test_lints_an_archive_as_a_repository(self):
        for root in [self.repository, self.archive]:
            status, output = self.lint(root)
            self.assertEqual(status, 0, output)
            self.write('core/a.h', 'trailing \n', root)
            status, output = self.lint(root)
            self.assertEqual(status, 1)
            self.assertIn('core/a.h:1: trailing blanks', output)
            self.assertIn('lint/whitespace FAILED', output)


class DefinitionsTest(unittest.TestCase):

    def test_finds_what_a_header_names(self):
        self.assertEqual(list(definitions.find('''
#include "a.h"
namespace slipway {
class Forward;
template <typename T> struct Box { T value; };
enum class Color : int { kRed };
using Map = std::map<int, std::string>;
inline constexpr int kMost = 1'000;  // class Comment {};
absl::Status Check(std::function<void(int)> f, int* size = {}, const char* text = "struct S {");
namespace inner {
template <> constexpr int Of<float>() { return 1; }
int Box::Get() const { struct Local {}; return 0; }
}  // namespace inner
namespace { struct Hidden {}; }
}  // namespace slipway
''')), [(5, 'slipway::Box'), (6, 'slipway::Color'), (7, 'slipway::Map'),
        (8, 'slipway::kMost'),
        (9, 'slipway::Check(std::function<void(int)>, int*, const char*)')])


    def test_documents(self):
        sources = [source('a/README.md', '# A\n## To add one\n'), source('a/b/c.cc', '')]
        for text, message in [
                ('`b/nothing.cc`', 'there is no b/nothing.cc'),
                ('`c.h`', 'there is no c.h'),
                ('`nowhere/`', 'there is no nowhere/'),
                ('[x](nowhere.md)', 'links to nowhere.md, which is not there'),
                ('[x](#nothing)', 'd.md has no heading #nothing')]:
            found = lint.check_documents(sources + [source('d.md', '# D\n' + text)])
            self.assertEqual(list(found), ['d.md:2: ' + message], text)
        for text in ('`b/c.cc`', '`c.*`', '`a/b/`', '`x_pass.h`', '`NAME_pass.cc`',
                     '`model.onnx`', '[x](#to-add-one)'):
            found = lint.check_documents(
                sources[1:] + [source('a/README.md', '# A\n## To add one\n' + text)])
            self.assertEqual(list(found), [], text)


class ProtoCommentsTest(unittest.TestCase):

    def uncommented(self, text):
        found = proto_comments.find_uncommented(text.split('\n'))
        return [f'{number} {what}' for number, what in found]

    def test_accepts_comments_before_and_behind(self):
        self.assertEqual(self.uncommented('''
syntax = "proto3";
package a;
// A.
message A {
  // B.
  repeated a.B b = 1;
  map<string, int32> c = 2;  // C.
  reserved 3;
  // D.
  oneof d {
    // E.
    string e =
        4;
  }
}
// F.
enum F {
  F_UNSPECIFIED = 0;
  F_ONE = 1;  // One.
}
// G.
service G {
  // H.
  rpc H(A)
      returns (A);
}
'''), [])

    def test_names_what_has_none(self):
        self.assertEqual(self.uncommented('''
// Detached.

message A {
  repeated a.B b = 1;
  optional map<string, int32> c = 2;
}
enum F {
  F_ONE = 1;
}
service G {
  rpc H(A)
      returns (A);
}
'''), ["4 message 'A'", "5 field 'b'", "6 field 'c'", "8 enum 'F'",
       "9 value 'F_ONE'", "11 service 'G'", "12 rpc 'H'"])


if __name__ == '__main__':
    unittest.main()
