"""Resizing, sampling, boxes, and signals."""

import numpy as np


def resize(m):
    shape = [m.int(1, 2), m.int(1, 2)] + [m.int(1, 6) for _ in range(m.int(1, 2))]
    rank = len(shape)
    mode = m.pick(['nearest', 'linear', 'cubic'])
    dtype = m.dtype('T1' if m.opset >= 11 else 'T')
    data = m.tensor(dtype, shape, 'exact' if mode == 'nearest' else 'unit', specials=0.0)
    attributes = {'mode': mode}
    if m.opset < 11:
        attributes['mode'] = m.pick(['nearest', 'linear'])
        m.tested([data, m.parameter([1, 1] + [m.pick([1.0, 2.0, 0.5, 1.5]) for _ in shape[2:]], np.float32)],
                 **attributes)
        return
    modes = ['half_pixel', 'pytorch_half_pixel', 'align_corners', 'asymmetric', 'tf_crop_and_resize']
    modes.append('tf_half_pixel_for_nn' if m.opset < 13 else 'half_pixel')
    modes.append('half_pixel_symmetric' if m.opset >= 19 else 'half_pixel')
    transformation = m.pick(modes)
    attributes['coordinate_transformation_mode'] = transformation
    attributes.update(m.sometimes(
        nearest_mode=m.pick(['round_prefer_floor', 'round_prefer_ceil', 'floor', 'ceil']),
        cubic_coeff_a=m.pick([-0.5, -0.75]), exclude_outside=m.int(0, 1) if mode == 'cubic' else 0,
        extrapolation_value=m.pick([0.0, 2.5]), antialias=m.int(0, 1) if mode != 'nearest' else 0))
    axes = list(range(rank))
    if m.has('axes') and m.chance(0.4):
        axes = m.axes(rank, m.int(1, rank))
        attributes['axes'] = axes
    spatial = [a % rank for a in axes]
    roi = ''
    if transformation == 'tf_crop_and_resize' or m.opset == 11:
        low = m.rng.uniform(-0.2, 0.5, len(axes))
        roi = m.data(np.concatenate([low, low + m.rng.uniform(0.2, 0.8, len(axes))]).astype(np.float32), constant=True)
    factors = [m.pick([1.0, 1.0, 2.0, 0.5, 1.5, 0.7, 3.0]) if a >= 2 else 1.0 for a in spatial]
    if m.chance(0.5):
        if min(int(shape[a] * f) for a, f in zip(spatial, factors)) == 0:
            factors = [1.0] * len(factors)
        m.tested([data, roi, m.parameter(factors, np.float32)], **attributes)
        return
    sizes = [m.int(1, 8) if a >= 2 else shape[a] for a in spatial]
    attributes.update(m.sometimes(keep_aspect_ratio_policy=m.pick(['stretch', 'not_larger', 'not_smaller'])))
    if m.opset < 13:
        empty = m.data(np.zeros([0], np.float32), constant=True)
        m.tested([data, roi, empty, m.parameter(sizes)], **attributes)
    else:
        m.tested([data, roi, '', m.parameter(sizes)], **attributes)


def upsample(m):
    shape = [m.int(1, 2), m.int(1, 2), m.int(1, 5), m.int(1, 5)]
    factors = [1.0, 1.0, m.pick([1.0, 2.0, 3.0, 1.5]), m.pick([1.0, 2.0, 3.0])]
    data = m.tensor('float32', shape, 'unit', specials=0.0)
    mode = m.pick(['nearest', 'linear'])
    if m.has('scales'):
        m.tested([data], mode=mode, scales=factors)
    else:
        m.tested([data, m.parameter(factors, np.float32)], mode=mode)


def grid_sample(m):
    rank = m.pick([2, 2, 3]) if m.opset >= 20 else 2
    batch = m.int(1, 2)
    spatial, outer = m.ints(rank, 1, 5), m.ints(rank, 1, 4)
    names = ['linear', 'nearest', 'cubic'] if m.opset >= 20 else ['bilinear', 'nearest', 'bicubic']
    mode = m.pick(names if rank == 2 else names[:2])
    grid = m.rng.uniform(-1.3, 1.3, [batch] + outer + [rank])
    m.tested([m.tensor(m.dtype('T1', ('float32', 'float64', 'float16')), [batch, m.int(1, 3)] + spatial, 'unit', specials=0.0),
              m.data(grid.astype(m.pick(['float32', 'float64'])))], mode=mode,
             **m.sometimes(padding_mode=m.pick(['zeros', 'border', 'reflection']), align_corners=m.int(0, 1)))


def affine_grid(m):
    rank = m.int(2, 3)
    batch = m.int(1, 3)
    m.tested([m.tensor(m.dtype('T1'), [batch, rank, rank + 1], 'unit', specials=0.0),
              m.parameter([batch, m.int(1, 3)] + m.ints(rank, 1, 5))], **m.sometimes(align_corners=m.int(0, 1)))


def roi_align(m):
    batch, height, width = m.int(1, 2), m.int(2, 8), m.int(2, 8)
    count = m.int(0, 4)
    corners = m.rng.uniform(-1, 6, [count, 2])
    boxes = np.concatenate([corners, corners + m.rng.uniform(0, 5, [count, 2])], axis=1)
    dtype = m.dtype('T1')
    kind = np.float32 if dtype not in ('float64', 'float16') else dtype
    m.tested([m.tensor(np.dtype(kind).name, [batch, m.int(1, 3), height, width], 'unit', specials=0.0),
              m.data(boxes.astype(kind)), m.data(m.rng.integers(0, batch, [count]).astype(np.int64))],
             **m.sometimes(mode=m.pick(['avg', 'max']), output_height=m.int(1, 3), output_width=m.int(1, 3),
                           sampling_ratio=m.int(0, 3), spatial_scale=m.pick([1.0, 0.5]),
                           coordinate_transformation_mode=m.pick(['half_pixel', 'output_half_pixel'])))


def non_max_suppression(m):
    batch, classes, count = m.int(1, 2), m.int(1, 3), m.int(0, 8)
    corners = m.rng.uniform(0, 1, [batch, count, 2])
    boxes = np.concatenate([corners, corners + m.rng.uniform(0, 0.6, [batch, count, 2])], axis=2)
    if m.chance(0.3):
        boxes = boxes[..., [2, 1, 0, 3]]
    scores = m.rng.permutation(batch * classes * count).reshape(batch, classes, count) / 10
    m.tested([m.data(boxes.astype(np.float32)), m.data(scores.astype(np.float32)),
              m.parameter([m.int(0, 5)]) if m.chance(0.8) else '',
              m.parameter([m.pick([0.0, 0.3, 0.5, 1.0])], np.float32) if m.chance(0.7) else '',
              m.parameter([m.pick([0.0, 0.5, 1.0])], np.float32) if m.chance(0.5) else ''],
             **m.sometimes(center_point_box=m.int(0, 1)))


def window(m):
    kind = m.dtype('T1')
    from elements import numpy_type, onnx_type
    m.tested([m.parameter(m.int(0, 12), numpy_type(kind))],
             **m.sometimes(periodic=m.int(0, 1), output_datatype=onnx_type(m.pick(['float32', 'float64', 'int32']))))


def dft(m):
    shape = [m.int(1, 2)] + [m.int(1, 9) for _ in range(m.int(1, 2))] + [m.int(1, 2)]
    axis = m.int(1, len(shape) - 2)
    dtype = m.dtype('T1')
    onesided = shape[-1] == 1 and m.chance(0.4)
    inverse = 0 if onesided else m.int(0, 1)
    length = m.parameter(m.int(1, 10)) if m.chance(0.4) else ''
    inputs = [m.tensor(dtype, shape, 'unit', specials=0.0), length]
    attributes = {'inverse': inverse, 'onesided': int(onesided)}
    if m.has('axis'):
        attributes['axis'] = axis
    else:
        inputs.append(m.parameter(axis if m.chance(0.5) else axis - len(shape)))
    m.tested(inputs, **attributes)


def stft(m):
    length = m.int(6, 20)
    frame = m.int(2, 6)
    dtype = m.dtype('T1')
    use_window = m.chance(0.6)
    m.tested([m.tensor(dtype, [m.int(1, 2), length, 1], 'unit', specials=0.0), m.parameter(m.int(1, 4)),
              m.tensor(dtype, [frame], 'unit', specials=0.0) if use_window else '',
              m.parameter(frame) if not use_window or m.chance(0.5) else ''], **m.sometimes(onesided=m.int(0, 1)))


def mel(m):
    m.tested([m.parameter(m.int(1, 8)), m.parameter(m.pick([8, 16, 17])), m.parameter(m.pick([8000, 16000])),
              m.parameter(m.pick([0.0, 50.0]), np.float32), m.parameter(m.pick([3000.0, 4000.0]), np.float32)])


def tf_idf(m):
    words = m.int(2, 6)
    grams = [[int(x)] for x in m.rng.permutation(words)[:m.int(1, words)]]
    pairs = [[m.int(0, words - 1), m.int(0, words - 1)] for _ in range(m.int(0, 3))]
    pairs = [list(pair) for pair in {tuple(pair) for pair in pairs}]
    count = len(grams) + len(pairs)
    shape = m.pick([[m.int(0, 8)], [m.int(1, 3), m.int(0, 8)]])
    weights = [float(x) for x in m.rng.integers(1, 8, count) / 4] if m.chance(0.5) else None
    m.tested([m.data(m.rng.integers(0, words, shape).astype(m.pick([np.int64, np.int32])))],
             mode=m.pick(['TF', 'IDF', 'TFIDF']), min_gram_length=m.int(1, 2), max_gram_length=2,
             max_skip_count=m.int(0, 3), ngram_counts=[0, len(grams)], ngram_indexes=[int(x) for x in m.rng.permutation(count)],
             pool_int64s=[x for gram in grams + pairs for x in gram], weights=weights)


GENERATORS = {
    'Resize': resize, 'Upsample': upsample, 'GridSample': grid_sample, 'AffineGrid': affine_grid,
    'RoiAlign': roi_align, 'NonMaxSuppression': non_max_suppression, 'DFT': dft, 'STFT': stft,
    'MelWeightMatrix': mel, 'TfIdfVectorizer': tf_idf,
    **dict.fromkeys(('HannWindow', 'HammingWindow', 'BlackmanWindow'), window),
}
