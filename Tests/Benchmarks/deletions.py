#!/usr/bin/env python3
"""Checks that what undelete says of deleted rows is true, with deletions of every kind.

    deletions.py STRATA SHARED [--bases FILE…] [--kinds PATTERN] [--out FILE.json] [--work DIR]

SHARED and the bases are those of rescue.py, and so is what is judged of a new store: an object that undelete calls
whole and certain is the row that was deleted, value for value, and everything that lives is as it was. A kind is
WHAT-WHERE-HOW, each of these with each:

    tenth, range, entity, all    a scattered tenth and the middle third of each table, an entity, every object
    main, wal                    the deletion is in the main file, or in the -wal alone
    off, on, fast                secure_delete; a main file with `off` also as auto-vacuum has it, or after VACUUM

Judged beside that, each a column of the table:
    status     0, or 1 where the report names what was refused; 4 with --model named where no model is at hand
    undelete   as in rescue.py
    missed     no more deleted objects are missing in the new store than the report says at most, by the keys that were
               given out and are in no row
    told       what is of another time is not called whole, and held the same values once

Ends with 1 where there are violations.
"""

import argparse
import collections
import copy
import json
import os
import random
import re
import shutil
import sqlite3
import sys
import tempfile
import time

import rescue

CHECKS = ["status", "undelete", "missed", "told", "untouched", "result"]
WHAT = ("tenth", "range", "entity", "all")
KINDS = ["%s-main-%s" % (what, how) for what in WHAT for how in ("off", "on", "fast", "auto", "vacuum")] \
    + ["%s-wal-%s" % (what, how) for what in WHAT for how in ("off", "on")]


def chosen(what, base, db):
    """The keys of the rows that go, by table."""
    draw = random.Random(20240501)
    keys = {table: [row[0] for row in db.execute('SELECT Z_PK FROM "%s" ORDER BY 1' % table)]
            for table in base.entities}
    if what == "tenth":
        return {table: sorted(draw.sample(own, len(own) // 10)) for table, own in keys.items()}
    if what == "range":
        return {table: own[len(own) // 3:len(own) * 2 // 3] for table, own in keys.items()}
    if what == "entity":
        most = 'SELECT Z_ENT FROM "%s" GROUP BY 1 ORDER BY count(*) DESC LIMIT 1' % base.biggest
        rows = db.execute('SELECT Z_PK FROM "%s" WHERE Z_ENT = (%s) ORDER BY 1' % (base.biggest, most))
        return {base.biggest: [row[0] for row in rows]}
    return keys


def delete(gone, db):
    """Deletes rows; as they were right before, by table: a store's triggers may have changed what the next one is."""
    rows = collections.defaultdict(dict)
    db.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
    db.execute("BEGIN")
    for table, keys in gone.items():
        columns = ", ".join('"%s"' % column for column in rescue.columns_of(db, table))
        for key in keys:
            row = db.execute('SELECT %s FROM "%s" WHERE Z_PK = ?' % (columns, table), (key,)).fetchone()
            if row:
                rows[table][key] = row
            db.execute('DELETE FROM "%s" WHERE Z_PK = ?' % table, (key,))
    db.execute("COMMIT")
    return rows


class Deletion(rescue.Case):
    """A store from which rows were deleted, and what undelete says of it."""

    def make(self):
        damage, what, (where, how) = self.tools.damage, self.name.split("-")[0], self.name.split("-")[1:]
        os.makedirs(self.folder)
        os.makedirs(self.outputs)
        base = damage.Base(self.base.path)
        damage.copy(base, self.store)
        secure = {"on": "ON", "fast": "FAST"}.get(how, "OFF")
        if where == "wal":
            open_copy = self.store + ".work"
            damage.settled(self.store)
            shutil.copyfile(self.store, open_copy)
            db = damage.sql(open_copy, secure)
            db.execute("PRAGMA journal_mode = WAL").fetchall()
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            db.execute("PRAGMA wal_autocheckpoint = 0")
            gone = chosen(what, base, db)
            rows = delete(gone, db)
            for end in ("", "-wal"):
                shutil.copyfile(open_copy + end, self.store + end)
            db.close()
            damage.fixed_salts(self.store + "-wal")
            damage.drop(open_copy, "", "-wal", "-shm")
        else:
            db = damage.sql(self.store, secure)
            gone = chosen(what, base, db)
            rows = delete(gone, db)
            if how == "vacuum":
                db.execute("VACUUM")
            db.close()
            damage.drop(self.store, "-shm")
        # A row as it was when it was deleted is right, and so is the one that was saved last.
        self.changed = {
            table: deleted for table, own in rows.items() if (deleted := {
                key: row for key, row in own.items() if row != self.base.state.tables[table].rows.get(key)})}
        self.facts = {"damage": "del-" + self.name, "deleted": {table: len(keys) for table, keys in gone.items()}}
        return any(gone.values())

    def check(self):
        self.expected = rescue.Expected(self.tools, self.base, self.facts, self.folder, self.scratch)
        self.words, self.saved = [], {
            name: set(table.rows) for name, table in self.expected.state.tables.items()}
        name, self.name = self.name, "del-" + self.name
        self.check_listing()
        self.check_undelete()
        self.check_status()
        self.name = name

    def judge_claim(self, claims, table, key, item, columns, rows, db):
        before = {what: len(examples) for what, examples in claims.items()}
        super().judge_claim(claims, table, key, item, columns, rows, db)
        if {what: len(examples) for what, examples in claims.items()} == before or table not in self.changed:
            return
        saved, again = self.base.state.tables[table], collections.defaultdict(list)
        deleted = copy.copy(saved)
        deleted.rows, deleted.by_values = {**saved.rows, **self.changed[table]}, None
        self.base.state.tables[table] = deleted
        super().judge_claim(again, table, key, item, columns, rows, db)
        self.base.state.tables[table] = saved
        if not again:
            for what in list(claims):
                del claims[what][before.get(what, 0):]
                if not claims[what]:
                    del claims[what]

    def check_listing(self):
        status, out, told = self.run("undelete", self.store, "--json")
        if status == 4 and not self.base.has_model and "--model" in told + out:
            self.told_most = None
            return
        answer = json.loads(out)["undelete"] if status == 0 else {}
        if not answer:
            self.fail("status", "undelete ends with %s" % status, 1, [told[-300:]])
        self.told_most = {}
        for missed in answer.get("missed", []):
            table = self.base.tables_of_entities.get(missed["entity"])
            self.told_most[table] = missed["most"]

    def check_status(self):
        """What `undelete --output` ended with, and how much of what was deleted it did not bring back."""
        run = next((each for each in reversed(self.commands) if "--output" in each["command"]), None)
        output, report = os.path.join(self.outputs, "back.sqlite"), os.path.join(self.outputs, "undelete.json")
        if self.told_most is None:
            if run["status"] != 4 or os.path.exists(output):
                self.fail("status", "%s without a model" % run["status"])
            return
        if not os.path.exists(output):
            self.fail("status", "no store, status %s" % run["status"], 1, [run["told"][-300:]])
            return
        restoration = json.loads(rescue.read(report))["restoration"]
        # A store without one object is not called saved.
        is_empty = not any(restoration["restored"].values()) and not any(
            table.rows for table in self.expected.state.tables.values() if not table.is_join and not table.is_history)
        wanted = 1 if any(restoration["refused"].values()) or is_empty else 0
        if run["status"] != wanted:
            self.fail("status", "%s for %s" % (run["status"], wanted), 1, [run["told"][-300:]])
        db = rescue.connect(output)
        self.check_missed(db, restoration)
        self.check_former(db, restoration)
        db.close()

    def check_missed(self, db, restoration):
        for name, was in self.base.state.tables.items():
            lives = self.expected.state.tables.get(name)
            if was.is_join or was.is_history or lives is None:
                continue
            back = set(rescue.rows_of(db, name, ["Z_PK"]))
            missed = was.rows.keys() - lives.rows.keys() - back
            self.facts.setdefault("back", {})[name] = len((was.rows.keys() - lives.rows.keys()) & back)
            most = self.told_most.get(name, 0)
            refused = sum(restoration["refused"].values())
            if len(missed) > most + refused:
                self.fail("missed", "%s: more are missing than the report says" % name, len(missed) - most,
                          [[len(missed), most, refused]])

    def check_former(self, db, restoration):
        """Of what is of another time it is not said that it is whole; but its values are some that were."""
        former = [item for item in restoration["objects"] if item.get("former")]
        self.facts["former"] = len(former)
        whole = [item["object"] for item in former if item["whole"]]
        if whole:
            self.fail("told", "whole, and of another time", len(whole), whole)
        for item in former:
            entity, key = item["object"].rsplit("/p", 1)
            table = self.base.state.tables.get(self.base.tables_of_entities.get(entity))
            if table is None or item["key"] != "certain":
                continue
            rows = db.execute('SELECT * FROM "%s" WHERE Z_PK = %s' % (table.name, key))
            columns = [column[0] for column in rows.description]
            got = dict(zip(columns, rows.fetchone() or ()))
            links_aside = lambda column, value: column == "Z_ENT" or value is None or isinstance(value, int)
            texts = [got.get(column) for column in table.columns if not links_aside(column, got.get(column))]
            # With what it named, and its entity's number of then, aside.
            known = any(k == int(key) and all(text in values for text in texts)
                        for k, values in self.base.earlier[len(table.columns)])
            if not known and item["found"].startswith("free page"):
                self.fail("told", "%s: of another time, with values that never were" % table.name, 1, [item, texts])


class Tally(rescue.Tally):
    def show(self):
        print("%-18s %5s %8s %8s %8s" % ("deletion", "cases", "deleted", "back", "former")
              + "".join("%10s" % check for check in CHECKS))
        for name in self.names:
            count = self.counts[name]
            if count["cases"]:
                numbers = "".join("%10s" % (count[check] or "·") for check in CHECKS)
                print("%-18s %5d %8d %8d %8d" % (name, count["cases"], count["deleted"], count["back"],
                                               count["former"]) + numbers)
        print("%d cases, %d violations" % (sum(each["cases"] for each in self.counts.values()), len(self.violations)))

    def add(self, case, seconds):
        super().add(case, seconds)
        count = self.counts[case.name]
        count["deleted"] += sum(case.facts["deleted"].values())
        count["back"] += sum(case.facts.get("back", {}).values())
        count["former"] += case.facts.get("former", 0)


def converted(tools, path, folder):
    """The store as one with auto-vacuum, its -wal in the main file; `None` where it cannot be had."""
    out = os.path.join(folder, "auto", os.path.basename(path))
    os.makedirs(os.path.dirname(out))
    try:
        tools.damage.copy(tools.damage.Base(path), out)
        support = os.path.join(os.path.dirname(out), ".store_SUPPORT")
        if os.path.isdir(support):
            name = ".%s_SUPPORT" % os.path.splitext(os.path.basename(path))[0]
            os.rename(support, os.path.join(os.path.dirname(out), name))
        db = tools.damage.sql(out)
        for statement in ("PRAGMA journal_mode = DELETE", "PRAGMA auto_vacuum = FULL", "VACUUM"):
            db.execute(statement).fetchall()
        db.close()
    except sqlite3.Error as error:
        print("%s has no auto-vacuum: %s" % (path, error), file=sys.stderr)
        return None
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("strata")
    parser.add_argument("shared")
    parser.add_argument("--bases", nargs="+")
    parser.add_argument("--kinds", default="")
    parser.add_argument("--out")
    parser.add_argument("--work")
    arguments = parser.parse_args()
    tools = rescue.Tools(arguments.shared)
    kinds = [kind for kind in KINDS if re.search(arguments.kinds, kind)]
    tally = Tally(kinds)
    with tempfile.TemporaryDirectory(prefix="deletions.") as scratch:
        bases = arguments.bases or rescue.default_bases(tools, arguments.strata, arguments.shared, scratch)
        for path in bases:
            with tempfile.TemporaryDirectory(dir=scratch) as folder:
                automatic = converted(tools, path, folder)
                for source, own in ((path, [kind for kind in kinds if not kind.endswith("auto")]),
                                    (automatic, [kind for kind in kinds if kind.endswith("auto")])):
                    with tempfile.TemporaryDirectory(dir=folder) as place:
                        base = rescue.base_at(tools, source, place) if own and source else None
                        for name in own if base else []:
                            begin = time.monotonic()
                            case = Deletion(tools, arguments.strata, base, name, tempfile.mkdtemp(dir=place))
                            if case.make():
                                case.check()
                                tally.add(case, time.monotonic() - begin)
                                if case.violations and arguments.work:
                                    rescue.keep(case, os.path.join(arguments.work, base.name, name))
                            shutil.rmtree(case.scratch, ignore_errors=True)
                if arguments.out:
                    tally.write(arguments.out)
    tally.show()
    return 1 if tally.violations else 0


if __name__ == "__main__":
    sys.exit(main())
