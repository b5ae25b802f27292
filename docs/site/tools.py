# SPDX-License-Identifier: BSL-1.0
"""Running programs, and the error of the site's scripts."""
import subprocess


class Failure(Exception):
    """An error message for the user."""


def run(program, *arguments, text, **settings):
    """Runs a program with `text` as its input and returns its output. Raises Failure if it cannot run or fails."""
    try:
        ended = subprocess.run([program, *arguments], input=text, text=True, capture_output=True, **settings)
    except OSError as error:
        raise Failure(f"cannot run {program} (Debian: apt-get install {program}): {error.strerror}") from error
    if ended.returncode:
        raise Failure(f"{program} failed: {ended.stderr.strip()}")
    return ended.stdout
