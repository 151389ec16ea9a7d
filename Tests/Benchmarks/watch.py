#!/usr/bin/env python3
"""Runs `strata watch` beside a program that saves, and checks what it prints against that program's own log.

    watch.py STRATA [--parts saves,rest,writer] [--objects 5000,1000000] [--modes WAL,DELETE] [--rates 1,10,1000]
             [--events E,…] [--seconds S] [--rounds N] [--store FILE]

The writer has its own SQLite connection and knows nothing of strata. Each of its saves changes ten objects. The parts:

saves   For each store, mode, rate and event it is checked that every printed change goes on from the value before, that
        the last values are the store's, and that the counts of saves add up. Printed are the blocks, the time from
        commit to line (median, worst) and memory. Events (checkpoints, a long reader, VACUUM, a file that replaces the
        store) come at ten saves a second. Some 15 s for each line; 5 min for 5,000 objects, 8 min for 1,000,000.
rest    Processor time in 20 s while nobody saves. 25 s for each store and mode.
writer  The writer saves 20,000 times as fast as it can, in turns with and without a watcher (--rounds of each). One
        minute to three for each store and mode.

Prints a line for each measurement as it is done, and at the end what passes a limit: a save shown after more than 300 ms
(median, at up to ten saves a second), 0.5 % of a processor at rest, 64 MB, a writer that is 5 % slower. Ends with 1 where
one does, or where a change is missing, is printed twice or is not what was saved.
"""

import argparse
import json
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time

KEYS = 10  # objects that a save changes
PARTS = ["saves", "rest", "writer"]
LATEST, MOST_AT_REST, MOST_MEMORY, MOST_SLOWER = 0.3, 0.5, 64 * 1e6 / (1 << 20), 5
EVENTS = ["none", "PASSIVE", "FULL", "RESTART", "TRUNCATE", "reader", "VACUUM", "rename"]


def connect(path, mode):
    store = sqlite3.connect(path, isolation_level=None, timeout=10)
    store.execute(f"PRAGMA journal_mode = {mode}")
    store.execute("PRAGMA synchronous = OFF" if mode == "DELETE" else "PRAGMA synchronous = NORMAL")
    return store


def write(path, mode, rate, count, event, log):
    """The writer: a process of its own."""
    store = connect(path, mode)
    keys = [key for key, in store.execute("SELECT Z_PK FROM ZRECIPE ORDER BY Z_PK")]
    reader = None
    if event == "reader":
        reader = sqlite3.connect(path, isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM ZRECIPE").fetchone()
    saves, vacuums = [], 0
    begin = time.monotonic()
    for number in range(count):
        if rate:
            wait = begin + number / rate - time.monotonic()
            if wait > 0:
                time.sleep(wait)
        titles = [(f"save {number} of {keys[(number * 7 + place) % len(keys)]}", keys[(number * 7 + place) % len(keys)])
                  for place in range(min(KEYS, len(keys)))]
        store.execute("BEGIN IMMEDIATE")
        store.executemany("UPDATE ZRECIPE SET ZTITLE = ?, Z_OPT = Z_OPT + 1 WHERE Z_PK = ?", titles)
        store.execute("COMMIT")
        saves.append((time.monotonic(), titles))
        if number % 7 != 6:
            continue
        if event in ("PASSIVE", "FULL", "RESTART", "TRUNCATE") and mode == "WAL":
            store.execute(f"PRAGMA wal_checkpoint({event})").fetchall()
        elif event == "VACUUM" and number % 49 == 48:
            store.execute("VACUUM")
            vacuums += 1
        elif event == "rename" and number % 49 == 48:
            if mode == "WAL":
                store.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            store.close()
            shutil.copyfile(path, path + ".new")
            os.rename(path + ".new", path)
            store = connect(path, mode)
    spent = time.monotonic() - begin
    with open(log, "w") as out:
        json.dump({"saves": saves, "vacuums": vacuums, "spent": spent}, out)
    store.close()


def run_writer(path, mode, rate, count, event, log):
    subprocess.run([sys.executable, __file__, "--write", path, mode, str(rate), str(count), event, log], check=True)
    with open(log) as text:
        return json.load(text)


class Watcher:
    """`strata watch --json`, whose lines are taken with the time at which they came."""

    def __init__(self, strata, path, limit="all"):
        self.lines = []
        self.process = subprocess.Popen(
            [strata, "watch", path, "--json", "--limit", limit], stdout=subprocess.PIPE, text=True)
        first = json.loads(self.process.stdout.readline())
        assert "watch" in first, first
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.append((time.monotonic(), line))

    def processor(self):
        with open(f"/proc/{self.process.pid}/stat") as text:
            fields = text.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self):
        with open(f"/proc/{self.process.pid}/status") as text:
            return next(int(line.split()[1]) for line in text if line.startswith("VmHWM")) / 1024

    def rest(self, seconds=5):
        before = self.processor()
        time.sleep(seconds)
        return (self.processor() - before) / seconds * 100

    def end(self):
        self.process.terminate()
        return self.process.wait(timeout=20)


def titles(path):
    store = sqlite3.connect(path)
    found = {f"Recipe/p{key}": title for key, title in store.execute("SELECT Z_PK, ZTITLE FROM ZRECIPE")}
    store.close()
    return found


def check(watcher, before, path, log):
    """What is wrong with what was printed, and what was seen."""
    problems, latencies = [], []
    state = dict(before)
    commits = {}
    for number, (moment, changed) in enumerate(log["saves"]):
        for title, key in changed:
            commits[title] = (number, moment)
    blocks, counted, isCounted, seen = 0, 0, True, set()
    for moment, line in list(watcher.lines):
        said = json.loads(line)
        if "save" in said:
            blocks += 1
            if said["save"]["saves"] is None:
                isCounted = False
            else:
                counted += said["save"]["saves"]
        elif "change" in said:
            if said["entity"] != "Recipe" or said["change"] != "update":
                problems.append(f"not saved: {line[:200]}")
                continue
            title = said["attributes"].get("title")
            if title is None:
                problems.append(f"no title: {line[:200]}")
                continue
            if state.get(said["b"]) != title["old"]:
                problems.append(f"{said['b']} was {state.get(said['b'])!r}, not {title['old']!r}")
            state[said["b"]] = title["new"]
            number, committed = commits.get(title["new"], (None, None))
            if number is None:
                problems.append(f"never saved: {title['new']!r}")
            elif number not in seen:
                seen.add(number)
                latencies.append(moment - committed)
    if state != titles(path):
        problems.append("the last values are not the store's")
    # VACUUM is a transaction, too.
    if isCounted and not len(log["saves"]) <= counted <= len(log["saves"]) + log["vacuums"]:
        problems.append(f"{counted} saves counted of {len(log['saves'])}")
    return problems, blocks, latencies


def settled(watcher, before, path, log, seconds=60):
    """The same once everything was printed, however busy the machine is; what is missing then is missing."""
    end = time.monotonic() + seconds
    while True:
        found = check(watcher, before, path, log)
        if not found[0] or time.monotonic() > end:
            return found
        time.sleep(0.5)


class Bench:
    """One run of this program."""

    def __init__(self, options, folder):
        self.options = options
        self.path, self.log = os.path.join(folder, "Watched.sqlite"), os.path.join(folder, "log.json")
        self.folder = folder
        self.base = None
        self.over = []

    def make(self, objects):
        """The store that each measurement has a copy of."""
        if self.options.store:
            self.base = self.options.store
            return
        made = os.path.join(self.folder, f"demo-{objects}")
        start = time.monotonic()
        subprocess.run([self.options.strata, "demo", made, "--objects", str(objects), "--no-open"],
                       check=True, stdout=subprocess.DEVNULL)
        self.base = os.path.join(made, "Recipes.sqlite")
        print(f"{objects:,} objects, {os.path.getsize(self.base) / 1e6:.0f} MB"
              f"  (made in {time.monotonic() - start:.0f} s)", flush=True)

    def fresh(self, mode):
        for suffix in ("", "-wal", "-shm", "-journal"):
            if os.path.exists(self.path + suffix):
                os.remove(self.path + suffix)
        shutil.copyfile(self.base, self.path)
        connect(self.path, mode).close()

    def keep(self, mode):
        """A program that has the store open: in WAL mode the log is there as long as one has."""
        keeper = connect(self.path, mode)
        keeper.execute("SELECT count(*) FROM ZRECIPE").fetchone()
        return keeper

    def say(self, line, limits, start):
        """Prints a measurement, and notes the limits that it passes."""
        passed = [name for name, is_over in limits if is_over]
        print(f"{line}  ({time.monotonic() - start:.0f} s)  {'ok' if not passed else 'OVER: ' + '; '.join(passed)}",
              flush=True)
        if passed:
            self.over.append(f"{' '.join(line.split())[:40]} … {'; '.join(passed)}")

    def saves(self, mode, rate, event):
        start = time.monotonic()
        self.fresh(mode)
        before = titles(self.path)
        keeper = self.keep(mode) if event != "rename" else None
        watcher = Watcher(self.options.strata, self.path)
        done = run_writer(self.path, mode, rate, max(3, int(rate * self.options.seconds)), event, self.log)
        settled(watcher, before, self.path, done)
        # Nothing comes twice, either.
        time.sleep(0.5)
        problems, blocks, latencies = check(watcher, before, self.path, done)
        memory, status = watcher.memory(), watcher.end()
        if keeper:
            keeper.close()
        if status != 0:
            problems.append(f"ended with {status}")
        late = sorted(latencies) or [float("inf")]
        median = statistics.median(late)
        self.say(
            f"saves   {mode:6} {rate:5.0f}/s {event:8} {len(done['saves']):6} saves {blocks:6} blocks"
            f"  shown after {median * 1000:5.0f} ms, worst {late[-1] * 1000:5.0f} ms  {memory:3.0f} MB",
            [(text, True) for text in problems[:3]]
            + [("late", rate <= 10 and median > LATEST), ("memory", memory > MOST_MEMORY)], start)

    def rest(self, mode):
        start = time.monotonic()
        self.fresh(mode)
        keeper = self.keep(mode)
        watcher = Watcher(self.options.strata, self.path)
        time.sleep(1)
        rest, memory = watcher.rest(20), watcher.memory()
        watcher.end()
        keeper.close()
        self.say(f"rest    {mode:6}  {rest:4.2f} % of a processor  {memory:3.0f} MB",
                 [("at rest", rest >= MOST_AT_REST), ("memory", memory > MOST_MEMORY)], start)

    def writer(self, mode):
        start = time.monotonic()
        spent = {False: [], True: []}
        for turn in range(2 * self.options.rounds):
            self.fresh(mode)
            watcher = Watcher(self.options.strata, self.path, "20") if turn % 2 else None
            # Copies that still go to the disk, the watcher's among them, would slow down what is measured.
            os.sync()
            spent[turn % 2 == 1].append(run_writer(self.path, mode, 0, 20000, "none", self.log)["spent"])
            if watcher:
                watcher.end()
        alone, beside = statistics.median(spent[False]), statistics.median(spent[True])
        slower = (beside / alone - 1) * 100
        self.say(f"writer  {mode:6}  20,000 saves: {alone:.3f} s alone, {beside:.3f} s beside a watcher ({slower:+.1f} %)",
                 [("slower", slower > MOST_SLOWER)], start)


def main():
    if sys.argv[1:2] == ["--write"]:
        path, mode, rate, count, event, log = sys.argv[2:]
        return write(path, mode, float(rate), int(count), event, log)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("strata")
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--objects", default="5000,1000000")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--rates", default="1,10,1000")
    parser.add_argument("--modes", default="WAL,DELETE")
    parser.add_argument("--events", default=",".join(EVENTS))
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--store", help="use a copy of this store, with recipes, instead of new demos")
    options = parser.parse_args()
    parts = options.parts.split(",")
    if unknown := set(parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory(prefix="strata-watch") as folder:
        bench = Bench(options, folder)
        for objects in [0] if options.store else map(int, options.objects.split(",")):
            bench.make(objects)
            for mode in options.modes.split(","):
                for rate in map(float, options.rates.split(",")) if "saves" in parts else []:
                    for event in options.events.split(",") if rate == 10 else ["none"]:
                        if mode == "DELETE" and event in ("PASSIVE", "FULL", "RESTART", "TRUNCATE", "reader"):
                            continue
                        bench.saves(mode, rate, event)
                if "rest" in parts:
                    bench.rest(mode)
                if "writer" in parts:
                    bench.writer(mode)
    print("no limit is passed" if not bench.over else "passed:\n  " + "\n  ".join(bench.over))
    return 1 if bench.over else 0


if __name__ == "__main__":
    sys.exit(main())
