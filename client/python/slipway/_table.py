"""Tables of values: as text, as HTML for notebooks, for pandas."""

from __future__ import annotations

import html
from typing import Any, List, Mapping, Sequence

_UNITS = [(1e9, 's'), (1e6, 'ms'), (1e3, 'us'), (1, 'ns')]
_SIZES = [(1 << 30, 'GiB'), (1 << 20, 'MiB'), (1 << 10, 'KiB'), (1, 'B')]

Row = Mapping[str, Any]


def time_text(ns: float) -> str:
    """"1.23 ms\""""
    size, unit = next(((size, unit) for size, unit in _UNITS if abs(ns) >= size), _UNITS[-1])
    return f'{ns / size:.3g} {unit}' if abs(ns / size) < 1000 else f'{ns / size:.0f} {unit}'


def size_text(count: int) -> str:
    """"1.5 MiB\""""
    size, unit = next(((size, unit) for size, unit in _SIZES if count >= size), _SIZES[-1])
    return f'{count / size:.1f} {unit}' if size > 1 else f'{count} {unit}'


def cell(value: Any) -> str:
    """What a table shows of a value, on one line: others chose some of the names in it."""
    if value is None:
        return '-'
    if isinstance(value, bool):
        return 'yes' if value else 'no'
    if isinstance(value, float):
        return f'{value:.4g}'
    if isinstance(value, Mapping):
        value = ' '.join(f'{key}={each}' for key, each in value.items())
    return ''.join(c if c.isprintable() else repr(c)[1:-1] for c in str(value))


def to_text(rows: Sequence[Row], empty: str = 'nothing') -> str:
    """Columns that line up, numbers at their right."""
    if not rows:
        return empty
    heads = list(rows[0])
    cells = [[cell(row[head]) for head in heads] for row in rows]
    widths = [max(len(head), *(len(line[i]) for line in cells)) for i, head in enumerate(heads)]
    is_number = [all(isinstance(row[head], (int, float)) for row in rows) for head in heads]

    def line(texts: Sequence[str]) -> str:
        return '  '.join(text.rjust(width) if right else text.ljust(width)
                         for text, width, right in zip(texts, widths, is_number)).rstrip()

    return '\n'.join([line([head.upper() for head in heads])] + [line(texts) for texts in cells])


def to_html(rows: Sequence[Row], caption: str = '') -> str:
    """A table; whatever is in it is text."""
    lines = ['<table>']
    if caption:
        lines.append(f'<caption>{html.escape(caption)}</caption>')
    if rows:
        heads = ''.join(f'<th>{html.escape(head)}</th>' for head in rows[0])
        lines.append(f'<thead><tr>{heads}</tr></thead>')
    lines.append('<tbody>')
    for row in rows:
        lines.append('<tr>' + ''.join(f'<td>{html.escape(cell(value))}</td>' for value in row.values()) + '</tr>')
    return ''.join(lines + ['</tbody></table>'])


def to_pandas(rows: Sequence[Row]) -> Any:
    """A pandas.DataFrame; pandas must be installed."""
    import pandas  # pylint: disable=import-outside-toplevel
    return pandas.DataFrame(list(rows))


class Shown:
    """A result that is shown as a table. `rows` has its values as they are, `_shown` as people read them."""

    def rows(self) -> List[Row]:
        """The values, for programs: a dict for each line of the table."""
        raise NotImplementedError

    def _shown(self) -> List[Row]:
        return self.rows()

    def _caption(self) -> str:
        return ''

    def __str__(self) -> str:
        caption = self._caption()
        return (f'{cell(caption)}\n' if caption else '') + to_text(self._shown())

    def _repr_html_(self) -> str:
        return to_html(self._shown(), self._caption())

    def to_pandas(self) -> Any:
        """A pandas.DataFrame of `rows`; pandas must be installed."""
        return to_pandas(self.rows())
