#!/usr/bin/env python3
"""Checks that nothing strata says of a damaged store is false, with every damage that damage.py knows.

    rescue.py STRATA SHARED [--bases FILE…] [--damages NAME…] [--once OBJECTS] [--out FILE.json] [--work DIR]

SHARED is the folder with tools/damage.py and fixtures/. Without --bases, every Core Data store of the fixtures up to
20 MB is damaged, a demo and a seeded store of 5,000 objects, and a demo with a -wal. With --once each damage meets one
store: the first of the demo, the demo with a -wal and the seeded store, of that many objects, that it applies to. What
must come out is worked out here, from the bytes of the damaged file and from the undamaged store: no code of strata's
takes part.

The checks, each a column of the table:
    there      salvage returns, value for value, every row whose bytes are all there
    never      no row and no value that never was, in the tables of objects, links and history; a row that was deleted
               before is counted where it comes back marked and nothing in the file shows that it was deleted
    status     salvage's status is not 0 where a row of the undamaged store is not there, or otherwise
    doctor     doctor names the damage, with a command that helps, and finds no error in an undamaged store
    untouched  no file beside the store was changed, made or removed
    result     integrity_check, the independent reader and `info` accept the new store; no crash, no hang
    undelete   what it calls whole and certain was deleted, and was so; nothing that lives is offered or changed

Ends with 1 where there are violations. What falls short is kept under DIR/BASE/DAMAGE, each with its commands.
"""

import argparse
import collections
import contextlib
import hashlib
import importlib.util
import json
import os
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # nothing is left beside the modules that are loaded

CHECKS = ["there", "never", "status", "doctor", "untouched", "result", "undelete"]
LIMIT = 120  # seconds a command may take
LARGEST_BASE = 20_000_000

# What the damaged file itself says is true: something of the app's, or of Core Data's own, changed it.
SAID_BY_FILE = re.compile(
    r"none|app-tables|del-|table-dropped|meta-|cache-|pk-|ent-|dangling-fk|join-dangling|dup-unique|ext-")
DELETIONS = re.compile(r"del-|table-dropped")
# The main file went on without this -wal, or never had it: what is in it is not the store's.
MAIN_ALONE = re.compile(r"wal-stale|wal-foreign|wal-missing|icloud-wal")
# A part of the undamaged store is not in these files at all, and what is there says so.
LESS_THAN_BASE = {"wal-cut", "icloud-wal", "table-dropped"}
UNDAMAGED = {"none", "app-tables"}
# Nothing of these files can be read.
NOTHING_LEFT = {"encrypted", "icloud-store"}
# Damages that no finding above a note need tell: nothing is wrong, or nobody can know.
NO_ALARM = re.compile(r"none|app-tables|del-|wal-missing|ent-sibling")
# The kinds of doctor's findings that name a damage, by the damage's beginning.
KINDS = {
    "truncate": "cut-off|page-count", "zero-tail": "page-unreadable|schema-gone|cut-off|index-wrong|freelist|pointer-map",
    "zero-leaf": "page-unreadable", "leaf-header": "page-unreadable", "zero-interior": "page-unreadable",
    "zero-master": "schema-gone|header", "zero-page1": "header|schema-gone", "header": "header",
    "page-size": "page-size", "pagecount": "page-count", "freelist": "freelist", "zero-ptrmap": "pointer-map",
    "scatter": "page-unreadable|schema-gone|index-wrong|freelist|pointer-map", "overflow-zero": "page-unreadable",
    "index": "index-wrong", "encrypted": "encrypted", "ff-64k": "header|schema-gone",
    "holes": "page-unreadable|schema-gone", "interleaved": "mixed|foreign|interleaved|two-stores",
    "overflow-": "overflow|owner|page-unreadable", "crlf": "text|line|translat|shift", "lf": "text|line|translat|shift",
    "saved-as-text": "text|shift", "bom": "shift|front|prefix|moved", "http": "shift|front|prefix|moved",
    "insert": "shift|insert|moved", "missing-1000": "shift|missing|moved|cut-off", "wal-cut": "wal-",
    "wal-salt": "wal-salts|wal-foreign|wal-older", "wal-header": "wal-header", "wal-bit": "wal-checksum",
    "wal-stale": "wal-older|wal-foreign", "wal-renamed": "wal-renamed", "empty-main": "empty-main",
    "wal-foreign": "foreign|wal-older|wal-unknown", "journal-hot": "journal-hot", "journal-renamed": "journal-renamed",
    "meta-": "metadata", "cache-": "model-cache", "pk-": "primary-key", "ent-unknown": "entity-unknown",
    "dangling-fk": "to-one-dangling", "join-dangling": "join-dangling", "dup-unique": "uniqueness",
    "table-dropped": "table-missing", "ext-missing": "external-missing", "icloud": "not-downloaded",
}
# Errors that are in a fixture as it is.
OF_FIXTURES = {"NotesV7.storedata": {"metadata"}}
# Findings about links to what was lost, which a new store has where its report told a loss.
OF_LOSSES = {"to-one-dangling", "join-dangling", "one-to-one", "external-missing", "table-missing"}


class Tools:
    """damage.py, sqlitefile.py and the independent reader, as modules."""

    def __init__(self, shared):
        self.damage_path = os.path.join(shared, "tools", "damage.py")
        sys.path.insert(0, os.path.dirname(self.damage_path))
        self.damage = load_module("damage", self.damage_path)
        self.file = sys.modules["sqlitefile"]
        # Without the independent reader half of the checks would pass unseen: where it is not beside this folder, that
        # is an error.
        independent = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Independent")
        sys.path.insert(0, independent)
        self.reader = load_module("reader", os.path.join(independent, "reader.py"))


def load_module(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def read(path):
    if not os.path.exists(path):
        return b""
    with open(path, "rb") as file:
        return file.read()


def digests(folder):
    return {
        os.path.relpath(os.path.join(root, name), folder): hashlib.sha256(read(os.path.join(root, name))).hexdigest()
        for root, _, names in os.walk(folder) for name in names}


# ---- what is true


class Table:
    """One table of objects, links or history, with the rows of one state of the store."""

    def __init__(self, name, columns, root, rows):
        self.name, self.columns, self.root, self.rows = name, columns, root, rows
        self.is_join = name.startswith("Z_") and name[2:3].isdigit()
        self.is_history = name.startswith(("ACHANGE", "ATRANSACTION"))
        self.by_values = None

    def of_values(self, row):
        """The rows with the same values that are no whole numbers, with their keys."""
        if self.by_values is None:
            self.by_values = collections.defaultdict(list)
            for key, each in self.rows.items():
                self.by_values[without_numbers(each)].append((key, each))
        return self.by_values[without_numbers(row)]


def without_numbers(row):
    return tuple(value for value in row if value is not None and not isinstance(value, int))


def is_of_core_data(name, columns):
    return name.startswith("Z_") and name[2:3].isdigit() or {"Z_PK", "Z_ENT", "Z_OPT"} <= set(columns)


def connect(path):
    quoted = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    db = sqlite3.connect("file:%s?mode=ro&immutable=1" % quoted, uri=True)
    db.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
    return db


def columns_of(db, name):
    return [row[1] for row in db.execute('PRAGMA table_info("%s")' % name)]


def rows_of(db, name, columns):
    listed = ", ".join('"%s"' % column for column in columns)
    return {row[0]: row[1:] for row in db.execute('SELECT rowid, %s FROM "%s" NOT INDEXED' % (listed, name))}


def tables_of(path):
    """The tables of a whole file without a -wal, as SQLite reads them."""
    db = connect(path)
    tables = {}
    listed = "SELECT name, rootpage FROM sqlite_master WHERE type = 'table' AND rootpage > 0"
    for name, root in db.execute(listed).fetchall():
        columns = columns_of(db, name)
        if is_of_core_data(name, columns):
            tables[name] = Table(name, columns, root, rows_of(db, name, columns))
    db.close()
    return tables


class State:
    """A store at one moment: its pages, and the rows that they hold."""

    def __init__(self, image, scratch):
        self.image = image
        path = os.path.join(scratch, "flat.sqlite")
        with open(path, "wb") as file:
            file.write(image.flat())
        self.tables = tables_of(path)
        os.remove(path)

    def equals(self, other):
        return {name: table.rows for name, table in self.tables.items()} \
            == {name: table.rows for name, table in other.tables.items()}

    def places(self, table):
        """For each row the places of its bytes, with the numbers that lead from page to page: (page, start, bytes)."""
        image = self.image
        for page, start, end, key, chunks, _ in image.cells(table.root):
            content = image.page(page)
            places = [(page, start, bytes(content[start:end]))]
            following = content[end - 4:end] if len(chunks) > 1 else b""
            for chunk in chunks[1:]:
                page = struct.unpack(">I", following)[0]
                following = bytes(image.page(page)[:4])
                places.append((page, 0, following + chunk))
            yield key, places


class Base:
    """An undamaged store, all that can be known of it, and a private copy of its files."""

    def __init__(self, tools, path, folder):
        self.tools, self.name = tools, os.path.basename(path)
        self.folder = os.path.join(folder, "base")
        os.makedirs(self.folder)
        self.path = os.path.join(self.folder, self.name)
        for end in ("", "-wal"):
            if os.path.exists(path + end):
                shutil.copyfile(path + end, self.path + end)
        support = ".%s_SUPPORT" % os.path.splitext(self.name)[0]
        if os.path.isdir(os.path.join(os.path.dirname(path), support)):
            shutil.copytree(os.path.join(os.path.dirname(path), support), os.path.join(self.folder, support))
        self.image = tools.file.load(self.path)
        self.state = State(self.image, folder)
        self.earlier = self.earlier_rows()
        self.is_readable = not reading_error(tools, self.path)
        # A store whose metadata is empty opens nowhere: it is neither a model nor a healthy sibling.
        self.is_sibling = self.has_metadata()
        self.has_model = self.is_sibling and any(row[1] == "Z_MODELCACHE" for row in self.image.master())
        self.tables_of_entities = self.entities()
        self.is_fresh = self.has_no_remains()
        self.errors = set()  # kinds of errors that doctor finds in it

    def has_metadata(self):
        root = next((root for _, name, _, root, _ in self.image.master() if name == "Z_METADATA"), None)
        rows = [self.tools.file.record(cell[5]) for cell in self.image.cells(root)] if root else []
        return any(row[2] for row in rows if len(row) > 2)

    def entities(self):
        """The table of each entity, by name: as the model in the store has them, else as Z_PRIMARYKEY does."""
        try:
            store = self.tools.reader.Store(self.path)
            return {name: store.layout.table(name) for name in store.model.entities}
        except Exception:  # no model in it
            pass
        names, parents = {}, {}
        root = next(root for _, name, _, root, _ in self.image.master() if name == "Z_PRIMARYKEY")
        for cell in self.image.cells(root):
            _, names[cell[3]], parents[cell[3]] = self.tools.file.record(cell[5])[:3]
        tables = {name.upper(): name for name in self.state.tables}

        def top(number):
            return top(parents[number]) if parents[number] in names else names[number]

        return {name: tables.get("Z" + top(number).upper()) for number, name in names.items()}

    def counters(self):
        """The rows of Z_PRIMARYKEY by the number of the entity: its name, the number of the one above it, the last key."""
        root = next(root for _, name, _, root, _ in self.image.master() if name == "Z_PRIMARYKEY")
        return {cell[3]: self.tools.file.record(cell[5])[1:4] for cell in self.image.cells(root)}

    def table_of(self, number):
        """The table of an entity's objects; `None` where nothing names the entity."""
        counters = self.counters()
        return self.tables_of_entities.get(counters[number][0]) if number in counters else None

    def last_key(self, number):
        """The last key that was given out to objects of an entity, which Z_PRIMARYKEY counts for all in one table."""
        counters = self.counters()
        while counters[number][1] in counters:
            number = counters[number][1]
        return counters[number][2]

    def earlier_rows(self):
        """Every row that any state of the store held, by table: the main file's, and each that the -wal committed."""
        found = collections.defaultdict(set)
        main, wal = read(self.path), read(self.path + "-wal")
        image = self.tools.file.Image(main)
        frames = self.tools.file.committed_frames(wal) if len(wal) > 32 else []
        changed = range(1, image.n + 1)
        widths = {len(table.columns) for table in self.state.tables.values()}
        for at in range(len(frames) + 1):
            if at == 0 or frames[at - 1][2]:
                for page in changed:
                    for key, values in leaf_rows(image, page, self.tools.file):
                        for width in widths:
                            if len(values) <= width:
                                found[width].add((key, tuple(values) + (None,) * (width - len(values))))
                changed = []
            if at < len(frames):
                page, data, commit = frames[at]
                image.over[page] = data
                image.n = max(image.n, commit, page)
                changed = [*changed, page]
        return found

    def has_no_remains(self):
        """Whether nothing was ever deleted or moved: no free page, and no byte in the free room of a table's leaf."""
        if any(self.image.freelist()) or self.image.over:
            return False
        for table in self.state.tables.values():
            for number, kind in self.image.pages_of(table.root).items():
                page = self.image.page(number)
                free, cells, start = struct.unpack(">HHH", page[1:7])
                if kind == 13 and (free or any(page[8 + 2 * cells:start])):
                    return False
        return True

    def was(self, table, key, row):
        """Whether some state of the store held this row, values in the order of the table's columns."""
        row = tuple(None if column == "Z_PK" and value == key else value for column, value in zip(table.columns, row))
        return (key, row) in self.earlier[len(table.columns)]


def leaf_rows(image, number, file):
    """The rows of one page, if it is a leaf of a table."""
    page = image.page(number)
    start = 100 if number == 1 else 0
    if len(page) < image.ps or page[start] != 13:
        return
    for k in range(struct.unpack(">H", page[start + 3:start + 5])[0]):
        try:
            offset = struct.unpack(">H", page[start + 8 + 2 * k:start + 10 + 2 * k])[0]
            cell = image.leaf_cell(number, page, offset)
            yield cell[3], file.record(cell[5])
        except (ValueError, IndexError, struct.error):
            continue


class Expected:
    """What a damaged store must give: a state, and which of its bytes are still there."""

    def __init__(self, tools, base, facts, folder, scratch):
        self.name, self.base, self.facts, self.folder = facts["damage"], base, facts, folder
        self.size = base.image.ps
        store = os.path.join(folder, "store.sqlite")
        self.main = read(store)
        self.pages = collections.defaultdict(list)
        self.has_other_owner = set()
        damaged = tools.file
        if MAIN_ALONE.match(self.name):
            self.state = State(damaged.Image(self.main), scratch)
        elif SAID_BY_FILE.match(self.name):
            self.state = State(damaged.load(store), scratch)
        elif self.name.startswith("overflow-") and "chain" in facts:
            self.state = State(damaged.Image(self.mended(facts)), scratch)
            if "other" in facts:
                self.has_other_owner.add(tuple(facts["other"]))
        elif self.name == "wal-cut":
            self.state = State(damaged.load(store), scratch)
        else:
            self.state = base.state
        # A state that the file itself says is not compared with its own bytes: SQLite read it.
        self.is_whole = bool(MAIN_ALONE.match(self.name) or SAID_BY_FILE.match(self.name) or self.name == "wal-cut")
        if not self.is_whole:
            self.gather_logs()

    def mended(self, facts):
        """The file before the one number of an overflow page was changed."""
        chain, page = facts["chain"], facts["page"]
        at = (page - 1) * self.size
        return self.main[:at] + struct.pack(">I", chain[chain.index(page) + 1]) + self.main[at + 4:]

    def gather_logs(self):
        """The pages of the -wal and the -journal, whatever they are called now."""
        for name in sorted(os.listdir(self.folder)):
            path = os.path.join(self.folder, name)
            log = read(path) if os.path.isfile(path) else b""
            if name.endswith("-journal"):
                for at in range(512, len(log) - self.size - 7, self.size + 8):
                    self.pages[struct.unpack(">I", log[at:at + 4])[0]].append(log[at + 4:at + 4 + self.size])
            elif name.endswith("-wal"):
                for at in range(32, len(log) - 24, self.size + 24):
                    self.pages[struct.unpack(">I", log[at:at + 4])[0]].append(log[at + 24:at + 24 + self.size])

    def holds(self, page, start, data):
        """Whether these bytes of the undamaged store are still there."""
        at = (page - 1) * self.size + start
        if self.name in NOTHING_LEFT or self.name == "saved-as-text":
            return False
        if self.name in ("crlf", "bom", "http-header"):
            return True
        if self.name == "lf":
            whole = self.base.image.page(page)
            return b"\r\n" not in whole[max(0, start - 1):start + len(data) + 1]
        if self.name in ("insert-5", "missing-1000"):
            lost = range(self.facts["at"], self.facts["at"] + (1000 if self.name == "missing-1000" else 1))
            return not (at < lost.stop and lost.start < at + len(data))
        if self.main[at:at + len(data)] == data:
            return True
        return any(content[start:start + len(data)] == data for content in self.pages[page])

    def was_deleted(self, table, key, row):
        """Whether a row was the table's and was deleted before the damage, and nothing in the files shows the latter.

        It stands whole on a page of the table that lost its beginning, in room that no row of the undamaged page has,
        is of an entity of the table, with a key that was given out; no index has the table's keys; and cells and freed
        blocks fill the page with the row among them.
        """
        table, image = self.state.tables[table], self.base.image
        indexes = [index for kind, index, of, _, _ in image.master() if kind == "index" and of == table.name]
        if indexes or key is None:
            return False
        own = tuple(None if column == "Z_PK" and value == key else value for column, value in zip(table.columns, row))
        if "Z_ENT" in table.columns:
            number = row[table.columns.index("Z_ENT")]
            if self.base.table_of(number) != table.name or key > self.base.last_key(number):
                return False
        for page in set(image.pages_of(table.root)) & set(self.facts["pages"]):
            content = image.page(page)
            count = struct.unpack(">H", content[3:5])[0] if content[0] == 13 else 0
            places = struct.unpack(">%dH" % count, content[8:8 + 2 * count])
            living = [(place, image.leaf_cell(page, content, place)[2]) for place in places]
            cells = {}
            for place in range(512, image.usable):
                try:
                    _, _, end, other, chunks, payload = image.leaf_cell(page, content, place)
                    values = tuple(self.base.tools.file.record(payload))
                except (ValueError, IndexError, struct.error):
                    continue
                if len(chunks) == 1 and end <= image.usable and len(values) == len(table.columns):
                    cells[place] = (end, other, values)
            for place, (end, other, values) in cells.items():
                if (other, values) == (key, own) and not any(place < last and first < end for first, last in living) \
                        and fills(content, cells, place, image.usable):
                    return True
        return False

    def held(self, table):
        """The keys of the rows of which every byte is there."""
        if self.is_whole:
            return set(table.rows)
        return {key for key, places in self.state.places(table)
                if (table.name, key) not in self.has_other_owner and all(self.holds(*place) for place in places)}


def fills(page, cells, place, usable):
    """Whether from a place on cells and freed blocks, each of which names the next one, fill a page to its end."""
    following, spare = None, 0
    while place < usable:
        after, size = struct.unpack(">HH", page[place:place + 4]) if place + 4 <= usable else (0, 0)
        if place in cells and following != place:
            place, spare = cells[place][0], 0
        elif following in (None, place) and 4 <= size <= usable - place and (not after or after >= place + size):
            place, following, spare = place + size, after, 0
        elif spare < 3:
            place, spare = place + 1, spare + 1
        else:
            return False
    return not following


# ---- what came out


class Comparison:
    """The rows of a new store, table by table, against what must be in it."""

    def __init__(self, expected, path):
        self.missing, self.cut, self.older = (collections.defaultdict(list) for _ in range(3))
        self.wrong, self.invented = collections.defaultdict(list), collections.defaultdict(list)
        self.unheld, self.lost_columns = collections.Counter(), {}
        self.keys = {}
        db = connect(path)
        for table in expected.state.tables.values():
            columns = columns_of(db, table.name)
            if not columns:
                rows, common = {}, table.columns
            else:
                common = [column for column in table.columns if column in columns]
                rows = rows_of(db, table.name, common)
            self.keys[table.name] = set(rows)
            if len(common) < len(table.columns):
                self.lost_columns[table.name] = [column for column in table.columns if column not in columns]
            if table.is_join:
                self.compare_links(expected, table, common, rows)
            else:
                self.compare_rows(expected, table, common, rows)
        db.close()

    def compare_links(self, expected, table, common, rows):
        at = [table.columns.index(column) for column in common]
        pick = lambda row: tuple(row[i] for i in at)
        held = {pick(table.rows[key]) for key in expected.held(table) if key in table.rows}
        allowed = {pick(row) for row in table.rows.values()}
        found = set(rows.values())
        self.missing[table.name] += sorted(held - found, key=repr)
        self.unheld[table.name] += len(allowed - held - found)
        for row in sorted(found - allowed, key=repr):
            was = any(expected.base.was(table, key, values) for key, values in rows.items() if values == row)
            (self.older if was else self.invented)[table.name].append((None, row))

    def compare_rows(self, expected, table, common, rows):
        at = [table.columns.index(column) for column in common]
        held = expected.held(table)
        original = expected.base.state.tables.get(table.name)
        for key, row in table.rows.items():
            want = tuple(row[i] for i in at)
            if key not in rows:
                if key in held:
                    self.missing[table.name].append(key)
                else:
                    self.unheld[table.name] += 1
                continue
            got = rows[key]
            if got == want:
                continue
            differing = [(c, w, g) for c, w, g in zip(common, want, got) if w != g]
            is_of_base = original is not None and original.rows.get(key) == got
            if common == table.columns and (is_of_base or expected.base.was(table, key, got)):
                self.older[table.name].append((key, differing, key in held))
            elif all(g is None for _, _, g in differing):
                self.cut[table.name].append((key, differing, key in held))
            else:
                self.wrong[table.name].append((key, differing, key in held))
        for key in rows.keys() - table.rows.keys():
            was = common == table.columns and expected.base.was(table, key, rows[key])
            (self.older if was else self.invented)[table.name].append((key, rows[key], False))


def brief(thing):
    """Any value short enough for a list of examples."""
    if isinstance(thing, bytes):
        return "x'%s'%s" % (thing[:12].hex(), "… %d bytes" % len(thing) if len(thing) > 12 else "")
    if isinstance(thing, str):
        thing = thing.encode("utf-8", "backslashreplace").decode()
        return thing if len(thing) < 50 else thing[:44] + "… %d characters" % len(thing)
    if isinstance(thing, (list, tuple)):
        return [brief(part) for part in thing[:12]]
    return thing


def reading_error(tools, path):
    """What the independent reader says of a store; `None` where it reads all of it, or has no model to read it with."""
    # A model that only a -wal holds is not seen here, nor needed: what is made by strata has no -wal.
    db = connect(path)
    cached = db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'Z_MODELCACHE'").fetchone()[0] \
        and db.execute("SELECT count(Z_CONTENT) FROM Z_MODELCACHE").fetchone()[0]
    db.close()
    if not cached:
        return None
    try:
        store = tools.reader.Store(path)
        for each in store.objects():
            tools.reader.exact_line(store, *each)
        store.db.close()
    except Exception as error:  # whatever it is, the store is not one that Core Data could read
        return "%s: %s" % (type(error).__name__, error)
    return None


# ---- one damage of one base


class Case:
    """A damaged store, the commands that are run on it, and what is untrue of their answers."""

    def __init__(self, tools, strata, base, name, folder):
        self.tools, self.strata, self.base, self.name = tools, strata, base, name
        self.folder, self.outputs = os.path.join(folder, "damaged"), os.path.join(folder, "made")
        self.scratch = folder
        self.store = os.path.join(self.folder, "store.sqlite")
        self.violations, self.commands, self.facts, self.kinds = [], [], None, []
        self.deleted_before = 0  # rows that came back, marked, and of which nothing shows that they were deleted

    def make(self):
        """Damages the base; `False` where the damage does not apply to it."""
        try:
            run = subprocess.run(
                [sys.executable, self.tools.damage_path, "make", self.name, self.base.path, self.folder],
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=LIMIT)
        except subprocess.TimeoutExpired:
            print("%s of %s was not made in %d s" % (self.name, self.base.name, LIMIT), file=sys.stderr)
            return False
        path = os.path.join(self.folder, "damage.json")
        if not os.path.exists(path):
            if run.stderr:
                told = run.stderr.decode()[-200:]
                print("%s of %s was not made: %s" % (self.name, self.base.name, told), file=sys.stderr)
            return False
        self.facts = json.loads(read(path))
        os.remove(path)
        os.makedirs(self.outputs)
        return True

    def fail(self, check, what, count=1, examples=()):
        shown = [self.shortened(each) if isinstance(each, str) else brief(each) for each in list(examples)[:3]]
        self.violations.append({"base": self.base.name, "damage": self.name, "check": check, "what": what,
                                "count": count, "examples": shown})

    def shortened(self, text):
        """The same from run to run: without the names of temporary folders."""
        return text.replace(self.scratch + os.sep, "").replace(os.path.dirname(self.base.folder) + os.sep, "")

    def run(self, *words):
        """Runs strata; its status, what it printed, and what it said."""
        before = digests(self.folder)
        try:
            run = subprocess.run([self.strata, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, timeout=LIMIT)
            status, out, told = run.returncode, run.stdout.decode(errors="replace"), run.stderr.decode(errors="replace")
        except subprocess.TimeoutExpired:
            status, out, told = None, "", ""
            self.fail("result", "%s: no end after %d s" % (words[0], LIMIT))
        if status is not None and (status < 0 or status >= 128):
            self.fail("result", "%s: crashed with status %d" % (words[0], status), 1, [told[-300:]])
        after = digests(self.folder)
        if after != before:
            changed = sorted(k for k in before.keys() | after.keys() if before.get(k) != after.get(k))
            self.fail("untouched", "%s: files beside the store are others" % words[0], len(changed), changed)
        shown = ["'%s'" % word if " " in word else word for word in words]
        line = self.shortened(" ".join(["strata", *shown]))
        self.commands.append({"command": line, "status": status, "told": self.shortened((out + told)[-900:])})
        return status, out, told

    def check(self):
        self.expected = Expected(self.tools, self.base, self.facts, self.folder, self.scratch)
        self.check_doctor()
        self.run("info", self.store)
        self.check_salvage()
        self.check_undelete()

    # ---- doctor

    def check_doctor(self):
        status, out, told = self.run("doctor", self.store, "--json")
        try:
            answer = json.loads(out)
            findings = answer.get("findings", [])
            if self.name == "icloud-store" and "not downloaded" in answer.get("error", {}).get("message", ""):
                return
        except ValueError:
            self.fail("doctor", "no JSON, status %s" % status, 1, [told[-200:]])
            return
        errors = [finding for finding in findings if finding["severity"] == "error"]
        alarms = errors + [finding for finding in findings if finding["severity"] == "warning"]
        # Of a -wal that nothing contradicts it is a note that it may be another store's.
        alarms += [finding for finding in findings if finding["kind"] == "wal-unknown"]
        self.kinds = sorted({finding["kind"] for finding in alarms})
        if self.name == "none":
            self.base.errors = {finding["kind"] for finding in errors}
            for finding in errors:
                if finding["kind"] in OF_FIXTURES.get(self.base.name, ()):
                    continue
                self.fail("doctor", "an error on an undamaged store: " + finding["kind"], 1, [finding["message"]])
        elif not NO_ALARM.match(self.name) and not self.is_masked():
            # Which columns and tables are links is told by the model alone.
            if not alarms and (self.base.has_model or "dangling" not in self.name):
                self.fail("doctor", "names nothing", 1, [sorted({finding["kind"] for finding in findings})])
            if not alarms:
                return
            wanted = next(kinds for begin, kinds in KINDS.items() if self.name.startswith(begin))
            # Nothing of the main file changed: it is the -wal that lost bytes.
            if self.name == "lf" and self.facts["bytes"][0] == self.facts["now"][0]:
                wanted += "|wal-checksum"
            # No row of any table was in these holes: an index is all that is damaged.
            tables = self.expected.state.tables.values()
            if self.name.startswith("holes") and all(
                    self.expected.held(table) >= table.rows.keys() for table in tables):
                wanted += "|index-wrong"
            if not any(re.search(wanted, kind) for kind in self.kinds):
                self.fail("doctor", "names other things than the damage", 1, [self.kinds])
            # Nothing that strata does helps a file whose key is not at hand.
            if self.name != "encrypted" and not any(
                    finding["command"] or "brctl" in (finding["advice"] or "") for finding in alarms):
                self.fail("doctor", "no command that helps", 1, [self.kinds])

    def is_masked(self):
        """Whether nothing is wrong: the -wal holds the damaged pages anew, or the base had no row to change."""
        if self.name == "ent-unknown":
            return self.expected.state.equals(self.base.state)
        if self.name == "pk-low":
            tables = self.base.state.tables.values()
            return not any(key > 1 for table in tables if not table.is_join for key in table.rows)
        if self.expected.is_whole or not os.path.exists(self.store + "-wal"):
            return False
        copy = os.path.join(self.scratch, "copy.sqlite")
        for end in ("", "-wal"):
            shutil.copyfile(self.store + end, copy + end)
        try:
            db = sqlite3.connect(copy)
            is_sound = [row[0] for row in db.execute("PRAGMA integrity_check")] == ["ok"]
            db.close()
            return is_sound and State(self.tools.file.load(copy), self.scratch).equals(self.base.state)
        except (sqlite3.Error, struct.error, IndexError, ValueError):
            return False

    # ---- salvage

    def salvaged(self, *words):
        folder = os.path.join(self.outputs, str(len(os.listdir(self.outputs)) + 1))
        os.makedirs(folder)
        output, report = os.path.join(folder, "saved.sqlite"), os.path.join(folder, "salvage.json")
        status, out, told = self.run("salvage", self.store, "--output", output, "--report", report, *words)
        return status, out + told, output

    def check_salvage(self):
        """Salvages as it is, and again with what strata asks for: the main file alone, a healthy store, the model."""
        self.words, self.saved, last = [], {}, None
        for _ in range(4):
            status, told, output = self.salvaged(*self.words)
            is_there = os.path.exists(output)
            if is_there:
                last = output, status, Comparison(self.expected, output)
                self.check_report(output, status, last[2])
            elif status == 0:
                self.fail("status", "0 without a result")
            # Where statements of tables are lost, salvage asks for a model also of a store that opens.
            if self.name in NOTHING_LEFT or is_there and self.run("info", output)[0] in (0, 1) \
                    and not self.report["needsModel"]:
                break
            # It opens, and info ends with 4 for rows whose entity nobody knows: no fetch finds them.
            if is_there and self.report["opens"] and self.report["unfetchedRows"]:
                break
            asked = [word for word in ("--ignore-wal", "--like", "--model") if word in told and word not in self.words]
            if is_there and not asked and "--model" not in self.words:
                self.fail("result", "the new store does not open, and nothing is asked for", 1, [told[-300:]])
                asked = ["--model"]
            if not asked or asked[0] == "--model" and not self.base.has_model \
                    or asked[0] == "--like" and not self.base.is_sibling:
                break
            self.words += asked[:1] + ([self.base.path] if asked[0] != "--ignore-wal" else [])
        if last is None:
            held = sum(len(self.expected.held(table)) for table in self.expected.state.tables.values())
            # Where the schema is gone and nobody has the model, nothing can be done.
            if held and ("--model" not in told or self.base.has_model):
                self.fail("there", "nothing saved, status %s" % status, held, [told[-300:]])
            return
        output, status, found = last
        if self.name in NOTHING_LEFT:
            self.fail("never", "a store of nothing")
        self.saved = found.keys
        self.leave_out_what_is_told(found, output)
        self.judge_salvage(found, status)
        self.check_result(output)

    def check_report(self, output, status, found):
        """The report must count what is in the new store."""
        self.report = json.loads(read(os.path.join(os.path.dirname(output), "salvage.json")))["salvage"]
        told = sum(self.report["entities"].values())
        if not self.report["opens"]:
            # A result that is no store of Core Data's is told by its tables, with what to do.
            # Where Z_PRIMARYKEY and the model are gone, nothing says of which entity a table is.
            told = sum(table["rows"] for table in self.report["tables"]
                       if table["entity"] or re.match("Z[^_]", table["name"]))
        # Rows of no entity are not among the objects.
        there = 0 if self.name == "ent-unknown" else sum(
            len(found.keys[name]) for name, table in self.expected.state.tables.items()
            if not table.is_join and not table.is_history)
        if told < there:
            self.fail("result", "more objects are in it than the report says", there - told, [told, there])
        if told == 0 and status == 0:
            self.fail("status", "0 of a store without one object")

    def is_told(self, table, column):
        """Whether the report says that a column may have the values of another."""
        for lost in self.report["lostTables"]:
            if lost["name"] == table:
                names = [name.split(".", 1)[1] for name in lost["doubtful"]]
                return not lost["fits"] or column in [
                    "Z_FOK_" + name[:-8].upper() if name.endswith(" (order)") else "Z" + name.upper() for name in names]
        return False

    def leave_out_what_is_told(self, found, output):
        """Values of columns whose order is not known, and links kept apart, are not called saved."""
        for kind in ("cut", "older", "wrong"):
            for table, rows in getattr(found, kind).items():
                rows[:] = [row for row in rows if not (row[1] and isinstance(row[1], list) and all(
                    self.is_told(table, difference[0]) for difference in row[1]))]
        # A link of which two tables or more would do is kept, with its order, under all of their names.
        kept = collections.defaultdict(set)
        db = connect(output)
        try:
            for *row, tables in db.execute(
                    "SELECT FIRST, SECOND, FIRST_ORDER, SECOND_ORDER, TABLES FROM STRATA_UNDECIDED_LINKS"):
                for table in tables.split() if " " in tables else []:
                    values = tuple(value for value in row if value is not None)
                    kept[table] |= {values, values[1::-1] + values[2:]}
        except sqlite3.Error:
            pass  # every link has its table
        db.close()
        for table, keys in found.missing.items():
            if self.expected.state.tables[table].is_join:
                found.missing[table] = [
                    key for key in keys if tuple(value for value in key if value is not None) not in kept[table]]
        # Without a model nobody knows the columns of a table whose CREATE statement is gone. The report names it with
        # the last key that its rows may have: it must have none above that.
        if not self.base.has_model:
            for entity, last in self.report["gone"].items():
                table = self.base.tables_of_entities.get(entity)
                found.missing[table] = [key for key in found.missing.get(table, []) if key > last]

    def judge_salvage(self, found, status):
        expected = self.expected
        # Whose a -wal is that nothing contradicts cannot be known, where the report says that nothing shows it: then
        # the objects of its pages stand in place of those that the main file has there, and are as many as it says.
        if self.name == "wal-foreign" and any("nothing shows that it belongs" in note for note in self.report["notes"]):
            self.leave_out_what_is_of_the_log(found)
        for table, keys in found.missing.items():
            # Rows of the log that the report marks stand for those of the main file.
            if self.name == "wal-foreign" and status != 0 and not expected.state.tables[table].is_join:
                keys = [key for key in keys if not self.is_marked(table, key)]
            if keys:
                self.fail("there", "%s: rows that are there are missing" % table, len(keys), keys)
        for kind in ("cut", "older", "wrong"):
            for table, rows in getattr(found, kind).items():
                held = [row for row in rows if row[-1] is True]
                # Nor which of two rows with one key is the store's own, where each stands on a page of its own.
                if self.name in ("interleaved", "wal-foreign") and status != 0:
                    held = [row for row in held if not self.is_marked(table, row[0])]
                if held:
                    self.fail("there", "%s: rows that are there came out %s" % (table, kind), len(held), held)
        for what, tables in (("values", found.wrong), ("rows", found.invented)):
            for table, rows in tables.items():
                # Rows of a page that nothing vouches for may be another store's, where the report marks them.
                if self.name in ("interleaved", "wal-foreign"):
                    rows = [row for row in rows if not self.is_marked(table, row[0])]
                # A row that was deleted before the damage is one that was. Where nothing shows that it was deleted, it
                # may come back, marked as uncertain; such rows are counted.
                if what == "rows" and self.name.startswith("holes"):
                    deleted = [row for row in rows if self.is_marked(table, row[0]) and status != 0
                               and self.expected.was_deleted(table, *row[:2])]
                    self.deleted_before += len(deleted)
                    rows = [row for row in rows if row not in deleted]
                if rows:
                    told = ", told as uncertain" if all(self.is_marked(table, row[0]) for row in rows) else ""
                    told = origin(rows) + told
                    self.fail("never", "%s: %s that never were%s" % (table, what, told), len(rows), rows)
        if status != 0 and self.name in UNDAMAGED and self.base.name not in OF_FIXTURES:
            self.fail("status", "%s, and nothing is lost" % status)
        if status == 0:
            for kind in ("missing", "cut", "older", "wrong"):
                for table, rows in getattr(found, kind).items():
                    if rows:
                        self.fail("status", "%s: 0, and rows are %s" % (table, kind), len(rows), rows)
            for table, count in found.unheld.items():
                if count:
                    self.fail("status", "%s: 0, and rows are lost" % table, count)
            if self.name in LESS_THAN_BASE and not expected.state.equals(expected.base.state):
                self.fail("status", "0 of a store of which a part is not there")
        for table, columns in found.lost_columns.items():
            rows = expected.state.tables[table].rows
            at = [expected.state.tables[table].columns.index(column) for column in columns]
            with_value = sum(any(row[i] is not None for i in at) for row in rows.values())
            if with_value and len(columns) < len(expected.state.tables[table].columns):
                self.fail("there", "%s: columns are missing" % table, with_value, [columns])

    def leave_out_what_is_of_the_log(self, found):
        """Rows on pages of a -wal of which the report says that they may be another store's, and those under them."""
        note = next(note for note in self.report["notes"] if "nothing shows that it belongs" in note)
        told = int(re.search(r"([\d,]+) objects? in it may be", note)[1].replace(",", ""))
        log = read(self.store + "-wal")
        laid = {struct.unpack(">I", log[at:at + 4])[0] for at in range(32, len(log) - 24, self.expected.size + 24)}
        count = 0
        for name, table in self.expected.state.tables.items():
            state = self.expected.state
            covered = {key for key, places in state.places(table) if any(page in laid for page, _, _ in places)}
            if any(page in laid and kind == 5 for page, kind in state.image.pages_of(table.root).items()):
                covered |= table.rows.keys()
            pages = [page for page in self.report["pages"] if page["table"] == name and page["frame"] is not None]
            of_log = lambda key: any(page["first"] <= key <= page["last"] for page in pages)
            if table.is_join:
                lost = {table.rows[key] for key in covered}
                found.missing[name] = [row for row in found.missing.get(name, []) if row not in lost]
                found.invented[name] = [row for row in found.invented.get(name, []) if not pages]
                continue
            found.missing[name] = [key for key in found.missing.get(name, []) if key not in covered]
            for kind in ("cut", "older", "wrong", "invented"):
                rows = getattr(found, kind)
                strange = [row for row in rows.get(name, []) if of_log(row[0])]
                count += len(strange) if not table.is_history else 0
                rows[name] = [row for row in rows.get(name, []) if not of_log(row[0])]
        if count > told:
            self.fail("never", "more rows of another store than the report says", count - told, [told, count])

    def is_marked(self, table, key):
        """Whether the report calls a row uncertain."""
        pages = [page for page in self.report["pages"] if page["table"] == table]
        if key is None:  # a link, which has no key of its own
            return bool(pages) and not any(page["certain"] for page in pages)
        return any(not page["certain"] and page["first"] <= key <= page["last"] for page in pages)

    def check_result(self, output):
        db = connect(output)
        answer = [row[0] for row in db.execute("PRAGMA integrity_check(5)")]
        if answer != ["ok"]:
            self.fail("result", "integrity_check", len(answer), answer)
        if self.name == "app-tables":
            self.check_app_tables(db)
        db.close()
        self.check_reading("result", output)
        _, out, _ = self.run("doctor", output, "--json")
        for finding in json.loads(out).get("findings", []) if out else []:
            # What is wrong with the data itself stays so, and what was lost is named by what was not.
            known = OF_LOSSES | self.base.errors | set(self.kinds)
            # Without a model nothing says which entities there were, where Z_PRIMARYKEY lost its rows; counters below
            # a key are raised by what it says itself. Nor can metadata be made again: the report says so then.
            if not self.base.has_model:
                known |= set() if "Z_MAX" in finding["message"] else {"primary-key"}
                known |= set() if self.report["opens"] else {"metadata"}
            # A link may name an object whose page is the other store's now, of another entity.
            if self.name == "interleaved" and self.report["mixed"]:
                known |= {"entity-wrong"}
            if finding["severity"] == "error" and finding["kind"] not in known:
                self.fail("result", "doctor finds an error in it: " + finding["kind"], 1, [finding["message"]])

    def check_app_tables(self, db):
        """The app's own tables come along, those without row ids and the virtual ones too."""
        for name, count in self.facts["tables"].items():
            try:
                there = db.execute('SELECT count(*) FROM "%s"' % name).fetchone()[0]
            except sqlite3.Error:
                there = 0
            if there != count:
                self.fail("there", "%s: rows of the app's own table are missing" % name, count - there)

    def check_reading(self, check, output):
        """The independent reader needs the model in the store: where there was none, it is not asked."""
        if not self.base.is_readable or re.match("cache-|meta-cache", self.name):
            return
        error = reading_error(self.tools, output)
        if error:
            self.fail(check, "the independent reader does not read it", 1, [error])

    # ---- undelete

    def check_undelete(self):
        if self.name in NOTHING_LEFT:
            return
        output, report = os.path.join(self.outputs, "back.sqlite"), os.path.join(self.outputs, "undelete.json")
        status, _, told = self.run("undelete", self.store, "--output", output, "--report", report, *self.words)
        if not os.path.exists(output) and "--model" in told and "--model" not in self.words:
            if not self.base.has_model:
                return
            self.words += ["--model", self.base.path]
            status, _, told = self.run("undelete", self.store, "--output", output, "--report", report, *self.words)
        is_deletion = bool(DELETIONS.match(self.name))
        if not os.path.exists(output):
            if status in (0, 1) or is_deletion and self.name != "table-dropped":
                self.fail("undelete", "no store, status %s" % status, 1, [told[-300:]])
            return
        try:
            restoration = json.loads(read(report))["restoration"]
        except (ValueError, KeyError):
            self.fail("undelete", "no report that can be read")
            return
        db = connect(output)
        self.is_emptied = bool(restoration["emptied"])
        back, tables = collections.defaultdict(set), {}
        claims = collections.defaultdict(list)
        for item in restoration.get("objects", []):
            entity, key = item["object"].rsplit("/p", 1)
            key, table = int(key), self.base.tables_of_entities.get(entity)
            if table is None:
                continue
            if table not in tables:
                columns = columns_of(db, table)
                tables[table] = (columns, rows_of(db, table, columns))
            back[table].add(key)
            self.judge_claim(claims, table, key, item, *tables[table], db)
        for what, found in sorted(claims.items()):
            self.fail("undelete", what, len(found), found)
        if is_deletion:
            self.judge_living(db, back)
            self.judge_missed(db)
        answer = [row[0] for row in db.execute("PRAGMA integrity_check(5)")]
        db.close()
        if answer != ["ok"]:
            self.fail("undelete", "integrity_check", len(answer), answer)
        self.check_reading("undelete", output)

    def follows(self, db, differing):
        """Whether a reference names the object that it named, which is back under a new key."""
        _, want, got = differing
        if not isinstance(want, int) or not isinstance(got, int):
            return False
        for name, was in self.base.state.tables.items():
            if want in was.rows and got not in was.rows and not was.is_join and not was.is_history:
                row = db.execute('SELECT * FROM "%s" WHERE Z_PK = ?' % name, (got,)).fetchone()
                if row and without_numbers(row) and without_numbers(row) == without_numbers(was.rows[want]):
                    return True
        return False

    def judge_claim(self, claims, table, key, item, columns, rows, db):
        """One object that undelete brought back, against what is known of it."""
        was, lives = self.base.state.tables.get(table), self.expected.state.tables.get(table)
        example = (item["object"], item["found"])
        if item["key"] != "unknown" and lives and key in lives.rows:
            is_saved = key in self.saved.get(table, ())
            if item["maybeLost"] and not is_saved:
                return  # it is said that nobody may have deleted it, and that its state may be an earlier one
            what = "a living object is offered as deleted" if is_saved else "an object that was lost is called deleted"
            claims["%s: %s" % (table, what)].append(example)
            return
        if key not in rows:
            claims["%s: called back, and not in the new store" % table].append(example)
            return
        if item["whole"] and item.get("former"):
            # Its values may be those of then.
            claims["%s: called whole, and of another time" % table].append(example)
        if was is None or not item["whole"]:
            return
        got = dict(zip(columns, rows[key]))
        if item["key"] == "unknown":
            # Whose it was is known by its values alone, but for links that were emptied.
            mine = [None if column == "Z_PK" else got.get(column) for column in was.columns]
            same = {k for k, row in was.of_values(mine) if all(
                one == other or one is None and (column == "Z_PK" or self.is_emptied and isinstance(other, int))
                for column, one, other in zip(was.columns, mine, row))}
            saved = self.saved.get(table, ())
            if item["maybeLost"] and not all(k in saved for k in same):
                return
            if same and lives and same <= lives.rows.keys():
                what = "%s: a copy of a living object is offered as deleted" % table
                claims[what].append((*example, sorted(same)[:3]))
            if not same and self.base.is_fresh:
                claims["%s: called whole, and equal to no object that was" % table].append((*example, mine))
            return
        if key not in was.rows:
            return  # deleted before this damage: nothing is known of it
        want = dict(zip(was.columns, was.rows[key]))
        # The main file went on: every third row was saved once more before some were deleted.
        if self.name == "wal-stale" and table == self.facts["table"] and key % 3 == 0:
            want["Z_OPT"] += 1
        differing = [(c, want[c], got.get(c)) for c in was.columns if want[c] != got.get(c)]
        # A link to what is not there is emptied, which the report says.
        differing = [d for d in differing if not (self.is_emptied and d[2] is None and isinstance(d[1], int))]
        differing = [d for d in differing if not self.follows(db, d)]
        if not differing:
            return
        values = tuple(got.get(c) for c in was.columns)
        kind = "an earlier state" if self.base.was(was, key, values) else "other values"
        claims["%s: called whole and %s, with %s" % (table, item["key"], kind)].append((*example, differing))

    def judge_living(self, db, back):
        """What lives must be in the new store as it was; links must have been."""
        for name, table in self.expected.state.tables.items():
            columns = columns_of(db, name)
            common = [column for column in table.columns if column in columns]
            if not common:
                if table.rows:
                    self.fail("undelete", "%s: the table is not in the new store" % name, len(table.rows))
                continue
            at = [table.columns.index(column) for column in common]
            rows = rows_of(db, name, common)
            if table.is_join:
                lives, was = ({tuple(row[i] for i in at) for row in state.rows.values()}
                              for state in (table, self.base.state.tables[name]))
                never = sorted(set(rows.values()) - was - lives, key=repr)
                gone = sorted(lives - set(rows.values()), key=repr)
                if never:
                    self.fail("undelete", "%s: links that never were" % name, len(never), never)
                if gone:
                    self.fail("undelete", "%s: links of living objects are gone" % name, len(gone), gone)
                continue
            changed = []
            for key, row in table.rows.items():
                got, want = rows.get(key), tuple(row[i] for i in at)
                if got != want:
                    changed.append((key, got and [d for d in zip(common, want, got) if d[1] != d[2]][:4]))
            if changed:
                self.fail("undelete", "%s: living rows are others or gone" % name, len(changed), changed)
            if not table.is_history:
                more = sorted(rows.keys() - table.rows.keys() - back[name])
                if more:
                    self.fail("undelete", "%s: rows that no report names" % name, len(more), more)


    def judge_missed(self, db):
        """Deleted rows that stand whole in the file, and did not come back, under whatever key."""
        for name, was in self.base.state.tables.items():
            lives = self.expected.state.tables.get(name)
            gone = was.rows.keys() - lives.rows.keys() if lives else was.rows.keys()
            if was.is_join or was.is_history or not gone:
                continue
            stand = {key for key, places in self.base.state.places(was)
                     if key in gone and all(self.expected.holds(*place) for place in places)}
            if not stand:
                continue
            columns = columns_of(db, name)
            rows = rows_of(db, name, columns)
            shared = [column for column in was.columns if column in columns]
            back = {without_key(columns, row) for row in rows.values()} if shared == columns else set()
            missed = sorted(key for key in stand - rows.keys() if without_key(was.columns, was.rows[key]) not in back)
            if missed:
                self.fail("undelete", "%s: rows that stand whole in the file are not found" % name, len(missed), missed)


def without_key(columns, row):
    return tuple(value for column, value in zip(columns, row) if column != "Z_PK")


def origin(rows):
    """Where such rows come from, as far as the damage marks them."""
    text = repr(rows)
    if "of another store" in text:
        return ", of another store"
    return ", half-written" if "half-written" in text else ""


# ---- all of them


def made_bases(tools, strata, folder, objects):
    """A demo, a demo with a -wal and a seeded store, which has a text that needs pages of its own."""
    made = os.path.join(folder, "made-bases")
    os.makedirs(made)
    run = lambda *words: subprocess.run([strata, *words], stdout=subprocess.DEVNULL, check=True)
    run("demo", os.path.join(made, "demo"), "--objects", objects, "--no-open")
    demo = os.path.join(made, "demo", "Recipes.sqlite")
    seeded = os.path.join(made, "Seeded.sqlite")
    run("seed", os.path.join(made, "demo", "Recipes.xcdatamodeld"), seeded, "--objects", objects)
    with contextlib.closing(sqlite3.connect(seeded)) as db:
        db.execute("UPDATE ZSTEP SET ZTEXT = ? WHERE Z_PK = 1", ["a long text " * 1000])
        db.commit()
    shutil.copytree(os.path.join(made, "demo"), os.path.join(made, "demo-wal"))
    logged = os.path.join(made, "demo-wal", "Logged.sqlite")
    os.rename(os.path.join(made, "demo-wal", "Recipes.sqlite"), logged)
    os.rename(os.path.join(made, "demo-wal", ".Recipes_SUPPORT"), os.path.join(made, "demo-wal", ".Logged_SUPPORT"))
    tools.damage.keep_wal(logged, save_more)
    return [demo, logged, seeded]


def default_bases(tools, strata, shared, folder):
    """The stores that are made, and those of the fixtures, the small ones first."""
    stores = []
    for root, _, names in os.walk(os.path.join(shared, "fixtures")):
        for name in names:
            path = os.path.join(root, name)
            if os.path.getsize(path) <= LARGEST_BASE and read(path)[:16] == b"SQLite format 3\0":
                stores.append(path)
    stores.sort(key=lambda path: (os.path.getsize(path), path))
    return [*made_bases(tools, strata, folder, "5000"), *stores]


def save_more(db):
    """What an app might save: objects changed, some deleted, some new."""
    db.execute("UPDATE ZRECIPE SET ZTITLE = 'saved last ' || Z_PK, Z_OPT = Z_OPT + 1 WHERE Z_PK % 5 = 0")
    db.execute("DELETE FROM ZSTEP WHERE Z_PK % 7 = 0")
    columns = ", ".join(row[1] for row in db.execute("PRAGMA table_info(ZAMOUNT)") if row[1] != "Z_PK")
    db.execute("INSERT INTO ZAMOUNT (%s) SELECT %s FROM ZAMOUNT WHERE Z_PK < 100" % (columns, columns))
    db.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = (SELECT max(Z_PK) FROM ZAMOUNT) WHERE Z_NAME = 'Amount'")


def keep(case, folder):
    """A damaged store of which something untrue was said stays, with the commands and what is untrue."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    shutil.copytree(case.folder, folder)
    told = {"facts": case.facts, "commands": case.commands, "violations": case.violations}
    with open(os.path.join(folder, "rescue.json"), "w") as file:
        json.dump(told, file, indent=1, default=str)


def base_at(tools, path, folder):
    """The store as a base; `None` where it is none of Core Data's, or cannot be read."""
    try:
        base = Base(tools, path, folder)
    except (sqlite3.Error, struct.error, ValueError) as error:
        print("%s is no base: %s" % (path, error), file=sys.stderr)
        return None
    has_objects = any(not table.is_join and not table.is_history for table in base.state.tables.values())
    return base if has_objects else None


class Tally:
    """What all cases together came to."""

    def __init__(self, names):
        self.names, self.violations, self.deleted_before = names, [], 0
        self.counts = {name: collections.Counter() for name in names}
        self.kinds = {name: collections.Counter() for name in names}

    def add(self, case, seconds):
        self.counts[case.name]["cases"] += 1
        self.kinds[case.name].update(case.kinds)
        self.deleted_before += case.deleted_before
        commands = [{"command": each["command"], "status": each["status"]} for each in case.commands]
        for violation in case.violations:
            self.counts[case.name][violation["check"]] += 1
            self.violations.append({**violation, "commands": commands})
        told = "; ".join("%s: %s ×%d" % (each["check"], each["what"], each["count"]) for each in case.violations)
        line = "%-28s %-20s %5.1f s  %s" % (case.base.name, case.name, seconds, told or "ok")
        print(line, file=sys.stderr, flush=True)

    def show(self):
        print("%-22s %5s" % ("damage", "cases") + "".join("%11s" % check for check in CHECKS))
        for name in self.names:
            if self.counts[name]["cases"]:
                numbers = "".join("%11s" % (self.counts[name][check] or "·") for check in CHECKS)
                print("%-22s %5d%s" % (name, self.counts[name]["cases"], numbers))
        print("%d cases, %d violations" % (sum(count["cases"] for count in self.counts.values()), len(self.violations)))
        if self.deleted_before:
            print("%d rows that were deleted before the damage came back, marked as uncertain" % self.deleted_before)

    def write(self, path):
        with open(path, "w") as file:
            json.dump({"violations": self.violations, "counts": self.counts, "kinds": self.kinds}, file,
                      indent=1, default=str)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("strata")
    parser.add_argument("shared")
    parser.add_argument("--bases", nargs="+")
    parser.add_argument("--damages", nargs="+")
    parser.add_argument("--once")
    parser.add_argument("--out")
    parser.add_argument("--work")
    arguments = parser.parse_args()
    tools = Tools(arguments.shared)
    # The undamaged store first: what is found in it is no fault of what comes out of a damaged one.
    names = sorted(arguments.damages or tools.damage.DAMAGES, key=lambda name: name != "none")
    tally = Tally(names)
    with tempfile.TemporaryDirectory(prefix="rescue.") as scratch:
        if arguments.once:
            bases = made_bases(tools, arguments.strata, scratch, arguments.once)
        else:
            bases = arguments.bases or default_bases(tools, arguments.strata, arguments.shared, scratch)
        for path in bases:
            with tempfile.TemporaryDirectory(dir=scratch) as folder:
                base = base_at(tools, path, folder)
                for name in names if base else []:
                    if arguments.once and tally.counts[name]["cases"]:
                        continue
                    begin = time.monotonic()
                    case = Case(tools, arguments.strata, base, name, tempfile.mkdtemp(dir=folder))
                    if case.make():
                        case.check()
                        tally.add(case, time.monotonic() - begin)
                        if case.violations and arguments.work:
                            keep(case, os.path.join(arguments.work, base.name, name))
                    shutil.rmtree(case.scratch, ignore_errors=True)
                if arguments.out:
                    tally.write(arguments.out)
    tally.show()
    return 1 if tally.violations else 0


if __name__ == "__main__":
    sys.exit(main())
