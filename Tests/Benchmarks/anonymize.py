#!/usr/bin/env python3
"""Checks that a store which strata anonymized has the structure of the original, and nothing of its values.

    anonymize.py STRATA SHARED [--stores FILE…] [--made-only | --fixtures-only] [--out FILE.json] [--work DIR] [--kills N]

SHARED is the folder with fixtures/. Without --stores, every Core Data store of the fixtures is taken, on a copy, and
stores that are made here: with an app's own tables, FTS5, R-trees, history with tombstones, mirrored tables, external
files, archives, gzip. What must hold is worked out here with sqlite3, plistlib and bytes: no code of strata's takes
part, but for `doctor` and `plan`, whose answers are compared.

The checks, each a column of the table:
    runs       anonymize succeeds, leaves nothing else behind, and SQLite finds the new file sound
    untouched  no byte of the original changes
    layout     schema, pragmas, row counts, keys, references, order keys, storage classes, NULLs and lengths are equal
    values     equal ones become equal ones and different ones different ones; numbers keep order and magnitude
    changed    every replaced cell differs wherever its class has more than one value
    leaks      no text of eight or more characters of the original stands anywhere in the new store, in UTF-8 or UTF-16
    remnants   no free page, no -wal; tables of the app's own are empty
    doctor     doctor finds the same
    plan       plan to other versions of the model says the same
    runs apart two runs without --seed have nothing in common, two with one are the same

Ends with 1 where there are violations.
"""

import argparse
import collections
import decimal
import fractions
import glob
import gzip
import hashlib
import json
import math
import os
import plistlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import unicodedata
import uuid
import zlib

CHECKS = ["runs", "untouched", "layout", "values", "changed", "leaks", "remnants", "doctor", "plan", "apart"]
LEAST = 8  # characters of a text that must not be found
FOUNDATION_DATES = {-63114076800.0, 63113904000.0}
CONSTANTS = re.compile(r"^(NSCloudKit|PFCloudKit|__defaultOwner__|_defaultZone|com\.apple\.coredata\.)|ErrorDomain$")
MIGRATOR = re.compile(r"migration from model with digest \{ ")
METADATA = re.compile(r"^(_?NSStore|_?NSPersist|_NSAutoVacuumLevel|PFCloudKit|NSCloudKit)")
# Findings about what is not copied: free pages, logs, files beside the store.
NOT_COPIED = re.compile(r"^(deletions|freelist|wal-|journal-|not-downloaded|migration-leftover)")


def run(*words, **more):
    return subprocess.run(list(words), capture_output=True, text=True, errors="replace", timeout=600, **more)


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


# ---------------------------------------------------------------- what a store is

class Attribute:
    def __init__(self, name, kind, default, derived, rules):
        self.name, self.kind, self.default, self.derived, self.rules = name, kind, default, derived, rules


class Side:
    """A store opened for reading, with what its model says of columns."""

    def __init__(self, path, model=None):
        self.path = path
        self.db = sqlite3.connect(f"file:{path.replace('%', '%25').replace('?', '%3f').replace('#', '%23')}?mode=ro&immutable=1", uri=True)
        self.db.text_factory = bytes
        self.schema = {name.decode(): (kind.decode(), table.decode(), sql.decode(errors="replace") if sql else None)
                       for kind, name, table, sql in self.db.execute("SELECT type, name, tbl_name, sql FROM sqlite_master")}
        self.tables = {name for name, row in self.schema.items() if row[0] == "table"}
        self.metadata = {}
        if "Z_METADATA" in self.tables:
            row = self.db.execute("SELECT Z_PLIST, Z_UUID FROM Z_METADATA").fetchone()
            self.uuid = row[1].decode() if row[1] else ""
            self.metadata = plistlib.loads(row[0]) if row[0] else {}
        self.attributes, self.relationships, self.words = {}, set(), set()
        if model is not None:
            self.attributes, self.relationships, self.words = model
        elif "Z_MODELCACHE" in self.tables:
            row = self.db.execute("SELECT Z_CONTENT FROM Z_MODELCACHE").fetchone()
            if row and row[0]:
                self.read_model(zlib.decompress(row[0], -15))

    def read_model(self, archive):
        objects = plistlib.loads(archive)["$objects"]
        self.words = {o for o in objects if isinstance(o, str)}
        self.words |= {v for o in objects if isinstance(o, dict) for v in o.values() if isinstance(v, str)}

        def get(o):
            return objects[o.data] if isinstance(o, plistlib.UID) else o

        for o in objects:
            if not isinstance(o, dict) or "$class" not in o:
                continue
            name = get(get(o["$class"])["$classname"]) if isinstance(get(o["$class"]), dict) else ""
            if "NSPropertyName" not in o:
                continue
            own = get(o["NSPropertyName"])
            if name == "NSRelationshipDescription":
                self.relationships.add(own)
            elif name in ("NSAttributeDescription", "NSDerivedAttributeDescription", "NSCompositeAttributeDescription"):
                default = get(o.get("NSDefaultValue"))
                if isinstance(default, dict) and "NS.time" in default:
                    default = default["NS.time"]
                if isinstance(default, dict) and "NS.string" in default:
                    default = get(default["NS.string"])
                rules = "NSValidationPredicates" in o and bool((get(o["NSValidationPredicates"]) or {}).get("NS.objects"))
                self.attributes.setdefault(own.upper(), []).append(Attribute(
                    own, get(o.get("NSAttributeType")), default, name == "NSDerivedAttributeDescription", rules))

    def columns(self, table):
        return [(row[1].decode(), row[2].decode().upper()) for row in self.db.execute(f"PRAGMA table_info({quoted(table)})")]

    def attribute(self, column):
        base = column[1:]
        for name in (base, base.rstrip("0123456789")):
            if name in self.attributes:
                return self.attributes[name]
        return []

    def objects(self):
        return sorted(t for t in self.tables if t.startswith("Z") and not t.startswith(("Z_", "ZNSCK"))
                      and {"Z_PK", "Z_ENT", "Z_OPT"} <= {c for c, _ in self.columns(t)} and self.is_entity(t))

    def is_entity(self, table):
        names = {row[0].decode().upper() for row in self.db.execute("SELECT Z_NAME FROM Z_PRIMARYKEY")}
        return table[1:] in names or not self.words

    def joins(self):
        return sorted(t for t in self.tables if re.match(r"Z_\d", t) and "Z_PK" not in {c for c, _ in self.columns(t)})

    def system(self):
        return sorted(t for t in self.tables if t in ("ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING") or t.startswith(("ANSCK", "ZNSCK")))

    def trees(self):
        """R-trees that Core Data keeps, with the tables behind them."""
        own = {n for n, row in self.schema.items() if row[0] == "table" and row[2] and row[2].upper().startswith("CREATE VIRTUAL TABLE")
               and "USING RTREE" in row[2].upper() and n.startswith("Z_") and n + "_DELETE" in self.schema}
        return own | {f"{n}_{part}" for n in own for part in ("node", "rowid", "parent")}

    def own(self):
        known = set(self.objects()) | set(self.joins()) | set(self.system()) | self.trees()
        return sorted(t for t in self.tables - known if not t.startswith("sqlite_")
                      and t not in ("Z_METADATA", "Z_PRIMARYKEY", "Z_MODELCACHE"))

    def is_value(self, table, column, declared):
        """Whether the values of a column are an attribute's."""
        if column in ("Z_PK", "Z_ENT", "Z_OPT"):
            return False
        if declared != "INTEGER":
            return True
        if column.startswith("Z_FOK_") or re.match(r"Z\d+_", column):
            return False
        names = {r.upper() for r in self.relationships}
        if column[1:] in names or column[1:].rstrip("0123456789") in names and not self.attribute(column):
            return False
        return bool(self.attribute(column)) or column.startswith("_DEFERRED_")

    def support(self):
        stem = os.path.splitext(os.path.basename(self.path))[0]
        return os.path.join(os.path.dirname(self.path), f".{stem}_SUPPORT", "_EXTERNAL_DATA")


# ---------------------------------------------------------------- texts in a store

# Names of classes in archives: they still show, and a key of the metadata may be called so too.
classes = set()


def decoded(data, depth=0):
    """Texts in bytes, decoded as far as plists, archives and gzip go."""
    found = []
    if depth > 6 or not data:
        return found
    if data[:3] == b"\x1f\x8b\x08":
        try:
            return decoded(gzip.decompress(data), depth + 1)
        except Exception:
            return found
    if data[:8] == b"bplist00" or data[:1] == b"<" and b"<plist" in data[:512]:
        try:
            plist = plistlib.loads(data)
        except Exception:
            return found
        archive = isinstance(plist, dict) and "$objects" in plist and "$top" in plist

        def walk(o, structural=False):
            if isinstance(o, str):
                if structural:
                    classes.add(o)
                else:
                    found.append(o)
            elif isinstance(o, bytes):
                found.extend(decoded(o, depth + 1))
            elif isinstance(o, (list, tuple)):
                for item in o:
                    walk(item, structural)
            elif isinstance(o, dict):
                for key, value in o.items():
                    if not archive:
                        found.append(key)
                    walk(value, structural or archive and key in ("$classname", "$classes", "$archiver"))
        walk(plist)
        if archive:
            # A text that is also a key of an object cannot be told from it.
            keys = {k for o in plist["$objects"] if isinstance(o, dict) for k in o}
            found = [t for t in found if t not in keys and t != "$null"]
        return found
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return found
    if all(c >= " " or c in "\t\n\r" for c in text):
        found.append(text)
    return found


def external(column):
    """The name of the file that a column holds; bytes that only begin like one, such as those of a nonce, name none."""
    name = re.fullmatch(rb"\x02([!-~]+)\0", column)
    return name[1].decode("ascii") if name else None


def texts(side, tables):
    """All texts of tables, of archives in them and of files beside the store."""
    found = set()
    for table in tables:
        try:
            rows = side.db.execute(f"SELECT * FROM {quoted(table)}")
        except sqlite3.Error:
            continue
        names = [d[0] for d in rows.description]
        kinds = dict(side.columns(table))
        for row in rows:
            for name, value in zip(names, row):
                if isinstance(value, bytes):
                    add_texts(found, value)
    folder = side.support()
    if os.path.isdir(folder):
        for name in os.listdir(folder):
            found.add(name)
            with open(os.path.join(folder, name), "rb") as file:
                add_texts(found, file.read())
    for key, value in side.metadata.items():
        if not METADATA.match(key):
            found.add(key)
            add_texts(found, plistlib.dumps(value if isinstance(value, (dict, list)) else [value], fmt=plistlib.FMT_BINARY))
    return found


def add_texts(found, value):
    name = external(value)
    if name:
        found.add(name)
    if value[:1] == b"\x01":
        found.update(decoded(value[1:]))
    found.update(decoded(value))


class Sought:
    """Texts that must not be found, by the first eight bytes of each in UTF-8 and both kinds of UTF-16."""

    def __init__(self, texts):
        self.heads = collections.defaultdict(list)
        for encoding in ("utf-8", "utf-16-le", "utf-16-be"):
            for text in texts:
                raw = text.encode(encoding, "surrogatepass")
                if len(raw) >= 8:
                    self.heads[raw[:8]].append((raw, text))

    def found(self, data):
        """Which of them stand in bytes."""
        hits = set()
        heads = self.heads
        for place in range(len(data) - 7):
            head = data[place:place + 8]
            if head in heads:
                for raw, text in heads[head]:
                    if data.startswith(raw, place):
                        hits.add(text)
        return hits


# ---------------------------------------------------------------- the checks

def file_state(folder):
    state = {}
    for root, _, files in os.walk(folder):
        for name in files:
            path = os.path.join(root, name)
            if not name.endswith("-shm"):
                with open(path, "rb") as file:
                    state[path] = hashlib.sha256(file.read()).hexdigest()
    return state


def has_class(text):
    """Whether another text of the same kind exists."""
    return any(c.isalnum() or unicodedata.category(c)[0] in "LNS" or "!" <= c <= "~" for c in text)


def decade(number):
    number = abs(number)
    if number == 0 or math.isinf(number):
        return None
    # Of the number as it is written: the double that is written 1e38 is a little less, and log10 rounds up.
    return decimal.Decimal(repr(number)).adjusted()


class Comparison:
    def __init__(self, before, after, report, keeps_own=False):
        self.before, self.after, self.report = before, after, report
        self.cells = collections.Counter()
        self.integers = collections.defaultdict(set)
        self.defaults = {a.default for own in before.attributes.values() for a in own
                         if isinstance(a.default, (int, float)) and not isinstance(a.default, bool)}

    def fail(self, check, sentence):
        self.report[check].append(sentence)

    def run(self):
        self.layout()
        for table in self.before.objects():
            self.table(table, [(c, d, self.before.is_value(table, c, d)) for c, d in self.before.columns(table)])
        for table in self.before.joins():
            self.table(table, [(c, d, False) for c, d in self.before.columns(table)], key="rowid")
        for table in self.before.system():
            self.table(table, [(c, d, d != "INTEGER" and c != "ZCOLUMNS" or c.startswith("ZTOMBSTONE"))
                               for c, d in self.before.columns(table)], isSystem=True)
        self.bookkeeping()
        self.files()

    def layout(self):
        for pragma in ("page_size", "encoding", "auto_vacuum", "user_version", "application_id", "journal_mode"):
            one, two = (s.db.execute(f"PRAGMA {pragma}").fetchone()[0] for s in (self.before, self.after))
            if pragma == "journal_mode":
                continue
            if one != two:
                self.fail("layout", f"{pragma} is {two}, and was {one}")
        heads = [open(s.path, "rb").read(20)[18:20] for s in (self.before, self.after)]
        if heads[0] != heads[1]:
            self.fail("layout", f"the journal mode in the header is {heads[1]}, and was {heads[0]}")
        if self.before.schema != self.after.schema:
            names = [n for n in set(self.before.schema) | set(self.after.schema) if self.before.schema.get(n) != self.after.schema.get(n)]
            self.fail("layout", f"the schema differs: {sorted(names)[:5]}")

    def rows(self, side, table, columns, key):
        def one(c):
            # Texts that are no UTF-8 come as they are.
            return f"typeof({quoted(c)}), CAST({quoted(c)} AS BLOB), {quoted(c)}"
        listed = ", ".join(one(c) for c in columns)
        return side.db.execute(f"SELECT {key}, {listed} FROM {quoted(table)} ORDER BY 1")

    def table(self, table, columns, key="Z_PK", isSystem=False):
        if table not in self.after.tables:
            return self.fail("layout", f"{table} is missing")
        names = [c for c, _, _ in columns]
        maps = {c: ({}, {}) for c in names}
        numbers = collections.defaultdict(dict)
        count = 0
        second = self.rows(self.after, table, names, key)
        for row in self.rows(self.before, table, names, key):
            other = second.fetchone()
            count += 1
            if other is None:
                return self.fail("layout", f"{table} has only {count - 1} rows")
            if row[0] != other[0]:
                return self.fail("layout", f"{table}: key {row[0]} became {other[0]}")
            for index, (column, declared, isValue) in enumerate(columns):
                kind, raw, value = row[1 + index * 3:4 + index * 3]
                kind2, raw2, value2 = other[1 + index * 3:4 + index * 3]
                kind, kind2 = kind.decode(), kind2.decode()
                place = f"{table}.{column} of {row[0]}"
                if not isValue:
                    if (kind, raw) != (kind2, raw2):
                        self.fail("layout", f"{place} is {value2!r:.40}, and was {value!r:.40}")
                    continue
                if (kind == "null") != (kind2 == "null") or kind != kind2 and {kind, kind2} != {"integer", "real"}:
                    self.fail("layout", f"{place} is of class {kind2}, and was {kind}")
                    continue
                if kind == "null":
                    continue
                if kind in ("text", "blob"):
                    self.cell(place, table, column, kind, raw, raw2, isSystem)
                    one, two = (kind, raw), (kind2, raw2)
                else:
                    self.number(place, table, column, value, value2)
                    one, two = value, value2
                    numbers[column][value] = value2
                there, back = maps[column]
                derived = any(a.derived for a in self.before.attribute(column))
                if there.setdefault(one, two) != two and not derived:
                    self.fail("values", f"{place}: equal values became different ones")
                if back.setdefault(two, one) != one and not derived and not (kind == "blob" and len(raw) < 4):
                    self.fail("values", f"{place}: different values became equal ones")
        if second.fetchone() is not None:
            self.fail("layout", f"{table} has more rows than before")
        for column, pairs in numbers.items():
            if any(a.derived for a in self.before.attribute(column)):
                continue
            others = [pairs[v] for v in sorted(pairs)]
            if any(a >= b for a, b in zip(others, others[1:])):
                self.fail("values", f"{table}.{column}: the order of numbers changed")

    def cell(self, place, table, column, kind, raw, raw2, isSystem):
        if len(raw) != len(raw2):
            self.fail("layout", f"{place} has {len(raw2)} bytes, and had {len(raw)}")
        attributes = self.before.attribute(column)
        if any(a.derived for a in attributes):
            return
        if kind == "text":
            encoding = {"UTF-8": "utf-8", "UTF-16le": "utf-16-le", "UTF-16be": "utf-16-be"}[
                self.before.db.execute("PRAGMA encoding").fetchone()[0].decode()]
            try:
                text = raw.decode(encoding)
                text2 = raw2.decode(encoding)
            except UnicodeDecodeError:
                self.changed(raw != raw2 or not raw, place, raw)
                return
            if len(text.encode("utf-16-le")) != len(text2.encode("utf-16-le")):
                self.fail("layout", f"{place} has another number of UTF-16 units")
            # In JSON, 0 is a number that stays.
            stays = (not has_class(text) or re.fullmatch(r"[\[\]{},:0.\s-]*(?:(?:true|false|null)[\[\]{},:0.\s-]*)*", text) and text.strip()[:1] in ("[", "{") or any(a.default == text for a in attributes)
                     or isSystem and self.is_system(text) or any(a.rules for a in attributes) and text in self.before.words)
            self.changed(text != text2 or stays, place, text)
            if "@" in text and re.fullmatch(r"[\w.+-]+@[\w-]+\.[\w.-]+", text) and not re.fullmatch(r"[\w.+-]+@[\w-]+\.[\w.-]+", text2):
                self.fail("values", f"{place}: an email address became {text2!r}")
            if re.match(r"https?://", text) and not re.match(r"https?://", text2):
                self.fail("values", f"{place}: a URL became {text2!r}")
        else:
            # Of archives, only what is no value may be all there is.
            isEmptyArchive = raw[:8] == b"bplist00" and not decoded(raw)
            self.changed(raw != raw2 or not raw or raw == b"\x01" or isEmptyArchive or not self.has_leaf(raw), place, raw)
            for magic in (b"bplist00", b"\x1f\x8b\x08", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"%PDF-", b"GIF8"):
                for skip in (0, 1):
                    if raw[skip:].startswith(magic) and (skip == 0 or raw[:1] == b"\x01") and not raw2[skip:].startswith(magic):
                        self.fail("values", f"{place}: data that began with {magic!r} does not")

    def has_leaf(self, raw):
        """Whether a plist in bytes has a value that could be another."""
        data = raw[1:] if raw[:1] == b"\x01" else raw
        if data[:8] != b"bplist00":
            return True
        try:
            plist = plistlib.loads(data)
        except Exception:
            return len(data) > 8
        found = []

        def walk(o, key=""):
            if isinstance(o, dict):
                for k, v in o.items():
                    if k not in ("$version", "$archiver", "$top", "$classname", "$classes"):
                        walk(v, k)
            elif isinstance(o, (list, tuple)):
                for v in o:
                    walk(v, key)
            elif isinstance(o, bool) or isinstance(o, plistlib.UID):
                pass
            elif isinstance(o, str):
                if o != "$null" and has_class(o):
                    found.append(o)
            elif isinstance(o, (int, float)):
                if o:
                    found.append(o)
            elif o:
                found.append(o)
        walk(plist)
        return bool(found)

    def is_system(self, text):
        bare = text[3:] if text.startswith("CD_") else text
        return bare in self.before.words or CONSTANTS.search(text) or MIGRATOR.search(text)

    def changed(self, isRight, place, value):
        self.cells["text"] += 1
        if not isRight:
            self.cells["same"] += 1
            self.fail("changed", f"{place} is as it was: {value!r:.60}")

    def number(self, place, table, column, value, value2):
        attributes = self.before.attribute(column)
        if any(a.derived for a in attributes):
            return
        if attributes and all(a.kind == 800 for a in attributes):
            if value != value2:
                self.fail("values", f"{place}: a truth value became {value2}")
            return
        if decade(value) != decade(value2) or (value < 0) != (value2 < 0):
            self.fail("values", f"{place}: {value} became {value2}, of another magnitude")
        if value == value2 and value != 0 and not math.isinf(value) and value not in FOUNDATION_DATES:
            if value not in self.defaults:
                self.integers[decade(value), value < 0, isinstance(value, int)].add((value, place))

    def dense(self):
        """Numbers that stay are only right where nearly all of their magnitude occur."""
        used = collections.defaultdict(set)
        for table in self.before.objects() + self.before.system():
            for column, declared in self.before.columns(table):
                if self.before.is_value(table, column, declared):
                    for (value,) in self.before.db.execute(
                            f"SELECT DISTINCT {quoted(column)} FROM {quoted(table)} WHERE typeof({quoted(column)}) IN ('integer', 'real')"):
                        used[decade(value), value < 0].add(value)
        for (power, negative, isInt), same in self.integers.items():
            numbers = used[power, negative]
            room = math.inf
            if power is not None and power >= 0:
                room = 9 * 10 ** power
            elif power is not None and power < -307:
                room = 9 * fractions.Fraction(10) ** power / fractions.Fraction(math.ulp(0.0))
            rules = any(a.rules for own in self.before.attributes.values() for a in own)
            if len(numbers) * 2 <= room and not rules:
                value, place = sorted(same)[0]
                self.fail("changed", f"{place} is still {value} ({len(same)} numbers with {power + 1} digits; {len(numbers)} occur)")

    def bookkeeping(self):
        for table in ("Z_PRIMARYKEY", "Z_MODELCACHE"):
            if table in self.before.tables:
                one, two = (s.db.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall() for s in (self.before, self.after))
                if one != two:
                    self.fail("layout", f"{table} differs")
        one, two = self.before.metadata, self.after.metadata
        for key in one:
            if METADATA.match(key) and one[key] != two.get(key):
                self.fail("layout", f"the metadata's {key} differs")
            if not METADATA.match(key) and (key in two and has_class(key)):
                self.fail("leaks", f"the metadata's {key} is still there")
        if len(one) != len(two):
            self.fail("layout", f"{len(two)} entries of metadata, and had {len(one)}")
        if self.before.uuid == self.after.uuid:
            self.fail("changed", "the store's UUID is the same")

    def files(self):
        one, two = ([] if not os.path.isdir(s.support()) else sorted(os.listdir(s.support())) for s in (self.before, self.after))
        if len(one) != len(two):
            self.fail("layout", f"{len(two)} external files, and had {len(one)}")
        sizes = [sorted(os.path.getsize(os.path.join(s.support(), n)) for n in names) for s, names in ((self.before, one), (self.after, two))]
        if sizes[0] != sizes[1]:
            self.fail("layout", "sizes of external files differ")
        if set(one) & set(two):
            self.fail("leaks", f"names of external files stay: {sorted(set(one) & set(two))[:3]}")
        contents = [{open(os.path.join(s.support(), n), "rb").read() for n in names} for s, names in ((self.before, one), (self.after, two))]
        for content in contents[0] & contents[1]:
            if len(content) > 8:
                self.fail("leaks", f"an external file of {len(content)} bytes is as it was")
        # What rows name is there, or is missing, as before.
        named = []
        for side in (self.before, self.after):
            own = []
            for table in side.objects():
                for column, declared in side.columns(table):
                    if declared == "BLOB":
                        for key, value in side.db.execute(f"SELECT Z_PK, substr({quoted(column)}, 1, 300) FROM {quoted(table)} WHERE substr({quoted(column)}, 1, 1) = x'02'"):
                            name = external(value)
                            if name:
                                own.append((table, column, key, os.path.exists(os.path.join(side.support(), name))))
            named.append(own)
        if named[0] != named[1]:
            self.fail("layout", "what rows name of external files is there or missing otherwise than before")

    def leaks(self):
        before, after = self.before, self.after
        every = sorted(before.tables - {"Z_MODELCACHE", "Z_PRIMARYKEY", "Z_METADATA"})
        allowed = before.words | {row[2] or "" for row in before.schema.values()} | set(before.schema)
        allowed |= {key for key in before.metadata if METADATA.match(key)}
        allowed |= {row[0].decode(errors="replace") for t in before.system() for c, d in before.columns(t) if d == "VARCHAR"
                    for row in before.db.execute(f"SELECT {quoted(c)} FROM {quoted(t)} WHERE typeof({quoted(c)}) = 'text'")
                    if MIGRATOR.search(row[0].decode(errors="replace"))}
        haystack = "\n".join(sorted(allowed))
        sought = set()
        classes.clear()
        for text in texts(before, every) - classes:
            if len(text) >= LEAST and has_class(text) and not CONSTANTS.search(text) and not MIGRATOR.search(text) and text not in haystack:
                # Of fewer free characters than eight, another text can be this one by chance.
                if sum(not c.isspace() and (c.isalnum() or c > "~") for c in text) >= LEAST and not re.fullmatch(r"[a-z]+://", text):
                    sought.add(text)
        sought.add(before.uuid)
        self.cells["sought"] = len(sought)
        hits = set()
        sought = Sought(sought)
        with open(after.path, "rb") as file:
            hits |= sought.found(file.read())
        if os.path.isdir(after.support()):
            for name in os.listdir(after.support()):
                hits |= sought.found(name.encode())
                with open(os.path.join(after.support(), name), "rb") as file:
                    hits |= sought.found(file.read())
        for text in texts(after, sorted(after.tables - {"Z_MODELCACHE"})):
            hits |= sought.found(text.encode("utf-8", "surrogatepass"))
        for text in sorted(hits):
            self.fail("leaks", f"{text!r:.80} is in the new store")

    def remnants(self):
        path = self.after.path
        for suffix in ("-wal", "-journal", "-shm"):
            if os.path.exists(path + suffix) and os.path.getsize(path + suffix) and suffix != "-shm":
                self.fail("remnants", f"there is a {suffix}")
        if self.after.db.execute("PRAGMA freelist_count").fetchone()[0]:
            self.fail("remnants", "there are free pages")
        for table in self.after.own():
            try:
                count = self.after.db.execute(f"SELECT count(*) FROM {quoted(table)}").fetchone()[0]
            except sqlite3.Error as error:
                self.fail("remnants", f"{table} cannot be read: {error}")
                continue
            if count and not re.search(r"_(config|data|node)$", table):
                self.fail("remnants", f"{table} has {count} rows")


def doctor(strata, path):
    result = run(strata, "doctor", path, "--json")
    try:
        findings = json.loads(result.stdout)["findings"]
    except (ValueError, KeyError):
        return result.returncode, result.stdout[:300] + result.stderr[:300]
    return sorted((f["kind"], f["severity"], f.get("entity") or "", f.get("property") or "", f.get("count") or 0)
                  for f in findings if not NOT_COPIED.match(f["kind"]))


def plan(strata, path, model):
    result = run(strata, "plan", path, "--to", model, "--json")
    try:
        told = json.loads(result.stdout)
    except ValueError:
        return result.returncode, re.sub(re.escape(os.path.dirname(path)), "", result.stdout[:200])

    def bare(o, key=""):
        if isinstance(o, dict):
            return {k: bare(v, k) for k, v in o.items() if k not in
                    ("samples", "path", "store", "first", "examples", "seconds", "secondsEstimated", "bytes", "uuid", "bytesNeeded", "bytesFree", "message", "hint", "notes", "warnings", "output", "command", "advice")}
        if isinstance(o, list):
            return [bare(v, key) for v in o]
        return o
    return result.returncode, bare(told)


def copied(store, folder):
    os.makedirs(folder, exist_ok=True)
    target = os.path.join(folder, os.path.basename(store))
    for suffix in ("", "-wal", "-journal"):
        if os.path.exists(store + suffix):
            shutil.copyfile(store + suffix, target + suffix)
    stem = os.path.splitext(os.path.basename(store))[0]
    support = os.path.join(os.path.dirname(store), f".{stem}_SUPPORT")
    if os.path.isdir(support):
        shutil.copytree(support, os.path.join(folder, f".{stem}_SUPPORT"))
    return target


def plain(store, folder):
    """A copy of a store with its -wal in the main file, to be read here."""
    target = copied(store, folder)
    db = sqlite3.connect(target)
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    return target


def has_model(path):
    try:
        db = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
        return bool(db.execute("SELECT count(*) FROM Z_MODELCACHE WHERE length(Z_CONTENT) > 0").fetchone()[0])
    except sqlite3.Error:
        return False


def check(strata, store, work, models, more, report):
    path = copied(store, os.path.join(work, "store"))
    before_state = file_state(os.path.join(work, "store"))
    outputs = os.path.join(work, "new")
    os.makedirs(outputs)
    output = os.path.join(outputs, "New.sqlite")
    start = time.monotonic()
    result = run(strata, "anonymize", path, "--output", output, "--json", *more)
    report["seconds"] = time.monotonic() - start
    if result.returncode in (3, 4) and not os.path.exists(output) and not has_model(path):
        # Which columns hold values is not known: to be refused.
        report["refused"] = True
        if os.listdir(outputs):
            report["runs"].append("refused, and something is left")
        return
    if result.returncode not in (0, 4) or not os.path.exists(output):
        report["runs"].append(f"status {result.returncode}: {result.stderr.strip()[:300]}")
        return
    report["told"] = json.loads(result.stdout.splitlines()[-1])["anonymized"] if result.stdout else {}
    extra = [n for n in os.listdir(outputs) if n not in ("New.sqlite", ".New_SUPPORT")]
    if extra:
        report["runs"].append(f"left behind: {extra}")
    if file_state(os.path.join(work, "store")) != before_state:
        report["untouched"].append("the original changed")
    read = plain(store, os.path.join(work, "read"))
    before, after = Side(read), Side(output)
    problems = [row[0].decode() for row in after.db.execute("PRAGMA quick_check")]
    if problems != ["ok"]:
        report["runs"].append(f"SQLite finds: {problems[:3]}")
    comparison = Comparison(before, after, report)
    comparison.run()
    comparison.dense()
    comparison.leaks()
    comparison.remnants()
    report["cells"] = dict(comparison.cells)
    one, two = doctor(strata, path), doctor(strata, output)
    if one != two:
        report["doctor"].append(f"before: {str(one)[:400]}; after: {str(two)[:400]}")
    for model in models:
        one, two = plan(strata, path, model), plan(strata, output, model)
        report["plans"] = report.get("plans", 0) + 1
        if one != two:
            keys = [k for k in one[1] if one[1].get(k) != two[1].get(k)] if isinstance(one[1], dict) and isinstance(two[1], dict) else ""
            detail = {k: (one[1].get(k), two[1].get(k)) for k in keys} if keys else (one, two)
            report["plan"].append(f"{os.path.basename(model)}: {str(detail)[:600]}")
    apart(strata, path, output, outputs, before, report, more)


def big(text):
    return len(text) >= 12 and sum(c.isalnum() for c in text) >= 10


def apart(strata, path, output, outputs, before, report, more):
    names = [os.path.join(outputs, f"{n}.sqlite") for n in ("Again", "SeedA", "SeedB")]
    run(strata, "anonymize", path, "--output", names[0], *more)
    for name in names[1:]:
        run(strata, "anonymize", path, "--output", name, "--seed", "a seed", *more)
    sides = [Side(n) for n in names if os.path.exists(n)]
    if len(sides) != 3:
        report["runs"].append("a second run failed")
        return
    own = [t for t in sides[0].objects() + sides[0].system()]
    haystack = "\n".join(sorted(before.words | {row[2] or "" for row in before.schema.values()}))
    sets = [{t for t in texts(s, own) if big(t) and t not in haystack and not CONSTANTS.search(t) and not MIGRATOR.search(t)}
            for s in [Side(output)] + sides]
    if sets[0] & sets[1]:
        report["apart"].append(f"two runs share {len(sets[0] & sets[1])} texts: {sorted(sets[0] & sets[1])[:3]}")
    if sets[2] != sets[3]:
        report["apart"].append("two runs with one seed differ")
    if sets[0] and sets[0] == sets[2]:
        report["apart"].append("a seed gives what no seed gives")


# ---------------------------------------------------------------- stores that are made

def archive(root, **fields):
    objects = ["$null", {"$class": plistlib.UID(2), **fields, "root": plistlib.UID(3)},
               {"$classname": "TestSecretHolder", "$classes": ["TestSecretHolder", "NSObject"]}, root]
    return plistlib.dumps({"$archiver": "NSKeyedArchiver", "$version": 100000, "$top": {"root": plistlib.UID(1)}, "$objects": objects},
                          fmt=plistlib.FMT_BINARY)


def made(strata, folder):
    """Stores with what fixtures lack."""
    os.makedirs(folder, exist_ok=True)
    demo = os.path.join(folder, "demo")
    run(strata, "demo", demo, "--objects", "3000", "--no-open")
    stores = [s for s in glob.glob(demo + "/*.sqlite")]
    bundles = glob.glob(demo + "/*.xcdatamodeld") + glob.glob(demo + "/*.momd")
    result = []
    if not stores or not bundles:
        print("the demo could not be made", file=sys.stderr)
        return result
    result.append((stores[0], bundles))
    edges = os.path.join(folder, "edges", "Edges.sqlite")
    os.makedirs(os.path.dirname(edges))
    run(strata, "seed", bundles[0], edges, "--objects", "2000", "--edge-cases")
    result.append((edges, bundles))
    rich = copied(stores[0], os.path.join(folder, "rich"))
    enrich(rich)
    result.append((rich, bundles))
    return result


def enrich(path):
    db = sqlite3.connect(path)
    for name in ("NSCoreDataDATriggerInsertUpdatedAffectedObjectValue", "NSCoreDataDATriggerUpdatedAffectedObjectValue"):
        db.create_function(name, -1, lambda *a: None)
    db.execute("PRAGMA secure_delete = OFF")
    secret = "Geheimer Text von Anna Schmidt"
    db.execute("CREATE TABLE AppNotes (id INTEGER PRIMARY KEY AUTOINCREMENT, note TEXT UNIQUE, data BLOB)")
    db.executemany("INSERT INTO AppNotes (note, data) VALUES (?, ?)", [(f"{secret} {i}", os.urandom(20)) for i in range(500)])
    db.execute("CREATE TABLE AppPairs (a TEXT, b TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID")
    db.execute("INSERT INTO AppPairs VALUES ('Ein anderer geheimer Text', 'Noch ein geheimer Text')")
    db.execute("CREATE VIRTUAL TABLE AppSearch USING fts5(title, body)")
    db.executemany("INSERT INTO AppSearch VALUES (?, ?)", [(f"Suchtitel Nummer {i}", f"{secret} suchbar{i}") for i in range(300)])
    db.execute("CREATE VIRTUAL TABLE AppSearch4 USING fts4(title)")
    db.executemany("INSERT INTO AppSearch4 VALUES (?)", [(f"Vierter Suchtitel {i}",) for i in range(50)])
    db.execute("CREATE VIRTUAL TABLE AppPlaces USING rtree(id, minX, maxX)")
    db.executemany("INSERT INTO AppPlaces VALUES (?, ?, ?)", [(i, i, i + 1) for i in range(200)])
    db.execute("ANALYZE")
    # History with tombstones and strings.
    if "ACHANGE" not in {r[0] for r in db.execute("SELECT name FROM sqlite_master")}:
        db.execute("CREATE TABLE ATRANSACTIONSTRING ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR )")
        db.execute("CREATE UNIQUE INDEX Z_TRANSACTIONSTRING_UNIQUE_NAME ON ATRANSACTIONSTRING (ZNAME COLLATE BINARY ASC)")
        db.execute("CREATE TABLE ATRANSACTION ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAUTHORTS INTEGER, ZBUNDLEIDTS INTEGER, ZCONTEXTNAMETS INTEGER, ZPROCESSIDTS INTEGER, ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR, ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, ZPROCESSID VARCHAR, ZQUERYGEN BLOB )")
        db.execute("CREATE TABLE ACHANGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB, ZTOMBSTONE0 BLOB, ZTOMBSTONE1 BLOB )")
    base = db.execute("SELECT ifnull(max(Z_PK), 0) FROM ATRANSACTION").fetchone()[0]
    strings = db.execute("SELECT ifnull(max(Z_PK), 0) FROM ATRANSACTIONSTRING").fetchone()[0]
    for i, text in enumerate(["anna.schmidt.author", "com.example.secretbundle", "NSCloudKitMirroringDelegate.import", "viewContext of Anna", "process-of-anna"], 1):
        db.execute("INSERT INTO ATRANSACTIONSTRING VALUES (?, 16003, 1, ?)", (strings + i, text))
    tombstones = [c[1] for c in db.execute("PRAGMA table_info(ACHANGE)") if c[1].startswith("ZTOMBSTONE")]
    for i in range(1, 60):
        db.execute("INSERT INTO ATRANSACTION (Z_PK, Z_ENT, Z_OPT, ZAUTHORTS, ZBUNDLEIDTS, ZCONTEXTNAMETS, ZPROCESSIDTS, ZTIMESTAMP) VALUES (?, 16002, 1, ?, ?, ?, ?, ?)",
                   (base + i, strings + 1, strings + 2, strings + 4, strings + 5, 640000000.5 + i * 60))
        first = db.execute("SELECT ifnull(max(Z_PK), 0) + 1 FROM ACHANGE").fetchone()[0]
        db.execute("INSERT INTO ACHANGE (Z_PK, Z_ENT, Z_OPT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID) VALUES (?, 16001, 1, 2, 1, ?, ?)", (first, 100000 + i, base + i))
        for column in tombstones[:2]:
            db.execute(f"UPDATE ACHANGE SET {column} = ? WHERE Z_PK = ?", (f"Tombstone title of Anna {i}", first))
    # Mirroring.
    db.execute("CREATE TABLE ANSCKRECORDMETADATA ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZENTITYID INTEGER, ZENTITYPK INTEGER, ZNEEDSUPLOAD INTEGER, ZNEEDSCLOUDDELETE INTEGER, ZRECORDZONE INTEGER, ZCKRECORDNAME VARCHAR, ZCKRECORDSYSTEMFIELDS BLOB, ZCKSHARE BLOB, ZENCODEDRECORD BLOB )")
    db.execute("CREATE UNIQUE INDEX Z_NSCKRecordMetadata_UNIQUE_ckRecordName_recordZone ON ANSCKRECORDMETADATA (ZCKRECORDNAME COLLATE BINARY ASC, ZRECORDZONE COLLATE BINARY ASC)")
    for i in range(1, 100):
        db.execute("INSERT INTO ANSCKRECORDMETADATA VALUES (?, 17012, 1, 1, ?, ?, 0, 1, ?, ?, ?, ?)", (
            i, i, i % 3 == 0, str(uuid.uuid4()).upper(), archive({"$class": plistlib.UID(2), "NS.string": f"System field of Anna {i}"}),
            f"Share with bob-{i}@example.com".encode(), b"bvx2" + os.urandom(60 + i)))
    db.execute("CREATE TABLE ANSCKRECORDZONEMETADATA ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCKRECORDZONENAME VARCHAR, ZCKOWNERNAME VARCHAR, ZCURRENTCHANGETOKEN BLOB, ZLASTFETCHDATE TIMESTAMP )")
    db.execute("INSERT INTO ANSCKRECORDZONEMETADATA VALUES (1, 17015, 1, 'com.apple.coredata.cloudkit.zone', '__defaultOwner__', ?, 650000000.25)", (archive("changetoken of anna"),))
    db.execute("INSERT INTO ANSCKRECORDZONEMETADATA VALUES (2, 17015, 1, 'Shared zone of Anna', '_a8f7e6d5c4b3a29180', ?, 650000001.25)", (archive("another changetoken"),))
    db.execute("CREATE TABLE ANSCKMETADATAENTRY ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZBOOLVALUENUM INTEGER, ZINTEGERVALUE INTEGER, ZDATEVALUE TIMESTAMP, ZKEY VARCHAR, ZSTRINGVALUE VARCHAR, ZTRANSFORMEDVALUE BLOB )")
    db.execute("INSERT INTO ANSCKMETADATAENTRY VALUES (1, 17009, 1, NULL, NULL, NULL, 'NSCloudKitMirroringDelegateCKIdentityRecordNameDefaultsKey', '_secretidentityofanna', NULL)")
    # Values of every kind in attributes that have room for them, and what the app put into the metadata.
    columns = collections.defaultdict(list)
    for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z[A-Z]*'").fetchall():
        if table.startswith("ZNSCK"):
            continue
        for column in db.execute(f"PRAGMA table_info({quoted(table)})"):
            columns[column[2]].append((table, column[1]))
    blobs = [
        archive({"$class": plistlib.UID(2), "NS.string": "Archived secret of Anna", "NS.time": 612345678.25, "count": 421}),
        plistlib.dumps({"owner of this": "Anna Schmidt herself", "n": 12345, "when": 1.5, "list": ["first secret text", b"bytes that are a text"]}, fmt=plistlib.FMT_BINARY),
        plistlib.dumps({"xml key of anna": "An XML secret of Anna", "n": 99}),
        gzip.compress(b'{"name": "Gzipped Anna Schmidt", "street": "Lange Strasse 12", "n": 42, "again": "Gzipped Anna Schmidt"}' * 4),
        gzip.compress(gzip.compress(b"twice gzipped text of Anna " * 30)),
        json.dumps({"user": "Anna in JSON data", "age": 42, "tags": ["one secret tag", "é ü \u4e2d"]}).encode(),
        b"bplist00 that cannot be read at all",
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\x80\0\0\x01\xe0\x08\x02\0\0\0" + b"tEXtAuthor Anna Schmidt " * 20,
        b"\xff\xd8\xff\xe1\0\x20Exif GPS of Anna Schmidt here..\xff\xc0\0\x11\x08\x01\xe0\x02\x80\x03\x01\x22\0\x02\x11\x01\x03\x11\x01" + b"Anna Schmidt's pixels " * 20,
        b"bvx2" + os.urandom(200), b"%PDF-1.7 /Author (Anna Schmidt of Berlin)" * 5,
    ]
    for table, column in columns["BLOB"]:
        # UUIDs: what begins with a 1 there is no mark.
        if db.execute(f"SELECT count(*) FROM {table} WHERE length({column}) = 16").fetchone()[0]:
            continue
        keys = [r[0] for r in db.execute(f"SELECT Z_PK FROM {table} WHERE {column} IS NOT NULL AND substr({column}, 1, 1) NOT IN (x'01', x'02') AND length({column}) <> 16 LIMIT 40")]
        for key, blob in zip(keys, blobs * 2):
            db.execute(f"UPDATE {table} SET {column} = ? WHERE Z_PK = ?", (blob, key))
        keys = [r[0] for r in db.execute(f"SELECT Z_PK FROM {table} WHERE substr({column}, 1, 1) = x'01' LIMIT 40")]
        for key, blob in zip(keys, blobs * 2):
            db.execute(f"UPDATE {table} SET {column} = ? WHERE Z_PK = ?", (b"\x01" + blob, key))
    row = db.execute("SELECT Z_PLIST FROM Z_METADATA").fetchone()
    plist = plistlib.loads(row[0])
    plist["AccountOfAnnaSchmidt"] = {"mail": "anna.schmidt@example.com", "n": 4711, "when": 1.25}
    plist["LastSyncOfAnna"] = "2020-05-03T10:20:30Z by anna"
    db.execute("UPDATE Z_METADATA SET Z_PLIST = ?", (plistlib.dumps(plist, fmt=plistlib.FMT_BINARY),))
    db.commit()
    # Rows that are gone, in free pages and between others.
    db.execute("CREATE TABLE Gone (a TEXT)")
    db.executemany("INSERT INTO Gone VALUES (?)", [(f"Deleted secret of Anna number {i}",) for i in range(2000)])
    db.commit()
    db.execute("DROP TABLE Gone")
    db.commit()
    db.close()


def counts(path):
    """How many rows each table of a sound file has; `None` of another."""
    db = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
    try:
        if db.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
            return None
        names = [n for n, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'")]
        return {n: db.execute(f"SELECT count(*) FROM {quoted(n)}").fetchone()[0] for n in names}
    except sqlite3.DatabaseError:
        return None
    finally:
        db.close()


def kills(strata, store, work, count, report):
    """Killed at random moments: nothing has the final name, and the next run succeeds."""
    import random
    path = copied(store, os.path.join(work, "killed"))
    start = time.monotonic()
    output = os.path.join(work, "killed", "Out.sqlite")

    def clear():
        for name in glob.glob(os.path.join(work, "killed", "Out*")) + glob.glob(os.path.join(work, "killed", ".Out*")):
            shutil.rmtree(name) if os.path.isdir(name) else os.remove(name)

    run(strata, "anonymize", path, "--output", output)
    whole = time.monotonic() - start
    hits = 0
    expected = counts(output)
    for number in range(count):
        clear()
        process = subprocess.Popen([strata, "anonymize", path, "--output", output], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(random.uniform(0, whole))
        process.send_signal(9 if number % 2 else 2)
        process.wait()
        if process.returncode in (0,):
            continue
        hits += 1
        # Killed after it had its name, it is there; then it is whole.
        if os.path.exists(output) and counts(output) != expected:
            report["runs"].append(f"killed (status {process.returncode}), and a part of the output is there")
    clear()
    again = run(strata, "anonymize", path, "--output", output)
    rest = [n for n in os.listdir(os.path.join(work, "killed")) if n.startswith(".strata")]
    if again.returncode not in (0, 4) or rest:
        report["runs"].append(f"after kills: status {again.returncode}, {rest}, {again.stderr[:200]}")
    report["kills"] = hits


def fixtures(shared):
    base = os.path.join(shared, "fixtures")
    result = []
    for root, _, files in os.walk(base):
        for name in sorted(files):
            path = os.path.join(root, name)
            if name.endswith(("-wal", "-shm", "-journal")):
                continue
            with open(path, "rb") as file:
                if file.read(16) != b"SQLite format 3\0":
                    continue
            bundles = [m for m in sorted(glob.glob(os.path.join(root, "*.xcdatamodeld")) + glob.glob(os.path.join(root, "*.momd")))]
            versions = []
            for bundle in bundles:
                own = sorted(glob.glob(os.path.join(glob.escape(bundle), "*.xcdatamodel")) + glob.glob(os.path.join(glob.escape(bundle), "*.mom")))
                versions += own[-1:] if len(own) < 2 else [own[-1], own[len(own) // 2]]
            result.append((path, versions))
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("strata")
    parser.add_argument("shared")
    parser.add_argument("--stores", nargs="*")
    parser.add_argument("--made-only", action="store_true")
    parser.add_argument("--fixtures-only", action="store_true")
    parser.add_argument("--out")
    parser.add_argument("--work")
    parser.add_argument("--kills", type=int, default=20)
    arguments = parser.parse_args()
    work = arguments.work or tempfile.mkdtemp(prefix="anonymize-")
    os.makedirs(work, exist_ok=True)
    stores = [(s, []) for s in arguments.stores or []]
    if not stores:
        stores = [] if arguments.fixtures_only else made(arguments.strata, os.path.join(work, "made"))
        if not arguments.made_only:
            stores += fixtures(arguments.shared)
    bad = 0
    reports = []
    for number, (store, models) in enumerate(stores):
        report = {c: [] for c in CHECKS}
        own = os.path.join(work, str(number))
        shutil.rmtree(own, ignore_errors=True)
        os.makedirs(own)
        try:
            check(arguments.strata, store, own, models, [], report)
            if number == 0 and arguments.kills and not arguments.stores:
                kills(arguments.strata, store, own, arguments.kills, report)
        except Exception as error:
            import traceback
            report["runs"].append("the check itself failed: " + traceback.format_exc()[-600:])
        faults = {c: report[c] for c in CHECKS if report[c]}
        bad += bool(faults)
        cells = report.get("cells", {})
        print(f"{'ok ' if not faults else 'BAD'} {store}: {report.get('seconds', 0):.1f} s, {cells.get('text', 0)} cells compared, "
              f"{cells.get('sought', 0)} texts sought, {report.get('plans', 0)} plans, {report.get('kills', 0)} kills{', refused: no model' if report.get('refused') else ''}", flush=True)
        for name, sentences in faults.items():
            for sentence in sentences[:4]:
                print(f"      {name}: {sentence}", flush=True)
            if len(sentences) > 4:
                print(f"      {name}: … {len(sentences)} in all", flush=True)
        report["store"] = store
        reports.append(report)
        if not faults:
            shutil.rmtree(own, ignore_errors=True)
    if arguments.out:
        with open(arguments.out, "w") as file:
            json.dump(reports, file, indent=1, default=str)
    print(f"{len(stores) - bad} of {len(stores)} stores without a violation")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
