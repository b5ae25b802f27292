# SPDX-License-Identifier: BSL-1.0
"""Pages of the API headers, made by doxygen, and the list of these headers."""
import pathlib
import re
import shutil
import xml.etree.ElementTree

from tools import Failure, run

LIST = "docs/api.md"  # generated, not in the repository
PAGE = "api.html"
ABOVE = {"byre-tensor": ("tensor.hpp", "shadow/", "tensor/", "interop/"),
         "byre-functional": ("functional.hpp", "functional/")}
BEGIN = """# The API headers

The headers of each library. `detail/` and the namespace `detail` are not API.
"""
# Doxygen's lists of members, which are removed because they link to missing anchors.
LISTS = re.compile(r"(functions|index|namespacemembers).*\.html|.*-members\.html")


def headers(root):
    """Returns the paths of the API headers below core/byre, umbrella headers first."""
    core = root / "core/byre"
    found = (path.relative_to(core).as_posix() for end in ("h", "hpp") for path in core.rglob("*." + end))
    return sorted((name for name in found if "detail/" not in name), key=lambda name: ("/" in name, name))


def list_of_headers(root):
    lines = {"byre": [], **{library: [] for library in ABOVE}}
    for name in headers(root):
        library = next((each for each, rooms in ABOVE.items() if name.startswith(rooms)), "byre")
        comment = re.match(r"//.*\n((?:///.*\n)+)", (root / "core/byre" / name).read_text())[1]
        sentence = re.split(r"(?<=\.)\s", " ".join(comment.replace("///", " ").split()), maxsplit=1)[0]
        lines[library].append(f"- [`<byre/{name}>`](../core/byre/{name}): {sentence.rstrip('.:')}.")
    return BEGIN + "".join(f"\n## {library}\n\n" + "\n".join(each) + "\n" for library, each in lines.items())


def build(root, output, frame):
    """Writes the pages to output/api, inside the HTML `frame`, and returns the page of each header."""
    work = output / "work"
    work.mkdir()
    head, foot = frame.split("@body@")
    (work / "head.html").write_text(head + '<div id="top">')
    (work / "foot.html").write_text(foot)
    settings = [(root / "docs/site/Doxyfile").read_text(), f"OUTPUT_DIRECTORY = {output}",
                f"HTML_HEADER = {work}/head.html", f"HTML_FOOTER = {work}/foot.html",
                f"GENERATE_TAGFILE = {work}/tags.xml", f"WARN_LOGFILE = {work}/warnings",
                "INPUT = " + " ".join("core/byre/" + name for name in headers(root))]
    run("doxygen", "-", text="\n".join(settings), cwd=root)
    warnings = [line for line in (work / "warnings").read_text().splitlines()
                if line and "Detected potential recursive class relation" not in line]
    if warnings:
        raise Failure("doxygen warns:\n" + "\n".join(warnings))
    pages = {}
    for compound in xml.etree.ElementTree.parse(work / "tags.xml").iter("compound"):
        if compound.get("kind") == "file":
            header = pathlib.Path(compound.findtext("path"), compound.findtext("name")).relative_to(root)
            pages[header.as_posix()] = "api/" + compound.findtext("filename")
    tidy(output / "api")
    shutil.rmtree(work)
    return pages


def tidy(folder):
    """Removes doxygen's scripts, pictures and styles, which no page needs, and its lists of members."""
    for path in folder.iterdir():
        if path.suffix != ".html" or LISTS.fullmatch(path.name):
            path.unlink()
            continue
        text = re.sub(r'<div class="summary">.*?</div>', "", path.read_text(), flags=re.S)
        text = re.sub(r'<img src="closed\.png" alt="-"/>(&#160;)?', "", text)
        path.write_text(re.sub(r' onclick="[^"]*"', "", text))
