#!/usr/bin/env python3
"""Measures what `strata salvage` brings back of stores that were damaged on purpose.

    salvaged.py STRATA DAMAGE.PY STORE… [--model MODEL] [--damages a,b,…] [--doctor] [--all]

Each store is damaged in the ways that DAMAGE.PY (a program that makes damages) knows, salvaged, and compared with the
undamaged one, row by row and column by column, through SQLite: no code of strata's takes part in it. Only
objects count of which every byte is still in the damaged file, in the frames of its -wal or in the pages of
its -journal. A line is printed for each result that falls short, with --all for every one; at the end, a sum
for each damage.
"""

import argparse
import collections
import hashlib
import importlib.util
import json
import os
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile

FULL = """header-16 header-100 page-size-wrong pagecount-low pagecount-high zero-page1 zero-master zero-interior leaf-header
index-zero freelist-bad zero-ptrmap meta-row-missing meta-table-missing meta-garbage cache-missing cache-garbage
meta-cache-missing pk-rows-missing wal-salt wal-header wal-renamed wal-bit wal-cut journal-hot""".split()
MOST = "truncate-90 truncate-50 zero-tail-25 scatter-5 zero-leaf overflow-zero".split()
FRAMES = ["empty-main"]
REFUSED = ["encrypted"]


def load_damage(path):
    spec = importlib.util.spec_from_file_location("damage", path)
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec.loader.exec_module(module)
    return module


def digests(folder):
    found = {}
    for root, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(root, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, folder)] = hashlib.sha256(file.read()).hexdigest()
    return found


class Remains:
    """Every version of every page that the damaged files still hold."""

    def __init__(self, folder, page_size):
        self.size = page_size
        with open(os.path.join(folder, "store.sqlite"), "rb") as file:
            self.main = file.read()
        self.frames = collections.defaultdict(list)
        for name in os.listdir(folder):
            if not name.endswith(("-wal", "-journal")):
                continue
            with open(os.path.join(folder, name), "rb") as file:
                log = file.read()
            if name.endswith("-journal"):
                # One header, as damage.py writes it; each page stands between its number and its checksum.
                for at in range(512, len(log) - page_size - 7, page_size + 8):
                    page = struct.unpack(">I", log[at:at + 4])[0]
                    self.frames[page].append(log[at + 4:at + 4 + page_size])
                continue
            at = 32
            while at + 24 < len(log):
                page = struct.unpack(">I", log[at:at + 4])[0]
                self.frames[page].append(log[at + 24:at + 24 + page_size])
                at += 24 + page_size

    def holds(self, page, start, data):
        at = (page - 1) * self.size + start
        if self.main[at:at + len(data)] == data:
            return True
        return any(frame[start:start + len(data)] == data for frame in self.frames[page])


def places(image, root):
    """For each row of a table: its key and the places of all its bytes."""
    for page, start, _, key, chunks, _ in image.cells(root):
        found = [(page, start, chunks[0])]
        if len(chunks) > 1:
            content = image.page(page)
            # Behind what of the row stands in the page is the number of the next.
            following = struct.unpack(">I", content[start + len(chunks[0]):start + len(chunks[0]) + 4])[0]
            for chunk in chunks[1:]:
                found.append((following, 4, chunk))
                following = struct.unpack(">I", image.page(following)[:4])[0]
        yield key, found


def truth(path, image):
    """All tables of objects and of links, as SQLite reads them: columns, and rows by key."""
    db = sqlite3.connect("file:%s?mode=ro" % path.replace("?", "%3f"), uri=True)
    db.text_factory = bytes
    tables = {}
    for name, root, sql in db.execute("SELECT name, rootpage, sql FROM sqlite_master WHERE type = 'table'"):
        name, sql = name.decode(), (sql or b"").decode()
        columns = [r[1].decode() for r in db.execute('PRAGMA table_info("%s")' % name)]
        is_join = name.startswith("Z_") and name[2:3].isdigit()
        if not root or not (is_join or "Z_ENT" in columns and "Z_OPT" in columns):
            continue
        listed = ", ".join('"%s"' % c for c in columns)
        try:
            rows = {r[0]: r[1:] for r in db.execute('SELECT rowid, %s FROM "%s" NOT INDEXED' % (listed, name))}
        except sqlite3.Error:
            continue
        tables[name] = (columns, rows, is_join, root)
    db.close()
    return tables


class Result:
    def __init__(self):
        self.there = self.equal = self.wrong = self.pairs = self.pairs_equal = self.pairs_wrong = 0
        self.columns = collections.Counter()
        self.told = []
        self.problems = []

    @property
    def share(self):
        return 1.0 if not self.there + self.pairs else (self.equal + self.pairs_equal) / (self.there + self.pairs)


def compare(expected, image, remains, output):
    result = Result()
    db = sqlite3.connect("file:%s?mode=ro" % output, uri=True)
    db.text_factory = bytes
    check = [r[0] for r in db.execute("PRAGMA integrity_check")]
    if check != [b"ok"]:
        result.problems.append("integrity_check: %r" % check[:2])
    known = {r[0].decode() for r in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    for name, (columns, rows, is_join, root) in sorted(expected.items()):
        there = {key for key, found in places(image, root) if all(remains.holds(*place) for place in found)}
        there &= rows.keys()
        if name not in known:
            (result.columns.update({name + ": no table": len(there)}) if there else None)
            if is_join:
                result.pairs += len(there)
            else:
                result.there += len(there)
            continue
        present = [r[1].decode() for r in db.execute('PRAGMA table_info("%s")' % name)]
        common = [c for c in columns if c in present]
        listed = ", ".join('"%s"' % c for c in common)
        got = {r[0]: r[1:] for r in db.execute('SELECT rowid, %s FROM "%s" NOT INDEXED' % (listed, name))}
        at = [columns.index(c) for c in common]
        if is_join:
            wanted = {tuple(rows[k][i] for i in at) for k in there}
            everything = {tuple(row[i] for i in at) for row in rows.values()}
            found = set(got.values())
            result.pairs += len(wanted)
            result.pairs_equal += len(wanted & found)
            result.pairs_wrong += len(found - everything)
            if wanted - found:
                result.columns[name + ": links missing"] += len(wanted - found)
            if found - everything:
                result.columns[name + ": links that are not there"] += len(found - everything)
            continue
        result.there += len(there)
        for key in there:
            if key not in got:
                result.columns[name + ": objects missing"] += 1
                continue
            bad = [c for c, i, value in zip(common, at, got[key]) if not same(rows[key][i], value)]
            if bad:
                result.wrong += 1
                result.columns.update(name + "." + c for c in bad)
            else:
                result.equal += 1
    db.close()
    return result


def same(one, other):
    """Numbers by value: a REAL without a fraction may stand as an integer."""
    return one == other


def measure(strata, folder, expected, image, model, arguments):
    before = digests(folder)
    output = os.path.join(folder, "saved.sqlite")
    report = os.path.join(folder, "report.json")
    run = subprocess.run(
        [strata, "salvage", os.path.join(folder, "store.sqlite"), "--output", output, "--report", report]
        + (["--model", model] if model else []),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)
    after = {k: v for k, v in digests(folder).items() if k in before}
    if os.path.exists(output):
        result = compare(expected, image, Remains(folder, image.ps), output)
    else:
        result = Result()
        remains = Remains(folder, image.ps)
        for columns, rows, is_join, root in expected.values():
            there = sum(all(remains.holds(*place) for place in found) for _, found in places(image, root))
            if is_join:
                result.pairs += there
            else:
                result.there += there
    if after != before:
        result.problems.append("the damaged files were changed")
    if run.returncode not in (0, 1, 4):
        result.problems.append("status %d" % run.returncode)
    if os.path.exists(report):
        with open(report) as file:
            told = json.load(file)
            result.told = told.get("salvage", told).get("notes", [])
    elif not os.path.exists(output):
        result.told = [run.stderr.decode(errors="replace").strip()[:300]]
    result.status = run.returncode
    result.written = os.path.exists(output)
    if arguments.doctor and result.written:
        run_was_lossy = result.status == 1
        run = subprocess.run([strata, "doctor", output, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            found = json.loads(run.stdout)
            for finding in found.get("findings", found if isinstance(found, list) else []):
                # What was lost is named by what was not.
                dangling = "dangling" in finding.get("kind", "") and run_was_lossy
                if finding.get("severity") == "error" and not dangling:
                    result.problems.append("doctor: %s ×%s" % (finding.get("kind"), finding.get("count")))
        except ValueError:
            result.problems.append("doctor: status %d" % run.returncode)
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("strata")
    parser.add_argument("damage")
    parser.add_argument("stores", nargs="+")
    parser.add_argument("--model", help="given to strata; “self”: the undamaged store")
    parser.add_argument("--damages")
    parser.add_argument("--doctor", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--keep", help="keep what falls short in this folder")
    arguments = parser.parse_args()
    damage = load_damage(arguments.damage)
    wanted = arguments.damages.split(",") if arguments.damages else FULL + MOST + FRAMES + REFUSED
    sums = collections.defaultdict(lambda: [0, 0, 0, 0, 0])
    short = 0
    for store in arguments.stores:
        with tempfile.TemporaryDirectory() as work:
            os.makedirs(os.path.join(work, "base"))
            path = os.path.join(work, "base", "store.sqlite")
            for suffix in ("", "-wal"):
                if os.path.exists(store + suffix):
                    shutil.copyfile(store + suffix, path + suffix)
            base = damage.Base(path)
            expected = truth(path, base.im)
            for name in wanted:
                folder = os.path.join(work, name)
                pristine = damage.Base.__new__(damage.Base)
                pristine.__dict__.update(base.__dict__)
                pristine.path = store
                if damage.make(name, pristine, folder) is None:
                    continue
                state, image = expected, base.im
                if name == "wal-cut":
                    copy = os.path.join(work, "cut.sqlite")
                    for suffix in ("", "-wal"):
                        shutil.copyfile(os.path.join(folder, "store.sqlite" + suffix), copy + suffix)
                    image = damage.load(copy)
                    try:
                        state = truth(copy, image)
                    except sqlite3.Error:
                        continue
                model = path if arguments.model == "self" else arguments.model
                result = measure(arguments.strata, folder, state, image, model, arguments)
                asks = False
                if name in REFUSED:
                    ok = not result.written and result.status == 4
                else:
                    least = 1.0 if name in FULL + FRAMES else 0.99
                    ok = result.share >= least and not result.problems
                asks = not arguments.model and any("--model" in told for told in result.told)
                if asks and not result.written:
                    # Neither schema nor model is left.
                    print("ASKS %-34s %-18s for the model" % (os.path.basename(store), name))
                    continue
                sums[name][0] += result.there
                sums[name][1] += result.equal
                sums[name][2] += result.wrong
                sums[name][3] += result.pairs
                sums[name][4] += result.pairs_equal
                short += not ok
                if not ok or arguments.all:
                    print("%-4s %-34s %-18s objects %d of %d, %d wrong; links %d of %d, %d wrong  %s" % (
                        "ok" if ok else "BAD", os.path.basename(store), name, result.equal, result.there, result.wrong,
                        result.pairs_equal, result.pairs, result.pairs_wrong, "; ".join(result.problems)))
                    notes = " ".join(result.told).lower()
                    for column, count in result.columns.most_common(8):
                        name = column.split(".")[-1].lower()
                        name = "(order)" if name.startswith("z_fok") else name.lstrip("z")
                        is_told = "." in column and name in notes
                        print("         %6d %s%s" % (count, column, ", told" if is_told else ""))
                    for note in result.told[:6] if not ok else []:
                        print("         note: %s" % note[:260])
                    sys.stdout.flush()
                if not ok and arguments.keep:
                    target = os.path.join(arguments.keep, os.path.basename(store) + "." + name)
                    shutil.rmtree(target, ignore_errors=True)
                    shutil.copytree(folder, target)
                shutil.rmtree(folder)
    print("%-20s %9s %9s %7s %9s %9s" % ("damage", "there", "equal", "wrong", "links", "equal"))
    for name, row in sums.items():
        print("%-20s %9d %9d %7d %9d %9d" % (name, *row))
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
