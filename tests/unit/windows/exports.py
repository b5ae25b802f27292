# SPDX-License-Identifier: BSL-1.0
"""exports.py OBJDUMP DLL...: a DLL of byre exports the API, and names of no other library."""
import re
import subprocess
import sys


def main(objdump, *libraries):
    for library in libraries:
        printed = subprocess.run([objdump, "-p", library], text=True, capture_output=True, check=True).stdout
        table = printed[printed.index("[Ordinal/Name Pointer] Table"):]
        names = re.findall(r"^\s*\[\s*\d+\](?: \+base\[\s*\d+\]\s+[0-9a-f]+)? (\S+)$", table, re.M)
        foreign = [name for name in names if "byre" not in name]
        if len(names) < 100 or foreign:
            sys.exit(f"{library} exports {len(names)} names; {foreign[:10]} are not of byre")
        print(f"{library}: {len(names)} names")


if __name__ == "__main__":
    main(*sys.argv[1:])
