# SPDX-License-Identifier: BSL-1.0
"""hostile_environment.py PROGRAM [ARGUMENT...]: runs a program under limits of the system, and lets it write to
devices, pipes and links.

The arguments are those of a short run, and the program accepts --json FILE. If a limit is exceeded, the program must
report an error that states a remedy, and must not be ended by a signal.
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

    def assert_error(self, done, said):
        self.assertEqual(done.returncode, 1, done)
        self.assertIn(said, done.stderr.splitlines()[-1])
        self.assertEqual(list(self.folder.iterdir()), [])

    def figures(self):
        return json.loads(self.file.read_text())

    def test_a_stack_of_64_kib_is_enough(self):
        done = self.run_limited(self.file, resource.RLIMIT_STACK, 65536)
        self.assertEqual(done.returncode, 0, done)
        self.assertTrue(self.figures())

    def test_exceeding_the_file_size_limit_is_an_error(self):
        self.assert_error(self.run_limited(self.file, resource.RLIMIT_FSIZE, 100), "File too large")

    def test_failure_to_start_a_thread_is_an_error(self):
        # The stack of a thread has the size of this limit, which exceeds the address space.
        if resource.getrlimit(resource.RLIMIT_STACK)[1] != resource.RLIM_INFINITY:
            self.skipTest("this process may not raise the limit of stacks")
        done = self.run_limited(self.file, resource.RLIMIT_STACK, 1 << 47)
        if done.returncode == 0:
            self.assertTrue(self.figures())  # the program started no thread
        else:
            self.assert_error(done, "annot start a thread. ")
            self.assertIn("aise the limits: ulimit -u", done.stderr)

    def test_an_output_device_is_not_replaced_by_a_file(self):
        # A new device, because a faulty program would replace a device of the system.
        try:
            os.mknod(self.file, 0o600 | stat.S_IFCHR, os.makedev(1, 3))
        except PermissionError:
            self.skipTest("this process may not create devices")
        self.assertEqual(self.run_limited(self.file).returncode, 0)
        self.assertTrue(stat.S_ISCHR(self.file.stat().st_mode))

    def test_figures_can_be_written_to_a_pipe(self):
        os.mkfifo(self.file)
        read = []
        reader = threading.Thread(target=lambda: read.append(self.figures()), daemon=True)
        reader.start()
        self.assertEqual(self.run_limited(self.file).returncode, 0)
        reader.join()
        self.assertTrue(read[0])
        self.assertTrue(stat.S_ISFIFO(self.file.stat().st_mode))

    def test_a_pipe_without_reader_is_an_error(self):
        read, write = os.pipe()
        os.close(read)
        self.addCleanup(os.close, write)
        self.assert_error(self.run_limited(f"/dev/fd/{write}", pass_fds=[write]), "Broken pipe")

    def test_standard_output_without_room_or_reader_is_an_error(self):
        read, write = os.pipe()
        os.close(read)
        full = os.open("/dev/full", os.O_WRONLY)
        for output in write, full:
            self.addCleanup(os.close, output)
            done = subprocess.run(COMMAND, stdout=output, stderr=subprocess.PIPE, text=True, timeout=300)
            self.assert_error(done, "annot write to standard output.")

    def test_a_symbolic_link_is_written_through_not_replaced(self):
        (self.folder / "target").symlink_to("figures.json")
        self.assertEqual(self.run_limited(self.folder / "target").returncode, 0)
        self.assertTrue((self.folder / "target").is_symlink())
        self.assertTrue(self.figures())

    def test_standard_output_contains_the_figures_among_other_output(self):
        done = self.run_limited("/dev/stdout")
        self.assertEqual(done.returncode, 0, done)
        begin = min(at for at in (done.stdout.find("{"), done.stdout.find("[")) if at >= 0)
        self.assertTrue(json.JSONDecoder().raw_decode(done.stdout[begin:])[0])


if __name__ == "__main__":
    unittest.main()
