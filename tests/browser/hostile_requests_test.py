#!/usr/bin/python3
"""Ten thousand requests with hostile paths, headers and bodies, over sockets: the page's process stays alive, and closed."""

import http.client
import json
import os
import random
import socket
import sys
import unittest

import site_of_test as site

REQUESTS = 10_000

METHODS = [b'GET', b'POST', b'DELETE', b'HEAD', b'PUT', b'OPTIONS', b'TRACE', b'CONNECT', b'PRI', b'\xff', b'get', b'']
PATHS = [b'/', b'/api/v1/jobs', b'/api/v1/devices', b'/api/v1/session', b'/api/v1/models?name=a', b'/api/v1/events?topics=devices',
         b'/api/v1/identities', b'/api/v1/jobs/01M87E2F79P2GK6ZM16VNHREQ8/events', b'/api/v1/artifacts/00/1/manifest', b'/assets/app.js',
         b'/api/v1/tokens', b'/api/v1/history/series', b'/../../etc/passwd', b'/assets/..%2f..%2fetc%2fpasswd', b'/%00', b'//', b'*',
         b'http://evil.example/', b'/' + b'a' * 4000, b'/?' + b'x=1&' * 500, b'/api/v1/' + b'%2e' * 200]
HEADERS = [b'Host: 127.0.0.1', b'Host: evil.example', b'Host:', b'Origin: http://evil.example', b'Origin: null', b'Cookie: slipway_session=0',
           b'Cookie: ' + b'a=b;' * 800, b'Authorization: Bearer slipway_x.y', b'Authorization: Bearer ' + b'z' * 2000, b'Authorization: Basic Og==',
           b'Content-Length: 5', b'Content-Length: 5000000000', b'Content-Length: -1', b'Content-Length: 5\r\nContent-Length: 6',
           b'Transfer-Encoding: chunked', b'Transfer-Encoding: chunked, chunked', b'Expect: 100-continue', b'Connection: upgrade', b'Upgrade: websocket',
           b'Last-Event-ID: x', b'If-None-Match: "' + b'q' * 500 + b'"', b'Sec-Fetch-Site: same-origin', b'X: \x00\x01', b'X' * 9000 + b': y', b': empty', b' folded']
BODIES = [b'', b'hello', b'{"token":"', b'{"token":"x"}', b'{' * 500, b'[' * 500, b'5\r\nhello\r\n0\r\n\r\n', b'ffffffffffffffff\r\n', b'\x00' * 100, b'\xff\xfe' * 50]


def request(rng):
    lines = [rng.choice(METHODS) + b' ' + rng.choice(PATHS) + b' ' + rng.choice([b'HTTP/1.1', b'HTTP/1.0', b'HTTP/2.0', b'HTTP/9', b''])]
    lines += rng.sample(HEADERS, rng.randrange(6))
    raw = bytearray(b'\r\n'.join(lines) + b'\r\n\r\n' + rng.choice(BODIES))
    for _ in range(rng.choice([0, 0, 1, 4])):
        raw[rng.randrange(len(raw))] = rng.randrange(256)
    return bytes(raw)


class HostileRequestsTest(unittest.TestCase):
    def devices(self, host, port, token):
        """How many somebody sees who is let in."""
        connection = http.client.HTTPConnection(host, int(port), timeout=60)
        self.addCleanup(connection.close)
        connection.request('GET', '/api/v1/devices', headers={'Authorization': f'Bearer {token}'})
        answer = connection.getresponse()
        self.assertEqual(answer.status, 200)
        return json.loads(answer.read())['total']

    def test_stays_alive_and_closed(self):
        page = site.Site(agents=1)
        self.addCleanup(page.close)
        host, port = page.page.removeprefix('http://').rsplit(':', 1)
        token = page.token('user', 'ada')
        rng = random.Random(1)
        shown = []
        self.assertEqual(self.devices(host, port, token), 1)
        for number in range(REQUESTS):
            with socket.create_connection((host, int(port)), timeout=60) as connection:
                try:
                    connection.sendall(request(rng))
                    connection.shutdown(socket.SHUT_WR)
                    answer = b''
                    while piece := connection.recv(1 << 16):
                        answer += piece
                except OSError:  # It had enough before all was sent.
                    continue
            head, _, body = answer.partition(b'\r\n\r\n')
            self.assertNotIn(b' 500 ', head.split(b'\r\n')[0], number)
            # Nobody was let in: the page's files, and what says why not, are all that is given.
            if head.startswith(b'HTTP/1.1 200') and b'application/json' in head and not body.startswith(b'{}'):
                shown.append(body)
        self.assertEqual(shown, [])
        self.assertTrue(page.web.process.poll() is None, page.log())
        descriptors = len(os.listdir(f'/proc/{page.web.process.pid}/fd'))
        self.assertLess(descriptors, 64)
        with open(f'/proc/{page.web.process.pid}/status', encoding='utf-8') as file:
            peak = next(int(line.split()[1]) for line in file if line.startswith('VmHWM'))
        self.assertLess(peak, 200_000, 'KiB')
        self.assertEqual(self.devices(host, port, token), 1)
        print(f'{REQUESTS} requests; {descriptors} descriptors open, at most {peak // 1024} MiB of memory')

    def test_a_large_upload_is_refused_before_it_comes(self):
        page = site.Site(agents=0)
        self.addCleanup(page.close)
        host, port = page.page.removeprefix('http://').rsplit(':', 1)
        token = page.token('user', 'ada')
        head = {'Authorization': f'Bearer {token}'}
        connection = http.client.HTTPConnection(host, int(port), timeout=60)
        self.addCleanup(connection.close)
        connection.request('GET', '/api/v1/session', headers=head)
        self.assertIn(b'maxUploadBytes', connection.getresponse().read())
        with socket.create_connection((host, int(port)), timeout=60) as large:
            large.sendall(f'POST /api/v1/models?name=a.onnx HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {token}\r\n'
                          'Content-Length: 5000000000\r\n\r\n'.encode())
            self.assertIn(b' 413 ', large.recv(1 << 16))
        # One of a size that is allowed is kept on the disk, not in memory.
        piece = os.urandom(1 << 20)
        connection.request('POST', '/api/v1/models?name=a.onnx', headers={**head, 'Content-Length': str(300 << 20)},
                           body=(piece for _ in range(300)))
        self.assertEqual(connection.getresponse().status, 200)
        with open(f'/proc/{page.web.process.pid}/status', encoding='utf-8') as file:
            peak = next(int(line.split()[1]) for line in file if line.startswith('RssAnon'))
        self.assertLess(peak, 100_000, 'KiB')


if __name__ == '__main__':
    sys.exit(unittest.main(verbosity=2))
