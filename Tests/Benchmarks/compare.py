#!/usr/bin/env python3
"""Measures `strata compare` of a large store and a copy in which 1 % of the objects differ.

    compare.py STRATA [--objects N] [--runs N] [--no-check] [--work DIR]

A demo of N objects (1,232,000 are 231 MB) is copied; texts are made unique, so that every entity can be paired by
values. Prints the median of the time of `verify A B`, of `compare A B` by key and by values (the copy has another UUID
then), what they are as a ratio to verify, and the peak of memory. What compare says is checked by
../Independent/compare.py, which reads two dumps: it takes some 3 kB of memory for each object. Ends with 1 where a
limit is passed: twice verify by key, five times by values, 64 MB, or where the check finds a difference.
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
MEMORY = 64 << 20


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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("strata")
    parser.add_argument("--objects", type=int, default=1_232_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--no-check", action="store_true")
    parser.add_argument("--work")
    options = parser.parse_args()
    work = options.work or tempfile.mkdtemp(prefix="compare-")
    os.makedirs(work, exist_ok=True)
    try:
        return measure(options, work)
    finally:
        if not options.work:
            shutil.rmtree(work)


def measure(options, work):
    a, b, values = make(options.strata, work, options.objects)
    print("%d objects, %.1f MB" % (options.objects, os.path.getsize(a) / 1e6))
    matches = [word for entity, (_, _, name) in TEXTS.items() for word in ("--match", "%s=%s" % (entity, name))]
    commands = {"verify": ["verify", a, b], "key": ["compare", a, b, "--format", "ndjson"],
                "values": ["compare", a, values, "--format", "ndjson"] + matches
                + ["--match", "Person=identifier", "--match", "Recipe=identifier", "--match", "Tag=name"]}
    found = {name: [] for name in commands}
    for _ in range(options.runs):
        for name, words in commands.items():
            found[name].append(run([options.strata] + words, os.path.join(work, name + ".out")))
    wrong = 0
    seconds = {name: statistics.median(each[0] for each in runs) for name, runs in found.items()}
    for name, runs in found.items():
        memory = max(each[1] for each in runs)
        ratio, limit = seconds[name] / seconds["verify"], LIMITS.get(name)
        isOver = limit is not None and (ratio > limit or memory > MEMORY)
        wrong += isOver
        processor = statistics.median(each[2] for each in runs)
        print("%-7s %8.2f s %6.2f × verify %6.1f MB  (processor %.2f s)%s"
              % (name, seconds[name], ratio, memory / 1e6, processor, "  over" if isOver else ""))
    if options.no_check:
        return 1 if wrong else 0
    dumps = {}
    for path in (a, b, values):
        dumps[path] = path + ".ndjson"
        with open(dumps[path], "wb") as file:
            subprocess.run([options.strata, "dump", path], check=True, stdout=file)
    for name, other in (("key", b), ("values", values)):
        told = subprocess.run(
            [sys.executable, "-B", SCRIPT, dumps[a], dumps[other], os.path.join(work, name + ".out")],
            stdout=subprocess.PIPE, text=True)
        lines = told.stdout.splitlines()
        print("%-7s %s" % (name, "as the independent script" if told.returncode == 0 else "%d lines differ" % len(lines)))
        for line in lines[:5]:
            print("   ", re.sub(r"\s+", " ", line)[:160])
        wrong += told.returncode != 0
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
