# SPDX-License-Identifier: BSL-1.0
"""A program where little is allowed, and writing where no file is: hostile_environment.py PROGRAM [ARGUMENT...]

The arguments are those of a short run, and the program has --json FILE. A limit of the system is met or is an
error that says what to do, never a signal.
"""
import json
import os
import pathlib
import resource
import stat
import subprocess
import sys
import tempfile
import threading
import unittest

COMMAND, sys.argv = sys.argv[1:], sys.argv[:1]


class HostileEnvironment(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="byre-hostile-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.file = self.folder / "figures.json"

    def run_limited(self, file, limit=None, nbytes=None, **settings):
        def set_limit():
            if limit is not None:
                resource.setrlimit(limit, (nbytes, resource.getrlimit(limit)[1]))
        return subprocess.run([*COMMAND, "--json", file], preexec_fn=set_limit, capture_output=True, text=True,
                              timeout=300, **settings)

    def assert_said(self, done, said):
        self.assertEqual(done.returncode, 1, done)
        self.assertIn(said, done.stderr.splitlines()[-1])
        self.assertEqual(list(self.folder.iterdir()), [])

    def figures(self):
        return json.loads(self.file.read_text())

    def test_a_stack_of_64_kib_is_enough(self):
        done = self.run_limited(self.file, resource.RLIMIT_STACK, 65536)
        self.assertEqual(done.returncode, 0, done)
        self.assertTrue(self.figures())

    def test_a_limit_on_files_is_an_error(self):
        self.assert_said(self.run_limited(self.file, resource.RLIMIT_FSIZE, 100), "File too large")

    def test_no_thread_to_be_had_is_an_error(self):
        # A thread's stack is as large as this limit, which is more than there are addresses.
        if resource.getrlimit(resource.RLIMIT_STACK)[1] != resource.RLIM_INFINITY:
            self.skipTest("the limit of stacks cannot be raised here")
        done = self.run_limited(self.file, resource.RLIMIT_STACK, 1 << 47)
        if done.returncode == 0:
            self.assertTrue(self.figures())  # it started none
        else:
            self.assert_said(done, "o thread could be started. ")
            self.assertIn("aise the limits: ulimit -u", done.stderr)

    def test_a_device_stays_one(self):
        # Of the test's own: a wrong program would replace the system's.
        try:
            os.mknod(self.file, 0o600 | stat.S_IFCHR, os.makedev(1, 3))
        except PermissionError:
            self.skipTest("this process may make no device")
        self.assertEqual(self.run_limited(self.file).returncode, 0)
        self.assertTrue(stat.S_ISCHR(self.file.stat().st_mode))

    def test_a_pipe_gets_the_figures(self):
        os.mkfifo(self.file)
        read = []
        reader = threading.Thread(target=lambda: read.append(self.figures()), daemon=True)
        reader.start()
        self.assertEqual(self.run_limited(self.file).returncode, 0)
        reader.join()
        self.assertTrue(read[0])
        self.assertTrue(stat.S_ISFIFO(self.file.stat().st_mode))

    def test_a_pipe_that_nobody_reads_is_an_error(self):
        read, write = os.pipe()
        os.close(read)
        self.addCleanup(os.close, write)
        self.assert_said(self.run_limited(f"/dev/fd/{write}", pass_fds=[write]), "Broken pipe")

    def test_standard_output_without_room_or_reader_is_an_error(self):
        read, write = os.pipe()
        os.close(read)
        full = os.open("/dev/full", os.O_WRONLY)
        for output in write, full:
            self.addCleanup(os.close, output)
            done = subprocess.run(COMMAND, stdout=output, stderr=subprocess.PIPE, text=True, timeout=300)
            self.assert_said(done, "annot write to standard output.")

    def test_a_link_stays_one(self):
        (self.folder / "target").symlink_to("figures.json")
        self.assertEqual(self.run_limited(self.folder / "target").returncode, 0)
        self.assertTrue((self.folder / "target").is_symlink())
        self.assertTrue(self.figures())

    def test_standard_output_gets_the_figures_among_what_is_printed(self):
        done = self.run_limited("/dev/stdout")
        self.assertEqual(done.returncode, 0, done)
        begin = min(at for at in (done.stdout.find("{"), done.stdout.find("[")) if at >= 0)
        self.assertTrue(json.JSONDecoder().raw_decode(done.stdout[begin:])[0])


if __name__ == "__main__":
    unittest.main()
