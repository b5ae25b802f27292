# SPDX-License-Identifier: BSL-1.0
"""How byre-stress takes a command line, what a seed repeats, and how a run ends early:
command_line_test.py BYRE_STRESS CONTROLS, the folder of the model checker's own."""
import contextlib
import json
import os
import pathlib
import pty
import re
import resource
import select
import signal
import subprocess
import sys
import termios
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests/support"))
from programs import PROGRAM, Test, figures_of, run

CONTROLS = pathlib.Path(sys.argv.pop(1))
SHORT = ("--operations", "300", "--threads", "4", "--sizes", "1..64K")


class BadCommandLines(Test):
    def refuses(self, said, *arguments):
        self.assert_refused(2, said, *arguments)

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
        self.refuses("either --list or --soak, not both", "--list", "--soak")
        self.refuses("--list does not take --seed", "--list", "--seed", "1")
        self.refuses("--soak does not take --mix", "--soak", "--mix", "read=1")
        self.refuses("--rounds goes with --seeded-bugs", "--rounds", "1")
        self.refuses("either --duration or --operations", "--duration", "1", "--operations", "1")

    def test_a_race_takes_what_matters_to_it(self):
        race = ("--workload", "drops_against_drops")
        self.refuses("a race does not take --mix", *race, "--mix", "read=1")
        self.refuses("a race does not take --storages", *race, "--storages", "8")
        self.refuses("a race does not take --faults", *race, "--faults", "none")
        self.refuses("a race takes from 2 --threads on", *race, "--threads", "1")
        self.refuses("--threads takes a whole number from 2", "--seeded-bugs", "--threads", "1")

    def test_what_is_refused_leaves_a_file_as_it_was(self):
        file = self.scratch / "file"
        file.write_text("as it was")
        self.refuses("there is no seeded bug", "--seeded-bugs", "x", "--json", file)
        self.refuses("there is no workload", "--workload", "x", "--json", file)
        self.assertEqual(file.read_text(), "as it was")

    def test_a_file_that_cannot_be_written_is_found_out_before_the_run(self):
        self.assert_refused(1, "cannot write the file \"/nonexistent/x\": No such file", "--json", "/nonexistent/x", *SHORT)


class Runs(Test):
    def test_help_and_list_say_what_there_is(self):
        self.assertIn("--workload NAME", run("--help").stdout)
        listed = run("--list").stdout
        for name in ("mixed", "faults", "shared_slot_steal="):
            self.assertIn(name, listed)

    def test_a_seed_repeats_every_decision(self):
        arguments = (*SHORT, "--faults", "usual")
        (one,), (same,), (other,) = (figures_of("--seed", seed, *arguments) for seed in "112")
        self.assertEqual(one["digest"], same["digest"])
        self.assertEqual(one["operations_by_kind"], same["operations_by_kind"])
        self.assertNotEqual(one["digest"], other["digest"])

    def test_perturbation_changes_no_decision(self):
        (one,) = figures_of("--seed", "1", *SHORT)
        (perturbed,) = figures_of("--seed", "1", *SHORT, "--perturb", "usual")
        self.assertEqual(one["digest"], perturbed["digest"])
        self.assertEqual(one["delays"], 0)
        self.assertGreater(perturbed["delays"], 0)

    def test_the_command_that_repeats_a_run_does(self):
        arguments = ("--seed", "5", *SHORT, "--mix", "write=2,clone=3,hand=1", "--faults",
                     "copy=0.1,budget=1M", "--perturb", "0.05", "--protocol", "lock")
        (one,) = figures_of(*arguments)
        (again,) = figures_of(*one["again"].split()[1:])
        self.assertEqual(one["digest"], again["digest"])
        self.assertEqual(one["settings"], again["settings"])

    def test_the_command_that_repeats_a_race_is_taken(self):
        arguments = ("--workload", "failing_copies", "--threads", "3", "--seed", "5",
                     "--operations", "20")
        (one,) = figures_of(*arguments)
        self.assertNotIn("digest", one)
        (again,) = figures_of(*one["again"].split()[1:])
        self.assertEqual((one["settings"], one["rounds"]), (again["settings"], again["rounds"]))
        self.assertEqual(one["settings"]["threads"], 3)

    def test_faults_can_be_turned_off(self):
        faults = ("--workload", "faults", "--seed", "1", *SHORT)
        (without,) = figures_of(*faults, "--faults", "none")
        injected = {name: count["injected"] for name, count in without["faults"].items()}
        self.assertEqual(sum(injected.values()), injected["truncation"])
        (usual,) = figures_of(*faults)
        self.assertGreater(usual["faults"]["allocation"]["injected"], 0)

    def test_the_nth_allocation_of_each_thread_fails(self):
        (one,) = figures_of("--seed", "1", *SHORT, "--faults", "allocation_at=7")
        self.assertEqual(one["faults"]["allocation"], {"injected": 4, "survived": 4})

    def test_storages_are_as_many_as_each_thread_has(self):
        (one,) = figures_of("--seed", "1", *SHORT, "--storages", "1")
        self.assertEqual(one["settings"]["storages"], 2 * 4)

    def test_threads_that_cannot_be_had_end_it_in_order(self):
        most = resource.getrlimit(resource.RLIMIT_STACK)[1]
        if most != resource.RLIM_INFINITY and most < 1 << 30:
            self.skipTest("stacks may not be as large here")

        def have_room_for_some_stacks():
            # Stacks are what is large, so that there is memory for all else.
            resource.setrlimit(resource.RLIMIT_STACK, (1 << 30, most))
            resource.setrlimit(resource.RLIMIT_AS, (21 << 29, 21 << 29))

        for workload in ("mixed", "drops_against_drops"):
            ended = run("--workload", workload, "--threads", "64", "--operations", "1000000",
                        "--sizes", "1..1K", preexec_fn=have_room_for_some_stacks)
            self.assertEqual(ended.returncode, 1, ended)
            self.assertIn("byre-stress: no thread could be started. Use fewer, or raise the limits: ", ended.stderr)
            self.assertNotIn("signal", ended.stderr)

    NOT_SEEDED = {
        "keeps_no_superseded_write",  # wrong whatever other threads do: one thread finds it as well
        "drop_waits_for_copies",  # copies of real threads end, and then so does a drop that waits
    }

    def test_every_known_wrong_design_of_the_model_checker_is_a_seeded_bug(self):
        listed = run("--list").stdout
        names = {name for file in CONTROLS.glob("*.cpp")
                 for name in re.findall(r'\.name = "known_wrong\.(\w+)"', file.read_text())}
        self.assertGreater(len(names), 8)
        self.assertLessEqual(self.NOT_SEEDED, names)
        # What is wrong with a parking lot loses a wake, as parks_without_recheck does.
        lots = {name for name in names if name.startswith("lot_")}
        self.assertTrue(lots)
        # A lock of the table of locks is taken by the library itself, which has no seam for another table.
        tables = set(re.findall(r'\.name = "known_wrong\.(\w+)"', (CONTROLS / "parallel_writers.cpp").read_text()))
        self.assertTrue(tables)
        # No workload has a device; copies that end later race real threads in the unit tests of storages.
        devices = set(re.findall(r'\.name = "known_wrong\.(\w+)"', (CONTROLS / "submitted_copies.cpp").read_text()))
        self.assertTrue(devices)
        for name in names - self.NOT_SEEDED - lots - tables - devices:
            # A weak load is the same bug in whatever it guards.
            seeded = name.removesuffix("_writes") if name.startswith("relaxed") else name
            seeded = seeded.removesuffix("_resizes")
            self.assertRegex(listed, rf"(?m)^  {seeded} ")

    def test_every_kind_of_operation_is_done(self):
        (outcome,) = figures_of("--seed", "1", *SHORT)
        self.assertEqual(sum(outcome["operations_by_kind"].values()), outcome["operations"])
        self.assertGreater(min(outcome["operations_by_kind"].values()), 0)

    def test_figures_go_to_a_file_beside_the_text(self):
        file = self.scratch / "figures.json"
        ended = run("--seed", "1", *SHORT, "--json", file)
        (outcome,) = json.loads(file.read_text())
        self.assertIn("all right", ended.stdout)
        self.assertEqual(outcome["failures"], [])

    def test_no_file_stays_behind(self):
        run("--workload", "faults", *SHORT, check=True,
            env={**os.environ, "TMPDIR": str(self.scratch)})
        self.assertEqual(os.listdir(self.scratch), [])


class EarlyEnds(unittest.TestCase):
    ENDLESS = (PROGRAM, "--duration", "100000", "--threads", "2", "--sizes", "1..64K")

    def test_a_signal_ends_a_run_with_its_report(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # Under nohup it would stay ignored. Sent before the run takes notice, it would end the
            # program as usual.
            def as_usual(number=number):
                signal.signal(number, signal.SIG_DFL)

            with subprocess.Popen(self.ENDLESS, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True, preexec_fn=as_usual) as process:
                process.stderr.readline()
                process.send_signal(number)
                out, _ = process.communicate()
            self.assertEqual(process.returncode, 0)
            self.assertIn("all right", out)

    def test_a_detection_run_that_is_killed_takes_its_child_with_it(self):
        endless = [PROGRAM, "--seeded-bugs", "relaxed_finish", "--rounds", "1000000000000"]
        with subprocess.Popen(endless, stdout=subprocess.PIPE, text=True) as process:
            children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
            if not children.exists():
                process.kill()
                self.skipTest("this system does not tell children")
            while not (child := children.read_text().strip()):
                pass
            ended = os.pidfd_open(int(child))
            process.kill()
        self.assertTrue(select.select([ended], [], [], 60)[0], "the child lives on")
        os.close(ended)

    def test_a_program_that_dies_leaves_the_terminal_as_it_was(self):
        with self.on_terminal() as (process, terminal, before):
            process.send_signal(signal.SIGABRT)
            while process.poll() is None:  # its crash report may be more than the terminal holds
                if select.select([self.keyboard], [], [], 0.1)[0]:
                    os.read(self.keyboard, 4096)
            # If it holds a lock that the crash report needs, the alarm ends it.
            self.assertIn(process.returncode, (-signal.SIGABRT, -signal.SIGALRM))
            self.assertEqual(termios.tcgetattr(terminal), before)

    def test_q_ends_a_run_and_leaves_the_terminal_as_it_was(self):
        with self.on_terminal() as (process, terminal, before):
            os.write(self.keyboard, b"q")
            out, _ = process.communicate()
            self.assertEqual(process.returncode, 0)
            self.assertIn("all right", out)
            self.assertEqual(termios.tcgetattr(terminal), before)

    @contextlib.contextmanager
    def on_terminal(self):
        """A run under way on a terminal of its own, that terminal, and what it was like before."""
        self.keyboard, terminal = pty.openpty()
        before = termios.tcgetattr(terminal)

        def own_the_terminal():
            os.setsid()
            os.close(os.open(os.ttyname(terminal), os.O_RDWR))

        with subprocess.Popen(self.ENDLESS, stdin=terminal, stdout=subprocess.PIPE,
                              stderr=terminal, text=True, preexec_fn=own_the_terminal) as process:
            seen = b""
            while b"operations" not in seen:
                seen += os.read(self.keyboard, 1024)
            self.assertNotEqual(termios.tcgetattr(terminal), before)
            yield process, terminal, before
        os.close(self.keyboard)
        os.close(terminal)


if __name__ == "__main__":
    unittest.main()
