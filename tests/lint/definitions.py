"""Finds what a C++ header gives a name at namespace scope, for lint.py.

Not a parser: comments, literals and preprocessor lines are blanked, the rest is
cut into statements at its braces and semicolons, and what is not understood is
left out.
"""

import re

NOISE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'|^[ \t]*#(?:\\\n|[^\n])*",
    re.DOTALL | re.MULTILINE)
NAMESPACE = re.compile(r'(?:inline\s+)?namespace\b\s*([\w:]*)$')
# At the front of a statement, where it says nothing about the name.
ATTRIBUTES = re.compile(
    r'(?:template\s*<(?:[^<>]|<[^<>]*>)*>|\[\[.*?\]\]|inline\b|constexpr\b|'
    r'extern\b|static\b|ABSL_\w+\b)\s*', re.DOTALL)
TYPE = re.compile(
    r'(?:class|struct|union|enum(?:\s+class)?)\s+(?:ABSL_\w+\s+)?(\w+)'
    r'(?:\s+final)?\s*(?::[^:].*)?$', re.DOTALL)
ALIAS = re.compile(r'using\s+(\w+)\s*=')
FUNCTION = re.compile(r'[\w:][^=(]*?[\s&*](\w+)\s*\((.*)\)', re.DOTALL)
CONSTANT = re.compile(r'[\w:<>,\s*]*?[\w>*]\s+\*?(\w+)(?:\[\w*\])?\s*(?:=.*)?$',
                      re.DOTALL)


def blank(text):
    """Returns `text` without comments, literals and preprocessor lines."""
    return NOISE.sub(lambda match: re.sub(r'[^\n]', ' ', match[0]), text)


def statements(text):
    """Yields (namespace, offset, head, end) of what stands in named namespaces.

    A head ends before its end: a brace or a semicolon.
    """
    scopes = []
    braces = 0  # Those of namespaces left out.
    parentheses = 0
    begin = 0
    for match in re.finditer(r'[(){};]', text):
        mark = match[0]
        if mark in '()':
            parentheses += 1 if mark == '(' else -1
        if mark in '()' or parentheses:
            continue
        head = text[begin:match.start()].strip()
        if mark == '}':
            if braces:
                braces -= 1
            elif scopes:
                scopes.pop()
        elif not braces:
            namespace = NAMESPACE.match(head) if mark == '{' else None
            if namespace:
                scopes.append(namespace[1])
            else:
                if head and scopes and '' not in scopes:
                    yield '::'.join(scopes), text.index(head, begin), head, mark
                braces += mark == '{'
        else:
            braces += mark == '{'
        if not braces:
            begin = match.end()


def parameter_types(parameters):
    """Returns the parameters of a function without names and default values."""
    types = []
    depth = 0
    for piece in re.split(r'(,)', parameters):
        if piece == ',' and not depth:
            continue
        if not depth:
            types.append('')
        types[-1] += piece
        depth += sum(map(piece.count, '<({[')) - sum(map(piece.count, '>)}]'))
    types = [' '.join(one.partition('=')[0].split()) for one in types]
    return ', '.join(re.sub(r'(?<=[\w>&*\]])((?<=[>&*])| )\w+$', '', one) for one in types)


def find(text, types_only=False):
    """Yields (line, name) of each definition; names are qualified.

    A function's name includes the types of its parameters. With `types_only`,
    functions and constants are left out.
    """
    text = blank(text)
    for namespace, offset, head, mark in statements(text):
        while (attribute := ATTRIBUTES.match(head)):
            head = head[attribute.end():]
        name = None
        if (found := ALIAS.match(head)) or (
                mark == '{' and (found := TYPE.match(head))):
            name = found[1]
        elif types_only or re.match(r'(class|struct|union|enum|using)\b', head):
            continue
        elif (found := FUNCTION.match(head)):
            name = f'{found[1]}({parameter_types(found[2])})'
        elif (found := CONSTANT.match(head)):
            name = found[1]
        if name:
            yield text.count('\n', 0, offset) + 1, f'{namespace}::{name}'
