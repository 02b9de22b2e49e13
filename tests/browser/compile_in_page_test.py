#!/usr/bin/python3
"""client/js against real processes, in Node and in Debian's Chromium: a model goes to the server and is run where it came from."""

import base64
import os
import subprocess
import sys
import unittest

import site_of_test as site
from webdriver import Browser

CLIENT = os.path.join(site.RUNFILES, 'client', 'js')
IMAGES = os.path.join(os.path.dirname(site.DIGITS), 'images')

# In a page of slipway-web's own, with the cookie of who is signed in.
RUN = '''
const [model, images, done] = arguments;
const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
(async () => {
  const { compile, ServerError } = await import('/assets/server.js');
  const stages = new Set();
  const program = await compile(bytes(model), { name: 'digits.onnx', onProgress: ({ stage }) => stages.add(stage) });
  const [{ name }] = program.inputs;
  const read = images.map((image) => {
    const scores = program.run({ [name]: new Float32Array(bytes(image).slice(-256).buffer) })[program.outputs[0].name];
    return scores.indexOf(Math.max(...scores));
  });
  let refused;
  try {
    await compile(bytes(model), { token: 'slipway_wrong.TOKEN' });
  } catch (error) {
    refused = error instanceof ServerError ? error.code : String(error);
  }
  return { read, stages: [...stages], refused };
})().then(done, (error) => done({ error: String(error) }));
'''


def text_of(path):
    with open(path, 'rb') as file:
        return base64.b64encode(file.read()).decode()


class CompileInPageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.site = site.Site(agents=0)
        cls.addClassCleanup(cls.site.close)
        cls.user = cls.site.token('user', 'ada')

    def test_in_node(self):
        done = subprocess.run(
            ['node', '--test', os.path.join(site.RUNFILES, 'tests', 'browser', 'server_test.mjs')],
            check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=240,
            env={'PATH': '/usr/bin:/bin', 'BASE': self.site.page, 'TOKEN': self.user, 'CLIENT': CLIENT,
                 'DIGITS': site.DIGITS, 'IMAGES': IMAGES})
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_in_a_page(self):
        browser = Browser(performance=False)
        self.addCleanup(browser.close)
        browser.open(f'{self.site.page}/devices#token={self.user}')
        browser.wait_text('Sign out')
        browser.open(f'{self.site.page}/device')
        browser.wait_text('Make this page a device')
        results = browser.run_waiting(RUN, text_of(site.DIGITS), [text_of(os.path.join(IMAGES, f'{i}.npy')) for i in range(10)])
        self.assertNotIn('error', results, results)
        self.assertEqual(results['read'], list(range(10)))
        self.assertIn('fetch', results['stages'])
        self.assertEqual(results['refused'], 'UNAUTHENTICATED')


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
