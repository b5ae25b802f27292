# SPDX-License-Identifier: BSL-1.0
"""How the site's scripts run programs, and fail."""
import subprocess


class Failure(Exception):
    """Something the user has to be told, in one line."""


def run(program, *arguments, text, **settings):
    """Runs a program with a text as its input, and returns the output."""
    try:
        ended = subprocess.run([program, *arguments], input=text, text=True, capture_output=True, **settings)
    except OSError as error:
        raise Failure(f"cannot run {program} (Debian: apt-get install {program}): {error.strerror}") from error
    if ended.returncode:
        raise Failure(f"{program} failed: {ended.stderr.strip()}")
    return ended.stdout
