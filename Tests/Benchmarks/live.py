#!/usr/bin/env python3
"""Opens the interface in tmux beside a program that saves, and measures how late it shows each save.

    live.py STRATA [--rates 1,10,1000] [--modes WAL,DELETE] [--sizes 120x36,80x24] [--seconds S] [--objects N]
            [--events none,PASSIVE,FULL,RESTART,TRUNCATE,VACUUM,rename]

The writer has its own SQLite connection. Each of its saves renames ten tags, whose rows are on the screen. At ten saves
a second every seventh is followed by a checkpoint, or every twentieth by VACUUM or by a file that replaces the store.
Printed are the time from commit to screen (median, worst) of the saves that were seen, whether the last one is shown
with its mark, what the header counts, and memory. Ends with 1 where the last save is not shown or marked, where the
header counts another number than was saved ("changed" is right where saves cannot be counted), where the median is more
than 300 ms at up to ten saves a second, or where the interface takes more than 64 MB. Some 15 s for each line.
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
import threading
import time

KEYS, LATEST, PATIENCE = 10, 0.3, 60
MOST_MEMORY = 64 * 1e6 / (1 << 20)
EVENTS = ["none", "PASSIVE", "FULL", "RESTART", "TRUNCATE", "VACUUM", "rename"]


class Terminal:
    def __init__(self, folder, size, command):
        # A server that is about to end takes no new terminal: each has its own.
        self.folder = tempfile.mkdtemp(dir=folder)
        self.socket = os.path.join(self.folder, "tmux")
        width, height = size.split("x")
        self.tmux("new-session", "-d", "-x", width, "-y", height,
                  f"export TERM=xterm-256color LANG=C.UTF-8 NO_COLOR=1 XDG_STATE_HOME='{self.folder}' "
                  f"XDG_CONFIG_HOME='{self.folder}'; {command}; sleep 60")

    def tmux(self, *words):
        return subprocess.run(["tmux", "-f", "/dev/null", "-S", self.socket, *words], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, env={**os.environ, "TMUX": ""}).stdout

    def keys(self, *keys):
        for key in keys:
            self.tmux("send-keys", key)
            time.sleep(0.1)

    def screen(self):
        return self.tmux("capture-pane", "-p")

    def showing(self, text):
        end = time.monotonic() + PATIENCE
        while text not in (screen := self.screen()):
            if time.monotonic() > end:
                raise SystemExit(f"never shown: {text}\n{screen}")
            time.sleep(0.02)
        return screen


def connect(path, mode):
    store = sqlite3.connect(path, isolation_level=None, timeout=10)
    store.execute(f"PRAGMA journal_mode = {mode}")
    store.execute("PRAGMA synchronous = OFF" if mode == "DELETE" else "PRAGMA synchronous = NORMAL")
    return store


def memory(strata, path):
    """Most memory that the interface on a store took."""
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/cmdline") as text:
                words = text.read().split("\0")
            if words[0] != strata or path not in words:
                continue
            with open(f"/proc/{process}/status") as text:
                return next(int(line.split()[1]) for line in text if line.startswith("VmHWM")) / 1024
        except OSError:
            pass
    raise SystemExit("the interface has ended")


def write(path, mode, rate, count, event, commits):
    store = connect(path, mode)
    begin = time.monotonic()
    for number in range(1, count + 1):
        wait = begin + number / rate - time.monotonic()
        if wait > 0:
            time.sleep(wait)
        store.execute("BEGIN IMMEDIATE")
        store.execute("UPDATE ZTAG SET ZNAME = 'save ' || ? || '.' || Z_PK, Z_OPT = Z_OPT + 1 WHERE Z_PK <= ?", (number, KEYS))
        store.execute("COMMIT")
        commits[number] = time.monotonic()
        if event in ("PASSIVE", "FULL", "RESTART", "TRUNCATE") and number % 7 == 0:
            store.execute(f"PRAGMA wal_checkpoint({event})").fetchall()
        elif event == "VACUUM" and number % 20 == 0:
            store.execute("VACUUM")
        elif event == "rename" and number % 20 == 0:
            if mode == "WAL":
                store.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            store.close()
            shutil.copyfile(path, path + ".new")
            os.rename(path + ".new", path)
            store = connect(path, mode)
    store.close()


def measure(options, folder, size, mode, rate, event):
    path = os.path.join(folder, "Live.sqlite")
    for suffix in ("", "-wal", "-shm", "-journal"):
        if os.path.exists(path + suffix):
            os.remove(path + suffix)
    shutil.copyfile(os.path.join(folder, "demo", "Recipes.sqlite"), path)
    keeper = connect(path, mode)
    keeper.execute("SELECT count(*) FROM ZTAG").fetchone()
    if event == "rename":
        # What it had open would be another file.
        keeper.close()
    terminal = Terminal(folder, size, f"'{options.strata}' --fresh '{path}'")
    try:
        terminal.showing("Entities")
        terminal.keys("Tab", "Tab", "G", "Enter")
        terminal.showing("Tag/p1")
        terminal.keys("C")
        terminal.showing("no other program saved since")
        terminal.keys("Escape")
        count, commits, seen = max(3, int(rate * options.seconds)), {}, {}
        writer = threading.Thread(target=write, args=(path, mode, rate, count, event, commits))
        writer.start()
        end = None
        while True:
            screen = terminal.screen()
            now = time.monotonic()
            shown = [int(number) for number in re.findall(r"save (\d+)\.", screen)]
            if len(shown) >= KEYS and min(shown) not in seen:
                seen[min(shown)] = now
            if end is None and not writer.is_alive():
                end = now + PATIENCE
            header = re.search(r"● (?:([\d,]+) saves?|changed)|! replaced", screen)
            # A number counts all; VACUUM is a transaction, too.
            most = count + (count // 20 if event == "VACUUM" else 0)
            isCounted = header and (header[1] is None or count <= int(header[1].replace(",", "")) <= most)
            isMarked = re.search(rf"~ +1 +save {count}\.", screen)
            if end and (count in seen and isCounted and isMarked or now > end):
                break
            time.sleep(0.002)
        late = sorted(seen[number] - commits[number] for number in seen)
        said = header[0] if header else "no header"
        problems = [] if count in seen and isMarked else ["the last save is not shown"]
        if not isCounted:
            problems.append("the header's count is wrong")
        median = statistics.median(late) if late else float("inf")
        if rate <= 10 and median > LATEST:
            problems.append("late")
        if (taken := memory(options.strata, path)) > MOST_MEMORY:
            problems.append("memory")
        print(f"{size:7} {mode:6} {rate:5.0f}/s {event:8} {count:6} saves, {len(seen):4} seen  shown after {median * 1000:5.0f} ms, "
              f"worst {late[-1] * 1000 if late else 0:5.0f} ms  {taken:3.0f} MB  {said}  {'; '.join(problems) or 'ok'}", flush=True)
        return problems
    finally:
        terminal.keys("q")
        terminal.tmux("kill-server")
        if event != "rename":
            keeper.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("strata")
    parser.add_argument("--rates", default="1,10,1000")
    parser.add_argument("--modes", default="WAL,DELETE")
    parser.add_argument("--sizes", default="120x36,80x24")
    parser.add_argument("--events", default=",".join(EVENTS))
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--objects", type=int, default=5000)
    options = parser.parse_args()
    options.strata = os.path.abspath(options.strata)
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="strata-live") as folder:
        subprocess.run([options.strata, "demo", os.path.join(folder, "demo"), "--objects", str(options.objects), "--no-open"],
                       check=True, stdout=subprocess.DEVNULL)
        for size in options.sizes.split(","):
            for mode in options.modes.split(","):
                for rate in map(float, options.rates.split(",")):
                    for event in options.events.split(",") if rate == 10 else ["none"]:
                        if mode == "WAL" or event in ("none", "VACUUM", "rename"):
                            wrong += bool(measure(options, folder, size, mode, rate, event))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
