"""A proxy before slipway-web for tests: what passes is changed on its way."""

import http.client
import http.server
import threading
import urllib.parse

# Of one hop alone (RFC 9110, section 7.6.1).
HOP = ('connection', 'transfer-encoding', 'keep-alive', 'host', 'origin', 'content-length')


class Between:
    """Until the end of its `with`: `address` stands for the page at `page`. request(path, body) is the body to send on in place of
    one; answer(path) the content of a script in place of the server's, None for its own; `without` the headers that answers lose."""

    def __init__(self, page, request=lambda path, body: body, answer=lambda path: None, without=()):
        left_out = {*HOP, *(name.lower() for name in without)}
        self._server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), _handler(page, request, answer, left_out))
        self._server.daemon_threads = True
        self.address = f'http://127.0.0.1:{self._server.server_address[1]}'

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()


def _handler(page, request, answer, left_out):
    upstream = urllib.parse.urlsplit(page).netloc

    class Handler(http.server.BaseHTTPRequestHandler):

        def _pass(self):
            body = self.rfile.read(int(self.headers.get('Content-Length') or 0))
            if body:
                body = request(self.path, body)
            headers = {name: value for name, value in self.headers.items() if name.lower() not in HOP}
            headers['Host'] = upstream
            if 'Origin' in self.headers:
                headers['Origin'] = page
            connection = http.client.HTTPConnection(upstream)
            connection.request(self.command, self.path, body or None, headers)
            given = connection.getresponse()
            self.send_response(given.status)
            for name, value in given.getheaders():
                if name.lower() not in left_out:
                    self.send_header(name, value)
            self.send_header('Connection', 'close')
            self.end_headers()
            self.close_connection = True
            instead = answer(self.path)
            try:
                if instead is not None:
                    self.wfile.write(instead)
                # A stream is passed on as it comes.
                while instead is None and (some := given.read1(1 << 16)):
                    self.wfile.write(some)
                    self.wfile.flush()
            except OSError:
                pass  # Either side has gone.
            finally:
                connection.close()

        do_GET = do_POST = do_DELETE = do_PUT = _pass

        def log_message(self, *_):
            pass

    return Handler
