# SPDX-License-Identifier: BSL-1.0
"""Finds operations on tensors that are missing from the tables in accesses_test.cpp.

usage: every_operation_has_a_row.py core/byre/tensor accesses_test.cpp

The tables must state for each operation whether it reads, writes or does neither. Each public member function of Tensor
needs a row, and each overload of each function that takes the call site of its caller.
"""
import re
import sys
from pathlib import Path

# These make a tensor, or change a tensor whose storage is not shared (resize_test.cpp tests those). `bool` converts the
# handle itself.
WITHOUT_A_ROW = {'Tensor', 'empty', 'zeros', 'of', 'over', 'free_memory', 'reserve', 'extend',
                 'share_external', 'bool'}


def public_members(header):
    body = header[header.index('class BYRE_API Tensor {'):]
    body = body[body.index('public:'):body.index('\n private:')]
    body = re.sub(r'//.*', '', body)
    names = re.findall(r'^  (?! )(?!template|requires|return|if)[^=;{(]*?(\w+)\(', body, re.M)
    return set(names) - WITHOUT_A_ROW


def overloads_with_a_call_site(header):
    """How often each function name is declared with a parameter for the call site of its caller."""
    text = re.sub(r'//.*', '', header)
    names = {}
    for match in re.finditer(r'\b(\w+)\(((?:[^;{}]|\{\})*?)CallSite site = CallSite::current\(\)', text):
        last = re.findall(r'(\w+)\(', match.group(0).split('CallSite site')[0])
        names[last[0]] = names.get(last[0], 0) + 1
    return names


def main():
    tensor = Path(sys.argv[1])
    rows = re.findall(r'ROW\(\w+, (.*?)\)(?=, ROW|,$)', Path(sys.argv[2]).read_text(encoding='utf-8'), re.M)
    problems = []
    wanted = {name: 1 for name in public_members((tensor / 'tensor.hpp').read_text(encoding='utf-8'))}
    for header in sorted(tensor.glob('*.hpp')):
        for name, count in overloads_with_a_call_site(header.read_text(encoding='utf-8')).items():
            if name not in WITHOUT_A_ROW:
                wanted[name] = max(wanted.get(name, 0), count)
    for name, count in sorted(wanted.items()):
        found = sum(bool(re.search(rf'\b{name}(<[^()]*>)?\(', row)) for row in rows)
        if found < count:
            problems.append(f'{name}: {count} declared, {found} in rows')
    if len(wanted) < 60 or len(rows) < 100:
        problems.append(f'only {len(wanted)} operations and {len(rows)} rows were found')
    print('\n'.join(problems) or f'{len(wanted)} operations, {len(rows)} rows')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
