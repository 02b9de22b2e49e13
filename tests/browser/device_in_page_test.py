#!/usr/bin/python3
"""A page as a device, in Debian's Chromium, against real processes: what is run and measured there, and what goes wrong."""

import json
import os
import subprocess
import sys
import time
import unittest
import urllib.error
import urllib.request

import between
import site_of_test as site
from webdriver import Browser

TARGET = 'wasm-32-wasi-simd128-threads'
ONE_THREAD = 'wasm-32-wasi-simd128'
ISOLATING = ('Cross-Origin-Opener-Policy', 'Cross-Origin-Embedder-Policy')
IMAGES = os.path.join(os.path.dirname(site.DIGITS), 'images')
FIRST_LOAD = 300_000

# What kernels of a page have to do: convolutions, products, integers, choices, copies, constants.
GRAPHS = {
    'residual': '''graph "residual" (%x: f32[1, 4, 9, 9]) -> (%y) {
  const %w: f32[4, 4, 3, 3] = splat 0.1
  %c = Conv(%x, %w) {pads = [1, 1, 1, 1]}
  %s = Add(%c, %x)
  %y = Relu(%s)
}''',
    'calls': '''graph "calls" (%x: f32[6, 5], %i: u8[3], %b: bool[4]) -> (%top, %where, %x_again, %constant, %picked, %not) {
  const %k: i64[1] = {3}
  const %constant: f32[2] = {1.5, -2.0}
  %top, %where = TopK "top" (%x, %k)
  %x_again = Identity(%x)
  %picked = Cast(%i) {to = 1}
  %not = Not(%b)
}''',
    'product': '''graph "product" (%a: f32[17, 33], %b: f32[33, 9], %l: i64[5], %d: f64[7], %h: f16[6]) -> (%p, %m, %e, %g) {
  %p = MatMul(%a, %b)
  %m = Neg(%l)
  %e = Cast(%d) {to = 1}
  %g = Cast(%h) {to = 1}
}''',
}
# Takes 256 MiB for what it makes.
LARGE = '''graph "large" (%x: f32[4096, 4096]) -> (%y) {
  %a = Transpose(%x) {perm = [1, 0]}
  %b = Exp(%a)
  %c = Transpose(%b) {perm = [1, 0]}
  %y = Add(%c, %x)
}'''
WIDE = '''graph "wide" (%x: f32[1, 16, 64, 64]) -> (%y) {
  const %w: f32[32, 16, 3, 3] = splat 0.1
  const %k: f32[32, 32] = splat 0.25
  %c = Conv(%x, %w) {pads = [1, 1, 1, 1]}
  %r = Sigmoid(%c)
  %t = Transpose(%r) {perm = [0, 2, 3, 1]}
  %y = MatMul(%t, %k)
}'''
# How many workers of programs there are: each holds a lock.
WORKERS = "return navigator.locks.query().then(({held}) => held.filter(({name}) => name.startsWith('slipway-program-')).length)"
OPEN = '''graph "open" [batch in 1..64] (%x: f32[batch, 3]) -> (%y) {
  %y = Relu(%x)
}'''


class DeviceInPageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.site = site.Site(agents=0)
        cls.addClassCleanup(cls.site.close)
        cls.admin = cls.site.token('user+admin', 'grace')
        cls.agent = cls.site.token('agent', 'page-1')
        cls.compiled = {}

    def setUp(self):
        self.browser = Browser(performance=False)
        self.addCleanup(self.browser.close)

    def tearDown(self):
        # What a test that has failed left there is not the next one's.
        for job in self.api('/jobs?states=QUEUED&states=ASSIGNED&states=RUNNING&ofEverybody=true').get('jobs', []):
            self.api(f'/jobs/{job["id"]}/cancel', {})

    def begin(self, token=None, memory=1024, device='page-1', state='idle', page=None):
        self.browser.open('about:blank')
        self.browser.open(f'{page or self.site.page}/device#token={token or self.agent}&memory={memory}&id={device}')
        self.browser.wait_text('This page is a device')
        self.browser.wait('return document.querySelector(".badge.good")?.innerText === "ready"', 'the device is ready')
        # Known to the page before anybody lists it.
        self.await_state(state)

    def devices(self):
        return {device['id']: device for device in json.loads(self.site.slipway('devices', '--json'))['devices']}

    def await_state(self, state, seconds=20):
        end = time.monotonic() + seconds
        while self.devices().get('page-1', {}).get('state') != state:
            self.assertLess(time.monotonic(), end, f'page-1 is not {state}: {self.devices()}')
            time.sleep(0.05)

    def api(self, path, body=None):
        request = urllib.request.Request(
            f'{self.site.page}/api/v1{path}', data=None if body is None else json.dumps(body).encode(),
            headers={'Authorization': f'Bearer {self.admin}', 'Content-Type': 'application/json'})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def graph(self, name, text):
        path = os.path.join(self.site.folder, f'{name}.graph')
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)
        return path

    def command(self, *arguments):
        return subprocess.run([site.COMMAND, *arguments, '--server', self.site.address], check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)

    def run_digits(self):
        """That the device works."""
        done = self.site.slipway('run', site.DIGITS, '--device', 'page-1', '--input', f'image={IMAGES}/7.npy')
        self.assertIn('largest at 7', done)

    def manifest(self):
        """Of the digits for pages, once somebody of grace's name has compiled them."""
        if not self.compiled:
            token = os.path.join(self.site.folder, 'grace')
            with open(os.open(token, os.O_WRONLY | os.O_CREAT, 0o600), 'w', encoding='utf-8') as file:
                file.write(self.admin)
            done = self.command('compile', site.DIGITS, '--target', TARGET, '--detach', '--token-file', token)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.compiled.update(self.ended(done.stdout.strip())['compilationResult']['manifest'])
        return self.compiled

    def ended(self, job, seconds=30):
        end = time.monotonic() + seconds
        while True:
            found = self.api(f'/jobs/{job}')
            if found['state'] in ('SUCCEEDED', 'FAILED', 'CANCELLED'):
                return found
            self.assertLess(time.monotonic(), end, found)
            time.sleep(0.05)

    def begin_benchmark(self, deadline_s=60, threads=1):
        """One that lasts."""
        job = self.api('/benchmarks', {
            'spec': {'samples': 1000000, 'run': {'manifest': self.manifest(), 'device': 'page-1', 'threads': threads}},
            'runDeadlineNs': str(int(deadline_s * 1e9))})['jobId']
        end = time.monotonic() + 30
        while self.api(f'/jobs/{job}')['state'] != 'RUNNING':
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)
        return job

    def test_what_it_is(self):
        self.begin()
        device = self.devices()['page-1']
        self.assertEqual(device['target'], TARGET)
        self.assertRegex(device['model'], r'^[A-Za-z ]*Chrom[a-z]* \d+\.\d+')
        self.assertEqual(device['cores'], self.browser.run('return navigator.hardwareConcurrency'))
        self.assertRegex(device['os'], r'a clock of [0-9.]+ us')
        self.assertTrue(self.browser.run('return crossOriginIsolated'))
        self.assertEqual(self.browser.complaints(), [])
        # Its first load: everything, by the sizes that the browser was sent.
        sizes = self.browser.run('''return performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation'))
            .map(({name, transferSize}) => [name, transferSize])''')
        workers = ['device_agent', 'device_attempt', 'connection', 'clock', 'slipway', 'instance', 'threads', 'thread', 'device_program', 'random', 'worker_life']
        alone = {f'{self.site.page}/assets/{name}.js' for name in workers} - {name for name, _ in sizes}
        total = sum(size for _, size in sizes)
        for address in alone:
            with urllib.request.urlopen(address, timeout=30) as answer:
                total += len(answer.read()) + sum(len(name) + len(value) + 4 for name, value in answer.headers.items())
        print(f'first load: {total} bytes')
        self.assertGreater(total, 20_000)
        self.assertLess(total, FIRST_LOAD)

    def test_runs_and_checks(self):
        self.begin()
        self.run_digits()
        # Inputs that nobody gives are made as everywhere, and outputs are what the reference says.
        self.assertIn('agrees', self.site.slipway('run', site.DIGITS, '--device', 'page-1', '--seed', '5', '--check'))
        for name, text in GRAPHS.items():
            with self.subTest(name):
                done = self.site.slipway('run', self.graph(name, text), '--device', 'page-1', '--check')
                self.assertIn('agree', done)
                self.assertNotIn('differ', done)

    def test_tensors_that_travel_as_blobs(self):
        self.begin()
        folder = os.path.join(self.site.folder, 'out')
        path = self.graph('wide', 'graph "wide" (%x: f32[1024, 512]) -> (%y) {\n  %y = Neg(%x)\n}')
        self.site.slipway('run', path, '--device', 'page-1', '--output-dir', folder, '--seed', '3')
        with open(os.path.join(folder, 'y.npy'), 'rb') as file:
            first = file.read()
        self.assertGreater(len(first), 2 << 20)
        self.site.slipway('run', path, '--device', 'page-1', '--input', f'x={folder}/y.npy', '--output-dir', f'{folder}-2', '--check')
        self.assertEqual(self.browser.complaints(), [])

    def test_measures(self):
        self.begin()
        result = json.loads(self.site.slipway('bench', site.DIGITS, '--device', 'page-1', '--samples', '30', '--profile', '--json'))
        [resolution] = [float(found) for found in [self.devices()['page-1']['os'].rsplit('clock of ', 1)[1].removesuffix(' us')]]
        text = json.dumps(result)
        self.assertIn(TARGET, text)
        job = self.api(f'/jobs/{result["job"]}')['benchmarkResult']
        calls = int(job['iterationsPerSample'])
        entry = self.api(f'/history/{result["job"]}')
        samples = [int(ns) for ns in entry['result']['samplesNs']]
        self.assertEqual(len(samples), 30)
        self.assertGreater(calls, 1)
        # Long enough for the clock, and not longer than it takes.
        self.assertGreater(min(samples), 0.5 * max(1e6, 200 * resolution * 1e3))
        self.assertGreater(int(job['loadColdNs']), 0)
        self.assertGreater(int(job['firstRunNs']), 0)
        self.assertGreater(int(job['peakMemoryBytes']), 100_000)
        self.assertEqual(job['threads'], 1)
        # Told by the clock of the program's worker, which is no finer than what the device says, give or take a rounding.
        self.assertGreater(int(job['clockResolutionNs']), 0)
        self.assertLess(int(job['clockResolutionNs']), 3 * resolution * 1e3)
        self.assertEqual(result['clock_resolution_ns'], int(job['clockResolutionNs']))
        # Also of steps that are shorter than what the clock tells apart.
        steps = [step['ns'] for step in result['steps']]
        self.assertEqual(len(steps), 5)
        self.assertGreater(min(steps), 0)
        self.browser.wait_text('30 samples')

    def test_what_pages_do_not_do_is_named(self):
        self.begin()
        for arguments, words in [
                ((site.DIGITS, '--threads', '100'), '1 to 64'),
                ((site.DIGITS, '--threads', '2', '--target', ONE_THREAD), f'compile the model for "{TARGET}"'),
                ((self.graph('open', OPEN),), '--dimension'),
                ((site.DIGITS, '--target', 'x86-64-v2-linux'), 'x86-64-v2')]:
            done = self.command('run', *arguments, '--device', 'page-1')
            self.assertNotEqual(done.returncode, 0, done.stdout)
            self.assertIn(words, done.stderr)
        done = self.command('bench', site.DIGITS, '--device', 'page-1', '--scenario', 'offline')
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('scenario', done.stderr)
        done = self.command('session', '--device', 'page-1')
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('serves no sessions', done.stderr)
        self.run_digits()

    def test_threads_give_the_same_results(self):
        self.begin()
        path = self.graph('wide', WIDE)
        results = []
        for threads in ('1', '2', '3'):
            folder = os.path.join(self.site.folder, f'on-{threads}')
            done = self.site.slipway('run', path, '--device', 'page-1', '--threads', threads, '--output-dir', folder, '--check')
            self.assertIn('agrees', done)
            with open(os.path.join(folder, 'y.npy'), 'rb') as file:
                results.append(file.read())
        self.assertEqual(results[1], results[0])
        self.assertEqual(results[2], results[0])
        job = json.loads(self.site.slipway('bench', path, '--device', 'page-1', '--samples', '5', '--threads', '2', '--json'))['job']
        self.assertEqual(self.api(f'/jobs/{job}')['benchmarkResult']['threads'], 2)
        self.assertEqual(self.browser.complaints(), [])

    def test_a_page_that_is_not_isolated_has_one_thread(self):
        with between.Between(self.site.page, without=ISOLATING) as page:
            self.begin(page=page.address)
            self.assertFalse(self.browser.run('return crossOriginIsolated'))
            self.assertEqual(self.devices()['page-1']['target'], ONE_THREAD)
            self.run_digits()
            for arguments, words in [(('--threads', '2'), 'this page has one'), (('--target', TARGET), "'threads'")]:
                done = self.command('run', site.DIGITS, '--device', 'page-1', *arguments)
                self.assertNotEqual(done.returncode, 0, done.stdout)
                self.assertIn(words, done.stderr)
            self.run_digits()

    def test_a_program_that_does_not_end_is_ended(self):
        self.begin()
        for threads in (1, 3):
            job = self.ended(self.begin_benchmark(deadline_s=2, threads=threads))
            self.assertEqual(job['state'], 'FAILED')
            self.assertEqual(job['error']['code'], 4)
            self.assertIn('did not end in 2 s', job['error']['message'])
            self.await_no_programs()
        self.run_digits()

    def await_no_programs(self):
        self.browser.wait(f'{WORKERS}.then((count) => count === 0)', 'the program has ended with all its workers')

    def test_a_worker_that_ends_without_a_word_is_missed_at_once(self):
        # In the program's place one that does what its browser may do to it: it is alive, and then is not.
        program = '''import {holdLife} from './worker_life.js';
onmessage = async ({data}) => {
  await holdLife(data.life);
  postMessage({lives: [data.life]});
  setTimeout(() => close(), 300);
};'''
        with between.Between(self.site.page, answer=lambda path: program.encode() if path == '/assets/device_program.js' else None) as page:
            self.begin(page=page.address)
            begin = time.monotonic()
            job = self.api('/runs', {'spec': {'manifest': self.manifest(), 'device': 'page-1'}, 'runDeadlineNs': str(int(60e9))})['jobId']
            ended = self.ended(job)
            self.assertEqual(ended['state'], 'FAILED', ended)
            self.assertIn('ended without a word', ended['error']['message'])
            self.assertLess(time.monotonic() - begin, 30)
        self.begin()
        self.run_digits()

    def test_a_thread_that_ends_without_a_word_is_missed_at_once(self):
        # It ends when the first loop comes, having entered it.
        thread = '''import {SharedLoop} from './threads.js';
onmessage = ({data: {memory, loop, life}}) => navigator.locks.request(life, async () => {
  postMessage({ready: true});
  try {
    new SharedLoop(memory, loop).serve({scratch: {clear: () => { throw new Error('enough'); }}}, []);
  } catch {
    close();
  }
});'''
        with between.Between(self.site.page, answer=lambda path: thread.encode() if path == '/assets/thread.js' else None) as page:
            self.begin(page=page.address)
            begin = time.monotonic()
            job = self.api('/benchmarks', {
                'spec': {'samples': 1000000, 'run': {'manifest': self.manifest(), 'device': 'page-1', 'threads': 2}}, 'runDeadlineNs': str(int(60e9))})['jobId']
            ended = self.ended(job)
            self.assertEqual(ended['state'], 'FAILED', ended)
            self.assertIn('a worker of the program ended without a word', ended['error']['message'])
            self.assertLess(time.monotonic() - begin, 30)
            self.await_no_programs()
        self.begin()
        self.run_digits()

    def test_a_server_of_an_older_protocol_is_told_of(self):
        def newer(path, body):
            if path != '/api/v1/agents':
                return body
            return json.dumps({**json.loads(body), 'minProtocol': 99, 'maxProtocol': 99}).encode()
        with between.Between(self.site.page, request=newer) as page:
            self.browser.open(f'{page.address}/device#token={self.agent}&id=page-1')
            self.browser.wait_text('protocol versions 99 to 99')
            self.browser.wait_text('Make this page a device')
        self.begin()
        self.run_digits()

    def test_cancelling(self):
        self.begin()
        for threads in (1, 3):
            job = self.begin_benchmark(threads=threads)
            self.browser.wait(f'{WORKERS}.then((count) => count >= {threads})', 'all workers of the program are there')
            self.api(f'/jobs/{job}/cancel', {})
            self.assertEqual(self.ended(job)['state'], 'CANCELLED')
            self.browser.wait_text('stopped')
            self.await_no_programs()
        self.run_digits()

    def test_too_much_memory(self):
        self.begin(memory=64)
        for threads in ('1', '2'):
            done = self.command('run', self.graph('large', LARGE), '--device', 'page-1', '--threads', threads)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn('this page allows 64 MiB', done.stderr)
        self.run_digits()

    def test_a_page_that_is_closed_goes_at_once(self):
        self.begin()
        job = self.begin_benchmark()
        begin = time.monotonic()
        self.browser.open('about:blank')
        self.await_state('lost', 10)
        # Sooner than silence would tell, which is 3 s here.
        self.assertLess(time.monotonic() - begin, 2.5)
        self.assertIn(self.api(f'/jobs/{job}')['state'], ('QUEUED', 'FAILED'))
        self.begin(state='busy')
        # What was under way is given out again, to the page that has come.
        end = time.monotonic() + 20
        while self.api(f'/jobs/{job}')['state'] != 'RUNNING':
            self.assertLess(time.monotonic(), end, self.api(f'/jobs/{job}'))
            time.sleep(0.05)
        self.api(f'/jobs/{job}/cancel', {})
        self.run_digits()

    def test_a_browser_that_ends(self):
        self.begin()
        job = self.begin_benchmark()
        self.browser.close()
        self.await_state('lost', 10)
        self.assertIn(self.api(f'/jobs/{job}')['state'], ('QUEUED', 'FAILED'))
        self.api(f'/jobs/{job}/cancel', {})

    def test_processes_that_go_and_come(self):
        self.begin()
        for process in (self.site.web, self.site.server):
            process.kill()
            self.browser.wait_text('away')
            process.restart()
            self.browser.wait('return document.querySelector(".badge.good")?.innerText === "ready"', 'the device is ready again')
            self.await_state('idle')
            self.run_digits()

    def test_who_may(self):
        for token, words in [('slipway_wrong.TOKEN', 'none of this server'), (self.site.token('user', 'ada'), 'is not agent'),
                             (self.site.token('agent', 'other'), "who has joined as 'other'")]:
            self.browser.open('about:blank')
            self.browser.open(f'{self.site.page}/device#token={token}&id=page-1')
            self.browser.wait_text(words)
            self.browser.wait_text('Make this page a device')
        self.assertNotIn('#', self.browser.address())
        # By hand, with the name that the token has.
        self.browser.type('#token', self.agent)
        self.browser.click('form button')
        self.browser.wait('return document.querySelector(".badge.good")?.innerText === "ready"', 'the device is ready')
        self.assertIn('page-1', self.browser.text())
        # An agent's token reads no jobs, devices or accounts.
        for path in ('/jobs', '/devices', '/identities'):
            request = urllib.request.Request(f'{self.site.page}/api/v1{path}', headers={'Authorization': f'Bearer {self.agent}'})
            with self.assertRaises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(request, timeout=30)
            self.assertEqual(refused.exception.code, 403)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
