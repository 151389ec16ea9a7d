#!/usr/bin/env python3
"""Each command that makes something, killed with SIGKILL at many moments.

    kills.py STRATA [--objects N] [--moments N] [--only COMMAND]…

A demo is made and damaged; salvage, undelete, repair and migrate, in place and with --output, rollback, reset
(of a damaged store as well), seed, demo, find-model --export and plan --write-losses are killed at moments spread over
the processor time that each takes. After each: the store that was read is as it was, byte for byte, or, where the
command changes it, dumps as it was or as it is when the command has ended; where it is not there, every command says
why; under the final name stands nothing, or a whole result; the same command run once more ends well, and leaves nothing
but its result. Ends with 1 where that was not so.
"""

import argparse
import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

import moments


def digest(path):
    found = {}
    for folder, _, names in os.walk(path):
        for name in names:
            file = os.path.join(folder, name)
            with open(file, "rb") as handle:
                found[os.path.relpath(file, path)] = hashlib.sha256(handle.read()).hexdigest()
    return found


def is_whole(path):
    if os.path.isdir(path) or not path.endswith(".sqlite"):
        return True
    connection = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
    for name in ("NSCoreDataDATriggerInsertUpdatedAffectedObjectValue",
                 "NSCoreDataDATriggerUpdatedAffectedObjectValue", "NSCoreDataTriggerUpdateAffectedObjectValue"):
        connection.create_function(name, -1, lambda *_: None)
    return connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("strata")
    parser.add_argument("--objects", type=int, default=20_000)
    parser.add_argument("--moments", type=int, default=60)
    parser.add_argument("--only", action="append", default=[])
    options = parser.parse_args()
    work = tempfile.mkdtemp(prefix="kills.")
    environment = dict(os.environ, XDG_STATE_HOME=os.path.join(work, "state"), TMPDIR=os.path.join(work, "tmp"))
    os.mkdir(environment["TMPDIR"])

    def run(words, timeout=300):
        return subprocess.run([options.strata, *words], capture_output=True, env=environment, timeout=timeout)

    base = os.path.join(work, "base")
    assert run(["demo", base, "--objects", str(options.objects), "--no-open"]).returncode == 0
    store = os.path.join(base, "Recipes.sqlite")
    connection = sqlite3.connect(store, isolation_level=None)
    for name in ("NSCoreDataDATriggerInsertUpdatedAffectedObjectValue",
                 "NSCoreDataDATriggerUpdatedAffectedObjectValue", "NSCoreDataTriggerUpdateAffectedObjectValue"):
        connection.create_function(name, -1, lambda *_: None)
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.execute("PRAGMA secure_delete = OFF")
    connection.execute("DELETE FROM ZAMOUNT WHERE Z_PK % 10 = 3")
    connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 1")
    connection.close()
    bundle = os.path.join(base, "Recipes.xcdatamodeld")
    commands = {
        "salvage": (["salvage", "{in}/Recipes.sqlite", "--output", "{out}/Out.sqlite"], "Out.sqlite"),
        "undelete": (["undelete", "{in}/Recipes.sqlite", "--output", "{out}/Out.sqlite"], "Out.sqlite"),
        "repair": (["repair", "{in}/Recipes.sqlite", "--force"], None),
        "repair --output": (["repair", "{in}/Recipes.sqlite", "--force", "--output", "{out}/Out.sqlite"], "Out.sqlite"),
        "seed": (["seed", bundle, "{out}/Out.sqlite", "--objects", str(options.objects)], "Out.sqlite"),
        "demo": (["demo", "{out}/Made", "--objects", str(options.objects), "--no-open"], "Made"),
        "find-model --export": (["find-model", "{in}/Recipes.sqlite", bundle, "--export", "{out}/Model.xcdatamodel"],
                                "Model.xcdatamodel"),
        "migrate": (["migrate", "{in}/Recipes.sqlite", "--to", bundle], None),
        "migrate, a version further": (["migrate", "{in}/Recipes.sqlite", "--to", bundle + "@Recipes 2"], None),
        "migrate --output": (["migrate", "{in}/Recipes.sqlite", "--to", bundle, "--output", "{out}/Out.sqlite"],
                             "Out.sqlite"),
        "migrate --no-backup": (["migrate", "{in}/Recipes.sqlite", "--to", bundle, "--no-backup"], None),
        "rollback": (["rollback", "{in}/Recipes.sqlite"], None),
        "reset": (["reset", "{in}/Recipes.sqlite", "--model", bundle], None),
        "reset --delete-backup": (["reset", "{in}/Recipes.sqlite", "--model", bundle, "--delete-backup"], None),
        "reset of a damaged store": (["reset", "{in}/Recipes.sqlite", "--model", bundle], None),
        "plan": (["plan", "{in}/Recipes.sqlite", "--to", bundle], ""),
        "plan --write-losses": (["plan", "{in}/Recipes.sqlite", "--to", bundle, "--write-losses", "{out}/Losses.json5"],
                                "Losses.json5"),
    }
    # A migrated store, whose backup can be restored.
    migrated = os.path.join(work, "migrated")
    shutil.copytree(base, migrated)
    assert run(["migrate", os.path.join(migrated, "Recipes.sqlite"), "--to", bundle]).returncode == 0
    # A store whose list of tables is gone, with a log: a reset moves both away, and its place is empty for a moment.
    damaged = os.path.join(work, "damaged")
    shutil.copytree(base, damaged)
    with open(os.path.join(damaged, "Recipes.sqlite"), "r+b") as file:
        file.seek(100)
        file.write(bytes(3996))
    with open(os.path.join(damaged, "Recipes.sqlite-wal"), "wb") as file:
        file.write(bytes([7]) * 5000)
    bad = 0
    for name, (words, result) in commands.items():
        if options.only and name not in options.only:
            continue
        start = migrated if name == "rollback" else damaged if "damaged" in name else base

        def dump():
            return hashlib.sha256(run(["dump", os.path.join(work, "in", "Recipes.sqlite")]).stdout).hexdigest()

        def is_told():
            return b"interrupted during the cut-over" in run(["dump", os.path.join(work, "in", "Recipes.sqlite")]).stderr

        def fresh():
            for folder in ("in", "out"):
                shutil.rmtree(os.path.join(work, folder), ignore_errors=True)
            shutil.copytree(start, os.path.join(work, "in"))
            os.mkdir(os.path.join(work, "out"))
            return [word.replace("{in}", os.path.join(work, "in")).replace("{out}", os.path.join(work, "out"))
                    for word in words]

        own = fresh()
        old = dump() if result is None else None
        began = moments.used()
        done = run(own)
        took = moments.used() - began
        before = digest(start)
        left = set(os.listdir(os.path.join(work, "out")))
        new = dump() if result is None else None
        if done.returncode not in (0, 1):
            print(f"{name}: cannot be run: {done.returncode} {done.stderr[-300:]}", flush=True)
            bad += 1
            continue
        statuses, finished, wrong = {done.returncode}, 0, []
        for moment in range(options.moments):
            own = fresh()
            after_seconds = took * (moment + 0.5) / options.moments
            finished += not moments.kill([options.strata, *own], after_seconds, environment)
            after = digest(os.path.join(work, "in"))
            if result is not None and after != before:
                wrong.append((moment, "the store that was read", sorted(set(after.items()) ^ set(before.items()))[:3]))
            place = os.path.join(work, "in", "Recipes.sqlite") if not result else os.path.join(work, "out", result)
            if result is None and not os.path.exists(place) and not is_told():
                wrong.append((moment, "the store is not there, and nothing says why"))
            isOld = result is None and after.get("Recipes.sqlite") == before["Recipes.sqlite"]
            if os.path.exists(place) and not isOld and not is_whole(place):
                wrong.append((moment, "half a result"))
            # A support folder and a main file change their names one after the other. In between, the store is told to be
            # without its external data until the next run, which must restore it.
            if result is None and dump() not in (old, new) and not is_told():
                wrong.append((moment, "neither the old store nor the new one"))
            isThere = bool(result) and os.path.exists(place)
            # A rollback that came to its end leaves no backup for another one.
            isRolledBack = name == "rollback" and dump() == new
            again = run(own)
            if result is None and dump() not in (old, new):
                wrong.append((moment, "neither the old store nor the new one after the next run"))
            # A result that is whole is not written over.
            if again.returncode not in statuses and not (isThere and again.returncode == 3) \
                    and not (result is None and again.returncode in (0, 1)) \
                    and not (result is None and again.returncode == 3 and name.startswith("reset")) \
                    and not (isRolledBack and again.returncode == 4 and b"no backup of the store" in again.stderr):
                wrong.append((moment, "the next run", again.returncode, again.stderr[-200:]))
            now = set(os.listdir(os.path.join(work, "out")))
            if now != left:
                wrong.append((moment, "left", sorted(now ^ left)))
            own_left = [entry for entry in os.listdir(os.path.join(work, "in")) if entry.startswith(".strata-")]
            if own_left:
                wrong.append((moment, "left beside the store", own_left))
        temporary = os.listdir(environment["TMPDIR"])
        if temporary:
            wrong.append(("left in the temporary folder", temporary[:3]))
        bad += len(wrong)
        print(f"{name}: {options.moments} moments over {took:.2f} s of processor time, {finished} had ended, wrong {len(wrong)}", wrong[:4],
              flush=True)
    shutil.rmtree(work, ignore_errors=True)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
