# SPDX-License-Identifier: BSL-1.0
"""What byre-stress says to a command line, what a seed repeats, and how a run ends early:
command_line_test.py BYRE_STRESS."""
import json
import os
import pathlib
import pty
import signal
import subprocess
import sys
import tempfile
import termios
import unittest

PROGRAM = sys.argv.pop(1)
SHORT = ("--operations", "300", "--threads", "4", "--sizes", "1..64K")


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)


def figures(*arguments):
    ended = run("--json", *arguments)
    if ended.returncode != 0:
        raise AssertionError(ended)
    return json.loads(ended.stdout)


class BadCommandLines(unittest.TestCase):
    def refuses(self, said, *arguments):
        ended = run(*arguments)
        self.assertEqual(ended.returncode, 2, ended)
        self.assertIn(said, ended.stderr)
        self.assertEqual(ended.stdout, "")

    def test_unknown_names_are_refused(self):
        self.refuses("there is no workload 'x'", "--workload", "x")
        self.refuses("'--x'", "--x")
        self.refuses("there is no operation 'x'", "--mix", "x=1")
        self.refuses("--protocol: the forms are word and lock", "--protocol", "x")
        self.refuses("positional", "x")

    def test_bad_numbers_are_refused(self):
        self.refuses("--threads takes a whole number from 1 to 64, not '0'", "--threads", "0")
        self.refuses("--threads takes a whole number from 1 to 64, not '65'", "--threads", "65")
        self.refuses("--seed takes a whole number", "--seed=-1")
        self.refuses("--duration takes a whole number", "--duration", "1.5")
        self.refuses("--operations takes a whole number", "--operations", "0")
        self.refuses("--storages takes a whole number", "--storages", "many")

    def test_bad_mixes_and_sizes_are_refused(self):
        self.refuses("parts such as write=2", "--mix", "read")
        self.refuses("parts such as write=2", "--mix", "read=-1")
        self.refuses("at least one operation", "--mix", "read=0")
        self.refuses("from 1 to 64M", "--sizes", "0")
        self.refuses("from 1 to 64M", "--sizes", "1..65M")
        self.refuses("from the smaller to the larger", "--sizes", "2..1")

    def test_bad_faults_and_perturbations_are_refused(self):
        self.refuses("not 'x=1'", "--faults", "x=1")
        self.refuses("not 'copy=2'", "--faults", "copy=2")
        self.refuses("at most 1 together", "--faults", "copy=0.6,heap=0.6")
        self.refuses("a chance above 0", "--perturb", "nan")

    def test_one_thing_is_done_at_a_time(self):
        self.refuses("either --soak or --list, not both", "--list", "--soak")
        self.refuses("--list does not take --seed", "--list", "--seed", "1")
        self.refuses("--soak does not take --mix", "--soak", "--mix", "read=1")
        self.refuses("--rounds goes with --planted", "--rounds", "1")
        self.refuses("either --duration or --operations", "--duration", "1", "--operations", "1")

    def test_a_file_that_cannot_be_written_is_found_out_before_the_run(self):
        ended = run("--json", "/nonexistent/x", *SHORT)
        self.assertEqual((ended.returncode, ended.stdout), (1, ""))
        self.assertIn("cannot write /nonexistent/x", ended.stderr)


class Runs(unittest.TestCase):
    def test_help_and_list_say_what_there_is(self):
        self.assertIn("--workload NAME", run("--help").stdout)
        listed = run("--list").stdout
        for name in ("mixed", "faults", "board_steal="):
            self.assertIn(name, listed)

    def test_a_seed_repeats_every_decision(self):
        arguments = (*SHORT, "--faults", "usual")
        (one,), (same,), (other,) = (figures("--seed", seed, *arguments) for seed in "112")
        self.assertEqual(one["digest"], same["digest"])
        self.assertEqual(one["operations_by_kind"], same["operations_by_kind"])
        self.assertNotEqual(one["digest"], other["digest"])

    def test_perturbation_changes_no_decision(self):
        (one,) = figures("--seed", "1", *SHORT)
        (perturbed,) = figures("--seed", "1", *SHORT, "--perturb", "usual")
        self.assertEqual(one["digest"], perturbed["digest"])
        self.assertEqual(one["delays"], 0)
        self.assertGreater(perturbed["delays"], 0)

    def test_the_command_that_repeats_a_run_does(self):
        arguments = ("--seed", "5", *SHORT, "--mix", "write=2,clone=3,hand=1", "--faults",
                     "copy=0.1,budget=1M", "--perturb", "0.05", "--protocol", "lock")
        (one,) = figures(*arguments)
        (again,) = figures(*one["again"].split()[1:])
        self.assertEqual(one["digest"], again["digest"])
        self.assertEqual(one["settings"], again["settings"])

    def test_every_kind_of_operation_is_done(self):
        (outcome,) = figures("--seed", "1", *SHORT)
        self.assertEqual(sum(outcome["operations_by_kind"].values()), outcome["operations"])
        self.assertGreater(min(outcome["operations_by_kind"].values()), 0)

    def test_figures_go_to_a_file_beside_the_text(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "figures.json"
            ended = run("--seed", "1", *SHORT, "--json", str(file))
            (outcome,) = json.loads(file.read_text())
        self.assertIn("all right", ended.stdout)
        self.assertEqual(outcome["failures"], [])

    def test_no_file_stays_behind(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([PROGRAM, "--workload", "faults", *SHORT], check=True,
                           capture_output=True, env={**os.environ, "TMPDIR": folder})
            self.assertEqual(os.listdir(folder), [])


class EarlyEnds(unittest.TestCase):
    ENDLESS = (PROGRAM, "--duration", "100000", "--threads", "2", "--sizes", "1..64K")

    def test_a_signal_ends_a_run_with_its_report(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # Sent before the run takes notice, it would end the program as usual.
            with subprocess.Popen(self.ENDLESS, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True) as process:
                process.stderr.readline()
                process.send_signal(number)
                out, _ = process.communicate()
            self.assertEqual(process.returncode, 0)
            self.assertIn("all right", out)

    def test_q_ends_a_run_and_leaves_the_terminal_as_it_was(self):
        parent, child = pty.openpty()
        before = termios.tcgetattr(child)

        def own_the_terminal():
            os.setsid()
            os.close(os.open(os.ttyname(child), os.O_RDWR))

        with subprocess.Popen(self.ENDLESS, stdin=child, stdout=subprocess.PIPE, stderr=child,
                              text=True, preexec_fn=own_the_terminal) as process:
            seen = b""
            while b"operations" not in seen:
                seen += os.read(parent, 1024)
            os.write(parent, b"q")
            out, _ = process.communicate()
        self.assertEqual(process.returncode, 0)
        self.assertIn("all right", out)
        self.assertEqual(termios.tcgetattr(child), before)
        os.close(parent)
        os.close(child)


if __name__ == "__main__":
    unittest.main()
