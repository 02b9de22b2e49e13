"""Session: asks oracles and engines about cases."""

import os
import shutil
import tempfile

import engines
import oracles
import outcomes


class Session:
    """Holds the child process of the oracles and a scratch folder; close it."""

    def __init__(self, runner):
        self._runner = runner
        self._names = oracles.present()
        self._pool = oracles.Pool()
        self._scratch = tempfile.mkdtemp()

    def close(self):
        self._pool.close()
        shutil.rmtree(self._scratch)

    def answers(self, case):
        """What each oracle makes of a case: by name, (arrays, None) or (None, why there are none)."""
        return {name: self._pool.ask(name, case) for name in self._names}

    def run(self, cases, engine):
        """What an engine makes of cases, by their names, as engines.run gives it."""
        work = tempfile.mkdtemp(dir=self._scratch)
        folder = os.path.join(work, 'cases')
        for case in cases:
            engines.write_case(case, folder)
        made = engines.run(self._runner, engine, folder, os.path.join(work, 'made'))
        shutil.rmtree(work)
        return made

    def judge(self, cases, engine, answers):
        """The outcome of each case; `answers` has an entry for each."""
        made = self.run(cases, engine)
        return [outcomes.judge(case, *made[case.name], answer, engine != 'reference')
                for case, answer in zip(cases, answers)]

    def fails_as(self, engine, kind):
        """A function that tells whether a case has this outcome."""
        def fails(case):
            return self.judge([case], engine, [self.answers(case)])[0].kind == kind
        return fails
