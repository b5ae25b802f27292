# SPDX-License-Identifier: BSL-1.0
"""The sessions in the README and in docs/*.md print what these say."""
import doctest
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "blocks"))

import blocks  # noqa: E402

SESSIONS = {}
for block in blocks.all_blocks(ROOT):
    if block.language in ("pycon", "python"):
        SESSIONS[block.page] = SESSIONS.get(block.page, "") + block.text + "\n"


def test_the_documents_have_sessions():
    assert {"README.md", "docs/python.md"} <= set(SESSIONS)


@pytest.mark.parametrize("name", SESSIONS)
def test_the_sessions_in_documents_print_what_these_say(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    examples = doctest.DocTestParser().get_doctest(SESSIONS[name], {}, name, None, None)
    assert examples.examples
    report = []
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(examples, out=report.append)
    assert runner.failures == 0, "".join(report)
