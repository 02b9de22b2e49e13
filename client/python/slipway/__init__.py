"""Slipway: compiles models, and runs and measures them on devices.

    import slipway

    print(slipway.bench('net.onnx'))

does so on this machine, with a server and an agent that begin and end with this process; with $SLIPWAY_SERVER, or
`slipway.Client('buildhost:7411')`, on the devices of a server. `slipway.open('board-1')` is a device in your hand,
`slipway.aio` the same for an event loop, `slipway.errors` what can go wrong.
"""

from slipway import errors
from slipway._arrays import TensorType
from slipway._blobs import Digest
from slipway._client import Client
from slipway._default import (bench, cancel, compare, compile, devices, export, gate, history, job, jobs, open, open_agent,
                              run, upload, wait)
from slipway._comparison import Gate
from slipway._results import (Artifact, Benchmark, Comparison, Compilation, Device, HistoryEntry, Job, Listing, RunResult,
                              ServerInfo, Steps, StepTime, ThreadWork)
from slipway._scenario import Scenario, ScenarioResult
from slipway._session import DeviceTensor, Program, Session
from slipway._slip import Port
from slipway._statistics import Estimate
from slipway.errors import SlipwayError

__version__ = '0.1.0'

__all__ = [
    'Artifact', 'Benchmark', 'Client', 'Comparison', 'Compilation', 'Device', 'DeviceTensor', 'Digest', 'Estimate',
    'Gate', 'HistoryEntry', 'Job', 'Listing', 'Port', 'Program', 'RunResult', 'Scenario', 'ScenarioResult',
    'ServerInfo', 'Session', 'SlipwayError', 'StepTime', 'Steps', 'TensorType', 'ThreadWork', 'bench', 'cancel', 'compare',
    'compile', 'devices', 'errors', 'export', 'gate', 'history', 'job', 'jobs', 'open', 'open_agent', 'run', 'upload',
    'wait',
]
