# SPDX-License-Identifier: BSL-1.0
"""Tests the command line of byre-stress, its reports and its exit codes: runs_test.py BYRE_STRESS."""
import json
import os
import pathlib
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests/support"))
import unittest

from programs import PROGRAM, Test, run

SHORT = ("--operations", "300", "--threads", "4", "--most-nbytes", "65536")


class Runs(Test):
    def test_invalid_options_are_rejected(self):
        for said, *arguments in (
                ("unknown workload 'x'", "--workload", "x"),
                ("invalid part 'x=1'", "--mix", "x=1"),
                ("such as write=2", "--mix", "write=-1"),
                ("at least one step", "--mix", ""),
                ("--threads takes a whole number from 1 to 64, not '65'", "--threads", "65"),
                ("--duration and --operations exclude each other", "--duration", "1", "--operations", "1"),
                ("--json and --soak exclude each other", "--json", "--soak"),
                ("a race needs at least 2 --threads", "--workload", "never_waits", "--threads", "1")):
            self.assert_refused(2, said, *arguments)

    def test_all_listed_workloads_run(self):
        listed = run("--list").stdout
        races = [line.split()[0] for line in listed.splitlines() if line.startswith("  ")]
        self.assertGreater(len(races), 15)
        done = run("--workload", "all", "--operations", "3", "--threads", "2")
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(done.stdout.count("passed at"), len(races))

    def test_json_has_the_figures_of_a_run(self):
        done = run("--workload", "atomic_histories", "--operations", "20", "--threads", "2", "--perturb",
                   "--seed", "5", "--json", check=True)
        report = json.loads(done.stdout)
        self.assertEqual((report["workload"], report["seed"], report["failures"]), ("atomic_histories", 5, []))
        self.assertEqual(report["histories"], 20 * 64)
        self.assertGreater(report["histories_with_overlap"], 0)

    def test_no_temporary_file_remains(self):
        run("--workload", "faults", *SHORT, check=True, env={**os.environ, "TMPDIR": str(self.scratch)})
        self.assertEqual(os.listdir(self.scratch), [])

    def test_sigint_ends_a_run_and_prints_the_report(self):
        # Under nohup, SIGINT would stay ignored. The run prints a line as soon as it handles signals.
        # An earlier signal would kill it.
        with subprocess.Popen((PROGRAM, "--duration", "100000", "--threads", "2"), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True,
                              preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)) as process:
            process.stderr.readline()
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate()
        self.assertEqual(process.returncode, 0)
        self.assertIn("passed at", out)

    def test_a_crash_prints_the_command_that_repeats_the_run(self):
        with subprocess.Popen((PROGRAM, "--duration", "100000", "--threads", "2", "--seed", "7"),
                              stderr=subprocess.PIPE, text=True) as process:
            process.stderr.readline()
            process.send_signal(signal.SIGABRT)
            _, said = process.communicate()
        self.assertEqual(process.returncode, -signal.SIGABRT)
        self.assertIn("ended by signal 6\nrepeat: byre-stress --workload mixed --seed 7 --threads 2", said)
        self.assertIn("  thread 1: ", said)


if __name__ == "__main__":
    unittest.main()
