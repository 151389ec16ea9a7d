#!/usr/bin/env python3
"""Checks that two stores which strata merged are both in the result, with their links.

    merge.py STRATA SHARED [--objects N] [--kills N] [--seed N] [--made-only | --fixtures-only] [--work DIR]

SHARED is the folder with fixtures/. A demo store is copied twice, and both copies grow apart: 30 % new objects on each
side under the same keys, 10 % changed on both, others on one side, deletions, moves, links, files. Every object has a text
that says which it is. What must come of them is worked out here from what is known of Core Data's stores, with sqlite3: no
code of strata's takes part. Copies of the fixtures are changed in a simpler way and merged.

The checks:
    objects     every object of both is there once, those of NEW under their keys, others above NEW's Z_MAX, or is named as left out
    values      each is what a three-way merge gives; both changed: --prefer decides, and the report counts it
    links       to-ones and one-to-ones by whom they lead to, many-to-many ones united, ordered ones NEW's with OLD's behind
    files       external files hold what they held, under new names, and none is left over
    books       Z_MAX, Z_OPT, unique indexes, integrity_check and other tables are NEW's
    history     one more transaction, by strata: what came in is inserted, what differs of NEW's objects, their links and
                the objects that lead to them is updated, each once, and their Z_OPT counts that save; nothing else
    rehearsal   --dry-run says the same numbers and writes nothing
    untouched   no byte of the stores that were given changes
    doctor      doctor finds nothing that it does not find in OLD or NEW; plan says the same as of NEW
    kills       killed at any moment: nothing or the whole result, and the next run leaves nothing else behind

Ends with 1 where there are violations.
"""

import argparse
import collections
import hashlib
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid

import moments

# The demo's tables: the column that says which object it is, to-ones (column, table, Z_ENT column), the order key.
TABLES = {
    "ZAMOUNT": ("ZNOTE", [("ZINGREDIENT", "ZINGREDIENT", "Z3_INGREDIENT"), ("ZRECIPE", "ZRECIPE", None)], None),
    "ZDRAFT": ("ZSUMMARY", [], None),
    "ZINGREDIENT": ("ZUNIT", [], None),
    "ZPERSON": ("ZHOMEPAGE", [], None),
    "ZPROFILE": ("ZBIO", [], None),
    "ZRECIPE": ("ZSUMMARY", [("ZAUTHOR", "ZPERSON", None)], None),
    "ZSTEP": ("ZTEXT", [("ZRECIPE", "ZRECIPE", None)], ("ZRECIPE", "Z_FOK_RECIPE")),
    "ZTAG": ("ZCOLOUR", [], None),
}
ONE_TO_ONES = [("ZPERSON", "ZPROFILE", "ZPROFILE", "ZPERSON")]
# Where history keeps an app's saves; it lacks the first, so that it does not show all deletions.
HISTORY = """
CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAUTHORTS INTEGER, ZBUNDLEIDTS INTEGER,
  ZCONTEXTNAMETS INTEGER, ZPROCESSIDTS INTEGER, ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR, ZBUNDLEID VARCHAR,
  ZCONTEXTNAME VARCHAR, ZPROCESSID VARCHAR, ZQUERYGEN BLOB);
CREATE TABLE ATRANSACTIONSTRING (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR);
CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, ZENTITY INTEGER,
  ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB);
INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (16001, 'CHANGE', 0, 1), (16002, 'TRANSACTION', 0, 2),
  (16003, 'TRANSACTIONSTRING', 0, 0);
INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZTIMESTAMP, ZAUTHOR) VALUES (2, 16002, 5.5, 'app');
INSERT INTO ACHANGE VALUES (1, 16001, NULL, 1, 1, 1, 2, NULL);
"""
JOINS = [("Z_8TAGS", "Z_8RECIPES", "ZRECIPE", "Z_10TAGS", "ZTAG"),
         ("Z_8SIMILARRECIPES", "Z_8SIMILARTO", "ZRECIPE", "Z_8SIMILARRECIPES", "ZRECIPE"),
         ("Z_8GOESWITH", "Z_8GOESWITH", "ZRECIPE", "REFLEXIVE", "ZRECIPE")]
CHANGED = {"ZAMOUNT": "ZQUANTITY", "ZDRAFT": "ZTITLE", "ZINGREDIENT": "ZENERGY", "ZPERSON": "ZNAME",
           "ZPROFILE": "ZNEWSLETTER", "ZRECIPE": "ZTITLE", "ZSTEP": "ZMINUTES"}
ROOTS = {"ZAMOUNT": "Amount", "ZDRAFT": "Draft", "ZINGREDIENT": "Ingredient", "ZPERSON": "Person",
         "ZPROFILE": "Profile", "ZRECIPE": "Recipe", "ZSTEP": "Step", "ZTAG": "Tag"}
ROOT_TABLES = {name: table for table, name in ROOTS.items()} | {"Produce": "ZINGREDIENT", "Spice": "ZINGREDIENT"}
TAG = "ZNAME"  # a tag is what it is called

violations = collections.Counter()
first = {}


def wrong(check, text):
    violations[check] += 1
    first.setdefault(check, text)


def opened(path, writes=False):
    c = sqlite3.connect(path if writes else f"file:{path}?immutable=1", uri=not writes, isolation_level=None)
    for name in ("NSCoreDataDATriggerInsertUpdatedAffectedObjectValue", "NSCoreDataDATriggerUpdatedAffectedObjectValue",
                 "NSCoreDataTriggerUpdateAffectedObjectValue"):
        c.create_function(name, -1, lambda *_: None)
    return c


def support(path):
    return os.path.join(os.path.dirname(path), "." + os.path.basename(path).rsplit(".", 1)[0] + "_SUPPORT")


def copy(source, target):
    shutil.copyfile(source, target)
    if os.path.exists(source + "-wal"):
        shutil.copyfile(source + "-wal", target + "-wal")
        c = opened(target, True)
        c.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        c.execute("PRAGMA journal_mode = DELETE")
        c.close()
    if os.path.isdir(support(source)):
        shutil.copytree(support(source), support(target))


def digest(path):
    found = {}
    for place in (path, support(path)):
        names = [place] if os.path.isfile(place) else [
            os.path.join(f, n) for f, _, ns in os.walk(place) for n in ns]
        for name in names:
            with open(name, "rb") as handle:
                found[name] = hashlib.sha256(handle.read()).hexdigest()
    return found


def token(table):
    return TAG if table == "ZTAG" else TABLES[table][0]


def columns(c, table):
    return [row[1] for row in c.execute(f"PRAGMA table_info({table})")]


class Contents:
    """A store by what its objects say they are."""

    def __init__(self, path):
        self.path = path
        c = opened(path)
        self.rows, self.keys, self.tokens = {}, {}, {}
        for table in TABLES:
            names = columns(c, table)
            self.rows[table], self.keys[table], self.tokens[table] = {}, {}, {}
            for row in c.execute(f"SELECT * FROM {table}"):
                row = dict(zip(names, row))
                mark = row[token(table)]
                if mark in self.rows[table]:
                    wrong("objects", f"{path}: {table} {mark} is there twice")
                self.rows[table][mark] = row
                self.keys[table][row["Z_PK"]] = mark
                self.tokens[table][mark] = row["Z_PK"]
        self.max = {name: last for name, last in c.execute("SELECT Z_NAME, Z_MAX FROM Z_PRIMARYKEY")}
        self.joins = {}
        for name, a, ta, b, tb in JOINS:
            pairs = set()
            for x, y in c.execute(f"SELECT {a}, {b} FROM {name}"):
                pair = (self.keys[ta].get(x), self.keys[tb].get(y))
                pairs.add(tuple(sorted(pair, key=str)) if name == "Z_8GOESWITH" else pair)
            self.joins[name] = pairs
        c.close()

    def target(self, table, mark, column, other):
        key = self.rows[table][mark][column]
        return None if key is None else self.keys[other].get(key, ("dangling", key))

    def content(self, mark):
        value = self.rows["ZRECIPE"][mark]["ZPHOTO"]
        if value is None or value[:1] != b"\x02":
            return value
        name = value[1:].split(b"\0")[0].decode()
        path = os.path.join(support(self.path), "_EXTERNAL_DATA", name)
        with open(path, "rb") as handle:
            return hashlib.sha256(b"\x01" + handle.read()).hexdigest()

    def photo(self, mark):
        value = self.content(mark)
        return hashlib.sha256(value).hexdigest() if isinstance(value, bytes) else value


def mark_all(path):
    c = opened(path, True)
    c.execute("PRAGMA journal_mode = DELETE")
    for table in TABLES:
        if table != "ZTAG":
            c.execute(f"UPDATE {table} SET {token(table)} = '{table}:' || Z_PK")
    c.executescript(HISTORY)
    c.execute("PRAGMA journal_mode = WAL")
    c.close()


def grow(path, side, seed, both):
    """Changes a copy as an app would."""
    rng = random.Random(f"{seed} {side}")
    c = opened(path, True)
    c.execute("PRAGMA journal_mode = DELETE")
    c.execute("BEGIN")
    keys = {t: [r[0] for r in c.execute(f"SELECT Z_PK FROM {t} ORDER BY 1")] for t in TABLES}
    last = dict(c.execute("SELECT Z_NAME, Z_MAX FROM Z_PRIMARYKEY"))
    numbers = dict(c.execute("SELECT Z_NAME, Z_ENT FROM Z_PRIMARYKEY"))
    # Both change a tenth; each another twentieth.
    for table, column in CHANGED.items():
        for key in both[table][0] + both[table][1 if side == "old" else 2]:
            value = {"ZTITLE": f"{side} {key}", "ZNAME": f"{side} {key}"}.get(column)
            number = (2 if side == "old" else 3) + key % 7 * 10
            if column == "ZNEWSLETTER":
                number = (c.execute(f"SELECT {column} FROM {table} WHERE Z_PK = {key}").fetchone()[0] or 0) + (
                    2 if side == "old" else 4)
            c.execute(f"UPDATE {table} SET {column} = ?, Z_OPT = Z_OPT + 1 WHERE Z_PK = ?",
                      (value if value else number, key))
    # Steps and amounts that move.
    for table in ("ZSTEP", "ZAMOUNT"):
        for key in both[table][3 if side == "old" else 4]:
            to = rng.choice(keys["ZRECIPE"])
            more = f", Z_FOK_RECIPE = {900_000 + key}" if table == "ZSTEP" else ""
            c.execute(f"UPDATE {table} SET ZRECIPE = {to}, Z_OPT = Z_OPT + 1{more} WHERE Z_PK = {key}")
    # Links.
    for _ in range(len(keys["ZRECIPE"]) // 5):
        x, y = rng.choice(keys["ZRECIPE"]), rng.choice(keys["ZRECIPE"])
        c.execute(f"INSERT OR IGNORE INTO Z_8SIMILARRECIPES VALUES ({x}, {y})")
        c.execute(f"INSERT OR IGNORE INTO Z_8TAGS VALUES ({x}, {rng.choice(keys['ZTAG'])})")
        if not c.execute(f"SELECT 1 FROM Z_8GOESWITH WHERE Z_8GOESWITH = {y} AND REFLEXIVE = {x}").fetchone():
            c.execute(f"INSERT OR IGNORE INTO Z_8GOESWITH VALUES ({x}, {y})")
    # New objects.
    made = {t: [] for t in TABLES}

    def insert(table, entity, **values):
        root = ROOTS[table]
        last[root] += 1
        key = last[root]
        names = ["Z_PK", "Z_ENT", "Z_OPT", *values]
        c.execute(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})",
                  (key, numbers[entity], 1, *values.values()))
        made[table].append(key)
        return key

    def some(table):
        return rng.choice(keys[table] + made[table])

    def text(table):
        return f"{side} {table} {len(made[table])}"

    for _ in range(max(2, len(keys["ZTAG"]) * 3 // 10)):
        insert("ZTAG", "Tag", ZNAME=text("ZTAG"), ZCOLOUR=1)
    insert("ZTAG", "Tag", ZNAME="the same on both sides", ZCOLOUR=2)
    for number in range(max(2, len(keys["ZINGREDIENT"]) * 3 // 10)):
        insert("ZINGREDIENT", ["Ingredient", "Produce", "Spice"][number % 3], ZUNIT=text("ZINGREDIENT"), ZNAME=side)
    for _ in range(max(2, len(keys["ZPERSON"]) * 3 // 10)):
        person = insert("ZPERSON", "Person", ZHOMEPAGE=text("ZPERSON"), ZNAME=side, ZIDENTIFIER=rng.randbytes(16))
        profile = insert("ZPROFILE", "Profile", ZBIO=text("ZPROFILE"), ZNEWSLETTER=0, ZPERSON=person)
        c.execute(f"UPDATE ZPERSON SET ZPROFILE = {profile} WHERE Z_PK = {person}")
    for _ in range(max(2, len(keys["ZDRAFT"]) * 3 // 10)):
        insert("ZDRAFT", "Draft", ZSUMMARY=text("ZDRAFT"), ZTITLE=side, ZSERVES=1, ZCREATEDAT=5.0)
    folder = os.path.join(support(path), "_EXTERNAL_DATA")
    for number in range(len(keys["ZRECIPE"]) * 3 // 10):
        photo = None
        if number % 10 == 0:
            os.makedirs(folder, exist_ok=True)
            name = str(uuid.UUID(bytes=rng.randbytes(16), version=4)).upper()
            with open(os.path.join(folder, name), "wb") as handle:
                handle.write(rng.randbytes(1000))
            photo = b"\x02" + name.encode() + b"\0"
        elif number % 10 == 1:
            photo = b"\x01" + rng.randbytes(20)
        recipe = insert("ZRECIPE", "Recipe", ZSUMMARY=text("ZRECIPE"), ZTITLE=side, ZIDENTIFIER=rng.randbytes(16),
                        ZAUTHOR=some("ZPERSON"), ZISFAVOURITE=0, ZMINUTES=1, ZSERVES=2, ZCREATEDAT=7.5, ZPHOTO=photo)
        for _ in range(2):
            c.execute("INSERT OR IGNORE INTO Z_8TAGS VALUES (?, ?)", (recipe, some("ZTAG")))
            c.execute("INSERT OR IGNORE INTO Z_8SIMILARRECIPES VALUES (?, ?)", (recipe, some("ZRECIPE")))
    for _ in range(len(keys["ZSTEP"]) * 3 // 10):
        key = last["Step"] + 1
        insert("ZSTEP", "Step", ZTEXT=text("ZSTEP"), ZMINUTES=1, ZRECIPE=some("ZRECIPE"), Z_FOK_RECIPE=1_000_000 + key)
    for _ in range(len(keys["ZAMOUNT"]) * 3 // 10):
        ingredient = some("ZINGREDIENT")
        number = c.execute(f"SELECT Z_ENT FROM ZINGREDIENT WHERE Z_PK = {ingredient}").fetchone()[0]
        insert("ZAMOUNT", "Amount", ZNOTE=text("ZAMOUNT"), ZQUANTITY=1.5, ZINGREDIENT=ingredient, Z3_INGREDIENT=number,
               ZRECIPE=some("ZRECIPE"))
    for root, key in last.items():
        if root in ROOTS.values():
            c.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_NAME = ?", (key, root))
    # Deletions: recipes with their steps and amounts.
    for key in both["ZRECIPE"][5 if side == "old" else 6]:
        c.execute(f"DELETE FROM ZSTEP WHERE ZRECIPE = {key}")
        c.execute(f"DELETE FROM ZAMOUNT WHERE ZRECIPE = {key}")
        c.execute(f"DELETE FROM ZRECIPE WHERE Z_PK = {key}")
        for name, a, _, b, tb in JOINS:
            c.execute(f"DELETE FROM {name} WHERE {a} = {key}" + (f" OR {b} = {key}" if tb == "ZRECIPE" else ""))
    c.execute("COMMIT")
    c.execute("PRAGMA journal_mode = WAL")
    c.close()


def choose(base, seed):
    """Which keys are changed by both, by one, moved, deleted."""
    rng = random.Random(seed)
    c = opened(base)
    both = {}
    for table in TABLES:
        keys = [r[0] for r in c.execute(f"SELECT Z_PK FROM {table} ORDER BY 1")]
        rng.shuffle(keys)
        n = len(keys)
        cuts = [0, n // 10, n * 3 // 20, n // 5, n * 24 // 100, n * 28 // 100, n * 31 // 100, n * 34 // 100]
        both[table] = [sorted(keys[cuts[i]:cuts[i + 1]]) for i in range(7)]
    c.close()
    return both


def three_way(o, n, b, has_base, prefer):
    """The value, and whether both changed it."""
    if o == n:
        return n, False
    if has_base and o == b:
        return n, False
    if has_base and n == b:
        return o, False
    return (n if prefer == "new" else o), True


def check(base, old, new, out, report, prefer, three):
    expected_conflicts = 0
    for table, (_, refs, order) in TABLES.items():
        wanted = set(old.rows[table]) | set(new.rows[table])
        if set(out.rows[table]) != wanted:
            wrong("objects", f"{table}: missing {sorted(map(str, wanted - set(out.rows[table])))[:3]}, "
                             f"more {sorted(map(str, set(out.rows[table]) - wanted))[:3]}")
        root = ROOTS[table]
        for mark, row in out.rows[table].items():
            key = row["Z_PK"]
            if mark in new.rows[table]:
                if key != new.rows[table][mark]["Z_PK"] or row["Z_ENT"] != new.rows[table][mark]["Z_ENT"]:
                    wrong("objects", f"{table} {mark}: another key than in NEW")
            else:
                former = old.rows[table][mark]["Z_PK"]
                if key <= new.max[root]:
                    wrong("objects", f"{table} {mark}: the key {key} may have been given out")
                if former > new.max[root] and key != former:
                    wrong("objects", f"{table} {mark}: {former} was free, it has {key}")
                if row["Z_ENT"] != old.rows[table][mark]["Z_ENT"] or row["Z_OPT"] != 1:
                    wrong("books", f"{table} {mark}: Z_ENT or Z_OPT")
        greatest = max([new.max[root], *(r["Z_PK"] for r in out.rows[table].values())])
        if out.max[root] != greatest:
            wrong("books", f"{root}: Z_MAX is {out.max[root]}, not {greatest}")
        special = {"Z_PK", "Z_ENT", "Z_OPT", "ZPHOTO", "Z_FOK_RECIPE"} | {c for r in refs for c in (r[0], r[2]) if c}
        special |= {"ZPROFILE"} if table == "ZPERSON" else {"ZPERSON"} if table == "ZPROFILE" else set()
        for mark in wanted & set(out.rows[table]):
            result, o, n = out.rows[table][mark], old.rows[table].get(mark), new.rows[table].get(mark)
            b = base.rows[table].get(mark) if three else None
            conflict = False
            for column in result:
                if column in special:
                    continue
                if o is None or n is None:
                    value = (n or o)[column]
                else:
                    value, isConflict = three_way(o[column], n[column], b and b[column], b is not None, prefer)
                    conflict |= isConflict
                if result[column] != value:
                    wrong("values", f"{table} {mark} {column}: {result[column]!r}, not {value!r}")
            for column, other, number in refs:
                found = out.target(table, mark, column, other)
                if isinstance(found, tuple):
                    wrong("links", f"{table} {mark} {column}: dangling")
                to, tn = (s.target(table, mark, column, other) if r else None for s, r in ((old, o), (new, n)))
                tb = base.target(table, mark, column, other) if b else None
                if o is None or n is None:
                    value = tn if o is None else to
                elif tn is None and to is not None and to not in new.rows[other]:
                    value = to
                elif b is None and (to is None or tn is None):
                    value = tn if to is None else to
                else:
                    value, isConflict = three_way(to, tn, tb, b is not None, prefer)
                    conflict |= isConflict
                if found != value:
                    wrong("links", f"{table} {mark} {column}: leads to {found}, not {value}")
                if number and found is not None:
                    if result[number] != out.rows[other][found]["Z_ENT"]:
                        wrong("links", f"{table} {mark} {number}: {result[number]}")
            if table == "ZRECIPE":
                po, pn = (s.photo(mark) if r else None for s, r in ((old, o), (new, n)))
                value = pn if o is None else po if n is None else three_way(
                    po, pn, base.photo(mark) if b else None, b is not None, prefer)[0]
                if out.photo(mark) != value:
                    wrong("files", f"{mark}: another picture")
            expected_conflicts += conflict
        if order:
            check_order(table, order, old, new, out)
    check_history(new, out)
    for table, column, other, back in ONE_TO_ONES:
        for mark in out.rows[table]:
            there = out.target(table, mark, column, other)
            if there is not None and (isinstance(there, tuple) or out.target(other, there, back, table) != mark):
                wrong("links", f"{table} {mark}: its partner {there} has another one")
            wanted = new.target(table, mark, column, other) if mark in new.rows[table] else old.target(
                table, mark, column, other)
            if there != wanted:
                wrong("links", f"{table} {mark}: partner {there}, not {wanted}")
    for name, _, ta, _, tb in JOINS:
        wanted = {p for p in old.joins[name] | new.joins[name]}
        if out.joins[name] != wanted:
            wrong("links", f"{name}: {len(out.joins[name] ^ wanted)} pairs differ")
    if report["conflictCount"] != expected_conflicts:
        wrong("values", f"{report['conflictCount']} conflicts, not {expected_conflicts}")
    files = os.path.join(support(out.path), "_EXTERNAL_DATA")
    there = set(os.listdir(files)) if os.path.isdir(files) else set()
    named = {r["ZPHOTO"][1:].split(b"\0")[0].decode() for r in out.rows["ZRECIPE"].values()
             if r["ZPHOTO"] and r["ZPHOTO"][:1] == b"\x02"}
    if there != named:
        wrong("files", f"{len(there - named)} files that nothing names, {len(named - there)} missing")
    c = opened(out.path)
    if c.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
        wrong("books", "integrity_check")
    a = opened(new.path)
    for sql in ("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY 1, 2", "SELECT * FROM Z_METADATA",
                "SELECT * FROM Z_MODELCACHE", "SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY"):
        if c.execute(sql).fetchall() != a.execute(sql).fetchall():
            wrong("books", sql)


def check_history(new, out):
    """What the transaction says, against what differs between NEW and the result."""
    c, a = opened(out.path), opened(new.path)
    said = {0: set(), 1: set()}
    rows = c.execute("SELECT t.Z_PK, coalesce(t.ZAUTHOR, s.ZNAME) FROM ATRANSACTION t LEFT JOIN ATRANSACTIONSTRING s ON s.Z_PK = t.ZAUTHORTS ORDER BY 1").fetchall()
    if rows != [(2, "app"), (3, "strata")]:
        wrong("history", f"transactions {rows}")
    tables = {}
    for number, name in c.execute("SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY"):
        tables[number] = ROOT_TABLES.get(name)
    if c.execute("SELECT * FROM ACHANGE WHERE ZTRANSACTIONID <> 3").fetchall() != a.execute("SELECT * FROM ACHANGE").fetchall():
        wrong("history", "changes of other transactions differ")
    for kind, entity, key, bits in c.execute("SELECT ZCHANGETYPE, ZENTITY, ZENTITYPK, ZCOLUMNS FROM ACHANGE WHERE ZTRANSACTIONID = 3"):
        if kind not in said or (tables[entity], key) in said[kind] or (kind == 1) != bool(bits and any(bits)):
            wrong("history", f"{kind} {tables[entity]} {key} {bits!r}")
            continue
        said[kind].add((tables[entity], key))
    inserted, updated = set(), set()
    for table, (_, refs, _) in TABLES.items():
        before = {r["Z_PK"]: r for r in new.rows[table].values()}
        for row in out.rows[table].values():
            key = row["Z_PK"]
            there = before.get(key)
            if there is None:
                inserted.add((table, key))
            elif any(row[n] != there[n] for n in row if n != "Z_OPT"):
                updated.add((table, key))
            for column, other, _ in refs + ([("ZRECIPE", "ZRECIPE", None)] if table == "ZSTEP" else []):
                place = {"ZSTEP": "Z_FOK_RECIPE"}.get(table)
                if there is None or any(row[n] != there[n] for n in (column, place) if n):
                    updated |= {(other, r[column]) for r in (row, there) if r and r[column] is not None}
    for name, x, tx, y, ty in JOINS:
        pairs = [set(d.execute(f"SELECT {x}, {y} FROM {name}").fetchall()) for d in (c, a)]
        for one, two in pairs[0] ^ pairs[1]:
            updated |= {(tx, one), (ty, two)}
    updated -= inserted
    for kind, wanted in ((0, inserted), (1, updated)):
        if said[kind] != wanted:
            wrong("history", f"kind {kind}: missing {sorted(wanted - said[kind])[:4]}, more {sorted(said[kind] - wanted)[:4]}")
    for table in TABLES:
        before = {r["Z_PK"]: r["Z_OPT"] for r in new.rows[table].values()}
        raised = {(table, r["Z_PK"]) for r in out.rows[table].values() if r["Z_PK"] in before and r["Z_OPT"] != before[r["Z_PK"]]}
        if raised != {u for u in updated if u[0] == table}:
            wrong("history", f"{table}: Z_OPT of {sorted(raised ^ {u for u in updated if u[0] == table})[:4]}")


def check_order(table, order, old, new, out):
    column, place = order
    by = collections.defaultdict(list)
    for mark, row in out.rows[table].items():
        if row[column] is not None:
            by[row[column]].append((row[place], mark))
    for owner, found in by.items():
        if len({p for p, _ in found}) != len(found) or any(p is None for p, _ in found):
            wrong("links", f"{table} of {owner}: equal or missing order keys")
            continue
        marks = [m for _, m in sorted(found)]
        name = out.keys["ZRECIPE"][owner]

        def own(store):
            return [m for _, m in sorted(
                (r[place], m) for m, r in store.rows[table].items()
                if r[column] is not None and store.keys["ZRECIPE"].get(r[column]) == name)]

        mine = [m for m in own(new) if m in marks]
        theirs = [m for m in own(old) if m in marks and m not in mine]
        if marks != mine + theirs:
            wrong("links", f"{table} of {name}: {marks[:4]}, not {(mine + theirs)[:4]}")


def numbers(report):
    entities = {e["entity"]: [e[k] for k in ("old", "new", "paired", "changed", "added", "renumbered", "returned",
                                              "leftOut", "total")] for e in report["entities"]}
    return entities, [report[k] for k in ("conflictCount", "undecided", "links", "lostLinks", "files")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("strata")
    parser.add_argument("shared")
    parser.add_argument("--objects", type=int, default=5000)
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--made-only", action="store_true")
    parser.add_argument("--fixtures-only", action="store_true")
    parser.add_argument("--work")
    options = parser.parse_args()
    work = tempfile.mkdtemp(prefix="merge.", dir=options.work)
    environment = dict(os.environ, XDG_STATE_HOME=os.path.join(work, "state"), TMPDIR=os.path.join(work, "tmp"))
    os.mkdir(environment["TMPDIR"])

    def run(*words):
        return subprocess.run([options.strata, *words], capture_output=True, text=True, errors="replace",
                              env=environment, timeout=600)

    def merged(*words):
        done = run("merge", *words, "--json")
        try:
            return done, json.loads(done.stdout)["merge"]
        except (ValueError, KeyError):
            return done, None

    if not options.fixtures_only:
        made(options, work, run, merged, environment)
    if not options.made_only:
        fixtures(options, work, run, merged)
    shutil.rmtree(work)
    for check_name, count in violations.items():
        print(f"{check_name}: {count} violations, first: {first[check_name]}")
    print("violations:", sum(violations.values()))
    sys.exit(1 if violations else 0)


def made(options, work, run, merged, environment):
    folder = os.path.join(work, "made")
    assert run("demo", folder, "--objects", str(options.objects), "--no-open").returncode == 0
    base, old, new = (os.path.join(folder, n + ".sqlite") for n in ("Base", "Old", "New"))
    copy(os.path.join(folder, "Recipes.sqlite"), base)
    mark_all(base)
    both = choose(base, options.seed)
    for path, side in ((old, "old"), (new, "new")):
        copy(base, path)
        grow(path, side, options.seed, both)
    before = {**digest(base), **digest(old), **digest(new)}
    contents = [Contents(p) for p in (base, old, new)]
    matches = [w for t, (c, _, _) in TABLES.items() if t != "ZTAG"
               for w in ("--match", f"{ROOTS[t]}={c[1:].lower()}")] + ["--match", "Tag=name"]
    ways = [("base new", ["--base", base, "--prefer", "new"], "new", True),
            ("base old", ["--base", base, "--prefer", "old"], "old", True),
            ("match new", [*matches, "--prefer", "new"], "new", False),
            ("match old", [*matches, "--prefer", "old"], "old", False)]
    for name, words, prefer, three in ways:
        out = os.path.join(folder, name.replace(" ", "-") + ".sqlite")
        listing = sorted(os.listdir(folder))
        rehearsal, told = merged(old, new, *words, "--dry-run")
        if rehearsal.returncode != 0 or sorted(os.listdir(folder)) != listing:
            wrong("rehearsal", f"{name}: status {rehearsal.returncode} {rehearsal.stderr[-300:]}")
        start = time.time()
        done, report = merged(old, new, *words, "--output", out)
        seconds = time.time() - start
        if done.returncode != 0 or report is None:
            wrong("objects", f"{name}: status {done.returncode} {done.stderr[-500:]}")
            continue
        if told is None or numbers(told) != numbers(report):
            wrong("rehearsal", f"{name}: other numbers")
        result = Contents(out)
        check(*contents, result, report, prefer, three)
        rows = sum(len(t) for t in result.rows.values())
        print(f"{name}: {rows} objects, {sum(e['added'] for e in report['entities'])} added, "
              f"{sum(e['renumbered'] for e in report['entities'])} renumbered, "
              f"{sum(e['returned'] for e in report['entities'])} returned, {report['conflictCount']} conflicts, "
              f"{report['links']} links, {report['files']} files, {len(report['losses'])} losses, {seconds:.1f} s")
        if run("doctor", out).returncode > max(run("doctor", p).returncode for p in (old, new)):
            wrong("doctor", f"{name}: {run('doctor', out).stdout[-400:]}")
        bundle = os.path.join(folder, "Recipes.xcdatamodeld")
        if run("plan", out, "--to", bundle).returncode != run("plan", new, "--to", bundle).returncode:
            wrong("doctor", f"{name}: plan")
    for words in (["--prefer", "new"], ["--base", base]):
        out = os.path.join(folder, "refused.sqlite")
        done = run("merge", old, new, "--output", out, *words)
        if done.returncode != 3 or os.path.exists(out) or not any(w in done.stderr for w in ("--base", "--prefer")):
            wrong("objects", f"not refused: {words} {done.returncode} {done.stderr[-300:]}")
    if {**digest(base), **digest(old), **digest(new)} != before:
        wrong("untouched", "a store that was given is another")
    kill(options, folder, environment, [old, new, "--base", base, "--prefer", "new"])
    if {**digest(base), **digest(old), **digest(new)} != before:
        wrong("untouched", "a store that was given is another, after kills")


def kill(options, folder, environment, words):
    if not options.kills:
        return
    place = os.path.join(folder, "killed")
    os.mkdir(place)
    out = os.path.join(place, "Out.sqlite")
    command = [options.strata, "merge", *words, "--output", out]
    times = []
    for _ in range(2):
        for name in os.listdir(place):
            target = os.path.join(place, name)
            shutil.rmtree(target) if os.path.isdir(target) else os.remove(target)
        start = moments.used()
        subprocess.run(command, capture_output=True, env=environment, timeout=600)
        times.append(moments.used() - start)
    whole = min(times)
    expected = digest_rows(out)
    nothing = complete = 0
    for moment in range(options.kills):
        for name in os.listdir(place):
            target = os.path.join(place, name)
            if not name.startswith(".strata"):
                shutil.rmtree(target) if os.path.isdir(target) else os.remove(target)
        moments.kill(command, whole * (moment + 0.5) / options.kills, environment)
        if os.path.exists(out):
            complete += 1
            if digest_rows(out) != expected:
                wrong("kills", f"moment {moment}: a part of the result is there")
        else:
            nothing += 1
            # A folder of files without a store would be taken for another's: the next run removes it.
            again = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600)
            left = sorted(n for n in os.listdir(place) if n not in ("Out.sqlite", ".Out_SUPPORT"))
            if again.returncode != 0 or left or digest_rows(out) != expected:
                wrong("kills", f"moment {moment}: the next run: {again.returncode} {left} {again.stderr[-300:]}")
    print(f"kills: {options.kills} moments over {whole:.1f} s of processor time: {nothing} nothing, {complete} whole")


def digest_rows(path):
    """Everything but the names of files and the time of the transaction, which are other ones each time."""
    c = opened(path)
    found = hashlib.sha256()
    for name, in c.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'ATRANSACTION' ORDER BY 1").fetchall():
        for row in c.execute(f'SELECT * FROM "{name}" ORDER BY 1, 2' if len(columns(c, name)) > 1 else
                             f'SELECT * FROM "{name}"'):
            row = [v[:1] if isinstance(v, bytes) and v[:1] == b"\x02" else v for v in row]
            found.update(repr(row).encode())
    c.close()
    files = os.path.join(support(path), "_EXTERNAL_DATA")
    for name in sorted(hashlib.sha256(open(os.path.join(files, n), "rb").read()).hexdigest()
                       for n in (os.listdir(files) if os.path.isdir(files) else [])):
        found.update(name.encode())
    return found.hexdigest()


def fixtures(options, work, run, merged):
    """Copies of real stores with rows that are copies of others."""
    stores = []
    for place, _, names in os.walk(os.path.join(options.shared, "fixtures")):
        stores += [os.path.join(place, n) for n in names if n.endswith((".sqlite", ".store", ".db"))]
    tried = refused = 0
    for number, source in enumerate(sorted(stores)):
        folder = os.path.join(work, f"fixture{number}")
        os.mkdir(folder)
        base, old, new, out = (os.path.join(folder, n + ".sqlite") for n in ("Base", "Old", "New", "Out"))
        try:
            copy(source, base)
            c = opened(base)
            names = {n for n, in c.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            c.close()
        except sqlite3.DatabaseError:
            continue
        if "Z_PRIMARYKEY" not in names or run("info", base).returncode != 0:
            continue
        changed = True
        for path, side in ((old, "old"), (new, "new")):
            copy(base, path)
            try:
                change_fixture(path, side)
            except sqlite3.DatabaseError as error:
                print(f"{source}: not changed: {error}")
                changed = False
        if not changed:
            continue
        before = {**digest(base), **digest(old), **digest(new)}
        _, told = merged(old, new, "--base", base, "--prefer", "new", "--dry-run")
        done, report = merged(old, new, "--base", base, "--prefer", "new", "--output", out)
        if {**digest(base), **digest(old), **digest(new)} != before:
            wrong("untouched", source)
        if done.returncode != 0 or report is None:
            refused += 1
            print(f"{os.path.relpath(source, options.shared)}: status {done.returncode}: {done.stderr.strip()[:300]}")
            if done.returncode not in (3,) or os.path.exists(out):
                wrong("objects", f"{source}: status {done.returncode} {done.stderr[:300]}")
            continue
        tried += 1
        if told is None or numbers(told) != numbers(report):
            wrong("rehearsal", f"{source}: other numbers")
        check_fixture(source, old, new, out, report)
        if run("doctor", out).returncode > max(run("doctor", p).returncode for p in (old, new)):
            wrong("doctor", f"{source}: {run('doctor', out).stdout[-400:]}")
        shutil.rmtree(folder)
    print(f"fixtures: {tried} merged, {refused} refused")


def objects(c):
    roots = {n for n, in c.execute("SELECT Z_NAME FROM Z_PRIMARYKEY WHERE Z_SUPER = 0 AND Z_ENT < 16001")}
    tables = {n for n, in c.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    return {"Z" + r.upper(): r for r in roots if "Z" + r.upper() in tables}


def change_fixture(path, side):
    c = opened(path, True)
    c.execute("PRAGMA journal_mode = DELETE")
    c.execute("BEGIN")
    for trigger, in c.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        pass
    for table, root in sorted(objects(c).items()):
        info = c.execute(f'PRAGMA table_info("{table}")').fetchall()
        names = [r[1] for r in info]
        unique = set()
        for index in c.execute(f'PRAGMA index_list("{table}")').fetchall():
            if index[2]:
                unique |= {r[2] for r in c.execute(f'PRAGMA index_info("{index[1]}")')}
        texts = [r[1] for r in info if r[2] == "VARCHAR" and r[1] not in unique]
        last = c.execute("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = ?", (root,)).fetchone()[0] or 0
        last = max(last, c.execute(f'SELECT ifnull(max(Z_PK), 0) FROM "{table}"').fetchone()[0])
        keys = [r[0] for r in c.execute(f'SELECT Z_PK FROM "{table}" ORDER BY 1')]
        for key in keys[::10][:50]:
            if texts:
                c.execute(f'UPDATE "{table}" SET "{texts[0]}" = ? WHERE Z_PK = ?', (f"{side} {key}", key))
        if unique:
            continue
        # Each side copies other rows, so that no two new ones are alike.
        for key in keys[(0 if side == "old" else 1)::4][:100]:
            last += 1
            row = list(c.execute(f'SELECT * FROM "{table}" WHERE Z_PK = ?', (key,)).fetchone())
            row[names.index("Z_PK")] = last
            if texts:
                row[names.index(texts[0])] = f"{side} new {last}"
            c.execute(f'INSERT INTO "{table}" VALUES ({", ".join("?" * len(row))})', row)
        c.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_NAME = ?", (last, root))
    c.execute("COMMIT")
    c.execute("PRAGMA journal_mode = WAL")
    c.close()


def check_fixture(source, old, new, out, report):
    a, b, r = (opened(p) for p in (old, new, out))
    losses = {(l["a"]) for l in report["losses"] if l["change"] == "delete"}
    added = left = 0
    for table, root in objects(b).items():
        names = [n for n in columns(b, table) if n != "Z_OPT"]
        kinds = {row[1]: row[2] for row in b.execute(f'PRAGMA table_info("{table}")')}
        values = [n for n in names if kinds[n] in ("VARCHAR", "TIMESTAMP", "FLOAT", "DECIMAL")]
        last = b.execute("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = ?", (root,)).fetchone()[0] or 0
        mine = {k: e for k, e in b.execute(f'SELECT Z_PK, Z_ENT FROM "{table}"')}
        found = {k: e for k, e in r.execute(f'SELECT Z_PK, Z_ENT FROM "{table}"')}
        if any(found.get(k) != e for k, e in mine.items()):
            wrong("objects", f"{source} {table}: an object of NEW is missing")
        more = {k for k in found if k not in mine}
        if any(k <= last for k in more):
            wrong("objects", f"{source} {table}: a key that may have been given out")
        added += len(more)
        base = {k for k, in opened(out.replace("Out.sqlite", "Base.sqlite")).execute(f'SELECT Z_PK FROM "{table}"')}
        wanted = collections.Counter()
        have = collections.Counter()
        listed = ", ".join(f'"{n}"' for n in ["Z_ENT", *values])
        for row in a.execute(f'SELECT Z_PK, {listed} FROM "{table}"'):
            if row[0] not in base:
                wanted[row[1:]] += 1
        for row in r.execute(f'SELECT Z_PK, {listed} FROM "{table}"'):
            if row[0] in more:
                have[row[1:]] += 1
        missing = sum((wanted - have).values())
        left += missing
    if left > len(losses):
        wrong("objects", f"{source}: {left} objects of OLD are missing, {len(losses)} are named")
    if added != sum(e["added"] for e in report["entities"]):
        wrong("objects", f"{source}: {added} rows more, report says otherwise")
    if r.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
        wrong("books", f"{source}: integrity_check")
    for a in (a, b, r):
        a.close()


if __name__ == "__main__":
    main()
