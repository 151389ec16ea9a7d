#!/usr/bin/env python3
"""Reads a Core Data store the way Core Data finds its way in it, without any code of strata's.

    reader.py STORE            every object as a line of JSON, as `strata dump` prints it
    reader.py --serve          the same for each path on standard input, in the exact form for comparing:
                               a line "N" or "error: …", then N lines

A table or column that is not where the model says it must be is an error, never searched for.
"""

import hashlib
import json
import os
import shutil
import sqlite3
import struct
import sys
import tempfile
import uuid

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from layout import BLOCKS, Layout, LayoutError  # noqa: E402
from model import Attribute, COMPOSITE, Model, ModelError, Relationship  # noqa: E402


class StoreError(Exception):
    pass


class Store:
    def __init__(self, path, support=None):
        self.path = path
        stem = os.path.splitext(os.path.basename(path))[0]
        folder = os.path.dirname(os.path.abspath(path))
        self.external = support or os.path.join(folder, "." + stem + "_SUPPORT", "_EXTERNAL_DATA")
        wal = path + "-wal"
        live = os.path.exists(wal) and os.path.getsize(wal) > 0
        read = path
        if live:
            # SQLite leaves a -shm beside what it reads with a -wal: a copy of both is read.
            self.folder = tempfile.TemporaryDirectory()
            read = os.path.join(self.folder.name, "store.sqlite")
            shutil.copyfile(path, read)
            shutil.copyfile(wal, read + "-wal")
        self.db = sqlite3.connect("file:%s?%s" % (quoted(read), "mode=ro" if live else "mode=ro&immutable=1"), uri=True)
        self.db.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
        row = self.db.execute("SELECT Z_CONTENT FROM Z_MODELCACHE").fetchone()
        if row is None:
            raise StoreError("no model in Z_MODELCACHE")
        self.model = Model.from_cache(row[0])
        self.numbers = self.entity_numbers()
        self.names = {number: name for name, number in self.numbers.items()}
        self.layout = Layout(self.restricted(), self.numbers)
        self.model = self.layout.model
        self.check_history()
        self.rows = {}
        self.pairs = {}
        self.referrers = {}

    def entity_numbers(self):
        stored = dict(self.db.execute("SELECT Z_NAME, Z_ENT FROM Z_PRIMARYKEY"))
        numbers = {}
        for entity in self.model.entities.values():
            number = stored.get(entity.name, stored.get(entity.renaming))
            if number is not None:
                numbers[entity.name] = number
        return numbers

    def restricted(self):
        """Entities that the store does not keep (another configuration's) are left out."""
        kept = {n: e for n, e in self.model.entities.items() if n in self.numbers}
        for entity in kept.values():
            for name, property_ in list(entity.properties.items()):
                if isinstance(property_, Relationship) and property_.destination not in kept:
                    del entity.properties[name]
        return Model(kept)

    # ---- history

    def bits(self, entity):
        """How many bits a bitmap of the entity's properties has."""
        return sum(len(block) for block in bit_blocks(self.model, self.layout, entity))

    def check_history(self):
        """Core Data reads a bitmap bit by bit of the model, and writes all tombstone columns that it needs."""
        changes = self.declared("ACHANGE")
        if not {"ZCHANGETYPE", "ZENTITY", "ZCOLUMNS"} <= set(changes):
            return
        needed = max([0] + [sum(isinstance(p, Attribute) and p.kept and not p.transient for p in e.properties.values())
                            for e in self.model.entities.values()])
        missing = [n for n in ("ZTOMBSTONE%d" % i for i in range(min(needed, 100))) if n not in changes]
        if missing:
            raise StoreError("ACHANGE: no column " + ", ".join(missing))
        rows = self.db.execute("SELECT DISTINCT ZENTITY, ZCOLUMNS FROM ACHANGE WHERE ZCHANGETYPE = 1 AND ZCOLUMNS IS NOT NULL")
        for number, bitmap in rows:
            entity = self.names.get(number)
            if entity is None:
                raise StoreError("ACHANGE: a change of an entity %s that is not there" % number)
            bits = self.bits(entity)
            beyond = bitmap[-1] & ((1 << (-bits % 8)) - 1) if bitmap else 0
            if len(bitmap) != (bits + 7) // 8 or beyond:
                raise StoreError("ACHANGE: the bitmap %s is not of the %d bits of %s" % (bitmap.hex(), bits, entity))

    def declared(self, table):
        """The columns of a table with their types."""
        return {row[1]: row[2] for row in self.db.execute('PRAGMA table_info("%s")' % table)}

    def table(self, name):
        """All rows of a table by key, each a dictionary of the columns that the layout knows."""
        if name not in self.rows:
            wanted = [column for column, _ in self.layout.columns[name]]
            there = self.declared(name)
            missing = [column for column in wanted if column not in there]
            if missing:
                raise StoreError("%s: no column %s" % (name, ", ".join(missing)) if there else "no table " + name)
            other = ["%s is %s" % (c, there[c]) for c, type_ in self.layout.columns[name] if there[c] != type_]
            if other:
                raise StoreError("%s: %s" % (name, ", ".join(other)))
            listed = ", ".join('"%s"' % column for column in wanted)
            self.rows[name] = {
                row[0]: dict(zip(wanted, row)) for row in self.db.execute('SELECT %s FROM "%s"' % (listed, name))
            }
        return self.rows[name]

    # ---- objects

    def objects(self):
        for entity in sorted(self.model.entities, key=str.encode):
            number = self.numbers[entity]
            rows = self.table(self.layout.table(entity))
            for key in sorted(k for k, row in rows.items() if row["Z_ENT"] == number):
                yield entity, key, rows[key]

    def value(self, entity, attribute, path, row):
        if attribute.kind == COMPOSITE:
            parts = {e.name: self.value(entity, e, path + (e.name,), row) for e in attribute.elements}
            return None if all(part is None for part in parts.values()) else parts
        raw = row[self.layout.attributes[entity, path]]
        if raw is None:
            return None
        if attribute.external and isinstance(raw, bytes) and raw[:1] in (b"\x01", b"\x02"):
            return self.large(raw)
        return raw

    def large(self, raw):
        if raw[0] == 1:
            return raw[1:]
        name = raw[1:].split(b"\0")[0].decode("ascii", "replace")
        path = os.path.join(self.external, name)
        # A link is not followed, wherever it leads.
        if "/" in name or os.path.islink(path) or not os.path.isfile(path):
            return Missing()
        with open(path, "rb") as file:
            return file.read()

    def reference(self, table, key, entity_number, declared):
        """What a stored key leads to: the row's own entity where there is a row."""
        row = self.table(table).get(key)
        number = row["Z_ENT"] if row else entity_number
        return self.names.get(number, declared), key

    def related(self, entity, relationship, key, row):
        declarer = self.model.declarer(entity, relationship.name)
        target = relationship.destination
        table = self.layout.table(target)
        if not relationship.to_many:
            column, entity_column, _ = self.layout.to_ones[declarer, relationship.name]
            stored = row[column]
            if stored is None:
                return None
            return self.reference(table, stored, row[entity_column] if entity_column else None, target)
        inverse = self.layout.inverse(relationship)
        if inverse is None:
            _, column, order = self.layout.owners[declarer, relationship.name]
            return self.pointing(table, column, order, key)
        if not inverse[1].to_many:
            column, _, order = self.layout.to_ones[inverse[0], inverse[1].name]
            return self.pointing(table, column, order if relationship.ordered else None, key)
        return self.joined(declarer, relationship, table, key)

    def pointing(self, table, column, order, key):
        index = self.referrers.get((table, column, order))
        if index is None:
            index = {}
            for other, row in self.table(table).items():
                if row[column] is not None:
                    position = row[order] if order else None
                    index.setdefault(row[column], []).append((position, (self.names.get(row["Z_ENT"]), other)))
            self.referrers[table, column, order] = index
        return in_order(index.get(key, []), order)

    def joined(self, declarer, relationship, table, key):
        links = self.pairs.get((declarer, relationship.name))
        if links is None:
            links = self.pairs[declarer, relationship.name] = self.read_join(declarer, relationship)
        found = [(position, self.reference(table, other, None, relationship.destination))
                 for position, other in links.get(key, [])]
        return in_order(found, relationship.ordered)

    def read_join(self, declarer, relationship):
        join, names_it = self.layout.joins[declarer, relationship.name]
        own, other = (join.near, join.far) if names_it else (join.far, join.near)
        order = join.far_order if names_it else join.near_order
        columns = self.declared(join.table)
        if not columns:
            raise StoreError("no table " + join.table)
        for wanted in [own, other] + ([order] if order else []):
            if wanted not in columns:
                raise StoreError("%s: no column %s" % (join.table, wanted))
        links = {}
        listed = '"%s", "%s", %s' % (own, other, '"%s"' % order if order else "NULL")
        for mine, theirs, position in self.db.execute('SELECT %s FROM "%s"' % (listed, join.table)):
            if mine is None or theirs is None:
                continue  # no link
            links.setdefault(mine, []).append((position, theirs))
            if join.far == "REFLEXIVE":
                links.setdefault(theirs, []).append((position, mine))
        if join.far == "REFLEXIVE":
            links = {k: [(None, o) for o in sorted({o for _, o in v})] for k, v in links.items()}
        return links


def bit_blocks(model, layout, entity):
    """Names of the bits of history's bitmaps for an entity, from the highest of the first byte on.

    Six blocks: keys of to-ones, their entity columns, order keys, attributes, to-manys that a column of another
    table holds, and those of join tables. Of the last two the order within is not known: they are sorted.
    """
    lineage = [entity]
    while model.entities[lineage[0]].parent is not None:
        lineage.insert(0, model.entities[lineage[0]].parent)
    keys, orders = [], []
    for member in lineage:
        keys += [(name, columns) for (owner, name), columns in layout.to_ones.items() if owner == member]
        for (owner, name), (_, column, order) in layout.owners.items():
            if model.entities[owner].properties[name].destination == member:
                keys.append(("%s.%s" % (owner, name), (column, None, order)))
    places = {column: place for place, (column, _) in enumerate(layout.columns[layout.table(entity)])}
    orders = sorted((places[columns[2]], name) for name, columns in keys if columns[2])
    attributes = [".".join(path) for member in lineage for owner, path in layout.attributes if owner == member]
    referring, joined = [], []
    for name, property_ in sorted(model.entities[entity].properties.items(), key=lambda p: p[0].encode()):
        if isinstance(property_, Relationship) and property_.to_many and not property_.transient:
            inverse = layout.inverse(property_)
            (joined if inverse and inverse[1].to_many else referring).append(name)
    return [[name for name, _ in keys], [name for name, columns in keys if columns[1]],
            [name for _, name in orders], attributes, referring, joined]


class Missing:
    """A large value whose file is gone."""


def quoted(path):
    return "".join(c if c.isalnum() or c in "/._- " else "".join("%%%02X" % b for b in c.encode()) for c in path)


def in_order(found, ordered):
    """By stored position where there is one, then by entity and key."""
    if ordered:
        found = sorted(found, key=lambda f: (f[0] is not None, f[0] or 0, f[1][0] or "", f[1][1]))
    else:
        found = sorted(found, key=lambda f: ((f[1][0] or "").encode(), f[1][1]))
    return [reference for _, reference in found]


# ---- as strata dump prints it


def json_value(attribute, raw):
    if raw is None:
        return None
    if attribute.kind == COMPOSITE:
        return {e.name: json_value(e, raw[e.name]) for e in attribute.elements}
    if isinstance(raw, Missing):
        return {"missing": True}
    if attribute.kind == 800:
        return bool(raw)
    if attribute.kind == 400:
        return str(raw)
    if attribute.kind == 1100 and isinstance(raw, bytes) and len(raw) == 16:
        return str(uuid.UUID(bytes=raw)).upper()
    if isinstance(raw, bytes):
        return {"bytes": len(raw), "sha256": hashlib.sha256(raw).hexdigest()}
    return raw


def json_line(store, entity, key, row):
    attributes, relationships = {}, {}
    for name, property_ in store.model.entities[entity].properties.items():
        if property_.transient:
            continue
        if isinstance(property_, Attribute):
            if property_.kind == COMPOSITE or property_.kind in BLOCKS:
                declarer = store.model.declarer(entity, name)
                attributes[name] = json_value(property_, store.value(declarer, property_, (name,), row))
        else:
            related = store.related(entity, property_, key, row)
            if isinstance(related, list):
                relationships[name] = ["%s/p%d" % reference for reference in related]
            else:
                relationships[name] = related and "%s/p%d" % related
    return json.dumps({"entity": entity, "pk": key, "attributes": attributes, "relationships": relationships},
                      sort_keys=True, ensure_ascii=False)


# ---- exact, for comparing value by value


def exact(attribute, raw, path):
    """`path=value` for each value as it is stored; reals as their bits."""
    if attribute.kind == COMPOSITE:
        for element in attribute.elements:
            part = raw[element.name] if raw is not None else None
            yield from exact(element, part, path + "." + element.name)
        return
    if raw is None:
        text = "-"
    elif isinstance(raw, Missing):
        text = "missing"
    elif isinstance(raw, bytes):
        text = "b" + hashlib.sha256(raw).hexdigest()
    elif isinstance(raw, str):
        data = raw.encode("utf-8", "surrogateescape")
        # A lone surrogate stands for a byte that is no UTF-8.
        kind = "b" if any("\ud800" <= c <= "\udfff" for c in raw) else "t"
        text = kind + hashlib.sha256(data).hexdigest()
    elif attribute.kind in (500, 600, 900, 400):
        text = "r" + struct.pack(">d", float(raw)).hex()
    elif attribute.kind == 800:
        text = "i%d" % (1 if raw else 0)
    else:
        # What a migration took over from another number type and does not fit, as it is stored.
        whole = not isinstance(raw, float) or (raw == int(raw) and -(2**63) <= raw < 2**63)
        text = "i%d" % raw if whole else "r" + struct.pack(">d", raw).hex()
    yield path + "=" + text


def exact_line(store, entity, key, row):
    parts = []
    for name, property_ in store.model.entities[entity].properties.items():
        if property_.transient:
            continue
        if isinstance(property_, Attribute):
            if property_.kind == COMPOSITE or property_.kind in BLOCKS:
                declarer = store.model.declarer(entity, name)
                parts += exact(property_, store.value(declarer, property_, (name,), row), name)
        else:
            related = store.related(entity, property_, key, row)
            if not isinstance(related, list):
                related = [related] if related else []
            parts.append(name + ">" + ",".join("%s/p%d" % reference for reference in related))
    return "%s/p%d " % (entity, key) + " ".join(sorted(parts, key=str.encode))


def serve():
    out = os.fdopen(1, "wb", closefd=False)
    for line in sys.stdin:
        try:
            words = [os.fsdecode(bytes.fromhex(word)) for word in line.rstrip("\n").split("\t")]
            path, support = words[0], words[1] if len(words) > 1 else None
            store = Store(path, support)
            lines = [exact_line(store, *object_) for object_ in store.objects()]
            store.db.close()
            answer = "%d\n" % len(lines) + "".join(text + "\n" for text in lines)
        except Exception as error:  # whatever it is, the test is told
            answer = "error: %s: %s\n" % (type(error).__name__, str(error).replace("\n", " "))
        out.write(answer.encode("utf-8", "surrogateescape"))
        out.flush()


def main():
    if sys.argv[1:] == ["--serve"]:
        serve()
        return 0
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        store = Store(sys.argv[1])
        for object_ in store.objects():
            print(json_line(store, *object_))
    except (StoreError, LayoutError, ModelError, sqlite3.Error) as error:
        print("reader: %s: %s" % (sys.argv[1], error), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
