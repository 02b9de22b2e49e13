"""Interleaved rounds: A B C A B C ..., so that whatever else happens on the machine happens to all alike."""

import time

from figures import samples_in
from processes import Failed

# Between two turns: threads of the engine before, which wait for more work for a while, have gone to sleep.
PAUSE_SECONDS = 0.05


class Taken:
    """What one participant gave: its samples, in nanoseconds a call, or why it gave none."""

    def __init__(self):
        self.samples_ns = []
        self.failure = None


def interleave(participants, rounds, turn_seconds, progress=lambda number: None, sleep=time.sleep):
    """Gives every participant a turn in each round; {name: Taken}.

    A participant has `name` and `take(samples)`, which returns (nanoseconds a call of each sample, calls a
    sample) or raises Failed, and has no turn after that.
    """
    taken = {participant.name: Taken() for participant in participants}
    calls = {}
    for number in range(rounds):
        for participant in participants:
            row = taken[participant.name]
            if row.failure is not None:
                continue
            last = row.samples_ns[-1] if row.samples_ns else None
            count = samples_in(turn_seconds, last, calls.get(participant.name, 1))
            sleep(PAUSE_SECONDS)
            try:
                samples, calls[participant.name] = participant.take(count)
                row.samples_ns += samples
            except Failed as failure:
                row.failure = str(failure)
        progress(number + 1)
    return taken
