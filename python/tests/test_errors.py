# SPDX-License-Identifier: BSL-1.0
import os
import subprocess
import sys

import byre
import pytest
from byre import _byre

KINDS = {
    "OutOfMemory": MemoryError,
    "ShapeError": ValueError,
    "DTypeError": TypeError,
    "StateError": ValueError,
    "InvalidArgument": ValueError,
    "FileError": (OSError, ValueError),
    "MissingFile": FileNotFoundError,
    "NotABuffer": BufferError,
    "NotUnique": BufferError,
    "DeviceError": ValueError,
    "IndexingError": IndexError,
    "OperandError": TypeError,
    "CopyRefused": RuntimeError,
}


@pytest.mark.parametrize("name", KINDS)
def test_an_error_is_byres_and_of_pythons_kind(name):
    kind = getattr(byre, name)
    wanted = KINDS[name] if isinstance(KINDS[name], tuple) else (KINDS[name],)
    assert all(issubclass(kind, base) for base in (byre.Error, *wanted))
    assert (kind.__name__, kind.__module__) == (name, "byre")
    for caught in (kind, byre.Error, *wanted):
        with pytest.raises(caught, match="^of the test$") as raised:
            _byre._throw(name)
        assert type(raised.value) is kind


def test_other_errors_are_byres():
    with pytest.raises(byre.Error, match="^of the test$") as raised:
        _byre._throw("any other")
    assert type(raised.value) is byre.Error
    assert byre.Error.__mro__[1] is Exception


def test_every_kind_is_exported():
    exported = {name for name in byre.__all__ if isinstance(getattr(byre, name), type) and issubclass(getattr(byre, name), Exception)}
    assert exported == {*KINDS, "Error", "ReshapeViolation"}


def test_a_program_that_relies_on_reshapes_being_views_is_told():
    program = """
import byre
assert issubclass(byre.ReshapeViolation, byre.Error) and issubclass(byre.ReshapeViolation, RuntimeError)
x = byre.zeros(4)
y = x.reshape(2, 2)
x[0] = 1
try:
    y.tolist()
except byre.ReshapeViolation as error:
    assert "reshape" in str(error), error
else:
    assert False
assert y.tolist() == [[1, 0], [0, 0]]
"""
    ended = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env=os.environ | {"BYRE_RESHAPE": "error"},
    )
    assert (ended.returncode, ended.stderr) == (0, "")


def test_what_is_no_array_is_told_so():
    with pytest.raises(TypeError, match="explain of an object of type int. It takes arrays of byre"):
        byre.explain(3)


@pytest.mark.parametrize("kind", [byre.Array, byre.Stats, byre.BFloat16Type])
def test_no_object_is_made_without_contents(kind):
    with pytest.raises(TypeError, match="made by functions of byre"):
        kind()
    with pytest.raises(TypeError):
        kind.__new__(kind)
    assert byre.no_copies.__new__(byre.no_copies) is not None
