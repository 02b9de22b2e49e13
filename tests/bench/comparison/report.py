"""What is printed: a table with a line for each model, what failed, and where the time of slow ones went."""

from comparing import shares
from engines import TITLES
from figures import geometric_mean

SLOW = 5  # Models of which it is told where their time goes.
KINDS = 6  # Kinds of steps told of each.


def render(rows):
    """Lines of cells under each other: the first column to the left, the others to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return '\n'.join(
        '  '.join([row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width
                                               in zip(row[1:], widths[1:])]).rstrip()
        for row in rows)


def ms(ns):
    """Milliseconds with three digits that say something."""
    if ns is None:
        return '-'
    value = ns / 1e6
    return f'{value:.1f}' if value >= 100 else f'{value:.2f}' if value >= 10 else f'{value:.3f}'


def number(value, digits=2):
    return '-' if value is None else f'{value:.{digits}f}'


def percent(share):
    return '-' if share is None else f'{100 * share:.0f} %'


def agreement(row):
    """"yes", or who is wrong."""
    wrong = [TITLES[name] for name, engine in row['engines'].items() if engine.get('agrees') is False]
    if wrong:
        return ', '.join(wrong) + ' WRONG'
    return 'yes' if any(engine.get('agrees') for engine in row['engines'].values()) else '-'


def header(names):
    cells = ['MODEL']
    for name in names:
        cells += [TITLES[name], 'p50']
    return cells + ['RATIO', 'GFLOP/s', 'PEAK', 'BY FLOPS', 'BY BYTES', 'LIMIT', 'AGREE']


def line(row, names):
    cells = [row['name']]
    for name in names:
        engine = row['engines'].get(name, {})
        cells += [ms(engine.get('min_ns')), ms(engine.get('p50_ns'))]
    bounds = [row['bound_by_operations_ns'], row['bound_by_bytes_ns']]
    known = [bound for bound in bounds if bound is not None]
    own = row['engines'].get('slipway', {}).get('min_ns')
    limit = max(known) / own if known and own else None
    return cells + [number(row['ratio']), number(row.get('gflops'), 1), percent(row.get('share_of_peak')),
                    ms(bounds[0]), ms(bounds[1]), percent(limit), agreement(row)]


def means(rows, names):
    """{peer: geometric mean of its times through Slipway's}, and under 'fastest' that of the fastest."""
    found = {'fastest': geometric_mean(row['ratio'] for row in rows if row['ratio'])}
    for name in names:
        if name != 'slipway':
            found[name] = geometric_mean(row['ratios'][name] for row in rows if name in row['ratios'])
    return found


def mean_line(rows, names):
    found = means(rows, names)
    cells = ['geometric mean']
    for name in names:
        cells += ['' if name == 'slipway' else number(found[name]), '']
    return cells + [number(found['fastest'])] + [''] * 6


def failures(rows):
    return [f'{TITLES[name]} on {row["name"]}: {engine["failure"]}' for row in rows
            for name, engine in row['engines'].items() if 'failure' in engine]


def slowest(rows):
    """Those behind a peer, the worst first."""
    behind = [row for row in rows if row['ratio'] is not None and row['ratio'] < 1]
    return sorted(behind, key=lambda row: row['ratio'])


def where_time_goes(row):
    lines = [f'{row["name"]}: {number(row["ratio"])} of {TITLES[row["fastest_peer"]]}']
    table = [[kind if len(kind) < 60 else kind[:57] + '...', percent(share), f'{count} steps']
             for kind, share, count in shares(row['steps'])[:KINDS]]
    return '\n'.join(lines + ['  ' + text for text in (render(table).split('\n') if table else [])])


def full(rows, names):
    """All of it. Times are milliseconds, minima unless they say p50; a ratio over 1 is Slipway's."""
    parts = [render([header(names)] + [line(row, names) for row in rows] + [mean_line(rows, names)])]
    if failures(rows):
        parts.append('\n'.join(failures(rows)))
    behind = slowest(rows)
    if behind:
        parts.append(f'behind the fastest peer: {len(behind)} of '
                     f'{sum(row["ratio"] is not None for row in rows)}')
        parts += [where_time_goes(row) for row in behind[:SLOW]]
    return '\n\n'.join(parts)
