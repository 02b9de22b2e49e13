"""ai.onnx.ml: trees, vectors and encoders."""

import numpy as np
from onnx import numpy_helper

DOMAIN = 'ai.onnx.ml'
NUMBERS = ('float32', 'float64', 'int64', 'int32')
TRANSFORMS = ('NONE', 'SOFTMAX', 'LOGISTIC', 'SOFTMAX_ZERO')


def rows(m, constraint='T', width=None, style='any'):
    shape = [m.int(1, 5), m.int(1, 5) if width is None else width]
    return shape, m.tensor(m.dtype(constraint, NUMBERS), shape, style, specials=0.0)


def floats(m, count, low=-2.0, high=2.0):
    return [float(np.float32(x)) for x in m.rng.uniform(low, high, count)]


def array_feature_extractor(m):
    shape, data = rows(m)
    m.tested([data, m.data(m.rng.integers(0, shape[1], [m.int(1, 4)]))])


def binarizer(m):
    m.tested([rows(m)[1]], **m.sometimes(threshold=m.pick([0.0, 0.5, -1.0])))


def feature_vectorizer(m):
    batch = m.int(1, 4)
    widths = [m.int(1, 3) for _ in range(m.int(1, 3))]
    dtype = m.dtype('T1', NUMBERS)
    m.tested([m.tensor(dtype, [batch, width], specials=0.0) for width in widths], inputdimensions=widths)


def imputer(m):
    dtype = m.dtype('T', NUMBERS)
    shape = [m.int(1, 4), m.int(1, 4)]
    whole = dtype.startswith('int')
    values = m.array(dtype, shape, specials=0.0)
    missing = m.rng.random(shape) < 0.3
    values = np.where(missing, -1 if whole else m.pick([np.nan, -1.0]), values).astype(values.dtype)
    count = m.pick([1, shape[1]])
    if whole:
        m.tested([m.data(values)], imputed_value_int64s=m.ints(count, 0, 9), replaced_value_int64=-1)
    else:
        replaced = float(values[missing][0]) if missing.any() else -1.0
        m.tested([m.data(values)], imputed_value_floats=floats(m, count), replaced_value_float=replaced)


def label_encoder(m):
    keys = [int(k) for k in m.rng.permutation(8)[:m.int(1, 5)]]
    data = m.data(m.rng.integers(0, 8, m.shape(1, 3)))
    values = 'floats' if m.chance(0.5) else 'int64s'
    attributes = {'keys_int64s': keys,
                  f'values_{values}': floats(m, len(keys)) if values == 'floats' else m.ints(len(keys), -5, 5)}
    attributes.update(m.sometimes(**({'default_float': 7.5} if values == 'floats' else {'default_int64': 77})))
    m.tested([data], **attributes)


def one_hot_encoder(m):
    data = m.data(m.rng.integers(0, 6, m.shape(1, 3)).astype(m.pick(['int64', 'int32', 'float32'])))
    m.tested([data], cats_int64s=[int(k) for k in m.rng.permutation(6)] if m.chance(0.7) else [0, 3], zeros=1)


def normalizer(m):
    m.tested([rows(m)[1]], norm=m.pick(['MAX', 'L1', 'L2']))


def scaler(m):
    shape, data = rows(m)
    count = m.pick([1, shape[1]])
    m.tested([data], offset=floats(m, count), scale=floats(m, count))


def linear_regressor(m):
    shape, data = rows(m)
    targets = m.int(1, 3)
    m.tested([data], coefficients=floats(m, targets * shape[1]), targets=targets,
             intercepts=floats(m, targets) if m.chance(0.6) else None,
             **m.sometimes(post_transform=m.pick(TRANSFORMS)))


def linear_classifier(m):
    shape, data = rows(m, 'T1')
    classes = m.int(2, 4)
    m.tested([data], 2, coefficients=floats(m, classes * shape[1]), intercepts=floats(m, classes),
             classlabels_ints=[int(k) for k in m.rng.permutation(9)[:classes]],
             **m.sometimes(post_transform=m.pick(TRANSFORMS)))


def svm_regressor(m):
    width, supports = m.int(1, 4), m.int(1, 4)
    _, data = rows(m, width=width)
    m.tested([data], coefficients=floats(m, supports), support_vectors=floats(m, supports * width), rho=floats(m, 1),
             n_supports=supports, kernel_type=m.pick(['LINEAR', 'POLY', 'RBF', 'SIGMOID']),
             kernel_params=[0.3, 0.5, 2.0], **m.sometimes(one_class=m.int(0, 1)))


def svm_classifier(m):
    width, classes = m.int(1, 4), m.int(2, 3)
    supports = m.ints(classes, 1, 3)
    _, data = rows(m, 'T1', width)
    pairs = classes * (classes - 1) // 2
    probabilities = m.chance(0.3)
    m.tested([data], 2, coefficients=floats(m, sum(supports) * (classes - 1)),
             support_vectors=floats(m, sum(supports) * width), rho=floats(m, pairs), vectors_per_class=supports,
             prob_a=floats(m, pairs, -2, -0.5) if probabilities else None,
             prob_b=floats(m, pairs) if probabilities else None,
             classlabels_ints=[int(k) for k in m.rng.permutation(9)[:classes]],
             kernel_type=m.pick(['LINEAR', 'POLY', 'RBF', 'SIGMOID']), kernel_params=[0.3, 0.5, 2.0])


def forest(m, width, modes):
    """The nodes of random trees, in the lists of the older ensembles, and the places of their leaves."""
    nodes = {name: [] for name in ('treeids', 'nodeids', 'featureids', 'modes', 'values', 'truenodeids',
                                   'falsenodeids', 'missing_value_tracks_true')}
    leaves = []
    mode = m.pick(modes)
    for tree in range(m.int(1, 4)):
        count = 0
        todo = [(0, 0)]
        while todo:
            node, depth = todo.pop(0)
            inner = depth < 3 and m.chance(0.75)
            nodes['treeids'].append(tree)
            nodes['nodeids'].append(node)
            nodes['featureids'].append(m.int(0, width - 1) if inner else 0)
            nodes['modes'].append((m.pick(modes) if m.chance(0.2) else mode) if inner else 'LEAF')
            nodes['values'].append(float(m.int(-4, 4)) / 2 if inner else 0.0)
            nodes['missing_value_tracks_true'].append(m.int(0, 1) if inner else 0)
            nodes['truenodeids'].append(count + 1 if inner else 0)
            nodes['falsenodeids'].append(count + 2 if inner else 0)
            if inner:
                todo += [(count + 1, depth + 1), (count + 2, depth + 1)]
                count += 2
            else:
                leaves.append((tree, node))
    return {f'nodes_{name}': values for name, values in nodes.items()}, leaves


MODES = ('BRANCH_LEQ', 'BRANCH_LT', 'BRANCH_GTE', 'BRANCH_GT', 'BRANCH_EQ', 'BRANCH_NEQ')


def tree_regressor(m):
    width, targets = m.int(1, 4), m.int(1, 3)
    _, data = rows(m, width=width, style='exact')
    attributes, leaves = forest(m, width, MODES)
    m.tested([data], n_targets=targets, target_treeids=[t for t, _ in leaves], target_nodeids=[n for _, n in leaves],
             target_ids=m.ints(len(leaves), 0, targets - 1), target_weights=floats(m, len(leaves)),
             base_values=floats(m, targets) if m.chance(0.4) else None, **attributes,
             **m.sometimes(aggregate_function=m.pick(['SUM', 'AVERAGE', 'MIN', 'MAX']),
                           post_transform=m.pick(TRANSFORMS)))


def tree_classifier(m):
    width, classes = m.int(1, 4), m.int(2, 4)
    _, data = rows(m, 'T1', width, 'exact')
    attributes, leaves = forest(m, width, MODES)
    binary = classes == 2 and m.chance(0.5)
    m.tested([data], 2, class_treeids=[t for t, _ in leaves], class_nodeids=[n for _, n in leaves],
             class_ids=[0] * len(leaves) if binary else m.ints(len(leaves), 0, classes - 1),
             class_weights=floats(m, len(leaves), 0.0, 1.0), classlabels_int64s=list(range(classes)),
             base_values=floats(m, classes) if m.chance(0.3) and not binary else None, **attributes,
             **m.sometimes(post_transform=m.pick(TRANSFORMS)))


def tree_ensemble(m):
    width, targets = m.int(1, 4), m.int(1, 2)
    dtype = m.dtype('T', ('float32', 'float64', 'float16'))
    kind = np.dtype(dtype)
    features, splits, modes, true_ids, false_ids, true_leafs, false_leafs, roots = [], [], [], [], [], [], [], []
    leaf_count = 0
    for _ in range(m.int(1, 3)):
        base = len(features)
        roots.append(base)
        inner = m.int(1, 4)
        free = [(base, True), (base, False)]
        for node in range(base, base + inner):
            features.append(m.int(0, width - 1))
            splits.append(m.int(-4, 4) / 2)
            modes.append(m.int(0, 5))
            for lists in (true_ids, false_ids):
                lists.append(0)
            for lists in (true_leafs, false_leafs):
                lists.append(1)
            if node > base:
                parent, branch = free.pop(m.int(0, len(free) - 1))
                (true_ids if branch else false_ids)[parent] = node
                (true_leafs if branch else false_leafs)[parent] = 0
                free += [(node, True), (node, False)]
        for node, branch in free:
            (true_ids if branch else false_ids)[node] = leaf_count
            leaf_count += 1
    m.tested([m.tensor(dtype, [m.int(1, 5), width], 'exact', specials=0.0)], n_targets=targets, tree_roots=roots,
             nodes_featureids=features, nodes_splits=numpy_helper.from_array(np.array(splits, kind)),
             nodes_modes=numpy_helper.from_array(np.array(modes, np.uint8)), nodes_truenodeids=true_ids,
             nodes_falsenodeids=false_ids, nodes_trueleafs=true_leafs, nodes_falseleafs=false_leafs,
             leaf_targetids=m.ints(leaf_count, 0, targets - 1),
             leaf_weights=numpy_helper.from_array(np.array(m.ints(leaf_count, -4, 4), kind)),
             **m.sometimes(aggregate_function=m.int(0, 3), post_transform=m.int(0, 3)))


GENERATORS = {
    'ArrayFeatureExtractor': array_feature_extractor, 'Binarizer': binarizer,
    'FeatureVectorizer': feature_vectorizer, 'Imputer': imputer, 'LabelEncoder': label_encoder,
    'OneHotEncoder': one_hot_encoder, 'Normalizer': normalizer, 'Scaler': scaler,
    'LinearRegressor': linear_regressor, 'LinearClassifier': linear_classifier, 'SVMRegressor': svm_regressor,
    'SVMClassifier': svm_classifier, 'TreeEnsemble': tree_ensemble, 'TreeEnsembleRegressor': tree_regressor,
    'TreeEnsembleClassifier': tree_classifier,
}
