#!/usr/bin/env python3
"""strata edit by an expression over many objects, killed at many moments, beside a program that saves, and beside another strata.

    edit.py STRATA [--objects N] [--small N] [--moments N] [--seconds S] [--only PART]…

A demo is made (Amount is the entity with most objects) and edited; what must hold is worked out here with sqlite3, on
copies: no code of strata's takes part, but for `dump`, `compare` and `rollback`, which are run to be compared.

    many     each value is what the expression gives, versions are one higher, nothing else differs; `compare` lists
             exactly as many objects; a rollback gives the old file back, byte for byte
    kills    killed with SIGKILL at moments spread over the processor time that an edit takes (with deletions): the
             store dumps as before or as after; the same edit run once more ends well and leaves the store and its backups alone
    writer   a program saves every few milliseconds meanwhile: the edit is refused (5) or whole, no save is lost
    second   two edits at once: each is refused or whole

Ends with 1 where that was not so.
"""

import argparse
import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

import moments

SET = "quantity=quantity * 2 + 1"


def connect(path, **more):
    connection = sqlite3.connect(path, isolation_level=None, **more)
    for name in ("NSCoreDataDATriggerInsertUpdatedAffectedObjectValue", "NSCoreDataDATriggerUpdatedAffectedObjectValue",
                 "NSCoreDataTriggerUpdateAffectedObjectValue", "NSCoreDataNow", "NSCoreDataToUpper",
                 "NSCoreDataToLower", "NSCoreDataCanonical"):
        connection.create_function(name, -1, lambda *_: None)
    return connection


def tables(path):
    """Every row of every table, by table, as SQLite gives them."""
    connection = connect(f"file:{path}?immutable=1", uri=True)
    names = [row[0] for row in connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' AND name NOT LIKE 'sqlite_%'")]
    found = {}
    for name in names:
        cursor = connection.execute(f'SELECT * FROM "{name}"')
        columns = [column[0] for column in cursor.description]
        found[name] = (columns, sorted(cursor.fetchall(), key=repr))
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)], path
    connection.close()
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("strata")
    parser.add_argument("--objects", type=int, default=250_000)
    parser.add_argument("--small", type=int, default=20_000, help="objects of the stores of the other parts")
    parser.add_argument("--moments", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--only", action="append", default=[])
    options = parser.parse_args()
    strata = os.path.abspath(options.strata)
    work = tempfile.mkdtemp(prefix="edit.")
    environment = dict(os.environ, XDG_STATE_HOME=os.path.join(work, "state"), TMPDIR=os.path.join(work, "tmp"))
    os.mkdir(environment["TMPDIR"])
    bad = []

    def run(*words):
        return subprocess.run([strata, *words], capture_output=True, env=environment, timeout=900)

    def check(part, what, holds):
        if not holds:
            bad.append(f"{part}: {what}")
            print(f"  WRONG {part}: {what}", flush=True)

    def demo(name, objects):
        folder = os.path.join(work, name)
        done = run("demo", folder, "--objects", str(objects), "--no-open")
        assert done.returncode == 0, done.stderr
        store = os.path.join(folder, "Recipes.sqlite")
        connection = connect(store)
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.close()
        return store

    def wanted(part):
        return not options.only or part in options.only

    if wanted("many"):
        store = demo("many", options.objects)
        old, bytes_before = tables(store), open(store, "rb").read()
        # The same stem: it finds the files of external data.
        old_store = os.path.join(os.path.dirname(store), "Recipes.old")
        shutil.copy(store, old_store)
        began = time.monotonic()
        done = run("edit", store, "Amount", "--where", "quantity >= 0", "--set", SET, "--json", "--limit", "0")
        took = time.monotonic() - began
        check("many", done.stderr[-300:], done.returncode == 0)
        receipt = json.loads(done.stdout.splitlines()[-1]).get("receipt", {})
        new = tables(store)
        columns, rows = old["ZAMOUNT"]
        key, value, version = (columns.index(name) for name in ("Z_PK", "ZQUANTITY", "Z_OPT"))
        before, after = ({row[key]: row for row in side["ZAMOUNT"][1]} for side in (old, new))
        check("many", "keys", before.keys() == after.keys())
        count = 0
        for pk, row in before.items():
            expected = list(row)
            if row[value] is not None and row[value] >= 0:
                expected[value] = row[value] * 2 + 1
                expected[version] += 1
                count += 1
            if list(after[pk]) != expected:
                check("many", f"Amount {pk}: {after[pk]} for {expected}", False)
                break
        check("many", f"{receipt['changed']} changed, {count} expected", receipt["changed"] == count)
        for name in old:
            if name not in ("ZAMOUNT", "ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING", "Z_PRIMARYKEY"):
                check("many", f"table {name}", old[name] == new.get(name))
        compared = run("compare", old_store, store, "--base", old_store, "--json", "--limit", "0")
        summary = json.loads(compared.stdout)["summary"]
        differing = {entry["entity"]: (entry["inserted"], entry["updated"], entry["deleted"])
                     for entry in summary["entities"] if entry["inserted"] or entry["updated"] or entry["deleted"]}
        check("many", f"compare says {differing}", differing == {"Amount": (0, count, 0)})
        back = run("rollback", store)
        check("many", "rollback", back.returncode == 0 and open(store, "rb").read() == bytes_before)
        print(f"many: {count:,} objects of {len(before):,} by an expression in {took:.1f} s, {len(bytes_before) / 1e6:.0f} MB;"
              f" verification {receipt['verificationSeconds']:.1f} s", flush=True)

    if wanted("kills"):
        store = demo("kills", options.small)
        words = ["Amount", "--where", "quantity >= 0", "--set", SET, "--delete", "Recipe/p5", "--delete", "Tag/p2"]
        start = os.path.dirname(store)

        def fresh():
            shutil.rmtree(os.path.join(work, "in"), ignore_errors=True)
            shutil.copytree(start, os.path.join(work, "in"))
            return os.path.join(work, "in", "Recipes.sqlite")

        def dump(path):
            done = run("dump", path)
            return hashlib.sha256(done.stdout).hexdigest() if done.returncode == 0 else f"{done.returncode}"

        place = fresh()
        old = dump(place)
        began = moments.used()
        done = run("edit", place, *words)
        took = moments.used() - began
        check("kills", done.stderr[-300:], done.returncode == 0)
        new = dump(place)
        check("kills", "the edit changes nothing", new != old)
        names = set(os.listdir(os.path.dirname(place)))
        counts = {"old": 0, "new": 0}
        for moment in range(options.moments):
            place = fresh()
            moments.kill([strata, "edit", place, *words], took * (moment + 0.5) / options.moments, environment)
            now = dump(place)
            check("kills", f"moment {moment}: neither old nor new", now in (old, new))
            counts["new" if now == new else "old"] += 1
            if now == old:
                again = run("edit", place, *words)
                check("kills", f"moment {moment}: the next run: {again.stderr[-200:]}", again.returncode == 0)
                check("kills", f"moment {moment}: the next run's result", dump(place) == new)
                left = set(os.listdir(os.path.dirname(place))) - names
                check("kills", f"moment {moment}: left {left}", not left)
            tables(place)
        print(f"kills: {options.moments} moments over {took:.2f} s of processor time: {counts['old']} old, {counts['new']} new", flush=True)

    for mode in ("DELETE", "WAL"):
        if not wanted("writer"):
            continue
        store = demo("writer" + mode, options.small)
        connection = connect(store)
        connection.execute(f"PRAGMA journal_mode = {mode}")
        connection.execute("CREATE TABLE AppLog (n INTEGER PRIMARY KEY)")
        connection.close()
        saved, stop = [0], threading.Event()

        def save():
            while not stop.is_set():
                try:
                    connection = connect(store, timeout=5)
                    connection.execute("INSERT INTO AppLog DEFAULT VALUES")
                    saved[0] += 1
                    connection.close()
                except sqlite3.OperationalError:
                    pass
                time.sleep(rest[0])

        statuses, runs = {}, 0
        rest = [0.004]
        thread = threading.Thread(target=save)
        thread.start()
        end = time.monotonic() + options.seconds / 2
        edited = 0
        while time.monotonic() < end:
            # Now and then long enough at rest for an edit to fit in.
            rest[0] = [0.004, 0.4, 3][runs % 3]
            done = run("edit", store, "Amount", "--where", "quantity >= 0", "--set", SET)
            statuses[done.returncode] = statuses.get(done.returncode, 0) + 1
            edited += done.returncode == 0
            check("writer", f"{mode}: {done.returncode} {done.stderr[-200:]}", done.returncode in (0, 5))
            runs += 1
        stop.set()
        thread.join()
        connection = connect(store)
        rows = connection.execute("SELECT count(*) FROM AppLog").fetchone()[0]
        check("writer", f"{mode}: {rows} of {saved[0]} saves are there", rows == saved[0])
        versions = [row[0] for row in connection.execute("SELECT DISTINCT Z_OPT FROM ZAMOUNT WHERE ZQUANTITY >= 0")]
        check("writer", f"{mode}: versions {versions} after {edited} edits", versions == [1 + edited])
        check("writer", f"{mode}: integrity", connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)])
        connection.close()
        print(f"writer, {mode}: {runs} edits beside {saved[0]} saves, by status {statuses}", flush=True)

    if wanted("second"):
        store = demo("second", options.small)
        statuses = {}
        edited = 0
        for _ in range(6):
            children = [subprocess.Popen([strata, "edit", store, "Amount", "--where", "quantity >= 0", "--set", SET],
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
                        for _ in range(2)]
            for child in children:
                status = child.wait()
                statuses[status] = statuses.get(status, 0) + 1
                edited += status == 0
                check("second", f"status {status}", status in (0, 5))
        connection = connect(f"file:{store}?immutable=1", uri=True)
        versions = [row[0] for row in connection.execute("SELECT DISTINCT Z_OPT FROM ZAMOUNT WHERE ZQUANTITY >= 0")]
        check("second", f"versions {versions} after {edited} edits", versions == [1 + edited])
        print(f"second: 12 edits, two at once, by status {statuses}", flush=True)

    shutil.rmtree(work, ignore_errors=True)
    print(f"{len(bad)} violations")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
