"""Finds what a .proto file declares without a comment."""

import re

# A declaration starts with one of these, or is a field or an enum value.
_DECLARATION = re.compile(r'^(message|enum|service|rpc|oneof)\s+(\w+)')
_FIELD = re.compile(
    r'^(?:optional\s+|repeated\s+)?(?:map\s*<[^>]*>|[\w.]+)\s+(\w+)\s*=\s*\d+')
_VALUE = re.compile(r'^(\w+)\s*=\s*-?(?:0x)?[0-9a-fA-F]+')


def _declared(line):
    """Returns what `line` declares, such as "rpc 'Sync'", or None."""
    match = _DECLARATION.match(line)
    if match:
        return f"{match[1]} '{match[2]}'"
    match = _FIELD.match(line)
    if match:
        return f"field '{match[1]}'"
    match = _VALUE.match(line)
    if match:
        return f"value '{match[1]}'"
    return None


def find_uncommented(lines):
    """Yields (line number, what) for each declaration that has no comment.

    A comment stands on the lines before a declaration, or behind it on its
    last line. A value named *_UNSPECIFIED says all there is to say.
    """
    commented = False
    waiting = None  # A declaration that goes on over several lines.
    for number, raw in enumerate(lines, 1):
        line = raw.strip()
        if waiting:
            if line.endswith((';', '{', '}')) or '//' in line:
                if '//' not in line:
                    yield waiting
                waiting = None
            continue
        if line.startswith('//') or line.endswith('*/'):
            commented = True
            continue
        what = _declared(line)
        if what and not commented and '//' not in line:
            if re.search(r'_UNSPECIFIED\'$', what):
                pass
            elif line.endswith((';', '{', '}')):
                yield number, what
            else:
                waiting = (number, what)
        commented = False
