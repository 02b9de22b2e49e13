"""A run of tests/bench/compare: builds, goes through the models, reports."""

import json
import os
import platform
import shlex
import subprocess
import sys

import ablation
import catalogue
import comparing
import engines
import environments
import plot
import report
from processes import Failed, brief
from store import Store

TARGETS = ['//client:slipway', '//server:slipwayd', '//server/compile_worker:slipway-compile-worker',
           '//device_agent:slipway-agent', '//tests/bench:machine_peaks', '//tests/bench:print_model_cost']


def build(root):
    bazel = shlex.split(os.environ.get('SLIPWAY_BAZEL', 'bazel'))
    subprocess.run([*bazel, 'build', *TARGETS], cwd=root, check=True, stdout=sys.stderr)


def run_json(command, timeout):
    """What a command prints as JSON; Failed with the end of what it said."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        raise Failed(f'no end after {timeout} s') from None
    if done.returncode != 0:
        raise Failed(brief(environments.last_line(done.stderr)))
    return json.loads(done.stdout)


def processors(threads):
    """As many of those that we may use, the last ones: the first ones have other work most often."""
    return set(sorted(os.sched_getaffinity(0))[-threads:])


def cpu_name():
    with open('/proc/cpuinfo', encoding='utf-8') as file:
        for line in file:
            if line.startswith('model name'):
                return line.partition(':')[2].strip()
    return platform.machine()


def write_json(path, document):
    """What is there is whole at any time."""
    unfinished = path + '.unfinished'
    with open(unfinished, 'w', encoding='utf-8') as file:
        json.dump(document, file, indent=1)
    os.replace(unfinished, path)


class Session:

    def __init__(self, root, arguments, say):
        self._arguments = arguments
        self._say = say
        self._setting = engines.Setting(arguments.threads, arguments.precision,
                                        processors(arguments.threads))
        self._binaries = os.path.join(root, 'bazel-bin')
        self._store = Store(arguments.cache, arguments.batch, say)
        self._rows = []
        self._missing = {}
        self._target = None

    def run(self, sources):
        """Compares them all; what came of it is kept when somebody interrupts it."""
        peers, self._missing = engines.open_peers(
            [name for name in self._arguments.engines if name != 'slipway'],
            self._arguments.cache, self._setting, self._say)
        for name, reason in self._missing.items():
            self._say(f'without {engines.TITLES[name]}: {reason}')
        taking_part = list(peers)
        if 'slipway' in self._arguments.engines:
            taking_part.insert(0, engines.Slipway(
                os.path.join(self._binaries, 'client/slipway'), self._setting, run_json))
        try:
            for number, source in enumerate(sources, 1):
                self._one(source, taking_part, f'[{number}/{len(sources)}] {source.name}')
        except KeyboardInterrupt:
            self._say('interrupted: what follows is what is known so far')
        finally:
            for engine in taking_part:
                engine.close()
        self._versions = {engine.name: engine.version for engine in taking_part}
        self._write()
        return self._rows

    def _one(self, source, taking_part, label):
        try:
            model = self._store.get(source)
        except Failed as failure:
            self._say(f'{label}: {failure}')
            self._rows.append(comparing.judged(
                {'name': source.name, 'peak': 0, 'read_ns': None, 'steps': [],
                 'engines': {engine.name: {'failure': str(failure)} for engine in taking_part}}))
            return
        if self._arguments.precision == 'int8':
            try:
                self._store.quantize(model)
            except Failed as failure:
                self._say(f'{label}: {failure}')
        self._say(f'{label}: compiling and loading', passing=True)
        cost, uncounted = self._cost(model)
        machine = engines.Machine(os.path.join(self._binaries, 'tests/bench/machine_peaks'),
                                  self._setting, self._arguments.precision, comparing.bytes_read(cost))
        try:
            row = comparing.compare(
                model, taking_part, machine, cost, self._arguments.rounds, self._arguments.turn,
                self._arguments.precision,
                lambda done: self._say(f'{label}: round {done} of {self._arguments.rounds}', passing=True))
        finally:
            machine.close()
        if uncounted:
            row['uncounted'] = uncounted
        self._target = machine.target
        self._rows.append(row)
        names = self._arguments.engines
        self._say(f'{label}\n' + report.render([report.header(names), report.line(row, names)]))
        self._write()

    def _cost(self, model):
        """What the model costs, or nothing and why that is not known."""
        try:
            return run_json([os.path.join(self._binaries, 'tests/bench/print_model_cost'), model.path], 300), None
        except Failed as failure:
            return {}, str(failure)

    def document(self):
        arguments = self._arguments
        return {'schema_version': 1, 'cpu': cpu_name(), 'target': self._target,
                'threads': arguments.threads, 'precision': arguments.precision,
                'batch': arguments.batch, 'rounds': arguments.rounds,
                'versions': getattr(self, '_versions', {}), 'missing': self._missing,
                'geometric_means': report.means(self._rows, arguments.engines),
                'models': self._rows}

    def _write(self):
        if self._arguments.json:
            write_json(self._arguments.json, self.document())

    def heading(self):
        arguments = self._arguments
        peaks = [row['peak'] for row in self._rows if row['peak']]
        return (f'{cpu_name()}, {arguments.threads} thread{"s" * (arguments.threads > 1)}, '
                f'{arguments.precision}, batch {arguments.batch}, {arguments.rounds} rounds'
                + (f', peak {max(peaks) / 1e9:.1f} GFLOP/s' if peaks else '')
                + '; milliseconds, minima')


def wrong(rows):
    return any(row['engines'].get('slipway', {}).get('agrees') is False for row in rows)


class Ablation:
    """A run that compares Slipway with itself, without one optimization at a time."""

    def __init__(self, root, arguments, say):
        self._arguments = arguments
        self._say = say
        self._setting = engines.Setting(arguments.threads, 'f32', processors(arguments.threads))
        self._command = os.path.join(root, 'bazel-bin/client/slipway')
        self._store = Store(arguments.cache, arguments.batch, say)
        config = subprocess.run([self._command, 'compile', '--print-config'], text=True, check=True,
                                stdout=subprocess.PIPE).stdout
        self._optimizations = ablation.switches(config)
        self._rows = []

    def run(self, sources):
        try:
            for number, source in enumerate(sources, 1):
                self._one(source, f'[{number}/{len(sources)}] {source.name}')
        except KeyboardInterrupt:
            self._say('interrupted: what follows is what is known so far')
        return self._rows

    def _one(self, source, label):
        self._say(f'{label}: compiling and loading', passing=True)
        try:
            row = ablation.ablate(
                self._store.get(source), self._command, self._optimizations, self._setting, run_json,
                self._arguments.rounds, self._arguments.turn,
                lambda done: self._say(f'{label}: round {done} of {self._arguments.rounds}', passing=True))
        except Failed as failure:
            self._say(f'{label}: {failure}')
            row = {'name': source.name, 'forms': {ablation.ALL: {'failure': str(failure)}}, 'brings': {}}
        self._rows.append(row)
        self._say(ablation.table([row], self._optimizations))
        if self._arguments.json:
            write_json(self._arguments.json, self.document())

    def document(self):
        arguments = self._arguments
        return {'schema_version': 1, 'cpu': cpu_name(), 'threads': arguments.threads,
                'batch': arguments.batch, 'rounds': arguments.rounds, 'optimizations': self._optimizations,
                'geometric_means': ablation.means(self._rows, self._optimizations), 'models': self._rows}

    def text(self):
        return (f'{cpu_name()}, {self._arguments.threads} threads, {self._arguments.rounds} rounds; '
                'milliseconds, minima, and the time without an optimization through that with all\n\n'
                + ablation.table(self._rows, self._optimizations))


def run_ablation(root, arguments, say, sources):
    session = Ablation(root, arguments, say)
    rows = session.run(sources)
    if not rows:
        return 2
    print(session.text())
    return 1 if ablation.wrong(rows) else 0


def run(root, arguments, say):
    known = catalogue.sources(arguments.model_folder)
    if arguments.list:
        print('\n'.join(known))
        return 0
    unknown = [name for name in arguments.engines if name not in engines.TITLES]
    if unknown:
        say(f'tests/bench/compare: no engine "{unknown[0]}"; there are {", ".join(engines.TITLES)}')
        return 2
    try:
        sources = catalogue.chosen(known, arguments.models)
    except KeyError as name:
        say(f'tests/bench/compare: no model {name}; --list has their names')
        return 2
    if not arguments.no_build:
        build(root)
    if arguments.ablation:
        return run_ablation(root, arguments, say, sources)
    session = Session(root, arguments, say)
    rows = session.run(sources)
    if not rows:
        return 2
    print(session.heading() + '\n\n' + report.full(rows, arguments.engines))
    if arguments.plot:
        with open(arguments.plot, 'w', encoding='utf-8') as file:
            file.write(plot.svg(rows, session.heading()))
    return 1 if wrong(rows) else 0
