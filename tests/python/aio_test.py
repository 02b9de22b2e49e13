"""slipway.aio: what the blocking client does, in an event loop."""

import asyncio
import inspect
import os
import time

import numpy as np
import pytest

import forwarder
import processes
import slipway
import slipway.aio
from slipway import errors


def test_a_client_and_a_session(seven):
    async def main():
        async with slipway.aio.Client(local=True) as own:
            compilation, devices = await asyncio.gather(own.compile(processes.DIGITS), own.devices())
            assert [each.id for each in devices] == ['local']
            results = await asyncio.gather(*(own.run(compilation, {'image': np.load(processes.image(digit))})
                                             for digit in range(5)))
            assert [result.only().argmax() for result in results] == [0, 1, 2, 3, 4]
            benchmark = await own.bench(compilation, samples=10)
            assert len(benchmark.samples_ns) == 10
            assert (await own.history(limit=1))[0].id == benchmark.job
            async with own.open() as device:
                network = await device.load(processes.DIGITS)
                scores = await asyncio.gather(*(network(np.load(processes.image(digit))) for digit in range(10)))
                assert [each.argmax() for each in scores] == list(range(10))
                image = await device.put(seven)
                output, = await network.call(image)
                assert (await output.get()).argmax() == 7
                assert (await (await output.slice([0, 7], [1, 1])).get()).shape == (1, 1)
                await network.call_into([image], [output])
                assert (await network.time(image, samples=5)).device == 'local'
                large = np.random.default_rng(1).integers(0, 255, 20 << 20).astype(np.uint8)
                np.testing.assert_array_equal(await (await device.put(large)).get(), large)
                await image.assign(np.zeros_like(seven))
                assert (await image.get()).sum() == 0
                assert (await (await device.zeros('u8[4]')).get()).tolist() == [0] * 4
                assert (await device.facts()).programs == 1
                with pytest.raises(errors.InvalidArgument, match='"image": f64'):
                    await network(seven.astype('f8'))
            compared = await own.compare(compilation, compilation, limit=1, margin=0.9)
            assert compared.cycles >= 8
            slow = await own.compile(processes.DIGITS, target='x86-64-linux')
            assert (await own.gate(compilation, slow, limit=30)).verdict == 'passed'

    asyncio.run(main())


def test_every_method_has_its_twin():
    for one, other in ((slipway.Client, slipway.aio.Client), (slipway.Session, slipway.aio.Session),
                       (slipway.Program, slipway.aio.Program), (slipway.DeviceTensor, slipway.aio.DeviceTensor)):
        for name, method in inspect.getmembers(one, inspect.isfunction):
            if name.startswith('_') and name != '__call__':
                continue
            twin = getattr(other, name)
            assert list(inspect.signature(method).parameters) == list(inspect.signature(twin).parameters), name


def test_a_task_that_is_cancelled_cancels_its_job(client):
    async def main():
        async with slipway.aio.Client(client.address) as own:
            task = asyncio.ensure_future(own.bench(processes.DIGITS, samples=1_000_000, tags={'why': 'aio'}))
            while not any(job.state == 'running' for job in await own.jobs(tags={'why': 'aio'}, kinds=['benchmark'])):
                await asyncio.sleep(0.05)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            job = (await own.jobs(tags={'why': 'aio'}, kinds=['benchmark']))[0]
            assert (await own.wait(job.id)).state == 'cancelled'

    client.devices()
    asyncio.run(main())


def test_a_call_that_is_cancelled_leaves_the_session(folder, slip, seven):
    async def main(address):
        async with slipway.aio.Client(address) as own, own.open() as device:
            network = await device.load(slip)
            task = asyncio.ensure_future(network.time(seven, samples=1_000_000))
            await asyncio.sleep(0.3)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert (await network(seven)).argmax() == 7

    with processes.server(folder, listen=f'unix:{folder}/s') as server:
        with processes.agent(folder, server.line):
            with slipway.Client(server.line) as uploading:
                uploading.upload(slip)
            asyncio.run(main(server.line))


def test_breaks_and_ends(folder, slip, seven):
    async def main(between, agent):
        async with slipway.aio.Client(between.line) as own:
            async with own.open(idle=2, patience=1) as device:
                network = await device.load(slip)
                before = between.accepted
                for _ in range(5):
                    between.break_all()
                    assert (await network(seven)).argmax() == 7
                await asyncio.sleep(2.5)
                assert between.accepted >= before + 5
                image = await device.put(seven)
                agent.suspend()
                begin = time.monotonic()
                with pytest.raises(errors.SlipwayError, match='agent'):
                    await image.get()
                assert time.monotonic() - begin < 10
                agent.go_on()

    with processes.server(folder, listen=f'unix:{folder}/s') as server:
        with processes.agent(folder, server.line) as agent:
            between = forwarder.Forwarder(folder, server.line)
            with slipway.Client(server.line) as uploading:
                uploading.upload(slip)
            asyncio.run(main(between, agent))
            between.close()


def test_what_is_wrong_is_said(client, folder):
    async def main():
        with pytest.raises(errors.Unavailable, match='is slipwayd running there'):
            async with slipway.aio.Client(f'unix:{folder}/nobody', connect_timeout=2):
                pass
        async with slipway.aio.Client(client.address) as own:
            with pytest.raises(errors.NotFound, match='there is no'):
                await own.compile(f'{folder}/missing.onnx')
            with pytest.raises(errors.InvalidArgument, match='model'):
                await own.compile(os.urandom(100))
            with pytest.raises(errors.NotFound):
                async with own.open('nobody'):
                    pass
            with pytest.raises(errors.FailedPrecondition, match='async with'):
                await own.open().facts()
        with pytest.raises(errors.FailedPrecondition, match='async with'):
            await slipway.aio.Client('a:1').devices()

    asyncio.run(main())
