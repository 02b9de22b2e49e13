#!/usr/bin/env python3
"""Measures PyTorch on the models of models.cc, of the same sizes and operators, with random weights.

    beside_torch.py NAME f32|tf32|f16 MODE SECONDS      MODE: eager, or one of torch.compile's: default, max-autotune

Prints one line of JSON: medians in nanoseconds of a call by events of the device (`device_ns`), and of a call with copies from
the host and back by the host's clock (`host_ns`). Exit code 3: there is no PyTorch, or none that has a GPU.
"""

import json
import sys
import time

try:
    import torch
    from torch import nn
    from torch.nn import functional
except ImportError as missing:
    print(json.dumps({'reason': str(missing)}))
    sys.exit(3)

HIDDEN = 768
HEADS = 12


def conv(channels, width, kernel, stride):
    return nn.Conv2d(channels, width, kernel, stride, kernel // 2)


class Bottleneck(nn.Module):
    def __init__(self, channels, width, stride, is_first):
        super().__init__()
        self.branch = nn.Sequential(conv(channels, width, 1, 1), nn.ReLU(), conv(width, width, 3, stride), nn.ReLU(),
                                    conv(width, 4 * width, 1, 1))
        self.shortcut = conv(channels, 4 * width, 1, stride) if is_first else nn.Identity()

    def forward(self, x):
        return torch.relu(self.branch(x) + self.shortcut(x))


def resnet50():
    layers = [conv(3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    channels = 64
    for stage, blocks in enumerate([3, 4, 6, 3]):
        width = 64 << stage
        for block in range(blocks):
            layers.append(Bottleneck(channels, width, 2 if stage > 0 and block == 0 else 1, block == 0))
            channels = 4 * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 1000))


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.out = (nn.Linear(HIDDEN, HIDDEN) for _ in range(4))

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = (made(x).view(batch, length, HEADS, HIDDEN // HEADS).transpose(1, 2) for made in (self.q, self.k, self.v))
        mixed = functional.scaled_dot_product_attention(q, k, v)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, HIDDEN))


class Layer(nn.Module):
    def __init__(self, norms_first):
        super().__init__()
        self.norms_first = norms_first
        self.attention = Attention()
        self.feed = nn.Sequential(nn.Linear(HIDDEN, 4 * HIDDEN), nn.GELU(), nn.Linear(4 * HIDDEN, HIDDEN))
        self.norm1, self.norm2 = nn.LayerNorm(HIDDEN), nn.LayerNorm(HIDDEN)

    def forward(self, x):
        if self.norms_first:
            x = x + self.attention(self.norm1(x))
            return x + self.feed(self.norm2(x))
        x = self.norm1(x + self.attention(x))
        return self.norm2(x + self.feed(x))


class Vit(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, HIDDEN, 16, 16)
        self.first = nn.Parameter(torch.randn(1, 1, HIDDEN))
        self.places = nn.Parameter(torch.randn(1, 197, HIDDEN))
        self.layers = nn.Sequential(*(Layer(True) for _ in range(12)))
        self.norm, self.head = nn.LayerNorm(HIDDEN), nn.Linear(HIDDEN, 1000)

    def forward(self, image):
        rows = self.patches(image).flatten(2).transpose(1, 2)
        x = torch.cat([self.first.expand(rows.shape[0], -1, -1), rows], 1) + self.places
        return self.head(self.norm(self.layers(x))[:, 0])


class Added(nn.Module):
    def forward(self, a, b):
        return a + b


class Softmaxed(nn.Module):
    def forward(self, x):
        return torch.softmax(x, -1)


class Product(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(size, size))

    def forward(self, x):
        return x @ self.weight


def tiny():
    return nn.Sequential(conv(3, 8, 3, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 2048))


MODELS = {
    'tiny_2': lambda: (tiny(), [(2, 3, 6, 6)]),
    'add_8192x4096': lambda: (Added(), [(8192, 4096)] * 2),
    'softmax_8192x4096': lambda: (Softmaxed(), [(8192, 4096)]),
    'layer_norm_8192x4096': lambda: (nn.LayerNorm(4096), [(8192, 4096)]),
    'matmul_1024': lambda: (Product(1024), [(1024, 1024)]),
    'matmul_4096': lambda: (Product(4096), [(4096, 4096)]),
    'resnet50_1': lambda: (resnet50(), [(1, 3, 224, 224)]),
    'resnet50_32': lambda: (resnet50(), [(32, 3, 224, 224)]),
    'bert_base_1': lambda: (nn.Sequential(*(Layer(False) for _ in range(12))), [(1, 128, HIDDEN)]),
    'bert_base_32': lambda: (nn.Sequential(*(Layer(False) for _ in range(12))), [(32, 128, HIDDEN)]),
    'vit_b16_1': lambda: (Vit(), [(1, 3, 224, 224)]),
    'vit_b16_32': lambda: (Vit(), [(32, 3, 224, 224)]),
}


def median(values):
    return sorted(values)[len(values) // 2]


def measure(call, inputs, seconds):
    for _ in range(5):
        call(*inputs)
    torch.cuda.synchronize()
    device, host = [], []
    end = time.monotonic() + seconds
    while len(device) < 5 or (time.monotonic() < end and len(device) < 1000):
        begin, done = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        call(*inputs)
        done.record()
        torch.cuda.synchronize()
        device.append(begin.elapsed_time(done) * 1e6)
    there = [x.cpu() for x in inputs]
    while len(host) < 5 or (time.monotonic() < end + seconds and len(host) < 1000):
        called = time.perf_counter_ns()
        call(*[x.to('cuda') for x in there]).cpu()
        host.append(time.perf_counter_ns() - called)
    return {'device_ns': round(median(device)), 'host_ns': round(median(host)), 'calls': len(device)}


def main():
    name, precision, mode, seconds = sys.argv[1:5]
    if not torch.cuda.is_available():
        print(json.dumps({'reason': 'PyTorch %s has no GPU' % torch.__version__}))
        sys.exit(3)
    torch.manual_seed(1)
    torch.backends.cuda.matmul.allow_tf32 = precision == 'tf32'
    torch.backends.cudnn.allow_tf32 = precision == 'tf32'
    kind = torch.float16 if precision == 'f16' else torch.float32
    model, shapes = MODELS[name]()
    model = model.eval().to('cuda', kind)
    inputs = [torch.randn(*shape, device='cuda', dtype=kind) for shape in shapes]
    call = model if mode == 'eager' else torch.compile(model, mode=None if mode == 'default' else mode)
    with torch.inference_mode():
        result = measure(call, inputs, float(seconds))
    result['version'] = torch.__version__
    print(json.dumps(result))


if __name__ == '__main__':
    main()
