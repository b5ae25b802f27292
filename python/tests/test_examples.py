# SPDX-License-Identifier: BSL-1.0
"""Docstrings have examples, which print what they say."""
import doctest
import inspect

import byre
import numpy as np
import pytest

FUNCTIONS = ["byre", *(name for name in byre.__all__ if not inspect.isclass(getattr(byre, name)))]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_example_of_each_function_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    thing = byre if name == "byre" else getattr(byre, name)
    globs = {"byre": byre, "np": np}
    examples = doctest.DocTestParser().get_doctest(inspect.getdoc(thing), globs, name, None, None)
    assert examples.examples
    report = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    runner.run(examples, out=report.append)
    assert runner.failures == 0, "".join(report)


def test_public_names_are_listed_in_order():
    modules = {name for name, value in vars(byre).items() if inspect.ismodule(value)}
    assert {name for name in vars(byre) if not name.startswith("_")} - modules == set(byre.__all__)
    assert list(byre.__all__) == sorted(byre.__all__)
    assert not any(name for name in modules if not name.startswith("_"))


def test_errors_derive_from_one_and_from_pythons():
    for kind, bases in {
        byre.ArgumentError: (ValueError, TypeError),
        byre.CopyRefused: (RuntimeError,),
        byre.FileError: (OSError, ValueError),
        byre.MissingFile: (byre.FileError, FileNotFoundError),
        byre.OutOfMemory: (MemoryError,),
    }.items():
        assert issubclass(kind, (byre.Error,)) and all(issubclass(kind, base) for base in bases)
