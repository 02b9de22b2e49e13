"""One model through all engines; what is known of it afterwards is a plain dict, as in the JSON."""

from agreement import TOLERANCES, difference
from figures import fastest, median, minimum, operations_ns
from processes import Failed
from rounds import interleave


def load_all(engines, model):
    """Engines that have loaded a model, and {name: {'failure': why not}} of the others."""
    loaded, rows = [], {}
    for engine in engines:
        try:
            made = engine.load(model)
            rows[engine.name] = {'compilation': made} if made else {}
            loaded.append(engine)
        except Failed as failure:
            rows[engine.name] = {'failure': str(failure)}
    return loaded, rows


def check(engines, rows, expected, tolerance):
    """Says of each engine how far its outputs are from those expected."""
    for engine in engines:
        row = rows[engine.name]
        try:
            row['difference'] = difference(engine.outputs(), expected)
            row['agrees'] = row['difference'] <= tolerance
        except Failed as failure:
            row['failure'] = str(failure)


def compare(model, engines, machine, cost, rounds, turn_seconds, precision, progress):
    """A row of the report; `cost` is as print_model_cost has it, or empty."""
    tolerance = TOLERANCES['int8' if model.is_int8 else precision]
    loaded, rows = load_all(engines, model)
    check(loaded, rows, model.expected(), tolerance)
    timed = [engine for engine in loaded if 'failure' not in rows[engine.name]]
    taken = interleave([machine, *timed] if timed else [], rounds, turn_seconds, progress)
    steps = []
    for engine in loaded:
        try:
            if engine.name == 'slipway' and 'failure' not in rows['slipway']:
                steps = engine.steps()
            engine.unload()
        except Failed as failure:
            rows[engine.name].setdefault('failure', str(failure))
    for engine in timed:
        row, samples = rows[engine.name], taken[engine.name]
        if samples.failure is not None:
            row['failure'] = samples.failure
        elif samples.samples_ns:
            row['min_ns'] = minimum(samples.samples_ns)
            row['p50_ns'] = median(samples.samples_ns)
            row['samples_ns'] = [round(ns, 1) for ns in samples.samples_ns]
    return judged({'name': model.name, 'tolerance': tolerance, **cost, 'peak': machine.peak,
                   'read_ns': machine.read_ns, 'engines': rows, 'steps': steps})


def judged(row):
    """`row` with what follows from its times: ratios, rates and limits. Who is wrong is not fast."""
    right = {name: engine['min_ns'] for name, engine in row['engines'].items()
             if 'min_ns' in engine and engine.get('agrees')}
    own = right.pop('slipway', None)
    row['fastest_peer'] = fastest(right)
    row['ratios'] = {name: ns / own for name, ns in right.items()} if own else {}
    row['ratio'] = row['ratios'].get(row['fastest_peer'])
    by_operations = operations_ns(row.get('operations'), row['peak'])
    row['bound_by_operations_ns'] = by_operations
    row['bound_by_bytes_ns'] = row['read_ns'] if 'constant_bytes' in row else None
    if own and row.get('operations'):
        row['gflops'] = row['operations'] / own
        row['share_of_peak'] = by_operations / own if by_operations else None
    return row


def bytes_read(cost):
    """What a call reads at least: constants and inputs; nothing where that is not known."""
    return cost.get('constant_bytes', 0) + cost.get('input_bytes', 0)


def shares(steps):
    """[(operators of steps, their share of the time, number of steps)], the largest share first."""
    total = sum(step['ns'] for step in steps)
    found = {}
    for step in steps:
        kind = '+'.join(step['operators']) or step['name']
        ns, count = found.get(kind, (0, 0))
        found[kind] = (ns + step['ns'], count + 1)
    return [(kind, ns / total, count) for kind, (ns, count) in
            sorted(found.items(), key=lambda item: (-item[1][0], item[0]))] if total else []
