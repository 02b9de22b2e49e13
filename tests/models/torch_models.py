"""Models of every kind, as people write them with PyTorch: functions that make a module with random weights and its inputs.

Each takes whether the model shall be of its usual size, or small.
"""

def outputs_of(module, pick):
    """`module` whose result `pick` turns into tensors."""
    import torch

    class Picked(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.module = module

        def forward(self, *inputs):
            return pick(self.module(*inputs))

    return Picked()


def bert(full):
    import torch
    import transformers

    size = dict(hidden_size=128, num_hidden_layers=2, num_attention_heads=4, intermediate_size=512)
    if full:
        size = dict(num_hidden_layers=12)
    config = transformers.BertConfig(vocab_size=3000, **size)
    module = transformers.BertModel(config)
    ids = torch.randint(0, 3000, (1, 128 if full else 19))
    mask = torch.ones_like(ids)
    mask[:, -5:] = 0
    return outputs_of(module, lambda y: (y.last_hidden_state, y.pooler_output)), (ids, mask)


def gpt2(full):
    import torch
    import transformers

    size = {} if full else dict(n_embd=128, n_layer=2, n_head=4)
    config = transformers.GPT2Config(vocab_size=3000, use_cache=False, **size)
    module = transformers.GPT2LMHeadModel(config)
    ids = torch.randint(0, 3000, (1, 128 if full else 17))

    class Masked(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.module = module

        def forward(self, ids, mask):
            return self.module(ids, attention_mask=mask).logits

    return Masked(), (ids, torch.ones_like(ids))


def timm_model(name, image):
    import timm
    import torch

    return timm.create_model(name, num_classes=100), (torch.randn(1, 3, image, image),)


def vit(full):
    return timm_model("vit_base_patch16_224" if full else "vit_tiny_patch16_224", 224)


def convnext(full):
    return timm_model("convnext_tiny" if full else "convnext_atto", 224 if full else 64)


def efficientnet(full):
    return timm_model("efficientnet_b0", 224 if full else 64)


def efficientnet_padded(full):
    """With the extents of TensorFlow's padding, which differ by side: a Pad before each depthwise convolution with strides."""
    import torch
    import transformers

    size = dict(width_coefficient=1.0, depth_coefficient=1.0, hidden_dim=1280)
    if not full:
        size = dict(width_coefficient=0.5, depth_coefficient=0.3, hidden_dim=640)
    image = 224 if full else 64
    config = transformers.EfficientNetConfig(image_size=image, num_labels=100, **size)
    module = transformers.EfficientNetForImageClassification(config)
    # The same mean; its own asks for windows larger than the image, which not every engine takes.
    module.efficientnet.pooler = torch.nn.AdaptiveAvgPool2d(1)
    return outputs_of(module, lambda y: y.logits), (torch.randn(1, 3, image, image),)


def mobilenet_v2(full):
    import torch
    import torchvision

    image = 224 if full else 64
    return torchvision.models.mobilenet_v2(width_mult=1.0 if full else 0.25), (torch.randn(1, 3, image, image),)


def mobilenet_v2_padded(full):
    """As efficientnet_padded."""
    import torch
    import transformers

    image = 224 if full else 64
    config = transformers.MobileNetV2Config(image_size=image, num_labels=100, depth_multiplier=1.0 if full else 0.25)
    module = transformers.MobileNetV2ForImageClassification(config)
    return outputs_of(module, lambda y: y.logits), (torch.randn(1, 3, image, image),)


def resnet(full):
    import torch
    import torchvision

    image = 224 if full else 64
    return torchvision.models.resnet50() if full else torchvision.models.resnet18(), (torch.randn(1, 3, image, image),)


def densenet(full):
    import torch
    import torchvision

    size = {} if full else dict(growth_rate=8, block_config=(2, 3), num_init_features=16)
    image = 224 if full else 64
    return torchvision.models.DenseNet(**size), (torch.randn(1, 3, image, image),)


def vgg(full):
    import torch
    import torchvision
    from torch import nn

    if full:
        return torchvision.models.vgg19(), (torch.randn(1, 3, 224, 224),)
    layers = torchvision.models.vgg.make_layers([8, "M", 16, 16, "M", 32, "M"])
    return nn.Sequential(layers, nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(512, 10)), (torch.randn(1, 3, 32, 32),)


def mlp(full):
    import torch
    from torch import nn

    inner = 4096 if full else 48
    return nn.Sequential(nn.Linear(inner // 4, inner), nn.ReLU(), nn.Linear(inner, inner // 4), nn.ReLU(), nn.Linear(inner // 4, 10)), (
        torch.randn(1, inner // 4),
    )


def mobilenet_v3(full):
    import torch
    import torchvision

    module = torchvision.models.mobilenet_v3_large() if full else torchvision.models.mobilenet_v3_small()
    image = 224 if full else 64
    return module, (torch.randn(1, 3, image, image),)


def segformer(full):
    import torch
    import transformers

    size = {} if full else dict(depths=[1, 1, 1, 1], hidden_sizes=[16, 32, 40, 64], decoder_hidden_size=64)
    module = transformers.SegformerForSemanticSegmentation(transformers.SegformerConfig(num_labels=20, **size))
    image = 256 if full else 64
    return outputs_of(module, lambda y: y.logits), (torch.randn(1, 3, image, image),)


def unet(full):
    """Skip connections, transposed convolutions, bilinear upsampling and group normalization."""
    import torch
    from torch import nn

    def block(i, o):
        return nn.Sequential(
            nn.Conv2d(i, o, 3, padding=1), nn.GroupNorm(4, o), nn.SiLU(), nn.Conv2d(o, o, 3, padding=1), nn.InstanceNorm2d(o), nn.LeakyReLU(0.1)
        )

    class Unet(nn.Module):
        def __init__(self, c):
            super().__init__()
            self.down = nn.ModuleList([block(3, c), block(c, 2 * c), block(2 * c, 4 * c)])
            self.up = nn.ModuleList([nn.ConvTranspose2d(4 * c, 2 * c, 2, stride=2), nn.Upsample(scale_factor=2, mode="bilinear")])
            self.join = nn.ModuleList([block(4 * c, 2 * c), block(3 * c, c)])
            self.last = nn.Conv2d(c, 2, 1)

        def forward(self, x):
            a = self.down[0](x)
            b = self.down[1](nn.functional.max_pool2d(a, 2))
            y = self.down[2](nn.functional.max_pool2d(b, 2))
            y = self.join[0](torch.cat([self.up[0](y), b], 1))
            return self.last(self.join[1](torch.cat([self.up[1](y), a], 1)))

    return Unet(32 if full else 8), (torch.randn(1, 3, 256 if full else 32, 256 if full else 32),)


def yolo(full):
    """Stages that join parts of themselves, a pyramid of features with upsampling, and boxes as distances in 16 steps."""
    import torch
    from torch import nn

    class Unit(nn.Sequential):
        def __init__(self, i, o, kernel=3, stride=1):
            super().__init__(nn.Conv2d(i, o, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(o), nn.SiLU())

    class Bottleneck(nn.Module):
        def __init__(self, c, shortcut):
            super().__init__()
            self.units = nn.Sequential(Unit(c, c), Unit(c, c))
            self.shortcut = shortcut

        def forward(self, x):
            return x + self.units(x) if self.shortcut else self.units(x)

    class Joined(nn.Module):
        def __init__(self, i, o, count, shortcut=True):
            super().__init__()
            self.first = Unit(i, o, 1)
            self.inner = nn.ModuleList([Bottleneck(o // 2, shortcut) for _ in range(count)])
            self.last = Unit((2 + count) * o // 2, o, 1)

        def forward(self, x):
            parts = list(self.first(x).chunk(2, 1))
            for module in self.inner:
                parts.append(module(parts[-1]))
            return self.last(torch.cat(parts, 1))

    class Pooled(nn.Module):
        def __init__(self, c):
            super().__init__()
            self.first, self.last = Unit(c, c // 2, 1), Unit(2 * c, c, 1)
            self.pool = nn.MaxPool2d(5, 1, 2)

        def forward(self, x):
            parts = [self.first(x)]
            for _ in range(3):
                parts.append(self.pool(parts[-1]))
            return self.last(torch.cat(parts, 1))

    class Yolo(nn.Module):
        def __init__(self, c, depths, classes):
            super().__init__()
            widths = [c, 2 * c, 4 * c, 8 * c, 16 * c]
            self.stem = Unit(3, c, 3, 2)
            self.stages = nn.ModuleList(
                [nn.Sequential(Unit(i, o, 3, 2), Joined(o, o, n)) for i, o, n in zip(widths, widths[1:], depths)]
            )
            self.pooled = Pooled(16 * c)
            self.up = nn.Upsample(scale_factor=2)
            self.merge = nn.ModuleList([Joined(24 * c, 8 * c, 1, False), Joined(12 * c, 4 * c, 1, False)])
            self.down = nn.ModuleList([Unit(4 * c, 4 * c, 3, 2), Unit(8 * c, 8 * c, 3, 2)])
            self.rise = nn.ModuleList([Joined(12 * c, 8 * c, 1, False), Joined(24 * c, 16 * c, 1, False)])
            self.boxes = nn.ModuleList([nn.Sequential(Unit(w, 4 * c), Unit(4 * c, 4 * c), nn.Conv2d(4 * c, 64, 1)) for w in widths[2:]])
            self.scores = nn.ModuleList(
                [nn.Sequential(Unit(w, 4 * c), Unit(4 * c, 4 * c), nn.Conv2d(4 * c, classes, 1)) for w in widths[2:]]
            )
            self.register_buffer("steps", torch.arange(16.0).reshape(1, 16, 1, 1))

        def forward(self, x):
            x = self.stages[0](self.stem(x))
            a = self.stages[1](x)
            b = self.stages[2](a)
            c = self.pooled(self.stages[3](b))
            d = self.merge[0](torch.cat([self.up(c), b], 1))
            e = self.merge[1](torch.cat([self.up(d), a], 1))
            f = self.rise[0](torch.cat([self.down[0](e), d], 1))
            g = self.rise[1](torch.cat([self.down[1](f), c], 1))
            distances = torch.cat([module(y).flatten(2) for module, y in zip(self.boxes, (e, f, g))], 2)
            scores = torch.cat([module(y).flatten(2) for module, y in zip(self.scores, (e, f, g))], 2)
            weights = distances.reshape(distances.shape[0], 4, 16, -1).transpose(1, 2).softmax(1)
            return (weights * self.steps).sum(1), scores.sigmoid()

    image = 416 if full else 64
    return (Yolo(16, [1, 2, 2, 1], 80) if full else Yolo(8, [1, 1, 1, 1], 4)), (torch.randn(1, 3, image, image),)


def ssd(full):
    """Boxes and scores of six scales over MobileNet v3, as the sums before boxes are chosen."""
    import torch
    import torchvision
    from torch import nn

    whole = torchvision.models.detection.ssdlite320_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=91 if full else 5)

    class Ssd(nn.Module):
        def __init__(self):
            super().__init__()
            self.backbone, self.head = whole.backbone, whole.head

        def forward(self, x):
            made = self.head(list(self.backbone(x).values()))
            return made["bbox_regression"], made["cls_logits"].softmax(-1)

    image = 320 if full else 96
    return Ssd(), (torch.randn(1, 3, image, image),)


def recurrent(kind, full):
    import torch
    from torch import nn

    class Tagger(nn.Module):
        def __init__(self, features, hidden, layers):
            super().__init__()
            self.recurrent = kind(features, hidden, layers, bidirectional=True, batch_first=True)
            self.last = nn.Linear(2 * hidden, 10)

        def forward(self, x):
            return self.last(self.recurrent(x)[0])

    if full:
        return Tagger(128, 256, 2), (torch.randn(1, 100, 128),)
    return Tagger(12, 16, 2), (torch.randn(1, 9, 12),)


def lstm(full):
    import torch

    return recurrent(torch.nn.LSTM, full)


def gru(full):
    import torch

    return recurrent(torch.nn.GRU, full)


def wav2vec(full):
    import torch
    import transformers

    size = dict(num_hidden_layers=12)
    if not full:
        size = dict(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128, conv_dim=(32,) * 7, num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4)
    module = transformers.Wav2Vec2ForCTC(transformers.Wav2Vec2Config(vocab_size=32, **size))
    return outputs_of(module, lambda y: y.logits), (torch.randn(1, 16000 if full else 4000),)


def voice(full):
    """A detector of voice as they are exported: two rates in the branches of an If, an LSTM with its state outside."""
    import torch
    from torch import nn

    class Voice(nn.Module):
        def __init__(self, hidden: int):
            super().__init__()
            self.fast = nn.Conv1d(1, hidden, 32, stride=16)
            self.slow = nn.Conv1d(1, hidden, 16, stride=8)
            self.recurrent = nn.LSTM(hidden, hidden)
            self.last = nn.Linear(hidden, 1)

        def forward(self, x, rate, h, c):
            if bool(rate == 16000):
                y = self.fast(x[:, None, :])
            else:
                y = self.slow(x[:, None, ::2])
            y = torch.relu(y).permute(2, 0, 1)
            y, (h, c) = self.recurrent(y, (h, c))
            return torch.sigmoid(self.last(y[-1])), h, c

    hidden = 64 if full else 8
    state = torch.zeros(1, 1, hidden)
    return torch.jit.script(Voice(hidden)), (torch.randn(1, 512), torch.tensor(16000), state, state)


def detector(full):
    """Boxes of every place of a feature map, and those that non-maximum suppression keeps."""
    import torch
    import torchvision
    from torch import nn

    class Detector(nn.Module):
        def __init__(self):
            super().__init__()
            self.features = torchvision.models.mobilenet_v3_small().features
            self.boxes = nn.Conv2d(576, 4, 1)
            self.scores = nn.Conv2d(576, 1, 1)

        def forward(self, x):
            y = self.features(x)
            height, width = y.shape[2], y.shape[3]
            rows, columns = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
            centres = torch.stack([columns, rows], -1).reshape(-1, 2).float()
            boxes = self.boxes(y).flatten(2)[0].t()
            centres = centres + boxes[:, :2].sigmoid()
            extents = boxes[:, 2:].clamp(-2, 2).exp()
            corners = torch.cat([centres - extents, centres + extents], 1)
            scores = self.scores(y).flatten().sigmoid()
            kept = torchvision.ops.nms(corners, scores, 0.5)[:100]
            return corners[kept], scores[kept]

    return Detector(), (torch.randn(1, 3, 320 if full else 96, 320 if full else 96),)


MODELS = {
    function.__name__: function
    for function in [
        bert,
        convnext,
        densenet,
        detector,
        efficientnet,
        efficientnet_padded,
        gpt2,
        gru,
        lstm,
        mlp,
        mobilenet_v2,
        mobilenet_v2_padded,
        mobilenet_v3,
        resnet,
        segformer,
        ssd,
        unet,
        vgg,
        vit,
        voice,
        wav2vec,
        yolo,
    ]
}

SCRIPTS = ["voice"]  # Those with control flow of Python, which one exporter alone takes as it is.

# Which axes of which input may have any extent, for those that are also exported so.
FREE_AXES = {
    "bert": [{0: "batch", 1: "seq"}, {0: "batch", 1: "seq"}],
    "convnext": [{0: "batch"}],
    "densenet": [{0: "batch"}],
    "detector": [{2: "height", 3: "width"}],
    "efficientnet": [{0: "batch"}],
    "efficientnet_padded": [{0: "batch"}],
    "gpt2": [{0: "batch", 1: "seq"}, {0: "batch", 1: "seq"}],
    "gru": [{0: "batch", 1: "seq"}],
    "lstm": [{0: "batch", 1: "seq"}],
    "mlp": [{0: "batch"}],
    "mobilenet_v2": [{0: "batch"}],
    "mobilenet_v2_padded": [{0: "batch"}],
    "mobilenet_v3": [{0: "batch", 2: "height", 3: "width"}],
    "resnet": [{0: "batch"}],
    "segformer": [{0: "batch"}],
    "ssd": [{0: "batch"}],
    "unet": [{0: "batch", 2: "height", 3: "width"}],
    "vgg": [{0: "batch"}],
    "vit": [{0: "batch"}],
    "voice": [{1: "samples"}, {}, {}, {}],
    "wav2vec": [{0: "batch", 1: "samples"}],
    "yolo": [{0: "batch"}],
}
