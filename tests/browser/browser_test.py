#!/usr/bin/python3
"""The page in a browser, against real processes: a model dropped and followed, results compared, processes that go and come."""

import base64
import json
import sys
import unittest

import site_of_test as site
from webdriver import Browser

# What a model of another's may be called.
MARKUP = '<img src=x onerror="document.title=1"><script>alert(1)</script>.onnx'

# Texts that are harder to read on what is behind them than WCAG 2.1 (1.4.3, level AA) allows.
FAINT = '''
const numbers = (colour) => (colour.match(/[\\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
const light = (colour) => {
  const [r, g, b] = numbers(colour).map((c) => (c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const behind = (e) => {
  for (; e; e = e.parentElement) {
    const colour = getComputedStyle(e).backgroundColor;
    if ((numbers(colour)[3] ?? 1) > 0.99) return colour;
  }
  return 'rgb(255, 255, 255)';
};
const bad = [];
for (const e of document.querySelectorAll('body *')) {
  const text = [...e.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data.trim()).join('');
  const style = getComputedStyle(e);
  if (!text || e.closest('title, .unseen, .skip, option, [hidden]') || style.visibility === 'hidden' || !e.getClientRects().length) continue;
  const [a, b] = [light(e instanceof SVGElement ? style.fill : style.color), light(behind(e))];
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < 4.5) bad.push(`${text.slice(0, 40)}: ${ratio.toFixed(2)}`);
}
return bad;
'''


class BrowserTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.site = site.Site()
        cls.addClassCleanup(cls.site.close)
        cls.user = cls.site.token('user', 'ada')
        cls.admin = cls.site.token('user+admin', 'grace')
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def tearDown(self):
        self.assertEqual(self.complaints(), [])

    def complaints(self):
        # What a test has the page ask for in vain, the browser says as well.
        return [line for line in self.browser.complaints()
                if 'the server responded with a status of' not in line and 'ERR_' not in line]

    def sign_in(self, token, path='/devices'):
        self.browser.open('about:blank')
        self.browser.open(f'{self.site.page}{path}#token={token}')
        self.browser.wait_text('Sign out')

    def drop(self, name, content):
        self.browser.run(site.DROP, base64.b64encode(content).decode(), name)

    def api(self, path):
        return self.browser.run_waiting(
            'const done = arguments[1]; fetch(arguments[0]).then((r) => r.json()).then(done);', path)

    def measure(self, device):
        return json.loads(self.site.slipway(
            'bench', site.DIGITS, '--device', device, '--profile', '--json'))

    def test_signing_in(self):
        browser = self.browser
        browser.open('about:blank')
        browser.open(f'{self.site.page}/jobs')
        browser.command('Network.clearBrowserCookies')
        browser.open(f'{self.site.page}/jobs')
        browser.wait_text('Token')
        browser.type('#token', 'slipway_wrong.TOKEN')
        browser.keys('\ue007')  # Enter
        browser.wait_text('none of this server')
        browser.run("document.getElementById('token').value = ''")
        browser.type('#token', self.user)
        browser.keys('\ue007')
        browser.wait_text('Sign out')
        # Where one wanted to go; a user is shown no accounts, and the cookie is no script's.
        self.assertEqual(browser.address(), f'{self.site.page}/jobs')
        self.assertNotIn('Access', browser.run("return document.getElementById('nav').innerText"))
        self.assertEqual(browser.run('return document.cookie'), '')
        browser.open(f'{self.site.page}/access')
        browser.wait("return document.querySelector('.problem')", 'the refusal')
        # Signed out elsewhere: the page asks again, and stays where it is.
        browser.run_waiting("const done = arguments[0]; fetch('/api/v1/session', {method: 'DELETE'}).then(() => done());")
        browser.click('nav a[href="/history"]')
        browser.wait_text('The session has ended')
        self.assertTrue(browser.address().endswith('/history'))

    def test_a_model_is_dropped_followed_and_compared(self):
        browser = self.browser
        self.sign_in(self.user, '/submit')
        browser.wait_text('Drop a model here')
        with open(site.DIGITS, 'rb') as file:
            self.drop('digits.onnx', file.read())
        browser.wait_text('Distribution of samples', 120)
        self.assertIn('/jobs/', browser.address())
        self.assertIn('succeeded', browser.text())
        browser.wait_text('Roofline')
        first = browser.address().rsplit('/', 1)[1]
        # Its numbers are the command's.
        shown = self.api(f'/api/v1/jobs/{first}/benchmark')
        self.assertEqual(len(shown['samples_ns']), 100)
        self.assertEqual(browser.run("return document.querySelectorAll('svg[aria-label=\"Steps in time\"] rect').length"),
                         len(shown['steps']))
        # Its program, each step with its time.
        browser.run("[...document.querySelectorAll('.head a')].find((a) => a.textContent === 'Program').click()")
        browser.wait_text('Compile key')
        browser.wait(f"return document.querySelectorAll('svg.graph rect.m2').length === {len(shown['steps'])}", 'the graph')
        # A second result, compared with the first by ticking both.
        self.drop_again()
        second = browser.address().rsplit('/', 1)[1]
        self.assertNotEqual(first, second)
        browser.open(f'{self.site.page}/jobs?kinds=BENCHMARK')
        for job in (first, second):
            browser.wait(f"return document.querySelector('input[aria-label$=\"{job}\"]')", job)
            browser.run(f"document.querySelector('input[aria-label$=\"{job}\"]').click()")
        browser.wait_text('Compare 2 results')
        browser.run("[...document.querySelectorAll('.head a')].find((a) => a.textContent.startsWith('Compare')).click()")
        browser.wait_text('Against the first')
        self.assertIn('the base', browser.text())
        self.assertTrue('faster' in browser.text() or 'slower' in browser.text() or 'not told apart' in browser.text()
                        or 'no intervals' in browser.text())
        browser.click('nav a[href="/history"]')
        browser.wait_text('2 results')
        # The graph before and after a pass, drawn and as text.
        compiled = self.api('/api/v1/jobs?kinds=COMPILATION&pageSize=1')['jobs'][0]['id']
        texts = {}
        for name, fused in (('InferType', False), ('FuseOps', True)):
            browser.open(f'{self.site.page}/jobs/{compiled}')
            browser.wait(f"return document.querySelector('button[aria-label=\"graph after {name}\"]')", name)
            browser.run(f"document.querySelector('button[aria-label=\"graph after {name}\"]').click()")
            browser.wait_text(f'The graph after {name}')
            texts[name] = browser.wait("return document.querySelector('pre') && document.querySelector('pre').textContent", 'the graph')
            self.assertEqual('Fused' in texts[name], fused, texts[name][:2000])
            drawn = browser.wait("return [...document.querySelectorAll('svg.graph title')].map((one) => one.textContent)", 'its drawing')
            self.assertEqual(any('Fused' in one for one in drawn), fused, drawn)
            nodes = self.api(f"/api/v1/jobs/{browser.address().rsplit('/', 1)[1]}/graph")['nodes']
            self.assertEqual(len(drawn), len(nodes) + 2, 'nodes, an input and an output')
            self.assertGreater(browser.run("return document.querySelectorAll('svg.graph path.edge').length"), len(nodes) - 1)
        # The whole model, too, by one button.
        browser.open(f'{self.site.page}/jobs/{compiled}')
        browser.wait("return [...document.querySelectorAll('.head button')].find((one) => one.textContent === 'Graph before passes')", 'the button')
        browser.run("[...document.querySelectorAll('.head button')].find((one) => one.textContent === 'Graph before passes').click()")
        browser.wait_text('The model as it came')

    def drop_again(self):
        self.browser.open(f'{self.site.page}/submit')
        self.browser.wait_text('Drop a model here')
        with open(site.DIGITS, 'rb') as file:
            self.drop('digits.onnx', file.read())
        self.browser.wait_text('Distribution of samples', 120)

    def test_times_that_are_short_for_their_clock_are_told(self):
        self.sign_in(self.user)
        remarks = self.browser.run_waiting('''
            const done = arguments[0];
            import('/assets/format.js').then(({clockRemark}) => done([
              clockRemark([99_999, 100_000, 2_000_000, 1], 5_000, 'samples are'), clockRemark([250_000], 5_000, 'runs is'), clockRemark([1], 0, 'runs is')]));
        ''')
        self.assertEqual(remarks, ["Coarse: 2 of 4 samples are shorter than 20 times the 5.00 µs that the device's clock tells apart.", None, None])

    def test_names_with_markup_are_text(self):
        browser = self.browser
        self.sign_in(self.user, '/submit')
        browser.wait_text('Drop a model here')
        # No model either: the job says so, and the page shows it.
        self.drop(MARKUP.replace('/', '|'), b'this is no model')
        browser.wait("return document.querySelector('.problem')", 'why it failed', 120)
        self.assertIn('<img src=x', browser.run("return document.querySelector('.steps-done').innerText"))
        for path in ('/jobs', '/queue', '/history', '/artifacts'):
            browser.open(f'{self.site.page}{path}')
            browser.wait("return document.querySelector('h1')", 'the view')
            self.assertEqual(browser.run("return document.querySelectorAll('main img, main script').length"), 0)
        browser.open(f'{self.site.page}/jobs')
        browser.wait_text('<img src=x')
        browser.run("[...document.querySelectorAll('td a')].find((a) => a.textContent.startsWith('<img')).click()")
        browser.wait_text('failed')
        self.assertIn('<img src=x', browser.run("return document.querySelector('h1').innerText"))
        self.assertNotEqual(browser.run('return document.title'), '1')

    def test_an_agent_and_the_server_go_and_come(self):
        browser = self.browser
        self.sign_in(self.user)
        state = ("const row = [...document.querySelectorAll('tbody tr')].find((r) => r.innerText.includes('board-2'));"
                 "return row && row.querySelector('.badge').innerText")
        browser.wait(state.replace('return row &&', "return row && 'idle' ==="), 'board-2 idle')
        self.site.agents[1].kill()
        browser.wait(state.replace('return row &&', "return row && 'lost' ==="), 'board-2 lost', 30)
        self.site.agents[1].restart()
        browser.wait(state.replace('return row &&', "return row && 'idle' ==="), 'board-2 back', 60)
        self.site.server.kill()
        browser.wait_text('The compile server is away', 30)
        self.site.server.restart()
        browser.wait("return !document.body.innerText.includes('The compile server is away')", 'the server back', 60)
        browser.wait(state.replace('return row &&', "return row && 'idle' ==="), 'board-2 back', 60)
        # The page's own process: the session is gone with it.
        self.site.web.kill()
        browser.wait_text('The connection is lost', 30)
        self.site.web.restart()
        browser.wait_text('The session has ended', 30)

    def test_accounts_are_an_administrators(self):
        browser = self.browser
        self.sign_in(self.admin, '/access')
        browser.wait_text('Who may call the server')
        browser.type('form input[name=name]', 'linus')
        browser.keys('\ue007')
        browser.wait_text('The token of linus')
        token = browser.run("return document.getElementById('made').innerText")
        self.assertTrue(token.startswith('slipway_'))
        browser.wait("return [...document.querySelectorAll('td')].some((td) => td.innerText === 'linus')", 'linus')
        browser.run("[...document.querySelectorAll('tr')].find((r) => r.innerText.includes('linus')).querySelector('button').focus()")
        browser.keys('\ue007')
        browser.wait("return document.querySelector('dialog[open]')", 'the question')
        # Escape is no, and one is where one was.
        browser.keys('\ue00c')
        browser.wait("return !document.querySelector('dialog')", 'its end')
        self.assertIn('linus', browser.run("return document.activeElement.getAttribute('aria-label') ?? ''"))
        browser.keys('\ue007')
        browser.wait("return document.querySelector('dialog[open]')", 'the question')
        browser.click('dialog button[value=yes]')
        browser.wait_text('revoked')
        browser.open('about:blank')
        browser.command('Network.clearBrowserCookies')
        browser.open(f'{self.site.page}/#token={token}')
        browser.wait("return document.querySelector('.problem')", 'the refusal')

    def test_the_keyboard_is_enough(self):
        browser = self.browser
        self.sign_in(self.user)
        browser.wait_text('board-1')
        # The first stop leads past the navigation; each stop can be seen.
        browser.run("document.body.focus(); document.activeElement.blur()")
        browser.keys('\ue004')
        self.assertEqual(browser.run('return document.activeElement.textContent'), 'Skip to content')
        stops = []
        for _ in range(13):
            browser.keys('\ue004')
            stops.append(browser.run(
                "const e = document.activeElement, s = getComputedStyle(e);"
                "return [e.innerText || e.placeholder || '', s.outlineStyle !== 'none']"))
        names = [name for name, _ in stops]
        for name in ('Queue', 'Jobs', 'Sign out', 'Filter', 'board-1'):
            self.assertIn(name, names)
        self.assertTrue(all(seen for _, seen in stops), stops)
        browser.keys('/')
        self.assertEqual(browser.run('return document.activeElement.type'), 'search')
        # Going elsewhere says where one is.
        browser.click('nav a[href="/queue"]')
        browser.wait("return document.activeElement.tagName === 'H1' && document.activeElement.innerText === 'Queue'", 'the focus')
        self.assertEqual(browser.run('return document.querySelector(\'nav a[aria-current="page"]\').innerText'), 'Queue')

    def test_what_is_on_the_page_has_a_name(self):
        browser = self.browser
        self.measure('board-1')
        self.sign_in(self.admin)
        job = self.api('/api/v1/jobs?kinds=BENCHMARK&pageSize=1&ofEverybody=true')['jobs'][0]
        manifest = job['benchmark']['run']['manifest']
        paths = ['/devices', '/devices/board-1', '/queue', '/jobs', f'/jobs/{job["id"]}', f'/compare?ids={job["id"]}', '/history',
                 '/artifacts', f'/artifacts/{manifest["sha256"]}/{manifest["sizeBytes"]}?result={job["id"]}', '/submit', '/status', '/access']
        for path in paths:
            browser.open(f'{self.site.page}{path}')
            browser.wait("return document.querySelector('h1') && !document.body.innerText.includes('Loading …')", path)
            nameless = browser.run('''
              const text = (e) => (e.getAttribute('aria-label') || e.textContent || e.title || '').trim();
              const bad = [];
              for (const e of document.querySelectorAll('a, button')) if (!text(e) && !e.querySelector('[aria-label], title')) bad.push(e.outerHTML);
              for (const e of document.querySelectorAll('input, select')) if (!e.labels?.length && !e.getAttribute('aria-label')) bad.push(e.outerHTML);
              for (const e of document.querySelectorAll('table')) if (!e.caption?.textContent.trim()) bad.push('table without a caption');
              for (const e of document.querySelectorAll('th')) if (e.scope !== 'col' || !e.textContent.trim()) bad.push(e.outerHTML);
              for (const e of document.querySelectorAll('svg[role=img]')) if (!e.getAttribute('aria-label')) bad.push('chart without a name');
              if (document.querySelectorAll('main h1').length !== 1) bad.push('not one h1');
              const ids = [...document.querySelectorAll('[id]')].map((e) => e.id);
              if (new Set(ids).size !== ids.length) bad.push('an id twice');
              return bad;''')
            self.assertEqual(nameless, [], path)
            for scheme in ('dark', 'light'):
                browser.command('Emulation.setEmulatedMedia', features=[{'name': 'prefers-color-scheme', 'value': scheme}])
                self.assertEqual(browser.run(FAINT), [], f'{path}, {scheme}')
            # As wide as a telephone, and at twice the size: nothing is beside the page.
            for width in (390, 640):
                browser.resize(width, 800)
                self.assertLessEqual(browser.run('return document.documentElement.scrollWidth'), width, path)
            browser.resize(1280, 800)

    def test_the_first_view_is_small(self):
        browser = self.browser
        self.sign_in(self.user)
        browser.wait_text('board-1')
        browser.performance()
        browser.command('Network.clearBrowserCache')
        browser.open(f'{self.site.page}/devices')
        browser.wait_text('board-1')
        size = sum(event['params']['encodedDataLength'] for event in browser.performance()
                   if event['method'] == 'Network.loadingFinished')
        self.assertGreater(size, 10_000)
        self.assertLess(size, 200_000)


if __name__ == '__main__':
    sys.exit(unittest.main(verbosity=2))
