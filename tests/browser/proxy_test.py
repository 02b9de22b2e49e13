#!/usr/bin/python3
"""The page behind HAProxy with the configuration in deploy/haproxy, which speaks TLS with the browser."""

import base64
import contextlib
import os
import socket
import ssl
import subprocess
import sys
import time
import unittest
import urllib.error
import urllib.request

import site_of_test as site
from webdriver import Browser

HAPROXY = '/usr/sbin/haproxy'
CONFIGURATION = os.path.join(site.RUNFILES, 'deploy', 'haproxy', 'page.cfg')


def free_port():
    with socket.socket() as listener:
        listener.bind(('127.0.0.1', 0))
        return listener.getsockname()[1]


def make_certificate(path):
    subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2',
                    '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-keyout', path, '-out', f'{path}.crt'],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(f'{path}.crt', encoding='ascii') as certificate, open(path, 'a', encoding='ascii') as both:
        both.write(certificate.read())


class ProxyTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        port, behind = free_port(), f'127.0.0.1:{free_port()}'
        cls.origin = f'https://localhost:{port}'
        cls.site = site.Site(agents=1, web_flags=[f'--origin={cls.origin}'], web_listen=behind)
        cls.addClassCleanup(cls.site.close)
        certificate = os.path.join(cls.site.folder, 'page.pem')
        make_certificate(certificate)
        cls.haproxy = subprocess.Popen(
            [HAPROXY, '-db', '-f', CONFIGURATION],
            env={**os.environ, 'SLIPWAY_PAGE_FRONT': f'127.0.0.1:{port}', 'SLIPWAY_PAGE_CERTIFICATE': certificate,
                 'SLIPWAY_PAGE': behind})
        cls.addClassCleanup(cls.haproxy.wait)
        cls.addClassCleanup(cls.haproxy.kill)
        while cls.haproxy.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(('127.0.0.1', port)):
                break
            time.sleep(0.01)
        cls.token = cls.site.token('user', 'ada')

    def test_a_model_is_dropped_and_followed_and_the_fleet_is_live(self):
        browser = Browser(any_certificate=True)
        self.addCleanup(browser.close)
        browser.open(f'{self.origin}/submit#token={self.token}')
        browser.wait_text('Sign out')
        cookie, = browser.command('Network.getCookies')['cookies']
        self.assertTrue(cookie['secure'] and cookie['httpOnly'], cookie)
        browser.wait_text('Drop a model here')
        with open(site.DIGITS, 'rb') as file:
            browser.run(site.DROP, base64.b64encode(file.read()).decode(), 'digits.onnx')
        browser.wait_text('Distribution of samples', 120)
        browser.click('nav a[href="/devices"]')
        browser.wait_text('board-1')
        self.site.agents[0].kill()
        browser.wait_text('lost')
        self.assertEqual(browser.complaints(), [])

    def status(self, headers):
        request = urllib.request.Request(f'{self.origin}/api/v1/session', method='POST', data=b'{}',
                                         headers={'Content-Type': 'application/json', **headers})
        anyone = ssl.create_default_context()
        anyone.check_hostname, anyone.verify_mode = False, ssl.CERT_NONE
        try:
            with urllib.request.urlopen(request, context=anyone, timeout=60) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    def test_others_pages_cannot_act_through_it(self):
        self.assertEqual(self.status({'Origin': 'https://evil.example'}), 403)
        self.assertNotEqual(self.status({'Origin': self.origin}), 403)
        self.assertNotIn(self.status({'Origin': self.origin, 'Host': 'evil.example'}), (200, 201))


if __name__ == '__main__':
    sys.exit(unittest.main(verbosity=2))
