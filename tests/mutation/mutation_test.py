#!/usr/bin/env python3
"""Shows what cc_mutations changes, what it leaves alone, and which tests run."""

import unittest

import cc_mutations
import nearest_tests


def changes(text, kind=None):
    """Each mutation of `text` as "kind: what becomes of it"."""
    return [f'{m.kind}: {" ".join(m.apply(text).split())}'
            for m in cc_mutations.find_mutations(text) if kind in (None, m.kind)]


def in_function(body, kind=None):
    """As changes(), for the body of a function."""
    head, tail = 'void F() { ', ' }'
    return [line.replace(head, '').removesuffix(tail)
            for line in changes(head + body + tail, kind)]


class OperatorsTest(unittest.TestCase):

    def test_comparisons(self):
        for before, after in [('<', '<='), ('<=', '<'), ('>', '>='), ('>=', '>'),
                              ('==', '!='), ('!=', '==')]:
            self.assertEqual(in_function(f'return a {before} b;'),
                             [f'comparison: return a {after} b;'])

    def test_arithmetic_and_logic(self):
        self.assertEqual(in_function('return a + b;'), ['arithmetic: return a - b;'])
        self.assertEqual(in_function('return a && b || c;'),
                         ['logic: return a || b || c;', 'logic: return a && b && c;'])

    def test_leaves_what_is_no_operator_of_two(self):
        for text in ['template <typename T> T&& F(T&& x);', 'std::vector<int> F();',
                     'int* F(int* a, const int& b) { return -a; }',
                     'bool operator==(const A&) const;', 'std::string s = name + ".h";']:
            self.assertEqual(changes(text), [], text)


class ConstantsTest(unittest.TestCase):

    def test_moves_even_ones_up_and_odd_ones_down(self):
        for before, after in [('0', '1'), ('1', '0'), ('16', '17'), ('255u', '254u'),
                              ("1'000", '1001'), ('0x1F', '30'), ('010', '9'),
                              ('0.5f', '(0.5f + 1)'), ('1e-6', '(1e-6 + 1)'),
                              ('true', 'false'), ('false', 'true')]:
            self.assertEqual(changes(f'constexpr auto k = {before};'),
                             [f'constant: constexpr auto k = {after};'])

    def test_leaves_names_and_pure_functions(self):
        self.assertEqual(changes('int64_t F(Type2 t3); virtual void F() = 0;'), [])
        self.assertEqual(changes('virtual int F() const = 0;'), [])


class ConditionsTest(unittest.TestCase):

    def test_turns_them(self):
        for before, after in [
                ('if (a.ok()) return;', 'if (!(a.ok())) return;'),
                ('while (Next(&x)) {}', 'while (!(Next(&x))) {}'),
                ('for (; a; ++i) return;', 'for (; !(a); ++i) return;'),
                ('if (auto it = Find(); it) return;', 'if (auto it = Find(); !(it)) return;')]:
            self.assertEqual(in_function(before, 'condition'), ['condition: ' + after])

    def test_leaves_declarations_ranges_and_constants(self):
        for text in ['if (const A* a = Find()) return;', 'for (const A& a : all) return;',
                     'if constexpr (kIsSmall) return;']:
            self.assertEqual(in_function(text, 'condition'), [], text)


class StatementsTest(unittest.TestCase):

    def test_drops_them(self):
        for before, after in [
                ('a.b->Call(x)[i].c();', '{}'), ('x = 3 * y;', '{}'), ('++n;', '{}'),
                ('a[i] += F([] { G; });', '{}'), ('*out = x;', '{}'),
                ('SLIPWAY_RETURN_IF_ERROR(Check(x));', '{}'),
                ('if (a) F();', 'if (a) {}'),
                ('while (a) { continue; }', 'while (a) { {} }')]:
            self.assertIn('statement: ' + after, in_function(before, 'statement'), before)

    def test_leaves_declarations_and_returns(self):
        for text in ['int a = F();', 'const std::vector<int> a(F());', 'Foo& a = b;',
                     'Foo::Bar a{b};', 'return F();', 'auto* a = new A;',
                     'SLIPWAY_ASSIGN_OR_RETURN(int a, F());', 'a.reserve(n);']:
            self.assertEqual(in_function(text, 'statement'), [], text)

    def test_leaves_what_stands_in_no_function(self):
        self.assertEqual(changes('class A { void F(); A(); };'), [])
        self.assertEqual(changes('namespace a { void F(); }'), [])
        self.assertEqual(changes('enum class E { kA, kB };'), [])
        self.assertEqual(changes('A a = {F(), G()};'), [])

    def test_sees_lambdas_and_constructors(self):
        self.assertEqual(in_function('Run([&]() -> A<B> { G(); });', 'statement'),
                         ['statement: {}', 'statement: Run([&]() -> A<B> { {} });'])
        self.assertEqual(changes('A::A() : a_(b), c_{d} { F(); }'),
                         ['statement: A::A() : a_(b), c_{d} { {} }'])


class EarlyReturnsTest(unittest.TestCase):

    def test_returns_ok_at_once(self):
        for head in ['absl::Status F(int a) {', 'absl::Status A::F() const {',
                     'absl::Status F() override {', 'auto f = [&]() -> absl::Status {',
                     'absl::Status F() ABSL_LOCKS_EXCLUDED(mu_) {']:
            self.assertEqual(changes(head + ' return G(); }'),
                             [f'return OK: {head} return absl::OkStatus(); return G(); }}'])

    def test_leaves_the_others(self):
        for text in ['absl::StatusOr<int> F() { return G(); }', 'absl::Status F();',
                     'absl::Status F() { return absl::OkStatus(); }',
                     'void F(absl::Status s) { G; }']:
            self.assertEqual(changes(text), [], text)


class QuietPlacesTest(unittest.TestCase):

    def test_leaves_comments_strings_and_directives(self):
        self.assertEqual(changes('''
// a < b
/* if (a == 1) */
#ifndef A_1_H_
#define A_1_H_ \\
  (a < b)
const char* s = "a < b; 1";
const char* r = R"x(a < b; )" 1 )x";
char c = '1';
#endif
'''), [])

    def test_leaves_messages_logs_and_assertions(self):
        for text in ['return absl::InternalError(absl::StrCat(a + b, 3));',
                     'Log(LogLevel::kInfo, "x", {{"n", n + 1}});',
                     'SLIPWAY_CHECK(a == b);', 'static_assert(sizeof(A) == 8);']:
            self.assertEqual(in_function(text), [], text)


class MutationTest(unittest.TestCase):
    TEXT = 'bool F(int a) {\n  return a <\n         3;\n}\n'

    def test_says_where_and_what(self):
        first = cc_mutations.find_mutations(self.TEXT)[0]
        self.assertEqual(first.line(self.TEXT), 2)
        self.assertEqual(first.brief(self.TEXT), '`return a <` -> `return a <=`')
        self.assertIn('-  return a <\n+  return a <=\n', first.diff(self.TEXT, 'a/b.cc'))
        self.assertIn('--- a/a/b.cc\n', first.diff(self.TEXT, 'a/b.cc'))


class NearestTestsTest(unittest.TestCase):
    # f.cc <- a:lib <- a:a_test, b:lib <- b:b_test, c:lib <- c:c_test
    USERS = nearest_tests.parse_graph('''
digraph mygraph {
  node [shape=box];
  "//a:lib"
  "//a:lib" -> "//a:f.cc"
  "//a:a_test" -> "//a:lib"
  "//a:other_test" -> "//d:lib"
  "//b:lib" -> "//a:lib"
  "//b:b_test" -> "//b:lib"
  "//c:lib" -> "//b:lib"
  "//c:c_test" -> "//c:lib"
}'''.splitlines())
    TESTS = {'//a:a_test', '//a:other_test', '//b:b_test', '//c:c_test'}

    def nearest(self, label, most, tests=None):
        return nearest_tests.nearest_tests(self.USERS, tests or self.TESTS, label, most)

    def test_own_package_first_then_by_distance(self):
        self.assertEqual(self.nearest('//a:f.cc', 5),
                         [['//a:a_test'], ['//b:b_test'], ['//c:c_test']])
        self.assertEqual(self.nearest('//a:f.cc', 1), [['//a:a_test'], ['//b:b_test']])

    def test_none_of_its_own(self):
        self.assertEqual(self.nearest('//a:f.cc', 5, {'//c:c_test'}), [['//c:c_test']])
        self.assertEqual(self.nearest('//x:y.cc', 5), [])


if __name__ == '__main__':
    unittest.main()
