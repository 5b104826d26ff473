"""Is what a README shows of a command what the command prints?

usage: shown_output.py README.md COMMAND OUTPUT

COMMAND is how a shown command begins, behind "$ ". Each shown line must stand in OUTPUT, in that order; between lines
that are not parted by "..." nothing may be left out. Seconds and hashes may be others, and numbers with a decimal point
agree to 2 %, or where both are below 1e-5.
"""
import re
import sys

NUMBER = re.compile(r"\d+\.\d+(?:e[-+]\d+)?")


def shown(readme: str, command: str) -> list:
    """Lines of the block, without its indentation; None for "..."."""
    lines, block = open(readme).read().splitlines(), None
    for line in lines:
        if block is None:
            if line.startswith("    $ " + command):
                block = []
        elif line.startswith("    ") or not line:
            if line.startswith("    $ "):
                break
            block.append(None if line.strip() == "..." else line[4:])
        else:
            break
    while block and block[-1] == "":
        block.pop()
    return block or []


def words(line: str) -> list:
    line = re.sub(r"\b\d+\.\d+ s\b", "SECONDS", line)
    line = re.sub(r"\b[0-9a-f]{12}\b", "HASH", line)
    return line.split()


def same_word(a: str, b: str) -> bool:
    if a == b:
        return True
    first, second = NUMBER.findall(a), NUMBER.findall(b)
    if len(first) != len(second) or not first or NUMBER.sub("#", a) != NUMBER.sub("#", b):
        return False
    pairs = [(float(x), float(y)) for x, y in zip(first, second)]
    return all(abs(x - y) <= 0.02 * max(x, y) or max(x, y) < 1e-5 for x, y in pairs)


def same_line(a: str, b: str) -> bool:
    first, second = words(a), words(b)
    return len(first) == len(second) and all(map(same_word, first, second))


def main() -> None:
    block = shown(sys.argv[1], sys.argv[2])
    output = open(sys.argv[3]).read().splitlines()
    at, free, found = 0, True, 0
    for line in block:
        if line is None:
            free = True
            continue
        match = next((i for i in range(at, len(output) if free else min(at + 1, len(output))) if same_line(line, output[i])), None)
        if match is None:
            sys.exit(f"not printed{' there' if at else ''}: {line}")
        at, free, found = match + 1, False, found + 1
    if found < 3:
        sys.exit(f"the README shows {found} lines of {sys.argv[2]}")
    print("as shown")


main()
