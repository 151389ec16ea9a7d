#!/usr/bin/env python3
"""Every page of a small store damaged in five ways, and what strata says of each.

    pagefaults.py STRATA STORE [--step N] [--kinds stale,oldhalf,zerohalf,other,swap] [--commands dump,salvage,…]

STORE is a store of strata's own, such as a demo of 3,800 objects; a copy of it is changed by SQL, and the two states are
the page "now" and the page "one save earlier". The faults:
    stale      the page as it was one save earlier
    oldhalf    its second half as it was then
    zerohalf   its second half zero
    other      another page's bytes
    swap       two pages change places
A command that ends with 0 must show every object as it is: dump and search all of them, plan and doctor have nothing to
say of a store that differs from the sound one. Where salvage writes a row that was in neither state, its status is not
0. A page whose earlier bytes make a sound store of another time is a fault that nothing in the file can tell: such runs
are counted by themselves, where SQLite's own check, each index against its table, and the independent reading of the
tables find nothing either.

Ends with 1 where a command said 0 and was wrong.
"""

import argparse
import collections
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

PAGE = 4096
TRIGGERS = (
    "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue", "NSCoreDataDATriggerUpdatedAffectedObjectValue",
    "NSCoreDataTriggerUpdateAffectedObjectValue")


def tables(connection):
    return [row[0] for row in connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%Z_OPT%' AND sql LIKE '%Z_ENT%'")]


def change(path):
    """One save: a quarter of the rows is written anew, a twelfth of them comes again under new keys."""
    connection = sqlite3.connect(path, isolation_level=None)
    for name in TRIGGERS:
        connection.create_function(name, -1, lambda *_: None)
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.execute("BEGIN")
    for table in tables(connection):
        info = connection.execute(f"PRAGMA table_info({table})").fetchall()
        texts = [row[1] for row in info if row[2].upper().startswith("VARCHAR")]
        if texts:
            connection.execute(
                f"UPDATE OR IGNORE {table} SET {texts[0]} = {texts[0]} || '!', Z_OPT = Z_OPT + 1 WHERE Z_PK % 4 = 0")
        last = connection.execute(f"SELECT max(Z_PK) FROM {table}").fetchone()[0]
        if not last:
            continue
        columns = ", ".join(row[1] for row in info if row[1] != "Z_PK")
        connection.execute(
            f"INSERT OR IGNORE INTO {table} ({columns}) SELECT {columns} FROM {table} ORDER BY Z_PK DESC LIMIT "
            f"{max(1, last // 12)}")
        now = connection.execute(f"SELECT max(Z_PK) FROM {table}").fetchone()[0]
        connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_MAX = ?", (now, last))
    connection.execute("COMMIT")
    connection.close()


def rows(path):
    connection = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
    found, names = {}, tables(connection)
    connection.text_factory = bytes
    for table in names:
        try:
            for row in connection.execute(f"SELECT * FROM {table} NOT INDEXED"):
                found[(table, row[0])] = row
        except sqlite3.DatabaseError:
            pass
    return found


def is_sound(path):
    """Whether SQLite's own check finds nothing."""
    try:
        connection = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
        for name in TRIGGERS:
            connection.create_function(name, -1, lambda *_: None)
        return connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    except sqlite3.DatabaseError:
        return False


def faults(new, old, kinds, step):
    def page(data, number):
        return data[(number - 1) * PAGE:number * PAGE]

    count = len(new) // PAGE
    for number in range(1, count + 1, step):
        own, before = page(new, number), page(old, number)
        for kind in kinds:
            damaged = bytearray(new)
            if kind == "stale":
                bytes_ = before or own
            elif kind == "oldhalf":
                bytes_ = own[:PAGE // 2] + (before or own)[PAGE // 2:]
            elif kind == "zerohalf":
                bytes_ = own[:PAGE // 2] + bytes(PAGE // 2)
            elif kind == "other":
                bytes_ = page(new, number % count + 1)
            else:
                other = number * 7 % count + 1
                if 1 in (number, other):
                    continue
                damaged[(other - 1) * PAGE:other * PAGE] = own
                bytes_ = page(new, other)
            damaged[(number - 1) * PAGE:number * PAGE] = bytes_
            if damaged != new:
                yield kind, number, bytes(damaged)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("strata")
    parser.add_argument("store")
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--kinds", default="stale,oldhalf,zerohalf,other,swap")
    parser.add_argument("--commands", default="dump,info,rows,search,doctor,salvage,repair,plan")
    options = parser.parse_args()
    commands = options.commands.split(",")
    work = tempfile.mkdtemp(prefix="pagefaults.")
    old, new = os.path.join(work, "old.sqlite"), os.path.join(work, "new.sqlite")
    shutil.copy(options.store, old)
    shutil.copy(options.store, new)
    change(new)
    bundle = [os.path.join(os.path.dirname(options.store), name)
              for name in os.listdir(os.path.dirname(options.store) or ".") if name.endswith(".xcdatamodeld")]
    with open(old, "rb") as file:
        old_bytes = file.read()
    with open(new, "rb") as file:
        new_bytes = file.read()
    truth, truth_before = rows(new), rows(old)
    names = sorted({table[1:].capitalize() for table, _ in truth})

    def run(*words):
        done = subprocess.run([options.strata, *words], capture_output=True, timeout=180)
        if done.returncode < 0 or done.returncode > 128:
            report("crash", words[0], done.returncode)
        return done.returncode, done.stdout

    violations = collections.Counter()
    untellable = collections.Counter()

    def report(*what):
        violations[what[0]] += 1
        print(*what, flush=True)

    whole = set(run("dump", new)[1].splitlines())
    sound = {name: run(*words)[1] for name, words in {
        "info": ("info", new), "rows": ("rows", new, "Step", "--format", "csv"),
        "search": ("search", new, "a", "--json")}.items()}
    if not truth or truth == truth_before:
        sys.exit(f"{options.store}: no objects were read, or none were changed")
    print("pages", len(new_bytes) // PAGE, "objects", len(truth), "tables", len(names), flush=True)
    runs, torn = 0, 0
    for kind, number, damaged in faults(new_bytes, old_bytes, options.kinds.split(","), options.step):
        place = os.path.join(work, "f")
        shutil.rmtree(place, ignore_errors=True)
        os.mkdir(place)
        # The same path for all, since it is printed.
        path, out = os.path.join(place, "s.sqlite"), os.path.join(place, "o.sqlite")
        with open(path, "wb") as file:
            file.write(damaged)
        witnessed = not is_sound(path)

        def wrong(command, *what):
            if witnessed:
                report(command, 0, kind, number, *what)
            else:
                untellable[command] += 1

        for command in commands:
            runs += 1
            if command == "dump":
                status, printed = run("dump", path)
                got = set(printed.splitlines())
                if status == 0 and got != whole:
                    wrong("dump", "missing", len(whole - got), "other", len(got - whole))
            elif command == "rows":
                status, printed = run("rows", path, "Step", "--format", "csv")
                if status == 0 and printed != sound["rows"]:
                    wrong("rows")
            elif command == "search":
                status, printed = run("search", path, "a", "--json")
                if status == 0 and printed != sound["search"]:
                    wrong("search")
            elif command == "info":
                status, printed = run("info", path)
                if status == 0 and b"very row could be read" in printed:
                    wrong("info")
            elif command == "doctor":
                status, _ = run("doctor", path)
                if status == 0 and rows(path) != truth:
                    wrong("doctor")
            elif command == "plan" and bundle:
                status, _ = run("plan", path, "--to", bundle[0] + "@Recipes 2")
                if status == 0 and rows(path) != truth:
                    wrong("plan")
            elif command == "salvage":
                status, printed = run("salvage", path, "--output", out)
                if os.path.exists(out):
                    saved = rows(out)
                    # A value that is lost is NULL, and is told; so is one that holds zeros up to the end of its page.
                    def is_lost(value, was):
                        return value is None or isinstance(value, bytes) and bytes(512) in value and (
                            not isinstance(was, bytes) or bytes(512) not in was)

                    never = [key for key, row in saved.items()
                             if all(other is None or any(a != b and not is_lost(a, b) for a, b in zip(row, other))
                                    for other in (truth.get(key), truth_before.get(key)))]
                    zeroed = [key for key in saved if key in truth and key not in never and any(
                        value is not None and value != was and is_lost(value, was)
                        for value, was in zip(saved[key], truth[key]))]
                    if zeroed and b"zeros up to the end of a page" not in printed:
                        report("salvage-zeros", status, kind, number, len(zeroed), zeroed[:2])
                    # Of a page of two times nothing but its row's own index may tell which values are torn.
                    if never and status == 0:
                        wrong("salvage-never", len(never), never[:2])
                    elif never:
                        torn += len(never)
                    if status == 0 and saved != truth:
                        wrong("salvage", "missing", len(set(truth) - set(saved)))
                elif status not in (4, 5):
                    report("salvage-nothing", status, kind, number)
            elif command == "repair":
                copy = os.path.join(place, "r.sqlite")
                shutil.copy(path, copy)
                status, _ = run("repair", copy, "--no-backup")
                if status == 0 and len(set(rows(path)) - set(rows(copy))) > 0:
                    wrong("repair", "dropped", len(set(rows(path)) - set(rows(copy))))
    print("runs", runs, "violations", dict(violations), "told by nothing in the file", dict(untellable),
          "rows of two times, saved with status 1", torn)
    shutil.rmtree(work, ignore_errors=True)
    sys.exit(1 if violations else 0)


if __name__ == "__main__":
    main()
