#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether the code's includes are those that tests/layers.txt allows. Needs nothing but Python.

tests/check_layers.py [ROOT]    prints what is not allowed; exit code 1 if there is any
"""
import pathlib
import re
import sys

ROOMS = ("runtime", "dialects", "compiler", "models", "tools")
SOURCES = (".cpp", ".h", ".cuh", ".def", ".td")
INCLUDE = re.compile(rf'^\s*#?\s*include\s+"((?:{"|".join(ROOMS)})/[^"]+)"', re.MULTILINE)


def read_rules(path):
    rules = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        folder, colon, allowed = line.partition(":")
        if not colon or folder in rules:
            raise SystemExit(f"{path}:{number}: expected 'FOLDER: FOLDERS', each folder once, got '{line}'")
        rules[folder] = allowed.split()
    return rules


def owner(folder, rules):
    """The line that holds for a folder: its own, or the nearest above."""
    while folder and folder not in rules:
        folder = folder.rpartition("/")[0]
    return folder


def permits(allowed, header, rules):
    folder = header.rpartition("/")[0]
    if allowed.endswith("/*"):
        return f"{folder}/".startswith(allowed[:-1])
    return allowed in ("*", header, folder) or allowed == owner(folder, rules)


def check(root):
    rules = read_rules(root / "tests" / "layers.txt")
    problems = []
    sources = [path for room in ROOMS for path in sorted((root / room).rglob("*")) if path.suffix in SOURCES]
    for path in sources:
        name = path.relative_to(root).as_posix()
        folder = owner(name.rpartition("/")[0], rules)
        if not folder:
            problems.append(f"{name}: expected a line for its folder in tests/layers.txt, got none")
            continue
        text = path.read_text()
        for match in INCLUDE.finditer(text):
            header = match.group(1)
            if owner(header.rpartition("/")[0], rules) == folder:
                continue
            if not any(permits(allowed, header, rules) for allowed in rules[folder]):
                line = text.count("\n", 0, match.start(1)) + 1
                problems.append(f"{name}:{line}: expected {folder} to include only of {' '.join(rules[folder]) or 'no other folder'}, "
                                f"got {header} (tests/layers.txt)")
    if len(sources) < 100:
        problems.append(f"{root}: expected the sources of the project, got {len(sources)} files")
    return problems


if __name__ == "__main__":
    problems = check(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1]).resolve())
    print("\n".join(problems) or "every include is one that tests/layers.txt allows")
    sys.exit(1 if problems else 0)
