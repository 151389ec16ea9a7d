#!/usr/bin/env python3
"""Distils what Apple's files prove into small vectors: a model in, hashes, names and values out.

    vectors.py            checks hashes, names and bitmaps with the code of this folder alone
    vectors.py FIXTURES   chooses anew from the fixtures, checks and writes Tests/Samples/Vectors

A vector describes a few entities in words of our own, and holds what Apple's engine wrote for them:
version hashes from Z_METADATA and VersionInfo.plist, statements from sqlite_master, bitmaps from ACHANGE,
columns' values, and the keys that link rows. No model and no store is copied: of one file at most three
entities are described in full, and of those beside them the names, the relationships that lead back, and
here and there a property.
"""

import hashlib
import json
import os
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
VECTORS = os.path.join(os.path.dirname(FOLDER), "Samples", "Vectors")
sys.path.insert(0, FOLDER)

import model as models  # noqa: E402
from described import files, NUMBERS, plain, TYPES  # noqa: E402
from hash_choice import hash_vectors, written_vectors  # noqa: E402
from hashing import checksum, digest, entity_hashes  # noqa: E402
from links import link_vectors  # noqa: E402
from reader import json_value, Store  # noqa: E402
from schemas import bitmap_vectors, Kind, schema_vectors, statement_vectors, written  # noqa: E402

# ---- values


ENOUGH = 3  # values of one type in one form
MADE = [  # what the fixtures have no example of, by the description of the format
    ("URI", False, "'https://example.org/a?b=1'", "https://example.org/a?b=1"),
    ("Decimal", False, "12", "12"),
    ("Decimal", False, "-0.25", "-0.25"),
    ("Date", False, "0", 0),
    ("UUID", False, "X'000102030405060708090A0B0C0D0E0F'", "00010203-0405-0607-0809-0A0B0C0D0E0F"),
    ("Boolean", False, "NULL", None),
    ("String", False, "''", ""),
    ("String", False, "'größe'", "größe"),
    ("Transformable", False, "X'62706C697374'", {
        "bytes": 6, "sha256": hashlib.sha256(b"bplist").hexdigest()}),
    ("Binary", True, "X'01414243'", {"bytes": 3, "sha256": hashlib.sha256(b"ABC").hexdigest()}),
    ("Binary", True, "X'02" + b"5D3D0F6B-0000-4000-8000-000000000001".hex() + "00'", {"missing": True}),
    ("Binary", False, "X'01414243'", {"bytes": 4, "sha256": hashlib.sha256(b"\1ABC").hexdigest()}),
]


def neutral(kind, raw):
    """Whether a value says nothing of anybody: numbers, and of the rest what is short."""
    if isinstance(raw, float) and kind != "Date":
        return len(repr(raw)) <= 12
    if isinstance(raw, str):
        return kind != "String" or (raw.isascii() and raw.isalpha() and raw.islower() and len(raw) < 9)
    return not isinstance(raw, bytes) or len(raw) <= 16


def value_vectors(found, fixtures):
    counts, seen, vectors = {}, set(), []
    for path in sorted(p for p in found if "@" not in p):
        store = Store(os.path.join(fixtures, path))
        for entity, key, row in store.objects():
            for name, property_ in store.model.entities[entity].properties.items():
                if not isinstance(property_, models.Attribute) or property_.transient or property_.kind == 0:
                    continue
                raw = row[store.layout.attributes[store.model.declarer(entity, name), (name,)]]
                type_ = TYPES[property_.kind]
                form = (type_, property_.external, type(raw).__name__)
                if raw is None or (form, raw) in seen or counts.get(form, 0) >= ENOUGH or not neutral(type_, raw):
                    continue
                seen.add((form, raw))
                counts[form] = counts.get(form, 0) + 1
                value = raw[1:] if property_.external and raw[:1] == b"\1" else raw
                vectors.append(plain_value(type_, property_.external, store.db.execute(
                    "SELECT quote(?)", (raw,)).fetchone()[0], json_value(property_, value)))
        store.db.close()
    vectors += [{**plain_value(*made), "made": True} for made in MADE]
    return sorted(vectors, key=lambda v: (NUMBERS[v["type"]], v.get("external", False), v["stored"]))


def plain_value(type_, external, stored, dumped):
    return {**plain({"type": type_, "external": external}), "stored": stored, "dumped": dumped}


# ---- the files


def read(name):
    with open(os.path.join(VECTORS, name + ".json"), encoding="utf-8") as file:
        return json.load(file)


def write(name, vectors):
    os.makedirs(VECTORS, exist_ok=True)
    with open(os.path.join(VECTORS, name + ".json"), "w", encoding="utf-8") as file:
        lines = [json.dumps(vector, ensure_ascii=False) for vector in vectors]
        file.write("[\n" + ",\n".join(lines) + "\n]\n")


def mistakes():
    """What the vectors say and this folder's code does not, as sentences."""
    for vector in read("hashes"):
        hashes = entity_hashes(vector["entities"])
        for name, stated in vector["hashes"].items():
            if hashes[name].hex() != stated:
                yield "hash of %s: %s, not %s" % (name, hashes[name].hex(), stated)
        for key, computed in (("digest", digest), ("checksum", checksum)):
            if key in vector and computed(hashes) != vector[key]:
                yield "%s of %s" % (key, ", ".join(hashes))
    for vector in read("schemas"):
        kind = Kind(vector["entities"])
        made = kind.statements()
        for name, sql in vector.get("tables", {}).items():
            if made.get(name) != sql:
                yield "%s: %s, not %s" % (name, made.get(name), sql)
        for key, column in vector.get("columns", {}).items():
            owner, name = key.split(".")
            if kind.layout.attributes[owner, (name,)] != column:
                yield "column of %s" % key
    for vector in read("bitmaps"):
        for stated in vector["bitmaps"]:
            if written(vector["entities"], vector["entity"], bytes.fromhex(stated["bits"])) != stated:
                yield "bitmap %s of %s" % (stated["bits"], vector["entity"])


def main():
    if len(sys.argv) > 2 or (len(sys.argv) == 2 and not os.path.isdir(sys.argv[1])):
        print(__doc__, file=sys.stderr)
        return 2
    if len(sys.argv) == 2:
        fixtures = sys.argv[1]
        found = files(fixtures)
        write("schemas", schema_vectors(found, fixtures))
        write("statements", statement_vectors(found, fixtures))
        write("links", link_vectors(found, fixtures))
        write("bitmaps", bitmap_vectors(found, fixtures))
        write("values", value_vectors(found, fixtures))
        write("hashes", hash_vectors(found) + written_vectors())
    wrong = list(mistakes())
    for sentence in wrong:
        print("vectors: " + sentence, file=sys.stderr)
    for name in ("hashes", "schemas", "statements", "links", "bitmaps", "values"):
        print("%s: %d vectors" % (name, len(read(name))))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
