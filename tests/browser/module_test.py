#!/usr/bin/python3
"""A model exported for WebAssembly, in Debian's Chromium: in the page itself and in a worker of it."""

import functools
import http.server
import os
import sys
import threading
import unittest

import site_of_test as site
from webdriver import Browser

PAGE = '''<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>waiting</title>
<script type="module">
import { load, MemoryLimitError } from "./digits/index.js";

// The place of the largest of the scores of each image, whose pixels are the end of its file.
const images = await Promise.all([...Array(10).keys()].map(async (i) => new Float32Array((await (await fetch(`images/${i}.npy`)).arrayBuffer()).slice(-256))));
const largest = (scores) => scores.indexOf(Math.max(...scores));
const program = await load();
const [{ name }] = program.inputs;
const [output] = program.outputs;
const page = images.map((image) => largest(program.run({ [name]: image })[output.name]));

const worker = new Worker("worker.js", { type: "module" });
const inWorker = await new Promise((resolve, reject) => {
  worker.onmessage = ({ data }) => resolve(data);
  worker.onerror = (event) => reject(new Error(event.message));
  worker.postMessage(images);
});

let refused = "nothing";
try {
  await load({ maxMemoryBytes: 1 << 20 });
} catch (error) {
  refused = error instanceof MemoryLimitError ? error.name : String(error);
}
window.results = { page, worker: inWorker.map(largest), refused };
document.title = "done";
</script>'''

WORKER = '''import { load } from "./digits/index.js";
const loaded = load();
onmessage = async ({ data }) => {
  const program = await loaded;
  postMessage(data.map((image) => program.run({ [program.inputs[0].name]: image })[program.outputs[0].name]));
};
'''


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format, *args):  # pylint: disable=redefined-builtin
        pass


class ModuleTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.site = site.Site(agents=0)
        cls.addClassCleanup(cls.site.close)
        cls.folder = os.path.join(cls.site.folder, 'www')
        os.mkdir(cls.folder)
        cls.site.slipway('export', site.DIGITS, '--target', 'wasm-32-wasi-simd128', '-o', os.path.join(cls.folder, 'digits'))
        os.symlink(os.path.join(os.path.dirname(os.path.realpath(site.DIGITS)), 'images'), os.path.join(cls.folder, 'images'))
        for name, text in [('index.html', PAGE), ('worker.js', WORKER)]:
            with open(os.path.join(cls.folder, name), 'w', encoding='utf-8') as file:
                file.write(text)
        server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), functools.partial(Quiet, directory=cls.folder))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        cls.addClassCleanup(server.server_close)
        cls.addClassCleanup(server.shutdown)
        cls.address = f'http://127.0.0.1:{server.server_address[1]}/'
        cls.browser = Browser(performance=False)
        cls.addClassCleanup(cls.browser.close)

    def test_digits_in_a_page_and_in_its_worker(self):
        self.browser.open(self.address)
        self.browser.wait('return document.title === "done"', 'the model has run')
        results = self.browser.run('return window.results')
        self.assertEqual(results['page'], list(range(10)))
        self.assertEqual(results['worker'], list(range(10)))
        self.assertEqual(results['refused'], 'MemoryLimitError')


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
