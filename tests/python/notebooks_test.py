"""The notebooks run: each cell after the other, as they stand, and what a cell ends with can be drawn."""

import ast
import json
import os

import pytest

import processes

FOLDER = os.path.join(processes.RUNFILES, 'client', 'python', 'notebooks')
NOTEBOOKS = sorted(name for name in os.listdir(FOLDER) if name.endswith('.ipynb'))


def run_cell(source, names):
    """Runs a cell; returns what its last line is, if it is an expression, as a notebook would draw it."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, '<cell>', 'exec'), names)  # pylint: disable=exec-used
    if last is None:
        return None
    value = eval(compile(ast.Expression(last.value), '<cell>', 'eval'), names)  # pylint: disable=eval-used
    return value._repr_html_() if hasattr(value, '_repr_html_') else repr(value)  # pylint: disable=protected-access


@pytest.mark.parametrize('name', NOTEBOOKS)
def test_a_notebook_runs(name, monkeypatch):
    with open(os.path.join(FOLDER, name), encoding='utf-8') as file:
        notebook = json.load(file)
    assert notebook['nbformat'] == 4
    monkeypatch.chdir(os.path.dirname(processes.DIGITS))
    names = {}
    drawn = []
    for cell in notebook['cells']:
        assert set(cell) >= {'cell_type', 'id', 'metadata', 'source'}
        if cell['cell_type'] != 'code':
            continue
        assert cell['outputs'] == [] and cell['execution_count'] is None
        drawn.append(run_cell(''.join(cell['source']), names))
    assert any(each and '<table>' in each for each in drawn)


def test_there_are_some():
    assert len(NOTEBOOKS) == 3
