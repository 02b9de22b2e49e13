"""The ratios as a picture: SVG that any browser shows."""

from xml.sax.saxutils import escape

from engines import TITLES

ROW, BAR, LEFT, WIDTH, TOP = 26, 16, 190, 520, 46
RIGHT = 110


def bars(rows):
    """[(model, ratio, fastest peer)], the best first."""
    known = [(row['name'], row['ratio'], row['fastest_peer']) for row in rows if row['ratio']]
    return sorted(known, key=lambda bar: (-bar[1], bar[0]))


def svg(rows, title):
    """A bar for each model: how many times as fast as the fastest peer Slipway is, beside a line at 1."""
    drawn = bars(rows)
    most = max([ratio for _, ratio, _ in drawn] + [1.0])
    height = TOP + ROW * len(drawn) + 14

    def at(ratio):
        return LEFT + WIDTH * ratio / most

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + RIGHT}" height="{height}" '
             'font-family="sans-serif" font-size="13">',
             f'<rect width="{LEFT + WIDTH + RIGHT}" height="{height}" fill="white"/>',
             f'<text x="12" y="24" font-size="15">{escape(title)}</text>']
    for number, (name, ratio, peer) in enumerate(drawn):
        y = TOP + ROW * number
        colour = '#2a7f4f' if ratio >= 1 else '#b5452c'
        parts += [f'<text x="{LEFT - 8}" y="{y + 13}" text-anchor="end">{escape(name)}</text>',
                  f'<rect x="{LEFT}" y="{y}" width="{at(ratio) - LEFT:.1f}" height="{BAR}" fill="{colour}"/>',
                  f'<text x="{at(ratio) + 5:.1f}" y="{y + 13}">{ratio:.2f} {escape(TITLES[peer])}</text>']
    parts += [f'<line x1="{at(1):.1f}" y1="{TOP - 8}" x2="{at(1):.1f}" y2="{height - 6}" stroke="black"/>', '</svg>']
    return '\n'.join(parts) + '\n'
