"""What can be mutated in a C++ source: text in, mutations out.

A mutation is a small change that a test should notice. None is made in
comments, strings, preprocessor directives (so in include guards), assertions,
log lines and the texts of messages.
"""

import difflib
import re
import typing

TOKEN = re.compile(
    r'''(?P<comment>//[^\n]*|/\*.*?\*/)
    |(?P<directive>^[ \t]*\#(?:\\.|[^\\\n])*)
    |(?P<raw>(?:u8|[uUL])?R"(?P<delimiter>[^()\\\s]{0,16})\(.*?\)(?P=delimiter)")
    |(?P<string>(?:u8|[uUL])?"(?:\\.|[^"\\\n])*")
    |(?P<character>(?:u8|[uUL])?'(?:\\.|[^'\\\n])+')
    |(?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*)
    |(?P<word>[A-Za-z_]\w*)
    |(?P<operator><<=|>>=|<=>|->\*|\.\.\.|::|->|\+\+|--|&&|\|\||[-+*/%&|^=!<>]=
        |<<|>>|\S)''',
    re.DOTALL | re.MULTILINE | re.VERBOSE)

COMPARISONS = {'<': '<=', '<=': '<', '>': '>=', '>=': '>', '==': '!=', '!=': '=='}
ARITHMETIC = {'+': '-', '-': '+', '+=': '-=', '-=': '+='}
LOGIC = {'&&': '||', '||': '&&'}
ASSIGNMENTS = {'=', '+=', '-=', '*=', '/=', '%=', '&=', '|=', '^=', '<<=', '>>='}
CLOSES = {'(': ')', '[': ']', '{': '}'}

# Calls whose arguments are messages or assertions, and calls that only spare
# time or speak to people: to drop them changes nothing that a test may hold.
MESSAGE = re.compile(
    r'(\w*Error|Log|Annotate|StrCat|StrFormat|SLIPWAY_CHECK\w*|static_assert|assert)$')
NOT_DROPPED = re.compile(
    r'(\w*Log|reserve|shrink_to_fit|SLIPWAY_CHECK\w*|SLIPWAY_ASSIGN\w*|ABSL_\w+|'
    r'static_assert|assert|return|co_return|case|default|goto|using|typedef|delete|'
    r'throw|public|private|protected|template|friend|else|do|try|if|for|while|switch)$')
# What stands before the brace of a function's or a statement's block.
BEFORE_BLOCK = {')', 'else', 'do', 'try', 'const', 'override', 'final', 'noexcept',
                '{', '}', ';', ':', 'mutable'}


class Mutation(typing.NamedTuple):
    """source[start:end] becomes `text`."""
    kind: str
    start: int
    end: int
    text: str

    def apply(self, source):
        return source[:self.start] + self.text + source[self.end:]

    def line(self, source):
        return source.count('\n', 0, self.start) + 1

    def diff(self, source, path):
        return ''.join(difflib.unified_diff(
            source.splitlines(True), self.apply(source).splitlines(True),
            'a/' + path, 'b/' + path, n=1))

    def brief(self, source):
        """The change on one line: "`if (a < b)` -> `if (a <= b)`"."""
        first = source.rfind('\n', 0, self.start) + 1
        last = source.find('\n', self.end)
        last = len(source) if last < 0 else last
        before = source[first:last]
        after = source[first:self.start] + self.text + source[self.end:last]
        return ' -> '.join(f'`{" ".join(text.split())}`' for text in (before, after))


class _Source:
    """The tokens of a source that mean something, and how they nest."""

    def __init__(self, text):
        self.text = text
        self.tokens = [match for match in TOKEN.finditer(text)
                       if match.lastgroup not in ('comment', 'directive')]
        self.words = [match[0] for match in self.tokens]
        self.closing = self._match()
        self.blocks = self._find_blocks()
        self.quiet = self._find_messages()

    def _match(self):
        """{index of an opening bracket: index of the one that closes it}."""
        closing, opened = {}, []
        for i, word in enumerate(self.words):
            if word in CLOSES:
                opened.append(i)
            elif opened and word == CLOSES[self.words[opened[-1]]]:
                closing[opened.pop()] = i
        return closing

    def _find_blocks(self):
        """The opening braces of statements: no type, namespace or list of values."""
        return {i for i in self.closing if self.words[i] == '{' and i > 0
                and (self.words[i - 1] in BEFORE_BLOCK or self._returns_after_arrow(i))}

    def _returns_after_arrow(self, brace):
        """Whether a trailing return type stands before the brace."""
        i = brace - 1
        while i > 0 and (self.kind(i) == 'word' or self.words[i] in
                         ('::', '<', '>', '>>', '*', '&', ',')):
            i -= 1
        return self.words[i] == '->' and self.words[i - 1] == ')'

    def _find_messages(self):
        quiet = set()
        for i, j in self.closing.items():
            if self.words[i] == '(' and MESSAGE.match(self.words[i - 1]):
                quiet.update(range(i, j))
        return quiet

    def kind(self, i):
        return self.tokens[i].lastgroup

    def word(self, i):
        return self.words[i] if 0 <= i < len(self.words) else ''

    def replace(self, kind, first, last, text):
        """A mutation of the tokens from `first` to `last`, both included."""
        return Mutation(kind, self.tokens[first].start(), self.tokens[last].end(), text)

    def between(self, first, last):
        return self.text[self.tokens[first].start():self.tokens[last].end()]

    def is_spaced(self, i):
        """Whether blanks surround a token, as they do a binary operator."""
        start, end = self.tokens[i].span()
        return self.text[start - 1:start].isspace() and self.text[end:end + 1].isspace()

    def top_level(self, first, last, wanted):
        """Indices of the tokens `wanted` from first to last, outside of brackets."""
        found, i = [], first
        while i <= last:
            if self.words[i] in wanted:
                found.append(i)
            i = self.closing.get(i, i) + 1
        return found


def _operators(source):
    for i, word in enumerate(source.words):
        if i in source.quiet or not source.is_spaced(i):
            continue
        if word in COMPARISONS:
            yield source.replace('comparison', i, i, COMPARISONS[word])
        elif word in LOGIC:
            yield source.replace('logic', i, i, LOGIC[word])
        elif word in ARITHMETIC and not any(
                0 <= j < len(source.tokens) and source.kind(j) in ('string', 'raw')
                for j in (i - 1, i + 1)):
            yield source.replace('arithmetic', i, i, ARITHMETIC[word])


def _moved(literal):
    """A number moved by one: even ones up, odd ones down."""
    digits = literal.replace("'", '')
    match = re.fullmatch(r'(0[xX][0-9a-fA-F]+|0[bB][01]+|0[0-7]+|\d+)([uUlLzZ]*)', digits)
    if not match:
        return f'({literal} + 1)'
    octal = re.fullmatch('0[0-7]+', match[1])
    value = int(match[1], 8 if octal else 0)
    moved = value + 1 if value % 2 == 0 else value - 1
    return f'{moved}{match[2]}'


def _constants(source):
    for i, word in enumerate(source.words):
        if i in source.quiet:
            continue
        if word in ('true', 'false'):
            yield source.replace('constant', i, i, 'false' if word == 'true' else 'true')
        elif source.kind(i) == 'number':
            is_pure_virtual = source.word(i - 1) == '=' and source.word(i - 2) in (
                ')', 'const', 'override', 'noexcept')
            if not is_pure_virtual:
                yield source.replace('constant', i, i, _moved(word))


def _condition(source, i):
    """The first and last token of the condition behind the keyword at `i`."""
    opened = i + 1
    if source.word(opened) != '(' or opened not in source.closing:
        return None
    first, last = opened + 1, source.closing[opened] - 1
    semicolons = source.top_level(first, last, {';'})
    if source.words[i] == 'for':
        if len(semicolons) != 2:
            return None
        first, last = semicolons[0] + 1, semicolons[1] - 1
    elif semicolons:
        first = semicolons[-1] + 1
    if first > last or source.top_level(first, last, {'='}):
        return None
    return first, last


def _conditions(source):
    for i, word in enumerate(source.words):
        if word in ('if', 'while', 'for'):
            condition = _condition(source, i)
            if condition:
                text = source.between(*condition)
                yield source.replace('condition', *condition, f'!({text})')


def _statement_end(source, i):
    """The semicolon that ends the expression statement at `i`, if it is one."""
    if source.words[i] in ('break', 'continue'):
        return i + 1
    counts = False
    while source.word(i) in ('++', '--', '*'):
        counts = counts or source.words[i] != '*'
        i += 1
    if i >= len(source.tokens) or source.kind(i) != 'word':
        return None
    name, called = source.words[i], False
    while True:
        if NOT_DROPPED.match(name):
            return None
        i += 1
        while source.word(i) in ('(', '['):
            called = called or source.words[i] == '('
            i = source.closing.get(i, len(source.tokens)) + 1
        if source.word(i) not in ('::', '.', '->'):
            break
        i += 1
        name = source.word(i)
    if source.word(i) in ASSIGNMENTS:
        ends = source.top_level(i, len(source.tokens) - 1, {';', '}'})
        return ends[0] if ends and source.words[ends[0]] == ';' else None
    if source.word(i) in ('++', '--'):
        i, counts = i + 1, True
    return i if source.word(i) == ';' and (called or counts) else None


def _headers(source):
    """The parentheses that close if (...), for (...) and while (...)."""
    return {source.closing[i + 1] for i, word in enumerate(source.words)
            if word in ('if', 'for', 'while') and i + 1 in source.closing}


def _statements(source):
    headers = _headers(source)
    for opened in sorted(source.blocks):
        for i in range(opened + 1, source.closing[opened]):
            before = i - 1
            begins = (source.words[before] in ('{', '}', ';', 'else') or before in headers)
            if not begins or _innermost_block(source, i) != opened:
                continue
            end = _statement_end(source, i)
            if end is not None:
                yield source.replace('statement', i, end, '{}')


def _innermost_block(source, i):
    """The bracket around the token at `i` that was opened last."""
    around = [opened for opened, closed in source.closing.items() if opened < i < closed]
    return max(around, default=None)


def _early_returns(source):
    for i in range(2, len(source.words)):
        if source.words[i - 2:i + 1] != ['absl', '::', 'Status']:
            continue
        brace = i + 1
        if source.word(i - 3) != '->':
            while source.word(brace) == '::' or (
                    brace < len(source.tokens) and source.kind(brace) == 'word'):
                brace += 1
            if source.word(brace) != '(' or brace == i + 1:
                continue
            brace = source.closing.get(brace, brace) + 1
            while brace < len(source.tokens) and source.kind(brace) == 'word':
                brace += 1
                if source.word(brace) == '(':  # Of a macro's arguments.
                    brace = source.closing.get(brace, brace) + 1
        if source.word(brace) == '{' and brace in source.blocks:
            body = source.words[brace + 1:source.closing[brace]]
            if ''.join(body) != 'returnabsl::OkStatus();':
                yield source.replace('return OK', brace, brace, '{ return absl::OkStatus();')


def find_mutations(text):
    """Returns every mutation of a C++ source, in the order of its places."""
    source = _Source(text)
    found = set()
    for find in (_operators, _constants, _conditions, _statements, _early_returns):
        found.update(find(source))
    return sorted(found, key=lambda mutation: (mutation.start, mutation.end, mutation.kind))
