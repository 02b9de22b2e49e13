"""Manual pages (man(7)) of help pages."""

import re


def _escaped(text):
    text = text.replace('\\', '\\e').replace('-', '\\-')
    # A line that begins with one of these would be a request.
    return re.sub(r"(?m)^(?=[.'])", '\\&', text)


def _summary(page, summaries):
    given = summaries.get(page.words, '')
    if given:
        return given
    sentence = re.split(r'[.:](?:\s|$)', ' '.join(page.description.split()))[0]
    return sentence[:1].lower() + sentence[1:]


def summaries_of(pages):
    """What is said of each verb in the page that lists it."""
    found = {}
    for page in pages:
        for verb, summary in page.verbs:
            found[page.words + (verb,)] = summary
    return found


def manual(page, pages, section, version, date):
    """The manual page of `page`, one of `pages`; `date` is "2026-11-24"."""
    summaries = summaries_of(pages)
    lines = [
        f'.TH {page.name.upper()} {section} {date} "slipway {version}" '
        '"Slipway"',
        '.SH NAME',
        f'{_escaped(page.name)} \\- {_escaped(_summary(page, summaries))}',
        '.SH SYNOPSIS',
        f'.B {_escaped(page.usage)}',
        '.SH DESCRIPTION',
        _escaped(page.description),
    ]
    if page.verbs:
        lines.append('.SH VERBS')
        for verb, summary in page.verbs:
            lines += ['.TP', f'.B {_escaped(verb)}',
                      _escaped(summary or 'see its own page')]
    if page.flags:
        lines.append('.SH OPTIONS')
        for flag in page.flags:
            value = f' \\fI{_escaped(flag.value)}\\fR' if flag.value else ''
            lines += ['.TP', f'\\fB\\-\\-{_escaped(flag.name)}\\fR{value}',
                      _escaped(flag.help)]
    if page.closing:
        lines += ['.SH NOTES', _escaped(page.closing)]
    others = [f'.BR {_escaped(other.name)} ({section})' for other in pages
              if other is not page and
              (other.words[:-1] == page.words or page.words[:-1] == other.words)]
    if others:
        lines.append('.SH SEE ALSO')
        lines += [f'{other},' for other in others[:-1]] + others[-1:]
    return '\n'.join(line for line in lines if line) + '\n'
