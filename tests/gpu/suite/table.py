"""What a run on a machine with a GPU found, as text; of the JSON that `run` leaves."""

VERDICTS = ['passed', 'failed', 'crashed', 'hung', 'skipped']


def milliseconds(nanoseconds):
    return '-' if nanoseconds is None else '%.3g' % (nanoseconds / 1e6)


def summary(report):
    """Rows of (part, count of each verdict)."""
    parts = {}
    for case in report['cases']:
        counts = parts.setdefault(case['part'], dict.fromkeys(VERDICTS, 0))
        counts[case['verdict']] += 1
    return [(part, [counts[verdict] for verdict in VERDICTS]) for part, counts in parts.items()]


def torch_times(report, name):
    """{precision: measured} of what PyTorch took for a model."""
    return {case['precision']: case for case in report['cases']
            if case['part'] == 'torch' and case['name'] == name and case['verdict'] == 'passed'}


def share_of(work, nanoseconds, peak):
    """How much of a peak, in work a second, was reached."""
    return '%.0f %%' % (100 * work / nanoseconds * 1e9 / peak) if work and nanoseconds and peak else '-'


def of_library(case):
    """How fast a model's own products and convolutions are beside the libraries' best, all of them together."""
    both = [each for each in case.get('libraries', []) if each['library_ns'] and each['own_ns']]
    own, its = (sum(each[key] for each in both) for key in ('own_ns', 'library_ns'))
    taken = sum(each['used'] for each in both)
    return '%.0f %% (%d of %d by it)' % (100 * its / own, taken, len(both)) if both else '-'


def measured_rows(report):
    """A row of words for each model that was measured: see MEASURED."""
    peaks = report.get('peaks', {'arithmetic': {}, 'reading': {}})
    rows = []
    for case in report['cases']:
        if case['part'] != 'models' or 'device_ns' not in case:
            continue
        kernels = case['kernels_ns']
        rate = '-' if not case['flops'] or not kernels else '%.3g' % (case['flops'] / kernels / 1e3)
        of_peak = share_of(case['flops'], kernels, peaks['arithmetic'].get(case.get('precision', 'f32')))
        of_memory = share_of(case['bytes'], kernels, peaks['reading'].get('memory'))
        words = [case.get('like', case['name']), case['target'].split(',')[-1], case.get('precision', 'f32'), '%.1e' % case['share'],
                 milliseconds(case['host_ns']), milliseconds(case['device_ns']), milliseconds(kernels), rate, of_peak, of_memory,
                 of_library(case)]
        others = torch_times(report, case.get('like', case['name']))
        for precision in ('f32', 'tf32', 'f16'):
            other = others.get(precision)
            ratio = '' if other is None or not case['device_ns'] else ' (%.2f)' % (other['device_ns'] / case['device_ns'])
            words.append(milliseconds(other and other['device_ns']) + ratio)
        rows.append(words)
    return rows


MEASURED = ['model', 'code', 'numbers', 'error', 'call ms', 'device ms', 'kernels ms', 'TFLOP/s', 'of peak', 'of memory',
            'of libraries', 'torch f32', 'torch tf32', 'torch f16']


def machine_line(report):
    machine = report['machine']
    gpus = machine['gpus'] or machine['devices'] or ['no GPU']
    return '%s; %s; code for %s, %s; %s' % (gpus[0], machine['system'], report['suite']['target'],
                                            report['suite']['commit'], report['date'])


def columns(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [('  '.join(word.ljust(width) for word, width in zip(row, widths))).rstrip() for row in rows]


def as_text(report):
    """For a terminal."""
    lines = [machine_line(report), '']
    lines += columns([['part'] + VERDICTS] + [[part] + [str(count) for count in counts]
                                              for part, counts in summary(report)])
    bad = [case for case in report['cases'] if case['verdict'] not in ('passed', 'skipped')]
    for case in bad:
        lines.append('%s: %s %s: %s' % (case['verdict'], case['part'], case['name'], case.get('reason', '')))
    rows = measured_rows(report)
    if rows:
        lines += [''] + columns([MEASURED] + rows)
    return '\n'.join(lines) + '\n'


def as_markdown(report):
    """For a README."""
    lines = [machine_line(report), '']
    passed = ', '.join('%s %d of %d' % (part, counts[0], sum(counts)) for part, counts in summary(report))
    lines += ['Passed: %s.' % passed, '']
    rows = measured_rows(report)
    if rows:
        lines += ['| ' + ' | '.join(row) + ' |' for row in [MEASURED, ['---'] * len(MEASURED)] + rows]
        lines.append('')
    return '\n'.join(lines)
