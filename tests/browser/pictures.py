#!/usr/bin/python3
"""Makes the pictures of server/web/README.md, from real processes in Chromium.

Usage: bazel run //tests/browser:pictures -- FOLDER [MODEL...]
MODELs are measured beside the example, and shown by their names.
"""

import os
import struct
import subprocess
import sys
import zlib

RUNFILES = os.getcwd()  # Where `bazel run` begins.
os.environ['SLIPWAY_TEST_RUNFILES'] = RUNFILES
sys.path.insert(0, os.path.join(RUNFILES, 'tests', 'browser'))

import numpy as np  # pylint: disable=wrong-import-position
import site_of_test as site  # pylint: disable=wrong-import-position
from webdriver import Browser  # pylint: disable=wrong-import-position

COLOURS = 255
HEIGHT = 1150


def pixels(png):
    """Of a PNG of eight bits a channel, as Chromium writes it."""
    at, data = 8, b''
    while at < len(png):
        size, kind = struct.unpack('>I4s', png[at:at + 8])
        if kind == b'IHDR':
            width, height, depth, colour, _, _, interlaced = struct.unpack('>IIBBBBB', png[at + 8:at + 21])
            assert depth == 8 and colour in (2, 6) and not interlaced
        if kind == b'IDAT':
            data += png[at + 8:at + 8 + size]
        at += size + 12
    channels = 3 if colour == 2 else 4
    rows = np.frombuffer(zlib.decompress(data), np.uint8).reshape(height, 1 + width * channels)
    picture = np.zeros((height, width * channels), np.uint8)
    before = np.zeros(width * channels, np.uint8)
    for y in range(height):
        kind, row = rows[y, 0], rows[y, 1:]
        line = row.copy()
        if kind == 1:
            line = np.cumsum(row.reshape(width, channels), axis=0, dtype=np.uint8).reshape(-1)
        elif kind == 2:
            line = row + before
        elif kind in (3, 4):
            values = [0] * len(row)
            for i, value in enumerate(row.tolist()):
                left = values[i - channels] if i >= channels else 0
                up = int(before[i])
                corner = int(before[i - channels]) if i >= channels else 0
                guess = (left + up) // 2 if kind == 3 else min(
                    (left, up, corner), key=lambda v, p=left + up - corner: abs(p - v))
                values[i] = (value + guess) & 255
            line = np.array(values, np.uint8)
        picture[y] = before = line
    return picture.reshape(height, width, channels)[:, :, :3]


def small(png):
    """The same in as many colours as an index of eight bits has: the most frequent ones."""
    picture = pixels(png)
    wide = picture.astype(np.uint32)
    keys = (wide[:, :, 0] << 16) | (wide[:, :, 1] << 8) | wide[:, :, 2]
    found, index, counts = np.unique(keys, return_inverse=True, return_counts=True)
    kept = found[np.argsort(-counts)[:COLOURS]]
    split = lambda k: np.stack([k >> 16, (k >> 8) & 255, k & 255], axis=-1).astype(np.int32)
    nearest = np.abs(split(found)[:, None] - split(kept)[None]).sum(axis=2).argmin(axis=1).astype(np.uint8)
    indexed = nearest[index].reshape(keys.shape)
    palette = split(kept).astype(np.uint8)
    chunk = lambda kind, data: struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
    rows = np.hstack([np.zeros((indexed.shape[0], 1), np.uint8), indexed]).tobytes()
    return (b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', indexed.shape[1], indexed.shape[0], 8, 3, 0, 0, 0)) +
            chunk(b'PLTE', palette.tobytes()) + chunk(b'IDAT', zlib.compress(rows, 9)) + chunk(b'IEND', b''))


def fill(page, models):
    """What there is to see."""
    for i in range(6):
        page.slipway('bench', site.DIGITS, '--profile', '--device', 'board-1', '--tag', f'run={i}')
    for _ in range(4):
        page.slipway('bench', site.DIGITS, '--profile', '--device', 'board-1', '--dimension', 'batch=1')
    for model in models:
        page.slipway('bench', model, '--profile', '--device', 'board-2')
        page.slipway('bench', model, '--profile', '--device', 'board-2', '--precision', 'bf16')
    broken = f'{page.folder}/broken.onnx'
    with open(broken, 'w', encoding='utf-8') as file:
        file.write('this is no model')
    subprocess.run([site.COMMAND, 'compile', broken, '--target', 'x86-64-v3-linux', '--server', page.address],
                   check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    page.slipway('reserve', 'board-3', '--for', '2h', '--purpose', 'release measurements', '--from', '+30m')


def addresses(browser):
    """Of each view, by the name of its picture."""
    ask = lambda path: browser.run_waiting(
        'const done = arguments[1]; fetch(arguments[0]).then((r) => r.json()).then(done);', path)
    jobs = ask('/api/v1/jobs?ofEverybody=true&pageSize=100&states=SUCCEEDED')['jobs']
    measured = [job for job in jobs if 'benchmarkResult' in job]
    compiled = next(job for job in jobs if 'compilationResult' in job)
    manifest = measured[0]['benchmark']['run']['manifest']
    return {
        'devices': '/devices', 'device': '/devices/board-1', 'queue': '/queue', 'jobs': '/jobs',
        'compilation': f'/jobs/{compiled["id"]}', 'benchmark': f'/jobs/{measured[0]["id"]}',
        'compare': f'/compare?ids={measured[1]["id"]},{measured[0]["id"]}', 'history': '/history', 'artifacts': '/artifacts',
        'program': f'/artifacts/{manifest["sha256"]}/{manifest["sizeBytes"]}?result={measured[0]["id"]}',
        'submit': '/submit', 'status': '/status', 'access': '/access'}


def take(page, token, folder, wanted, dark, width, suffix):
    browser = Browser(dark=dark)
    try:
        browser.open(f'{page.page}/#token={token}')
        browser.wait_text('Sign out')
        for name, path in addresses(browser).items():
            if wanted and name not in wanted:
                continue
            browser.open(page.page + path)
            browser.wait("return document.querySelector('h1') && !document.body.innerText.includes('Loading …')", name)
            browser.resize(width, 700)
            browser.open(page.page + path)
            browser.wait("return document.querySelector('main h1') && document.querySelector('main').innerText.length > 40", name)
            browser.run_waiting('setTimeout(arguments[0], 700)')
            with open(os.path.join(folder, f'{name}{suffix}.png'), 'wb') as file:
                file.write(small(browser.whole_picture(width, HEIGHT)))
    finally:
        browser.close()


def main():
    folder, models = sys.argv[1], sys.argv[2:]
    os.makedirs(folder, exist_ok=True)
    page = site.Site(agents=3)
    try:
        token = page.token('user+admin', 'ada')
        fill(page, models)
        take(page, token, folder, [], False, 1280, '')
        take(page, token, folder, ['benchmark'], True, 1280, '-dark')
        take(page, token, folder, ['benchmark', 'jobs'], False, 390, '-phone')
    finally:
        page.close()


if __name__ == '__main__':
    main()
