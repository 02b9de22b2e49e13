"""What the binaries say of themselves (--help), taken apart.

One source of truth: manual pages and completions are made of what FlagSet and
the tables of verbs print, so that they cannot say anything else.
"""

import dataclasses
import re
import subprocess


@dataclasses.dataclass(frozen=True)
class Flag:
    """`value` is None of a flag that is on or off."""
    name: str
    value: str | None
    help: str

    @property
    def is_on(self):
        """On by default, so that it is --no-NAME that somebody types."""
        return self.value is None and self.help.endswith('[true]')

    @property
    def takes_file(self):
        return self.value is not None and re.search(
            r'\b(FILE|DIR|FOLDER|MODEL)\b', self.value) is not None


@dataclasses.dataclass(frozen=True)
class Page:
    """What `words` --help says; verbs are (word, summary)."""
    words: tuple
    usage: str
    description: str
    verbs: tuple
    flags: tuple
    closing: str

    @property
    def name(self):
        return '-'.join(self.words)

    @property
    def takes_file(self):
        return re.search(r'\.(onnx|slip)|FILE|MODEL', self.usage) is not None


class Unreadable(Exception):
    """A help that does not look as a help does."""


def _flag(line):
    # Two blanks part the name and value from the help.
    left, _, text = line.strip().partition('  ')
    name, _, value = left.partition(' ')
    if not re.fullmatch(r'--[a-z][a-z0-9-]*', name):
        raise Unreadable(f'no flag: {line!r}')
    return Flag(name[2:], value or None, text.strip())


def parse(words, text):
    """The page that `words` --help prints as `text`."""
    program = ' '.join(words)
    first, _, rest = text.partition('\n\n')
    if not first.startswith(f'usage: {program}'):
        raise Unreadable(f'{program} --help does not begin with its usage')
    sections = {'description': [], 'verbs': [], 'flags': [], 'closing': []}
    at = 'description'
    for line in rest.splitlines():
        if line in ('flags:', 'verbs:'):
            at = line[:-1]
        elif at in ('flags', 'verbs') and not line.startswith('  '):
            at = 'closing'
        if line.rstrip(':') != at:
            sections[at].append(line)
    verbs = []
    for line in sections['verbs']:
        verb, _, summary = line.strip().partition('  ')
        verbs.append((verb, summary.strip()))
    description = []
    for line in sections['description']:
        verb = re.fullmatch(rf'  {re.escape(program)} ([a-z]+): (.*)', line)
        if verb:
            verbs.append((verb[1], verb[2]))
        else:
            description.append(line)
    # Verbs that are named in a sentence alone.
    joined = ' '.join(description)
    for verb in re.findall(rf'`{re.escape(program)} ([a-z]+)`', joined):
        if verb not in [name for name, _ in verbs]:
            verbs.append((verb, ''))
    which = re.search(r'WHAT is one of ([a-z, ]+);', joined)
    if which:
        verbs += [(word, '') for word in which[1].split(', ')]
    return Page(tuple(words), first[len('usage: '):],
                '\n'.join(description).strip(), tuple(verbs),
                tuple(_flag(line) for line in sections['flags'] if line),
                '\n'.join(sections['closing']).strip())


def _ask(binary, arguments):
    return subprocess.run([binary, *arguments, '--help'], check=True,
                          stdout=subprocess.PIPE, text=True,
                          timeout=60).stdout


def read(name, binary):
    """All pages of a binary: its own first, then those of its verbs."""
    pages = [parse([name], _ask(binary, []))]
    waiting = [(verb, summary) for verb, summary in pages[0].verbs]
    for verb, _ in waiting:
        if verb in ('help', 'version'):
            continue
        page = parse([name, verb], _ask(binary, [verb]))
        pages.append(page)
        for word, _ in page.verbs:
            pages.append(parse([name, verb, word], _ask(binary, [verb, word])))
    return pages
