"""A browser to look at pages with: chromedriver over the WebDriver protocol (W3C), by the standard library alone."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ELEMENT = 'element-6066-11e4-a52e-4f735466cecf'


class BrowserError(Exception):
    """What the driver says went wrong."""


class Browser:
    """One headless Chromium with a profile of its own, until close()."""

    def __init__(self, dark=False, width=1280, height=900, performance=True, any_certificate=False):
        """Without `performance`, which costs time, performance() has nothing. With `any_certificate`, those are taken that
        nobody vouches for."""
        self._folder = tempfile.mkdtemp(prefix='slipway-browser')
        read, write = os.pipe()
        self._driver = subprocess.Popen(
            ['/usr/bin/chromedriver', '--port=0', '--log-level=SEVERE'],
            stdout=write, stderr=subprocess.DEVNULL,
            env={**os.environ, 'HOME': self._folder})
        os.close(write)
        self._session = None
        with os.fdopen(read) as lines:
            for line in lines:
                if 'started successfully on port' in line:
                    self._port = int(line.rsplit(' ', 1)[1].strip().rstrip('.'))
                    break
            else:
                raise BrowserError('chromedriver ended before it listened')
        arguments = [
            '--headless=new', f'--user-data-dir={self._folder}/profile',
            f'--window-size={width},{height}', '--disable-gpu',
            '--disable-dev-shm-usage', '--no-first-run',
            '--disable-background-networking', '--disable-component-update',
            '--disable-sync', '--force-device-scale-factor=1', '--hide-scrollbars']
        if dark:
            arguments.append('--blink-settings=preferredColorScheme=0')
        if os.geteuid() == 0:
            # Chromium refuses to run as root with its sandbox, and tests of CI are root's; the pages are our own.
            arguments.append('--no-sandbox')
        made = self._call('POST', '/session', {'capabilities': {'alwaysMatch': {
            'browserName': 'chrome',
            'acceptInsecureCerts': any_certificate,
            'goog:loggingPrefs': {'browser': 'ALL', **({'performance': 'ALL'} if performance else {})},
            'goog:chromeOptions': {'binary': '/usr/bin/chromium', 'args': arguments},
        }}})
        self._session = made['sessionId']
        self.pid = self._driver.pid

    def close(self):
        if self._session:
            try:
                self._call('DELETE', '')
            except (BrowserError, OSError):
                pass
        self._driver.terminate()
        self._driver.wait(20)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _call(self, method, path, body=None):
        address = f'http://127.0.0.1:{self._port}'
        address += f'/session/{self._session}{path}' if self._session else path
        request = urllib.request.Request(
            address, method=method,
            data=None if body is None else json.dumps(body).encode())
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)['value']
        except urllib.error.HTTPError as error:
            raise BrowserError(json.load(error)['value']['message']) from None

    def open(self, address):
        self._call('POST', '/url', {'url': address})

    def address(self):
        return self._call('GET', '/url')

    def run(self, script, *arguments):
        """What a function of this body returns."""
        return self._call('POST', '/execute/sync',
                          {'script': script, 'args': list(arguments)})

    def run_waiting(self, script, *arguments):
        """What a function of this body gives to its last argument."""
        return self._call('POST', '/execute/async',
                          {'script': script, 'args': list(arguments)})

    def command(self, name, **parameters):
        """A command of the DevTools protocol."""
        return self._call('POST', '/goog/cdp/execute',
                          {'cmd': name, 'params': parameters})

    def find(self, selector):
        return self._call('POST', '/element',
                          {'using': 'css selector', 'value': selector})[ELEMENT]

    def type(self, selector, text):
        self._call('POST', f'/element/{self.find(selector)}/value', {'text': text})

    def click(self, selector):
        self._call('POST', f'/element/{self.find(selector)}/click', {})

    def keys(self, *names):
        """Presses keys one after the other, as their names in WebDriver."""
        self._call('POST', '/actions', {'actions': [{
            'type': 'key', 'id': 'keys',
            'actions': [{'type': kind, 'value': name} for name in names
                        for kind in ('keyDown', 'keyUp')]}]})

    def text(self):
        return self.run('return document.body.innerText')

    def wait(self, script, what, seconds=60):
        """Until a function of this body returns what counts as true; returns it."""
        end = time.monotonic() + seconds
        while True:
            value = self.run(script)
            if value:
                return value
            if time.monotonic() > end:
                raise BrowserError(f'{what} did not come about; the page says:\n{self.text()}')
            time.sleep(0.05)

    def wait_text(self, text, seconds=60):
        self.wait(f'return document.body.innerText.includes({json.dumps(text)})',
                  repr(text), seconds)

    def resize(self, width, height):
        self.command('Emulation.setDeviceMetricsOverride', width=width,
                     height=height, deviceScaleFactor=1, mobile=width < 600)

    def whole_picture(self, width=1280, most=2600):
        """A PNG of the page from top to bottom, or as far down as this."""
        self.resize(width, 800)
        height = self.run('return document.querySelector("main").getBoundingClientRect().bottom + scrollY') + 1
        self.resize(width, int(min(max(height, 400), most)))
        return base64.b64decode(self._call('GET', '/screenshot'))

    def complaints(self):
        """What the console has got since this was last asked, of warnings and errors."""
        entries = self._call('POST', '/se/log', {'type': 'browser'})
        return [entry['message'] for entry in entries
                if entry['level'] in ('WARNING', 'SEVERE')]

    def performance(self):
        """Events of the DevTools protocol since this was last asked."""
        entries = self._call('POST', '/se/log', {'type': 'performance'})
        return [json.loads(entry['message'])['message'] for entry in entries]
