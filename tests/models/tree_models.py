"""Ensembles of random trees in the forms that libraries write them in: functions that make a model and its data sets.

Thresholds and features are drawn alike, so that every leaf is reached.
"""

import numpy as np
from onnx import TensorProto, helper

ML = "ai.onnx.ml"
FEATURES = 6
ROWS = (1, 40, 7)  # Of the data sets.


def grow(rng, trees, depth, mode, results):
    """Attributes of the nodes, and for each leaf its tree, its node, one of `results`, and its weight."""
    nodes = {key: [] for key in ("treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids", "missing_value_tracks_true")}
    leaves = []
    for tree in range(trees):
        count = 0

        def node(level):
            nonlocal count
            here, count = count, count + 1
            place = len(nodes["modes"])
            is_leaf = level == depth or (level > 1 and rng.random() < 0.2)
            for key, value in (
                ("treeids", tree),
                ("nodeids", here),
                ("featureids", 0 if is_leaf else int(rng.integers(FEATURES))),
                ("modes", "LEAF" if is_leaf else mode),
                ("values", 0.0 if is_leaf else float(np.float32(rng.normal()))),
                ("truenodeids", 0),
                ("falsenodeids", 0),
                ("missing_value_tracks_true", 0 if is_leaf else int(rng.integers(2))),
            ):
                nodes[key].append(value)
            if is_leaf:
                leaves.append((tree, here, results(tree), float(np.float32(rng.normal() / trees))))
            else:
                nodes["truenodeids"][place] = node(level + 1)
                nodes["falsenodeids"][place] = node(level + 1)
            return here

        node(0)
    return {f"nodes_{key}": values for key, values in nodes.items()}, leaves


def of_leaves(prefix, leaves):
    names = (f"{prefix}_treeids", f"{prefix}_nodeids", f"{prefix}_ids", f"{prefix}_weights")
    return {name: list(values) for name, values in zip(names, zip(*leaves))}


def model_of(rng, op, outputs, opset, missing=False, **attributes):
    node = helper.make_node(op, ["x"], [name for name, _, _ in outputs], domain=ML, **attributes)
    graph = helper.make_graph(
        [node],
        op,
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", FEATURES])],
        [helper.make_tensor_value_info(name, dtype, shape) for name, dtype, shape in outputs],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid(ML, opset)], ir_version=10)
    data_sets = []
    for rows in ROWS:
        x = rng.normal(size=(rows, FEATURES)).astype(np.float32)
        if missing:
            x[rng.random(x.shape) < 0.2] = np.nan
        data_sets.append([x])
    return model, data_sets


def classes(count):
    return [("label", TensorProto.INT64, ["rows"]), ("scores", TensorProto.FLOAT, ["rows", count])]


def forest_classifier():
    """As scikit-learn's forests are written: leaves hold probabilities of three classes."""
    rng = np.random.default_rng(1)
    nodes, leaves = grow(rng, 20, 6, "BRANCH_LEQ", lambda tree: 0)
    of_classes = [(tree, node, label, abs(weight)) for tree, node, _, weight in leaves for label in range(3)]
    rng.shuffle(of_classes)
    return model_of(rng, "TreeEnsembleClassifier", classes(3), 3, classlabels_int64s=[3, 5, 9], post_transform="NONE", **nodes, **of_leaves("class", [(int(t), int(n), int(c), float(w)) for t, n, c, w in of_classes]))


def boosted_binary():
    """As LightGBM's classifiers are written: one score, a logistic transform, missing values that go their own way."""
    rng = np.random.default_rng(2)
    nodes, leaves = grow(rng, 30, 5, "BRANCH_LEQ", lambda tree: 0)
    return model_of(rng, "TreeEnsembleClassifier", classes(2), 1, missing=True, classlabels_int64s=[0, 1], post_transform="LOGISTIC", **nodes, **of_leaves("class", leaves))


def boosted_classes():
    """As XGBoost's classifiers are written: a tree for each class in turn, base values, a softmax."""
    rng = np.random.default_rng(3)
    nodes, leaves = grow(rng, 24, 4, "BRANCH_LT", lambda tree: tree % 4)
    return model_of(rng, "TreeEnsembleClassifier", classes(4), 3, missing=True, classlabels_int64s=[0, 1, 2, 3], base_values=[0.5, -0.25, 0.0, 0.1], post_transform="SOFTMAX", **nodes, **of_leaves("class", leaves))


def boosted_regressor():
    """As LightGBM's and XGBoost's regressors are written: a sum and a base value."""
    rng = np.random.default_rng(4)
    nodes, leaves = grow(rng, 50, 6, "BRANCH_LT", lambda tree: 0)
    return model_of(rng, "TreeEnsembleRegressor", [("y", TensorProto.FLOAT, ["rows", 1])], 3, missing=True, n_targets=1, aggregate_function="SUM", base_values=[0.5], **nodes, **of_leaves("target", leaves))


def forest_regressor():
    """As scikit-learn's forests of several targets are written: the mean of leaves."""
    rng = np.random.default_rng(5)
    nodes, leaves = grow(rng, 16, 6, "BRANCH_LEQ", lambda tree: 0)
    of_targets = [(tree, node, target, float(np.float32(rng.normal()))) for tree, node, _, _ in leaves for target in range(2)]
    return model_of(rng, "TreeEnsembleRegressor", [("y", TensorProto.FLOAT, ["rows", 2])], 1, n_targets=2, aggregate_function="AVERAGE", **nodes, **of_leaves("target", of_targets))


MODELS = {function.__name__: function for function in (boosted_binary, boosted_classes, boosted_regressor, forest_classifier, forest_regressor)}
