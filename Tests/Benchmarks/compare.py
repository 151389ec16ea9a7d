#!/usr/bin/env python3
"""Measures `strata compare` of a large store and a copy in which 1 % of the objects differ.

    compare.py STRATA [--parts key,values,check] [--objects N] [--runs N] [--work DIR]

A demo of N objects (1,232,000 are 231 MB) is copied; texts are made unique, so that every entity can be paired by
values. The parts:

key     The median time of `compare A B`, paired by key, as a ratio to `verify A B` in turns, and the peak of memory.
values  The same paired by values: the copy has another UUID then.
check   What compare printed is checked by ../Independent/compare.py, which reads two dumps and takes some 3 kB of
        memory for each object: 4 GB for 1,232,000.

Prints what is done with its seconds, and a table. Of 1,232,000 objects the files take about a minute; with --work DIR
they stay there and are used again. Ends with 1 where a limit is passed: twice verify by key, five times by values,
64 MB (64,000,000 bytes), or where the check finds a difference.
"""

import argparse
import os
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Independent", "compare.py")
# Entities of the demo that nothing identifies, and the text that is made to.
TEXTS = {"Step": ("ZSTEP", "ZTEXT", "text"), "Amount": ("ZAMOUNT", "ZNOTE", "note"),
         "Profile": ("ZPROFILE", "ZBIO", "bio"), "Draft": ("ZDRAFT", "ZTITLE", "title"),
         "Ingredient": ("ZINGREDIENT", "ZNAME", "name")}
LIMITS = {"key": 2, "values": 5}
MEMORY = 64_000_000
PARTS = ["key", "values", "check"]


def change(path, statements):
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def copy(folder, name):
    """A copy of the store and its external files."""
    there = os.path.join(os.path.dirname(folder), name)
    shutil.copytree(folder, there)
    return os.path.join(there, "Recipes.sqlite")


def make(strata, work, objects):
    """The store, a copy with one line of saves and one with another UUID."""
    folder = os.path.join(work, "a")
    subprocess.run([strata, "demo", folder, "--objects", str(objects), "--no-open"], check=True, stdout=subprocess.DEVNULL)
    a = os.path.join(folder, "Recipes.sqlite")
    change(a, ["UPDATE %s SET %s = ifnull(%s, '') || ' #' || Z_PK" % (table, column, column)
               for table, column, _ in TEXTS.values()])
    b = copy(folder, "b")
    change(b, ["UPDATE ZRECIPE SET ZSUMMARY = 'new', Z_OPT = Z_OPT + 1 WHERE Z_PK % 100 = 0",
               "UPDATE ZSTEP SET ZMINUTES = ifnull(ZMINUTES, 0) + 1, Z_OPT = Z_OPT + 1 WHERE Z_PK % 100 = 0",
               "UPDATE ZAMOUNT SET ZQUANTITY = -1, Z_OPT = Z_OPT + 1 WHERE Z_PK % 100 = 50",
               "DELETE FROM Z_8TAGS WHERE Z_8RECIPES % 100 = 1"])
    values = copy(os.path.dirname(b), "c")
    connection = sqlite3.connect(values)
    uuid, plist = connection.execute("SELECT Z_UUID, Z_PLIST FROM Z_METADATA").fetchone()
    other = uuid[:-1] + ("0" if uuid[-1] != "0" else "1")
    connection.execute("UPDATE Z_METADATA SET Z_UUID = ?, Z_PLIST = ?", (other, plist.replace(uuid.encode(), other.encode())))
    connection.commit()
    connection.close()
    return a, b, values


def run(words, out):
    """Seconds, bytes of memory and seconds of processor time of one run."""
    with open(out, "wb") as file:
        start = time.monotonic()
        process = subprocess.Popen(words, stdout=file, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        sys.exit("%s ended with %d" % (" ".join(words), process.returncode))
    return time.monotonic() - start, usage.ru_maxrss * 1024, usage.ru_utime + usage.ru_stime


class Timed:
    """Prints what is done, and how long it took."""

    def __init__(self, what):
        self.what = what

    def __enter__(self):
        self.start = time.monotonic()

    def __exit__(self, *_):
        print("%-52s %6.1f s" % (self.what, time.monotonic() - self.start), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("strata")
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--objects", type=int, default=1_232_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--work")
    options = parser.parse_args()
    parts = options.parts.split(",")
    if set(parts) - set(PARTS) or not {"key", "values"} & set(parts):
        parser.error("parts are key, values and check, which needs one of the others")
    work = options.work or tempfile.mkdtemp(prefix="compare-")
    os.makedirs(work, exist_ok=True)
    try:
        return measure(options, parts, work)
    finally:
        if not options.work:
            shutil.rmtree(work)


def measure(options, parts, work):
    folder = os.path.join(work, str(options.objects))
    stores = [os.path.join(folder, name, "Recipes.sqlite") for name in "abc"]
    done = os.path.join(folder, "done")
    if not os.path.exists(done):
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        with Timed("making the stores"):
            stores = make(options.strata, folder, options.objects)
        open(done, "w").close()
    a, b, values = stores
    print("%d objects, %.1f MB" % (options.objects, os.path.getsize(a) / 1e6))
    matches = [word for entity, (_, _, name) in TEXTS.items() for word in ("--match", "%s=%s" % (entity, name))]
    commands = {"verify": ["verify", a, b], "key": ["compare", a, b, "--format", "ndjson"],
                "values": ["compare", a, values, "--format", "ndjson"] + matches
                + ["--match", "Person=identifier", "--match", "Recipe=identifier", "--match", "Tag=name"]}
    commands = {name: words for name, words in commands.items() if name == "verify" or name in parts}
    found = {name: [] for name in commands}
    for turn in range(options.runs):
        for name, words in commands.items():
            with Timed("run %d: %s" % (turn + 1, name)):
                found[name].append(run([options.strata] + words, os.path.join(work, name + ".out")))
    wrong = 0
    seconds = {name: statistics.median(each[0] for each in runs) for name, runs in found.items()}
    processor = {name: statistics.median(each[2] for each in runs) for name, runs in found.items()}
    print("\n%-8s %9s %9s %12s %9s" % ("", "seconds", "× verify", "processor s", "MB"))
    for name, runs in found.items():
        memory = max(each[1] for each in runs)
        ratio, limit = seconds[name] / seconds["verify"], LIMITS.get(name)
        isOver = limit is not None and (ratio > limit or memory > MEMORY)
        wrong += isOver
        print("%-8s %9.2f %9.2f %12.2f %9.1f%s"
              % (name, seconds[name], ratio, processor[name], memory / 1e6, "  OVER" if isOver else ""))
    print()
    if "check" in parts:
        wrong += check(options, work, a, {name: path for name, path in (("key", b), ("values", values)) if name in parts})
    return 1 if wrong else 0


def check(options, work, a, others):
    """How many of the two ways the independent script does not agree with."""
    dumps = {}
    for path in [a] + list(others.values()):
        dumps[path] = os.path.join(work, "dump-%d.ndjson" % len(dumps))
        with Timed("dump of %s" % os.path.basename(os.path.dirname(path))), open(dumps[path], "wb") as file:
            subprocess.run([options.strata, "dump", path], check=True, stdout=file)
    wrong = 0
    for name, other in others.items():
        with Timed("the independent script, %s" % name):
            told = subprocess.run(
                [sys.executable, "-B", SCRIPT, dumps[a], dumps[other], os.path.join(work, name + ".out")],
                stdout=subprocess.PIPE, text=True)
        lines = told.stdout.splitlines()
        print("%-8s %s" % (name, "as the independent script" if told.returncode == 0 else "%d lines differ" % len(lines)))
        for line in lines[:5]:
            print("   ", re.sub(r"\s+", " ", line)[:160])
        wrong += told.returncode != 0
    return wrong


if __name__ == "__main__":
    sys.exit(main())
