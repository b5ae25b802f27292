# SPDX-License-Identifier: BSL-1.0
"""The pages of the API headers, by doxygen."""
import pathlib
import re
import subprocess
import xml.etree.ElementTree

from pandoc import Failure

# What doxygen says of the headers that is not about them.
NOT_OURS = re.compile(r"warning: Detected potential recursive class relation")


def headers(root):
    """The API headers, as docs/api.md has them."""
    return sorted(set(re.findall(r"\]\(\.\./(core/byre/[\w/]+\.hpp)\)", (root / "docs/api.md").read_text())))


def build(root, output, frame):
    """Writes the pages into output/api, framed by `frame`, and returns the page of each header."""
    work = output / "work"
    work.mkdir(exist_ok=True)
    head, foot = frame.split("@body@")
    (work / "head.html").write_text(head + '<div id="top">')
    (work / "foot.html").write_text(foot)
    settings = [(root / "docs/site/Doxyfile").read_text(), f"OUTPUT_DIRECTORY = {output}",
                f"HTML_HEADER = {work}/head.html", f"HTML_FOOTER = {work}/foot.html",
                f"GENERATE_TAGFILE = {work}/tags.xml", "INPUT = " + " ".join(headers(root))]
    try:
        result = subprocess.run(["doxygen", "-"], input="\n".join(settings), text=True, capture_output=True,
                                cwd=root, check=False)
    except OSError as error:
        raise Failure(f"cannot run doxygen (Debian: apt-get install doxygen): {error.strerror}") from error
    complaints = [line for line in result.stderr.splitlines()
                  if re.search(r"warning:|error:", line) and not NOT_OURS.search(line)]
    if result.returncode or complaints:
        raise Failure("doxygen says:\n" + "\n".join(complaints or result.stderr.splitlines()[-5:]))
    tidy(output / "api")
    return pages(root, work / "tags.xml")


# Pages that list members, of which some have no anchor.
LISTS = re.compile(r"(functions|index|namespacemembers).*\.html|.*-members\.html")


def tidy(folder):
    """Leaves out doxygen's scripts, pictures and styles, which no page needs, and its lists of members."""
    for path in folder.iterdir():
        if path.suffix != ".html" or LISTS.fullmatch(path.name):
            path.unlink()
            continue
        text = path.read_text()
        text = re.sub(r'<div class="summary">.*?</div>', "", text, flags=re.S)
        text = re.sub(r'<img src="closed\.png" alt="-"/>(&#160;)?', "", text)
        path.write_text(re.sub(r' onclick="[^"]*"', "", text))


def pages(root, tags):
    found = {}
    for compound in xml.etree.ElementTree.parse(tags).iter("compound"):
        if compound.get("kind") == "file":
            header = pathlib.Path(compound.findtext("path"), compound.findtext("name"))
            found[str(header.relative_to(root))] = "api/" + compound.findtext("filename")
    return found
