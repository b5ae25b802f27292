# SPDX-License-Identifier: BSL-1.0
"""Searches that were complete, kept in a file: a long run that was broken off goes on from there."""

import hashlib
import json
import pathlib

import spin


class Journal:
    """A search a line, with what it searched. Those of a changed model, or of a changed way to search it,
    are searched anew. Without a file nothing is kept."""

    def __init__(self, file):
        self.file = file
        self.known = {}
        sources = sorted(path for path in spin.HERE.iterdir() if path.suffix in (".pml", ".py"))
        self.model = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()
        # The last line is a part of one if the run was broken off while it was written.
        text = file.read_text() if file and file.exists() else ""
        whole = text[: text.rfind("\n") + 1]
        if text and not whole:
            raise spin.Broken(f"{file} is no journal of searches: name another file, or remove it")
        try:
            lines = [json.loads(line) for line in whole.splitlines()]
            self.known = {line["search"]: spin.Result(**line["result"])
                          for line in lines if line["model"] == self.model}
        except (ValueError, KeyError, TypeError) as error:
            raise spin.Broken(f"{file} is no journal of searches: name another file, or remove it") from error
        if whole != text:
            file.write_text(whole)

    def find(self, search):
        return self.known.get(search.name)

    def add(self, search, result):
        if self.file and result.verdict != "unknown":
            with self.file.open("a") as file:
                print(json.dumps({"model": self.model, "search": search.name, "result": vars(result)}), file=file)
