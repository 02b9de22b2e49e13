"""What each optimization brings: models compiled with all of them and with each left out, in turns.

The optimizations are those that `slipway compile` has a flag for, as it says itself.
"""

import os
import tempfile

from agreement import TOLERANCES, difference
from engines import LOAD_SECONDS, TURN_SECONDS
from figures import geometric_mean, median, minimum
from processes import Failed, JsonProcess
from report import ms, number, render
from rounds import interleave

ALL = 'all'


def switches(config):
    """The flags of `slipway compile --print-config` that are on unless they are left out: its optimizations."""
    lines = (line.partition(':') for line in config.splitlines())
    return [name.strip().replace('_', '-') for name, _, value in lines if value.strip() == 'true']


class Form:
    """A model compiled with all optimizations but one; takes turns."""

    def __init__(self, name, program, ask):
        self.name = name
        self.program = program
        self._ask = ask
        self._inputs = []

    def load(self, inputs, threads):
        """Returns how many outputs it has."""
        self._inputs = inputs
        loaded = self._ask(f'{self.variable} = load {self.program} threads={threads}', LOAD_SECONDS)
        return len(loaded['functions'][0]['outputs'])

    @property
    def variable(self):
        return 'model_' + self.name.replace('-', '_')

    def outputs(self, count, folder):
        import numpy
        names = [f'out{number}' for number in range(count)]
        self._ask(' '.join([', '.join(names), '= call', self.variable, *self._inputs]), TURN_SECONDS)
        arrays = []
        for name in names:
            path = os.path.join(folder, f'{name}.npy')
            self._ask(f'get {name} {path}', TURN_SECONDS)
            arrays.append(numpy.load(path))
            self._ask(f'free {name}', TURN_SECONDS)
        return arrays

    def take(self, samples):
        line = ' '.join(['time', self.variable, *self._inputs, f'samples={samples} warmup=0'])
        answer = self._ask(line, TURN_SECONDS)
        calls = answer['iterations_per_sample']
        return [ns / calls for ns in answer['samples_ns']], calls


def ablate(model, command, optimizations, setting, run, rounds, turn_seconds, progress):
    """A row of the table; Failed where the model does not run with all optimizations."""
    with tempfile.TemporaryDirectory() as folder:
        session = []

        def ask(line, timeout):
            return session[0].ask(line, timeout)

        forms, rows = [], {}
        for name in [ALL, *optimizations]:
            program = os.path.join(folder, f'{name}.slip')
            left_out = [] if name == ALL else [f'--no-{name}']
            try:
                run([command, 'compile', model.path, '--output', program, '--local', '--json', *left_out],
                    LOAD_SECONDS)
                forms.append(Form(name, program, ask))
                rows[name] = {}
            except Failed as failure:
                if name == ALL:
                    raise
                rows[name] = {'failure': str(failure)}
        # After all compilations: a session has the machine to itself.
        session.append(JsonProcess([command, 'session', '--local', '--json'], setting.cpus))
        try:
            _measure(model, forms, rows, ask, folder, setting, rounds, turn_seconds, progress)
        finally:
            session[0].close()
    return judged({'name': model.name, 'forms': rows})


def _measure(model, forms, rows, ask, folder, setting, rounds, turn_seconds, progress):
    inputs = [f'in{number}' for number in range(len(model.inputs))]
    for name, path in zip(inputs, model.inputs):
        ask(f'{name} = put "{path}"', TURN_SECONDS)
    expected = model.expected()
    tolerance = TOLERANCES['int8' if model.is_int8 else 'f32']
    for form in forms:
        made = form.outputs(form.load(inputs, setting.threads), folder)
        rows[form.name]['difference'] = difference(made, expected)
        rows[form.name]['agrees'] = rows[form.name]['difference'] <= tolerance
    taken = interleave(forms, rounds, turn_seconds, progress)
    for form in forms:
        row, samples = rows[form.name], taken[form.name]
        if samples.failure is not None:
            row['failure'] = samples.failure
        else:
            row['min_ns'] = minimum(samples.samples_ns)
            row['p50_ns'] = median(samples.samples_ns)
            row['samples_ns'] = [round(ns, 1) for ns in samples.samples_ns]


def judged(row):
    """`row` with what each optimization brings: the time without it through the time with all."""
    best = row['forms'][ALL].get('min_ns')
    row['brings'] = {name: form['min_ns'] / best for name, form in row['forms'].items()
                     if name != ALL and best and 'min_ns' in form}
    return row


def means(rows, optimizations):
    return {name: geometric_mean(row['brings'][name] for row in rows if name in row['brings'])
            for name in optimizations}


def table(rows, optimizations):
    """A line a model and the geometric means; what failed or is wrong below."""
    lines = [['MODEL', 'ALL', *(f'no {name}' for name in optimizations)]]
    for row in rows:
        lines.append([row['name'], ms(row['forms'][ALL].get('min_ns')),
                      *(number(row['brings'].get(name)) for name in optimizations)])
    found = means(rows, optimizations)
    lines.append(['geometric mean', '', *(number(found[name]) for name in optimizations)])
    notes = [f'{row["name"]}, {_title(name)}: {form.get("failure", "WRONG")}' for row in rows
             for name, form in row['forms'].items()
             if 'failure' in form or form.get('agrees') is False]
    return '\n\n'.join([render(lines)] + (['\n'.join(notes)] if notes else []))


def _title(name):
    return 'all optimizations' if name == ALL else f'no {name}'


def wrong(rows):
    return any(form.get('agrees') is False for row in rows for form in row['forms'].values())
