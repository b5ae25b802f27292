# SPDX-License-Identifier: BSL-1.0
"""include_alone.py HEADER OUTPUT: writes a translation unit that includes one header."""
import pathlib
import sys

header, output = map(pathlib.Path, sys.argv[1:])
parts = header.parts
name = "/".join(parts[len(parts) - parts[::-1].index("byre") - 1 :])
# Twice, to check its include guard.
output.write_text(f"// SPDX-License-Identifier: BSL-1.0\n#include <{name}>\n#include <{name}>\n")
