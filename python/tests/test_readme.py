# SPDX-License-Identifier: BSL-1.0
"""The sessions in the README and in docs/python.md print what these say."""
import doctest
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[2]


@pytest.mark.parametrize("name, count", [("README.md", 2), ("docs/python.md", 1)])
def test_the_sessions_in_documents_print_what_these_say(name, count, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sessions = re.findall(r"^```py\w*\n(>>> .*?)^```$", (ROOT / name).read_text(), re.S | re.M)
    assert len(sessions) == count
    examples = doctest.DocTestParser().get_doctest("\n".join(sessions), {}, name, None, None)
    report = []
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(examples, out=report.append)
    assert runner.failures == 0, "".join(report)
