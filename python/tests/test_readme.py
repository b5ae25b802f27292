# SPDX-License-Identifier: BSL-1.0
"""The sessions in the README print what it says."""
import doctest
import pathlib
import re

README = pathlib.Path(__file__).parents[2] / "README.md"


def test_the_sessions_in_the_readme_print_what_it_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sessions = re.findall(r"^```pycon\n(.*?)^```$", README.read_text(), re.S | re.M)
    assert len(sessions) == 2
    examples = doctest.DocTestParser().get_doctest("\n".join(sessions), {}, "README.md", None, None)
    report = []
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(examples, out=report.append)
    assert runner.failures == 0, "".join(report)
