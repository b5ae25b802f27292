#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs reshape_audit, holds its figures against the labels in its sources, and gives it what it cannot
use. Test names are sentences."""

import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
import programs

LABELS_PY, SWITCHES_PY, PIPELINES = sys.argv[1], sys.argv[2], sys.argv[3:]
MODES = ("alias", "warn", "error", "copy")


def run(*arguments, **environment):
    clean = {name: value for name, value in os.environ.items() if not name.startswith("BYRE_")}
    return programs.run(*arguments, env={**clean, **environment})


def figures_of(*arguments, **environment):
    done = run(*arguments, "--json", **environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def relying(figures):
    return [audit for audit in figures["audits"] if audit["labels"]]


class TheAudit(programs.Test):
    @classmethod
    def setUpClass(cls):
        cls.figures = figures_of()

    def test_precision_and_recall_are_1(self):
        for of in ("triples", "pipelines"):
            self.assertEqual(self.figures[of]["precision"], 1.0)
            self.assertEqual(self.figures[of]["recall"], 1.0)
        self.assertEqual(self.figures["advice"],
                         {"as_labelled": self.figures["triples"]["labelled"], "mistakes": 2,
                          "open": 6})
        self.assertIs(self.figures["verified"], True)
        self.assertEqual(self.figures["faults"], [])

    def test_there_are_pipelines_of_either_kind_and_reports_of_every_kind(self):
        reports = [report for audit in self.figures["audits"] for report in audit["reports"]]
        self.assertGreaterEqual(len(self.figures["audits"]), 12)
        self.assertGreaterEqual(len(relying(self.figures)), 6)
        self.assertGreaterEqual(len(self.figures["audits"]) - len(relying(self.figures)), 6)
        self.assertEqual({report["advice"] for report in reports},
                         {"view", "reshape_and_clone", "view_or_clone", "nothing"})
        self.assertEqual({report["access_is"] for report in reports}, {"read", "write"})
        self.assertGreater(max(report["count"] for report in reports), 1)
        self.assertEqual(max(report["untracked_escapes"] for report in reports), 1)

    def test_labels_are_those_in_the_sources(self):
        """By what stands in the labelled lines, and by their number."""
        sources = {pathlib.Path(path).name: pathlib.Path(path).read_text().splitlines()
                   for path in PIPELINES}
        roles = {"reshape": "reshaped", "write": "written", "access": "then"}
        for audit in relying(self.figures):
            for label in audit["labels"]:
                for key, role in roles.items():
                    line = sources[label["file"]][label[key] - 1]
                    self.assertRegex(line, rf"// .*\b{role}\b")
        accesses = sum(len(re.findall(r"\d+", found)) for lines in sources.values()
                       for line in lines for found in re.findall(r"// .*then \w+((?: \d+)+)", line))
        self.assertEqual(self.figures["triples"]["labelled"], accesses)

    def test_each_pipeline_alone_is_audited_as_among_the_others(self):
        for audit in self.figures["audits"]:
            alone = figures_of("--pipeline", audit["name"])["audits"]
            self.assertEqual(alone, [audit])

    def test_the_table_says_the_same(self):
        done = run()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.stdout.count("precision 1.000, recall 1.000"), 2)
        for audit in self.figures["audits"]:
            self.assertIn(f"\n{audit['name']} ", done.stdout)
        self.assertNotIn("If the two are to share memory", done.stdout)

    def test_the_table_is_the_one_in_the_readme(self):
        readme = pathlib.Path(__file__).parents[2] / "examples" / "README.md"
        self.assertIn(f"```\n{run().stdout}```", readme.read_text())

    def test_a_full_report_names_every_place(self):
        said = run("--report").stdout
        for audit in relying(self.figures):
            for label in audit["labels"]:
                for key in ("reshape", "write", "access"):
                    self.assertIn(f"{label['file']}:{label[key]}", said)
        self.assertIn("write view in place of that reshape", said)
        self.assertIn("write reshape(...).clone()", said)

    def test_json_goes_to_a_file_beside_the_table(self):
        path = self.scratch / "figures.json"
        self.assertIn("precision", run("--json", path).stdout)
        self.assertEqual(json.loads(path.read_text()), self.figures)


class Modes(unittest.TestCase):
    def test_error_mode_shows_what_is_thrown_where_something_relies_on_aliases(self):
        for audit in figures_of()["audits"]:
            done = run("--mode=error", "--pipeline", audit["name"])
            self.assertEqual(done.returncode, 0, done.stderr)
            if audit["labels"]:
                self.assertIn(f"threw: {audit['error']}\n", done.stdout)
                self.assertIn("relies on reshape sharing memory", audit["error"])
            else:
                self.assertNotIn("threw", done.stdout)
                self.assertEqual(audit["error"], "")

    def test_warn_mode_sees_what_alias_mode_sees_and_reports(self):
        seen = {mode: run(f"--mode={mode}").stdout for mode in MODES}
        lines = {mode: re.findall(r"^  saw .*", text, re.M) for mode, text in seen.items()}
        self.assertEqual(lines["warn"], lines["alias"])
        self.assertNotEqual(lines["copy"], lines["alias"])
        reported = {mode: text.count("reported: ") for mode, text in seen.items()}
        self.assertEqual(reported, {"alias": 0, "warn": figures_of()["triples"]["reported"],
                                    "error": 0, "copy": 0})


class TheEnvironment(programs.Test):
    def test_a_summary_at_exit_has_every_triple(self):
        path = self.scratch / "summary.json"
        figures = figures_of(BYRE_RESHAPE_SUMMARY=str(path))
        summary = json.loads(path.read_text())
        self.assertEqual(len(summary["triples"]), figures["triples"]["reported"])
        for key, value in figures["summary"].items():
            self.assertEqual(summary[key], value)

    def test_what_is_suppressed_is_missed_and_said_to_be(self):
        path = self.scratch / "silent"
        path.write_text("pipelines/imaging.cpp\n")
        done = run(BYRE_RESHAPE_SUPPRESSIONS=str(path))
        self.assertEqual(done.returncode, 1)
        self.assertIn("patch_brightening: Labelled, and not reported: imaging.cpp", done.stderr)
        self.assertIn("Something is WRONG", done.stdout)
        self.assertNotIn("recall 1.000", done.stdout)


class WrongInput(unittest.TestCase):
    def assert_refused(self, code, said, *arguments, **environment):
        done = run(*arguments, **environment)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(said, done.stderr)
        self.assertEqual(done.stdout, "")

    def test_unknown_names_are_refused_with_those_there_are(self):
        self.assert_refused(2, "key_value_cache", "--pipeline=nonsense")
        self.assert_refused(2, "alias, warn, error or copy", "--mode=nonsense")

    def test_what_does_not_go_together_is_refused(self):
        self.assert_refused(2, "--mode only runs", "--mode=warn", "--report")
        self.assert_refused(2, "--mode only runs", "--mode=warn", "--json")

    def test_unknown_options_and_stray_words_are_refused(self):
        self.assert_refused(2, "--nonsense", "--nonsense")
        self.assert_refused(2, "usage", "stray")
        self.assert_refused(2, "one file", "--json", "one", "two")

    def test_an_environment_that_makes_no_sense_is_refused(self):
        self.assert_refused(1, "BYRE_RESHAPE_SUMMARY", BYRE_RESHAPE_SUMMARY="somewhere")

    def test_a_place_that_cannot_be_written_to_is_named(self):
        self.assert_refused(1, "figures.json", "--json", "/no/such/figures.json")

    def test_help_names_every_option_and_pipeline(self):
        done = run("--help")
        self.assertEqual(done.returncode, 0)
        for name in ("--pipeline", "--report", "--mode", "--json"):
            self.assertIn(name, done.stdout)
        for audit in figures_of()["audits"]:
            self.assertIn(f"{audit['name']}: {audit['what']}", done.stdout)


class Generated(programs.Test):
    def generated(self, script, body):
        """What the script makes of a source, or what it says."""
        source, output = self.scratch / "some.cpp", self.scratch / "out.cpp"
        source.write_text(body)
        done = subprocess.run([sys.executable, script, output, source], capture_output=True,
                              text=True, timeout=60)
        return output.read_text() if done.returncode == 0 else done.stderr


class Labels(Generated):
    def assert_labels(self, body, said):
        self.assertIn(said, self.generated(LABELS_PY, body))

    def test_labels_are_collected_by_function_and_number(self):
        self.assert_labels("void run(Journal& j) {\n  a();  // reshaped 7 8\n"
                           "  b();  // written 7, then written 8, view 7\n"
                           "  c();  // then read 7, written 8, seen 7, view by mistake 8\n}\n",
                           '{"run", "some.cpp", 2, 3, 4, false, Advice::view, false, {4}},\n      '
                           '{"run", "some.cpp", 2, 4, 3, true, Advice::view, true, {}}')

    def test_labels_that_make_no_sense_are_refused(self):
        inside = "void run(Journal& j) {{\n  a();  // {}\n}}\n"
        self.assert_labels(inside.format("reshaped x"), "'reshaped x' is no label")
        self.assert_labels(inside.format("reshaped 1"), "triple 1 of run lacks advice, then, written")
        self.assert_labels(inside.format("written 1, written 1"), "is written twice")
        self.assert_labels(inside.format("reshaped 1, view 1, clone 1"), "is advised twice")
        self.assert_labels("a();  // reshaped 1\n", "outside a pipeline")


class Switches(Generated):
    def switched(self, body):
        return self.generated(SWITCHES_PY, body).splitlines()[2:]

    def test_each_reshape_and_each_labelled_write_has_one(self):
        for line, expected in {
                "a = b.reshape({f(1), 2}).t();": "a = b.reshape({f(1), 2}, AtThisLine()).t();",
                "f(a.reshape_({1}), b.reshape({2}));":
                    "f(a.reshape_({1}, AtThisLine()), b.reshape({2}, AtThisLine()));",
                "byre::fill_(a, 1);  // written 1": "byre::fill_(written(a), 1);  // written 1",
                "byre::relu_(byre::sub_(a, b));  // then read 2, written 1":
                    "byre::relu_(byre::sub_(written(a), b));  // then read 2, written 1",
                "a.set_at({0}, 1);  // written 1": "written(a).set_at({0}, 1);  // written 1",
                "byre::mutable_accessor<float, 2>(a);  // written 1":
                    "byre::mutable_accessor<float, 2>(written(a));  // written 1",
                "byre::fill_(a, 1);": "byre::fill_(a, 1);"}.items():
            self.assertEqual(self.switched(line + "\n"), [expected])

    def test_what_has_none_is_refused(self):
        for body in ("a = b.reshape({1,\n  2});\n", "write(a);  // written 1\n"):
            self.assertIn("has no switch", self.generated(SWITCHES_PY, body))

    def test_lines_are_those_of_the_source(self):
        for path in PIPELINES:
            source = pathlib.Path(path).read_text()
            self.assertEqual(len(self.switched(source)), len(source.splitlines()))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
