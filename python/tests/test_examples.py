# SPDX-License-Identifier: BSL-1.0
import doctest
import inspect

import byre
import pytest


def documented():
    yield "byre", byre
    for name in byre.__all__:
        thing = getattr(byre, name)
        if getattr(thing, "__module__", "").startswith("byre"):
            if isinstance(thing, byre.BFloat16Type):
                continue
            yield name, thing
            if inspect.isclass(thing):
                for member, value in vars(thing).items():
                    if not member.startswith("_"):
                        yield f"{name}.{member}", value


# An example's temporary folder goes with its last name.
@pytest.mark.filterwarnings("ignore:Implicitly cleaning up:ResourceWarning")
@pytest.mark.parametrize("thing", [pytest.param(thing, id=name) for name, thing in documented()])
def test_every_example_does_what_it_says(thing):
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    examples = doctest.DocTestParser().get_doctest(
        inspect.getdoc(thing) or "", {"byre": byre}, repr(thing), None, None
    )
    assert examples.examples, "there is no example"
    report = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=options)
    runner.run(examples, out=report.append)
    assert runner.failures == 0, "".join(report)


def test_all_that_is_exported_is_listed():
    public = {name for name in vars(byre) if not name.startswith("_")}
    assert public == set(byre.__all__)
    assert byre.__all__ == sorted(byre.__all__)
