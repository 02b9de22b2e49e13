"""Completions for bash, zsh and fish, of help pages."""

import shlex


def _words(page):
    """What may be typed: flags, as they are typed, and verbs."""
    flags = []
    for flag in page.flags:
        flags.append(('no-' if flag.is_on else '') + flag.name)
    return flags, [verb for verb, _ in page.verbs]


def _short(text, length=80):
    text = ' '.join(text.split())
    return text if len(text) <= length else text[:length - 3].rstrip() + '...'


def _function(page):
    return '_' + '_'.join(page.words).replace('-', '_')


def bash(pages):
    """Sourced by bash-completion by the command's name; needs bash alone."""
    name = pages[0].words[0]
    lines = [f'# Completion of {name} for bash; made of its --help.',
             f'{_function(pages[0])}() {{',
             '  local current=${COMP_WORDS[COMP_CWORD]}',
             '  local before=${COMP_WORDS[COMP_CWORD-1]}',
             "  local path='' word",
             '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
             '    case $path/$word in']
    for page in pages[1:]:
        lines.append(f'      /{"/".join(page.words[1:])}) '
                     f'path=/{"/".join(page.words[1:])} ;;')
    lines += ['    esac', '  done', '  COMPREPLY=()', '  case $path in']
    for page in pages:
        flags, verbs = _words(page)
        with_file = [f'--{flag.name}' for flag in page.flags if flag.takes_file]
        with_value = [f'--{flag.name}' for flag in page.flags
                      if flag.value and not flag.takes_file]
        pattern = '/' + '/'.join(page.words[1:]) if page.words[1:] else "''"
        lines += [f'    {pattern})', '      case $before in']
        if with_file:
            lines.append(f'        {"|".join(with_file)}) '
                         'mapfile -t COMPREPLY < <(compgen -f -- "$current"); '
                         'return ;;')
        if with_value:
            lines.append(f'        {"|".join(with_value)}) return ;;')
        words = ' '.join([f'--{flag}' for flag in flags])
        lines += ['      esac', '      case $current in',
                  f"        -*) mapfile -t COMPREPLY < <(compgen -W '{words}' "
                  '-- "$current") ;;']
        rest = f"compgen -W '{' '.join(verbs)}' -- \"$current\"" if verbs else (
            'compgen -f -- "$current"' if page.takes_file else 'true')
        lines += [f'        *) mapfile -t COMPREPLY < <({rest}) ;;',
                  '      esac', '      ;;']
    lines += ['  esac', '}',
              f'complete -o filenames -F {_function(pages[0])} {name}']
    return '\n'.join(lines) + '\n'


def _zsh_text(text):
    for character in '\\[]:':
        text = text.replace(character, '\\' + character)
    return text


def _zsh_function(page):
    specs = []
    for flag in page.flags:
        name = ('no-' if flag.is_on else '') + flag.name
        help_text = _zsh_text(_short(flag.help))
        value = ''
        if flag.value:
            action = '_files' if flag.takes_file else ' '
            value = f':{_zsh_text(flag.value)}:{action}'
        equals = '=' if flag.value else ''
        specs.append(shlex.quote(f'*--{name}{equals}[{help_text}]{value}'))
    lines = [f'{_function(page)}() {{']
    if page.verbs:
        lines.append('  local -a verbs=(')
        lines += ['    ' + shlex.quote(
            f'{verb}:{_zsh_text(_short(summary))}') for verb, summary in page.verbs]
        lines.append('  )')
        specs += [shlex.quote('1:verb:->verb'), shlex.quote('*::argument:->verbs')]
    elif page.takes_file:
        specs.append(shlex.quote('*:file:_files'))
    lines.append('  local state line')
    lines.append('  _arguments -C ' + ' \\\n    '.join(specs))
    if page.verbs:
        lines += ['  case $state in', '    verb) _describe verb verbs ;;',
                  '    verbs)', '      case $line[1] in']
        for verb, _ in page.verbs:
            if verb in ('help', 'version'):
                continue
            inner = _function(page) + '_' + verb.replace('-', '_')
            lines.append(f'        {verb}) {inner} ;;')
        lines += ['      esac', '      ;;', '  esac']
    return lines + ['}']


def zsh(pages):
    name = pages[0].words[0]
    lines = [f'#compdef {name}', f'# Completion of {name} for zsh; made of its --help.']
    for page in pages:
        lines += [''] + _zsh_function(page)
    return '\n'.join(lines + ['', f'{_function(pages[0])} "$@"']) + '\n'


def _fish_text(text):
    return "'" + text.replace('\\', '\\\\').replace("'", "\\'") + "'"


def fish(pages):
    name = pages[0].words[0]
    lines = [f'# Completion of {name} for fish; made of its --help.']
    for page in pages:
        path = page.words[1:]
        inner = ' '.join(verb for verb, _ in page.verbs)
        if path:
            where = f'__fish_seen_subcommand_from {path[-1]}'
            if len(path) > 1:
                where = f'__fish_seen_subcommand_from {path[0]}; and {where}'
        else:
            where = (f'not __fish_seen_subcommand_from {inner}' if inner
                     else 'true')
        condition = f'-n {_fish_text(where)}'
        for verb, summary in page.verbs:
            lines.append(f'complete -c {name} {condition} -f -a {verb} '
                         f'-d {_fish_text(_short(summary))}')
        for flag in page.flags:
            flag_name = ('no-' if flag.is_on else '') + flag.name
            kind = ''
            if flag.value:
                kind = ' -r -F' if flag.takes_file else ' -x'
            lines.append(f'complete -c {name} {condition} -l {flag_name}{kind} '
                         f'-d {_fish_text(_short(flag.help))}')
    return '\n'.join(lines) + '\n'
