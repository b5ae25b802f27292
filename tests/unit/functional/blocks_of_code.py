# SPDX-License-Identifier: BSL-1.0
"""Whether the C++ of a document is compiled: blocks_of_code.py DOCUMENT SOURCE. Each block of the
document has to stand in the source, however far indented."""
import pathlib
import re
import sys


def lines_of(text):
    return [line.strip() for line in text.splitlines() if line.strip()]


def main(document, source):
    compiled = "\n".join(lines_of(pathlib.Path(source).read_text()))
    blocks = re.findall(r"^```cpp\n(.*?)^```$", pathlib.Path(document).read_text(), re.S | re.M)
    if not blocks:
        sys.exit(f"{document} has no C++")
    for block in blocks:
        if "\n".join(lines_of(block)) not in compiled:
            sys.exit(f"{document}: this is not in {source}:\n{block}")


if __name__ == "__main__":
    main(*sys.argv[1:])
