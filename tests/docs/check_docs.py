#!/usr/bin/env python3
"""The documentation tells the truth: code is that of a file, commands run, links lead somewhere.

    check_docs.py            checks every Markdown file of the project
    check_docs.py --update   first copies the named files into their blocks

An HTML comment on the line before a code block says what the block is:

    <!-- file: examples/first_transfer.cc -->   a literal copy of that file
    <!-- run -->                                commands that must succeed, in the project's root
    <!-- not run: it takes minutes -->          commands; only that the programs exist is checked

Every `cpp` block must be a copy of a file (which the build compiles), every
`sh` block must say whether it is run, and every `yaml` block that is a whole
document must pass `spindrift check`. The command is the one in SPINDRIFT_BIN,
and is found by its plain name in commands that are run.
"""

import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SPINDRIFT = pathlib.Path(os.environ.get("SPINDRIFT_BIN", ROOT / "build/release/bin/spindrift"))
COMMAND_S = 60
MARK = re.compile(r"^<!--\s*(file|run|not run)\b:?\s*(.*?)\s*-->$")


@dataclasses.dataclass
class Block:
    document: pathlib.Path
    line: int        # of the opening fence, from 1
    language: str
    body: str
    mark: str        # "file", "run", "not run" or ""
    argument: str

    def says(self, problem):
        return f"{self.document.relative_to(ROOT)}:{self.line}: {problem}"


def blocks_of(document):
    lines = document.read_text().split("\n")
    number = 0
    while number < len(lines):
        fence = re.match(r"^(```+)(\w*)$", lines[number])
        if not fence:
            number += 1
            continue
        end = number + 1
        while end < len(lines) and lines[end] != fence.group(1):
            end += 1
        mark = MARK.match(lines[number - 1]) if number else None
        yield Block(document, number + 1, fence.group(2),
                    "".join(line + "\n" for line in lines[number + 1:end]),
                    *(mark.groups() if mark else ("", "")))
        number = end + 1


def run(command, **options):
    environment = {**os.environ, "PATH": f"{SPINDRIFT.parent}:{os.environ['PATH']}"}
    return subprocess.run(command, cwd=ROOT, env=environment, text=True, timeout=COMMAND_S,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, **options)


def check_copy(block):
    path = ROOT / block.argument
    if not path.is_file():
        yield block.says(f"there is no file {block.argument}")
    elif path.read_text() != block.body:
        yield block.says(f"differs from {block.argument}; tests/docs/check_docs.py --update copies it")


def check_run(block):
    try:
        result = run(["bash", "-euo", "pipefail", "-c", block.body])
    except subprocess.TimeoutExpired:
        yield block.says(f"runs longer than {COMMAND_S} s")
        return
    if result.returncode != 0:
        yield block.says(f"exit status {result.returncode}:\n{result.stdout[-2000:]}")


def check_programs(block):
    """Commands that are not run must at least name programs that are there."""
    if not block.argument:
        yield block.says("`not run` needs a reason")
    for line in block.body.split("\n"):
        words = line.split("#")[0].split()
        program = words[0] if words else ""
        if program.startswith(("build/", "/")) or "/" not in program:
            continue
        if not os.access(ROOT / program, os.X_OK):
            yield block.says(f"there is no program {program}")


def check_document_block(block):
    with tempfile.TemporaryDirectory() as folder:
        for example in (ROOT / "docs/examples").glob("*.yaml"):  # that the document may name
            shutil.copy(example, folder)
        path = pathlib.Path(folder) / "block.yaml"
        path.write_text(block.body)
        if not SPINDRIFT.exists():
            yield block.says(f"cannot be checked: {SPINDRIFT} is not built")
            return
        result = run([str(SPINDRIFT), "check", str(path)])
        if result.returncode != 0:
            yield block.says(f"spindrift check says:\n{result.stdout[-2000:]}")


def check_block(block):
    if block.mark == "file":
        yield from check_copy(block)
    elif block.language == "cpp":
        yield block.says("a cpp block must name the file that it is a copy of: <!-- file: PATH -->")
    if block.mark == "run":
        yield from check_run(block)
    elif block.mark == "not run":
        yield from check_programs(block)
    elif block.language in ("sh", "bash", "console"):
        yield block.says("a block of commands needs <!-- run --> or <!-- not run: REASON -->")
    if block.language == "yaml" and re.search(r"^schema: spindrift/", block.body, re.M):
        yield from check_document_block(block)


def anchors_of(document):
    """The names that GitHub gives to headings."""
    text = re.sub(r"^```.*?^```$", "", document.read_text(), flags=re.M | re.S)
    for heading in re.findall(r"^#+\s+(.*)$", text, re.M):
        yield re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def check_links(document):
    text = re.sub(r"^```.*?^```$", lambda m: "\n" * m.group(0).count("\n"), document.read_text(),
                  flags=re.M | re.S)
    for match in re.finditer(r"\[[^\]]*\]\(([^)\s]+)\)", text):
        link = match.group(1)
        if re.match(r"[a-z]+:", link):
            continue
        place = f"{document.relative_to(ROOT)}:{text[:match.start()].count(chr(10)) + 1}"
        name, _, anchor = link.partition("#")
        target = (document.parent / name).resolve() if name else document
        if not target.exists():
            yield f"{place}: the link {link} leads nowhere"
        elif anchor and target.suffix == ".md" and anchor not in anchors_of(target):
            yield f"{place}: {target.name} has no heading #{anchor}"


def update(document):
    text = document.read_text()

    def copy(match):
        path = ROOT / match.group(2)
        if not path.is_file():
            return match.group(0)
        return f"{match.group(1)}{match.group(3)}\n{path.read_text()}```\n"

    changed = re.sub(r"^(<!-- file: (\S+) -->\n)(```\w*)\n.*?^```\n", copy, text, flags=re.M | re.S)
    if changed != text:
        document.write_text(changed)
        print(f"updated {document.relative_to(ROOT)}")


def documents():
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"]
    names = subprocess.run(command, cwd=ROOT, text=True, capture_output=True, check=True).stdout
    return [ROOT / name for name in sorted(set(names.split("\n"))) if name and (ROOT / name).exists()]


def main():
    found = documents()
    if "--update" in sys.argv[1:]:
        for document in found:
            update(document)
    blocks = [block for document in found for block in blocks_of(document)]
    problems = [problem for block in blocks for problem in check_block(block)]
    problems += [problem for document in found for problem in check_links(document)]
    for problem in problems:
        print(problem)
    print(f"docs: {len(found)} documents, {len(blocks)} code blocks, {len(problems)} problems")
    return 1 if problems or not blocks else 0


if __name__ == "__main__":
    sys.exit(main())
