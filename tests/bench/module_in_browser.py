#!/usr/bin/python3
"""module_in_browser.py FOLDER SAMPLES THREADS: the least milliseconds of a run of an export of f32 inputs, in a worker of a page in Debian's Chromium."""

import functools
import http.server
import os
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(os.path.dirname(HERE), 'browser'))
from webdriver import Browser  # pylint: disable=wrong-import-position

# Files of this server that no folder has.
FILES = {
    '/': ('text/html', b'<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>page</title>'),
    '/timing.js': ('text/javascript', b'''
import { load } from "./module/index.js";
import { timeModule } from "./module_timing.mjs";
onmessage = ({ data: { samples, threads } }) => timeModule(() => load({ threads }), samples, false).then(postMessage, (error) => postMessage({ error: String(error) }));
'''),
}
TIME = '''
const [samples, threads, done] = arguments;
const worker = new Worker('/timing.js', { type: 'module' });
worker.onmessage = ({ data }) => done({ ...data, isIsolated: crossOriginIsolated });
worker.onerror = (event) => done({ error: event.message });
worker.postMessage({ samples, threads });
'''


class Handler(http.server.SimpleHTTPRequestHandler):
    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, '.mjs': 'text/javascript', '.js': 'text/javascript', '.wasm': 'application/wasm'}

    def log_message(self, format, *args):  # pylint: disable=redefined-builtin
        pass

    def end_headers(self):
        # With these a page's clock tells 5 us apart, and else 100 us.
        self.send_header('Cross-Origin-Opener-Policy', 'same-origin')
        self.send_header('Cross-Origin-Embedder-Policy', 'require-corp')
        super().end_headers()

    def do_GET(self):  # pylint: disable=invalid-name
        if self.path not in FILES:
            super().do_GET()
            return
        kind, content = FILES[self.path]
        self.send_response(200)
        self.send_header('Content-Type', kind)
        self.send_header('Content-Length', str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def translate_path(self, path):
        if path == '/module_timing.mjs':
            return os.path.join(HERE, 'module_timing.mjs')
        return super().translate_path(path.removeprefix('/module'))


def main(folder, samples, threads):
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), functools.partial(Handler, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    browser = Browser(performance=False)
    try:
        browser.open(f'http://127.0.0.1:{server.server_address[1]}/')
        result = browser.run_waiting(TIME, int(samples), int(threads))
    finally:
        browser.close()
        server.shutdown()
    if 'error' in result:
        sys.exit(f'the page says: {result["error"]}')
    if not result['isIsolated']:
        sys.exit('the page has a coarse clock')
    print(result['least'])


if __name__ == '__main__':
    main(*sys.argv[1:])
