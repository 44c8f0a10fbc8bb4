"""Checks what the journal publishes with PyPI's aics-tlog.

    check.py FOLDER

FOLDER holds: key (public key of a note), old and new (signed checkpoints), leaf (leaf data), leaf.tlog-proof (its
inclusion in new), consistency (the proof between old and new, one base64 hash a line) and log/ (the published tiles
and leaf data of new).
"""

import sys
from pathlib import Path

from aics_tlog import (
    FileSystemTileReader,
    audit_tiles,
    parse_checkpoint,
    parse_note,
    parse_vkey,
    verify_checkpoint,
    verify_consistency,
    verify_leaf_inclusion,
)
from aics_tlog.note import b64_decode


class Refused(Exception):
    """What was given does not hold."""


def must(holds: bool, what: str) -> None:
    if not holds:
        raise Refused(what)


def open_checkpoint(signed: str, key):
    note = parse_note(signed)
    result = verify_checkpoint(note, key, expected_origin=key.name)
    must(result.ok, f"checkpoint: {result.error}")
    return parse_checkpoint(note.text)


def check(folder: Path) -> None:
    text = {name: (folder / name).read_text() for name in ("key", "old", "new", "leaf.tlog-proof", "consistency")}
    key = parse_vkey(text["key"].strip())
    older, newer = open_checkpoint(text["old"], key), open_checkpoint(text["new"], key)

    head, _, signed = text["leaf.tlog-proof"].partition("\n\n")
    first, index, *hashes = head.split("\n")
    must(first == "c2sp.org/tlog-proof@v1", "not a tlog-proof")
    must(open_checkpoint(signed, key) == newer, "the proof is for another checkpoint")
    leaf, proof = (folder / "leaf").read_bytes(), [b64_decode(line) for line in hashes]
    index = int(index.removeprefix("index "))
    must(verify_leaf_inclusion(leaf, index, newer.size, proof, newer.root), "inclusion")

    proof = [b64_decode(line) for line in text["consistency"].split()]
    must(verify_consistency(older.size, newer.size, older.root, newer.root, proof), "consistency")
    audit_tiles(FileSystemTileReader(folder / "log"), newer.size, newer.root)


if __name__ == "__main__":
    try:
        check(Path(sys.argv[1]))
    except Exception as why:  # every way to fail is a refusal
        sys.exit(f"refused: {type(why).__name__}: {why}")
    print("accepted")
