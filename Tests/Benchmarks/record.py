#!/usr/bin/env python3
"""Records what a strata binary answers, so that two binaries can be compared before and after a change.

    record.py record STRATA OUT [--shared DIR] [--work DIR] [--jobs N] [--only GLOB…] [--pairs N] [--minutes N]
                                [--pause-while FILE]
    record.py compare A B [--wording] [--lines N]

`record` makes the folder OUT. A record is a command, or a store read as text, and has up to two files:
    TASK/LABEL.result   status, JSON without its sentences, data, rows: what must not change
    TASK/LABEL.words    plain output, messages, the sentences of the JSON: what may be worded anew
OUT/about.txt says what was recorded and what was left out. `compare` ends with 1 where results differ; wording is
only counted, and shown with --wording. --only chooses tasks by name ("migrate/wire/*"); names are printed as tasks end.
After --minutes no task is begun; tasks that only one of two records has are listed, and not compared.

Recorded are every --help; the reading commands on the fixtures and cases of SHARED, and on stores with oddities that
SQL makes of a demo; models, mapping models and lint; plan, migrate, verify, rehearse and rollback of each store to
the other versions of its model, of odd stores, and of generated pairs of models; salvage, repair and undelete of
stores that SHARED/tools/damage.py damages. Inputs are copied to the work folder and never written to.

strata has no switch for its clock and its random source: times of today, durations, free space, random identifiers
and paths of the work folder are replaced by marks.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import copy
import difflib
import fnmatch
import hashlib
import importlib.util
import io
import itertools
import json
import os
import plistlib
import random
import re
import resource
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import xml.etree.ElementTree as ElementTree
import zipfile
import zlib

sys.dont_write_bytecode = True  # nothing is left beside damage.py

LIMIT = 60  # seconds a command may take
LARGEST = 40_000_000  # bytes of a store that is recorded
REFERENCE = 978_307_200  # 2001-01-01 in seconds since 1970
DAY = 86_400

# Commands whose JSON is data of the store: no key of theirs holds a sentence.
DATA = {"dump", "rows", "object", "search", "frequencies"}
# Keys whose text is a sentence for people. A text without a space under one of them is a name, and stays.
SENTENCES = {
    "advice", "cause", "caveats", "consequence", "coreData", "description", "effect", "explanation", "gap", "hint",
    "markdown",
    "meaning", "message", "meanings", "misfit", "notes", "obstacles", "problem", "reason", "reasons", "sentence",
    "shortDescription", "fullDescription", "suggestion", "text", "title", "warnings", "what",
}
# What stands inside these is data of the store, whatever its attributes are called.
VALUES = {"after", "attributes", "before", "new", "old", "samples", "values"}
# Commands for people: which command with which options is a result, the paths and how they are quoted are wording.
COMMANDS = {"command", "commands", "rollback"}
# Numbers that a clock or the disk gives.
MEASURED = {"seconds", "verificationSeconds", "secondsEstimated", "elapsed", "remaining", "bytesFree"}
# Of a receipt: the bytes of the file that was made. Files are not compared, their rows are.
OF_FILES = {"checksums", "bytes"}


# ---- texts


class Number(str):
    """A number as it was printed: 1.0 is not 1."""


def parsed(text):
    return json.loads(text, parse_float=Number, parse_int=Number, parse_constant=Number)


def compact(value):
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, dict):
        return "{" + ", ".join("%s: %s" % (quoted(key), compact(value[key])) for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(compact, value)) + "]"
    return quoted(value)


def quoted(value):
    return json.dumps(value, ensure_ascii=False)


def pretty(value, indent=""):
    """JSON with sorted keys; what fits on a line stands on one."""
    line = compact(value)
    if len(line) <= 150 or not isinstance(value, (dict, list)):
        return line
    inner = indent + "  "
    if isinstance(value, dict):
        parts = ["%s%s: %s" % (inner, quoted(key), pretty(value[key], inner)) for key in sorted(value)]
        return "{\n%s\n%s}" % ("\n".join(parts), indent)
    return "[\n%s\n%s]" % ("\n".join(inner + pretty(each, inner) for each in value), indent)


def decoded(data):
    return data.decode("utf-8", "backslashreplace")


def json_of(text):
    """The JSON values of an output, one or a line each; None where it holds anything else."""
    if not text.strip():
        return None
    try:
        return [parsed(text)]
    except ValueError:
        pass
    try:
        return [parsed(line) for line in text.splitlines() if line.strip()]
    except ValueError:
        return None


class Sentences:
    """Takes the sentences out of JSON, and what a clock or the disk gave."""

    def __init__(self):
        self.words = []

    def without(self, value, path="", key="", is_value=False):
        if isinstance(value, dict):
            return {each: self.without(value[each], "%s.%s" % (path, each), each, is_value or each in VALUES)
                    for each in self.kept(value, path)}
        if isinstance(value, list):
            return [self.without(each, "%s[%d]" % (path, at), key, is_value) for at, each in enumerate(value)]
        if isinstance(value, Number):
            return "<measured>" if key in MEASURED else value
        if not isinstance(value, str) or is_value:
            return value
        if key in COMMANDS:
            self.words.append("%s: %s" % (path, value))
            return command_without_paths(value)
        if key in SENTENCES and " " in value:
            self.words.append("%s: %s" % (path, value))
            return "<words>"
        return value

    def kept(self, value, path):
        return [each for each in value if not (path.endswith("receipt") and each in OF_FILES)]


def command_without_paths(text):
    """What a printed command does: the command and its options, without the paths and how they are quoted."""
    found = re.search(r"strata['\"]?\s+([a-z-]+)", text)
    options = sorted(set(re.findall(r"(?<=\s)--[a-z-]+", text)))
    return " ".join(["<command>", found.group(1) if found else "", *options])


class Marks:
    """Replaces what differs between two runs of one binary."""

    UUID = re.compile(r"\b[0-9A-F]{8}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{12}\b", re.I)
    BLOB = re.compile(r"x'[0-9a-f]{32}'")
    ISO = re.compile(r"\b20\d\d-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?(?: ?Z| UTC|[+-]\d\d:?\d\d)?")
    SECONDS = re.compile(r"(?<![\w.-])\d{9}(?:\.\d+)?(?![\w.])")
    SINCE_1970 = re.compile(r"(?<![\w.-])1\d{9}(?:\.\d+)?(?![\w.])")
    DURATION = re.compile(r"(?<![\w.])(?:\d+ min )?\d+(?:\.\d+)? ?(?:ns|µs|ms|s|seconds?|minutes?|min)\b")
    FREE = re.compile(r"\d+(?:\.\d+)? (?:[kKMGT]?B|bytes) (?:are |is )?free")
    PRIVATE = re.compile(r"(/strata-[a-z-]+)\.\w{6}\b")
    CELL = re.compile(r" +\d+(?:\.\d+)?(?=  (?:done|nothing to do|refused|failed|cancelled|would be))")
    ATTRIBUTE = re.compile(r'time="[\d.]+"')
    SUM_OF_FILE = re.compile(r"(SHA-256[^:\n]*: )[0-9a-f]{64}")
    CLOCK = re.compile(r"\b\d\d:\d\d:\d\d\b")

    def __init__(self, replaced):
        now = time.time()
        self.first, self.last = now - DAY, now + 2 * DAY
        self.days = {time.strftime("%Y-%m-%d", time.gmtime(at)) for at in (now - DAY, now, now + DAY)}
        self.replaced = sorted(replaced, key=lambda pair: -len(pair[0]))
        self.hides_identifiers = False  # every one, in tasks whose commands draw some as values
        self.sources, self.known = [], {}

    def in_data(self, text):
        for path, mark in self.replaced:
            text = text.replace(path, mark)
        text = self.PRIVATE.sub(r"\1.<random>", text)
        if self.hides_identifiers:
            text = self.BLOB.sub("x'<16 bytes>'", self.UUID.sub("<uuid>", text))
        if self.sources:
            text = self.UUID.sub(lambda found: found.group() if self.is_known(found.group()) else "<uuid>", text)
        text = self.ISO.sub(lambda found: "<today>" if found.group()[:10] in self.days else found.group(), text)
        text = self.SECONDS.sub(lambda found: self.unless_now(found.group(), REFERENCE), text)
        return self.SINCE_1970.sub(lambda found: self.unless_now(found.group(), 0), text)

    def in_words(self, text):
        text = self.FREE.sub("<free>", self.DURATION.sub("<duration>", self.in_data(text)))
        text = self.CELL.sub(" <duration>", self.ATTRIBUTE.sub('time="<duration>"', text))
        text = self.SUM_OF_FILE.sub(r"\1<sum>", text)
        return self.CLOCK.sub("<time>", text)

    def know(self, data):
        """Keeps the identifiers that stand in these bytes, as text or as a value; others were drawn."""
        if data not in self.sources:
            self.sources.append(data)
            self.known.clear()

    def is_known(self, text):
        if text not in self.known:
            forms = [bytes.fromhex(text.replace("-", ""))]
            for case in (text.upper(), text.lower()):
                forms += [case.encode(), case.encode("utf-16-le")[:-1]]
            self.known[text] = any(form in data for data in self.sources for form in forms)
        return self.known[text]

    def unless_now(self, text, start):
        return "<now>" if self.first <= float(text) + start <= self.last else text


# ---- a store as text


def value_text(value):
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        if len(value) <= 40:
            return "x'%s'" % value.hex()
        return "x'%s…' of %d bytes" % (hashlib.sha256(value).hexdigest()[:24], len(value))
    if isinstance(value, str):
        return quoted(value) if len(value) <= 400 else "%s… of %d, %s" % (
            quoted(value[:60]), len(value), hashlib.sha256(value.encode("utf-8", "surrogateescape")).hexdigest()[:24])
    return repr(value)


def plain_plist(value):
    if isinstance(value, dict):
        return {str(key): plain_plist(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_plist(each) for each in value]
    if isinstance(value, bytes):
        return "x" + value.hex()
    if isinstance(value, (bool, str)) or value is None:
        return value
    return Number(value) if isinstance(value, (int, float)) else str(value)


def connect(path, **options):
    db = sqlite3.connect(path, isolation_level=None, **options)
    db.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
    for name in ("NSCoreDataDATriggerInsertUpdatedAffectedObjectValue", "NSCoreDataDATriggerUpdatedAffectedObjectValue",
                 "NSCoreDataTriggerUpdateAffectedObjectValue"):
        db.create_function(name, -1, lambda *values: None)
    return db


def store_text(path):
    """The schema and every row of a store with its key, sorted; the -wal is read with it. Reads a private copy."""
    if not os.path.exists(path):
        return "no such file\n"
    with tempfile.TemporaryDirectory() as folder:
        private = os.path.join(folder, "store")
        for end in ("", "-wal", "-journal"):
            if os.path.exists(path + end):
                shutil.copyfile(path + end, private + end)
        with contextlib.closing(connect(private)) as db:
            try:
                return "".join(line + "\n" for line in lines_of(db))
            except sqlite3.Error as error:
                return "%s: %s\n" % (type(error).__name__, error)


def lines_of(db):
    for name in ("encoding", "page_size", "auto_vacuum", "user_version", "application_id"):
        yield "%s %s" % (name, value_text(db.execute("PRAGMA " + name).fetchone()[0]))
    master = db.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall()
    yield from sorted("schema " + " ".join(value_text(value) for value in row) for row in master)
    for kind, name, _, _ in sorted(master, key=lambda row: str(row[1])):
        if kind == "table":
            yield "table %s" % name
            yield from sorted(rows_of(db, name))


def rows_of(db, name):
    called = '"%s"' % name.replace('"', '""')
    try:
        columns = [row[1] for row in db.execute("PRAGMA table_info(%s)" % called)]
        try:
            rows = db.execute("SELECT rowid, * FROM %s NOT INDEXED" % called).fetchall()
        except sqlite3.OperationalError:
            rows = [("-", *row) for row in db.execute("SELECT * FROM %s" % called)]
    except sqlite3.Error as error:
        yield "%s cannot be read: %s" % (name, error)
        return
    for row in rows:
        key, values = row[0], dict(zip(columns, row[1:]))
        text = ""
        if name == "Z_METADATA" and isinstance(values.get("Z_PLIST"), bytes):
            with contextlib.suppress(Exception):
                text = " " + compact(plain_plist(plistlib.loads(values.pop("Z_PLIST"))))
        if name == "Z_MODELCACHE" and isinstance(values.get("Z_CONTENT"), bytes):
            with contextlib.suppress(zlib.error):
                values["Z_CONTENT"] = zlib.decompress(values["Z_CONTENT"])
        yield "%s %s: %s%s" % (name, key, " ".join("%s=%s" % (column, value_text(value))
                                                   for column, value in values.items()), text)


# ---- recording


Answer = collections.namedtuple("Answer", "status out err values")


class Recorder:
    def __init__(self, strata, out, work, shared, jobs, pause):
        self.strata, self.out, self.work, self.jobs, self.pause = os.path.abspath(strata), out, work, jobs, pause
        self.shared = os.path.join(work, "shared")
        self.real_shared = shared
        self.records, self.commands, self.timeouts = 0, 0, []
        self.skipped = []
        self.texts = {}
        self.lock = threading.Lock()

    def copy_inputs(self):
        for part in ("fixtures", "cases", "tools"):
            source, target = os.path.join(self.real_shared, part), os.path.join(self.shared, part)
            if os.path.isdir(source):
                shutil.copytree(source, target, copy_function=shutil.copy2)
        for folder, _, names in os.walk(self.shared):
            os.chmod(folder, 0o755)
            for name in names:
                path = os.path.join(folder, name)
                os.chmod(path, 0o644)
                if name.endswith(".swift"):
                    make_certain(path)

    def write(self, task, label, kind, text):
        folder = os.path.join(self.out, task)
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, "%s.%s" % (label, kind))
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        with self.lock:
            if kind == "result":
                self.records += 1
            same = self.texts.setdefault(digest, path) if len(text) > 4096 else path
        if same != path and os.path.exists(same):  # the same text a second time takes no room
            with contextlib.suppress(OSError):
                os.link(same, path)
                return
        with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)

    def counted(self, command, is_late):
        with self.lock:
            self.commands += 1
            if is_late:
                self.timeouts.append(command)


def make_certain(path):
    """Random numbers as defaults in Swift source get a range of one number."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    certain = re.sub(r"random\(in: *(-?\d+)\.\.[.<] *-?\d+\)", r"random(in: \1...\1)", text)
    if certain != text:
        with open(path, "w", encoding="utf-8") as file:
            file.write(certain)


class Place:
    """The folder of one task, in which its commands run, with a home of its own."""

    def __init__(self, recorder, task):
        self.recorder, self.task = recorder, task
        self.root = os.path.join(recorder.work, "tasks", re.sub(r"[^\w.-]+", "_", task))
        shutil.rmtree(self.root, ignore_errors=True)
        self.folder = os.path.join(self.root, "w")
        self.labels = collections.Counter()
        os.makedirs(self.folder)
        self.environment = {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LANG": "C.UTF-8", "TZ": "UTC", "TERM": "dumb",
            "NO_COLOR": "1", "COLUMNS": "100", "GIT_CEILING_DIRECTORIES": recorder.work, "GIT_CONFIG_NOSYSTEM": "1",
        }
        for name, folder in (("HOME", "home"), ("XDG_STATE_HOME", "state"), ("XDG_CACHE_HOME", "cache"),
                             ("XDG_CONFIG_HOME", "config"), ("TMPDIR", "tmp")):
            self.environment[name] = os.path.join(self.root, folder)
            os.makedirs(self.environment[name])
        self.marks = Marks([(self.root, "PLACE"), (os.path.realpath(self.root), "PLACE"), (recorder.shared, "SHARED"),
                            (os.path.realpath(recorder.shared), "SHARED"), (recorder.strata, "STRATA"),
                            (recorder.work, "WORK")])

    def close(self):
        shutil.rmtree(self.root, ignore_errors=True)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def label(self, text):
        """A file's name for a command: readable, and its own."""
        text = self.marks.in_data(text).replace("SHARED/fixtures/", "").replace("SHARED/", "")
        short = re.sub(r"[^\w.@=+-]+", "_", text).strip("_")[:110]
        self.labels[short] += 1
        return short if self.labels[short] == 1 else "%s~%d" % (short, self.labels[short])

    def take(self, store, name=None):
        """A copy of a store with its -wal and external data, under a name in this place."""
        name = name or os.path.basename(store)
        self.know(store)
        for end in ("", "-wal", "-journal"):
            if os.path.exists(store + end):
                shutil.copyfile(store + end, self.path(name + end))
            elif os.path.exists(self.path(name + end)):
                os.remove(self.path(name + end))
        support = os.path.join(os.path.dirname(store), support_name(store))
        shutil.rmtree(self.path(support_name(name)), ignore_errors=True)
        if os.path.isdir(support):
            shutil.copytree(support, self.path(support_name(name)))
        return name

    def know(self, store):
        for end in ("", "-wal"):
            if os.path.exists(store + end):
                with open(store + end, "rb") as file:
                    self.marks.know(file.read())

    def start(self, *arguments, stdin=None):
        while self.recorder.pause and os.path.exists(self.recorder.pause):
            time.sleep(2)
        try:
            done = subprocess.run([self.recorder.strata, *arguments], cwd=self.folder, env=self.environment,
                                  input=stdin if stdin is not None else b"", capture_output=True, timeout=LIMIT)
            status, out, err = done.returncode, decoded(done.stdout), decoded(done.stderr)
        except subprocess.TimeoutExpired:
            status, out, err = "more than %d s" % LIMIT, "", ""
        self.recorder.counted("%s: %s" % (self.task, " ".join(arguments)), isinstance(status, str))
        return Answer(status, out, err, json_of(out))

    def run(self, *arguments, stdin=None, is_data=False, label=None):
        """Runs a command and records its answer."""
        answer = self.start(*arguments, stdin=stdin)
        self.record(arguments, answer, is_data or arguments[0] in DATA, label)
        return answer

    def both(self, *arguments):
        """Plain and as JSON."""
        self.run(*arguments)
        return self.run(*arguments, "--json")

    def record(self, arguments, answer, is_data, label):
        command = "$ strata %s\n" % " ".join(arguments)
        result, words = ["status %s" % answer.status], []
        is_json = "--help" not in arguments and ("--json" in arguments or "--format" in arguments
                                                 or arguments[0] == "dump")
        for name, text in (("stdout", answer.out), ("stderr", answer.err)):
            values = json_of(text) if is_json else None
            if values is not None and any(isinstance(value, (dict, list)) for value in values):
                result.append("%s:" % name)
                result += self.json_lines(values, is_data and name == "stdout", words)
            elif is_data and name == "stdout" and is_json and "table" not in arguments:
                result += ["stdout:", text]
            elif text:
                words += ["%s:" % name, text]
        label = self.label(label or " ".join(arguments))
        self.recorder.write(self.task, label, "result", self.marks.in_data(command + "\n".join(result) + "\n"))
        if words:
            self.recorder.write(self.task, label, "words", self.marks.in_words(command + "\n".join(words) + "\n"))

    def json_lines(self, values, is_data, words):
        for value in values:
            if isinstance(value, dict) and "progress" in value:  # as many lines as there is time for
                continue
            if is_data and not (isinstance(value, dict) and "error" in value):
                yield from map(compact, value if isinstance(value, list) else [value])
                continue
            sentences = Sentences()
            yield pretty(sentences.without(value))
            words += sentences.words

    def text(self, label, name):
        """Records a store's rows."""
        text = self.marks.in_data(store_text(self.path(name)))
        self.recorder.write(self.task, self.label(label), "result", text)

    def files(self, label):
        """Records the names of the files that are there, external data with their contents."""
        lines = []
        for name, digest in sorted(self.digests().items()):
            if "/.git/" in name:
                continue
            lines.append("%s %s" % (name, digest[:16]) if "_SUPPORT" in name else name)
        self.recorder.write(self.task, self.label(label), "result", self.marks.in_data("\n".join(lines) + "\n"))

    def digests(self):
        found = {}
        for folder, _, names in os.walk(self.folder):
            for name in names:
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    found[os.path.relpath(path, self.folder)] = hashlib.sha256(file.read()).hexdigest()
        return found

    @contextlib.contextmanager
    def untouched(self):
        """Records which files commands that only read changed, made or removed."""
        before = self.digests()
        yield
        after = self.digests()
        lines = sorted("%s %s" % (name, "made" if name not in before else "removed" if name not in after else "changed")
                       for name in {*before, *after} if before.get(name) != after.get(name))
        self.recorder.write(self.task, self.label("files touched"), "result", "".join(line + "\n" for line in lines))


def support_name(store):
    return ".%s_SUPPORT" % os.path.splitext(os.path.basename(store))[0]


# ---- inputs


class Inputs:
    """The stores, models and mappings of the fixtures and cases, by family: the folder that they lie in."""

    MODELS = (".xcdatamodeld", ".momd")
    MAPPINGS = (".xcmappingmodel", ".cdm")

    def __init__(self, recorder):
        self.root = recorder.shared
        self.stores, self.bundles, self.mappings, self.sources = [], [], [], []
        for folder, folders, names in os.walk(self.root):
            folders.sort()
            if os.path.basename(folder) in ("tools", "expected"):
                folders[:] = []
                continue
            if folder.endswith(self.MODELS):
                self.bundles.append(folder)
                folders[:] = []
                continue
            if folder.endswith(".xcmappingmodel"):
                self.mappings.append(folder)
                folders[:] = []
                continue
            for name in sorted(names):
                path = os.path.join(folder, name)
                if name.endswith(".cdm") or re.fullmatch(r"r\d\.json5", name):
                    self.mappings.append(path)
                elif name.endswith(".swift") and folder not in self.sources:
                    self.sources.append(folder)
                elif is_store(path):
                    if os.path.getsize(path) > LARGEST:
                        recorder.skipped.append("%s has %d bytes" % (self.name(path), os.path.getsize(path)))
                    else:
                        self.stores.append(path)

    def name(self, path):
        return os.path.relpath(path, self.root).replace("fixtures/", "", 1)

    def family(self, path):
        return "/".join(self.name(path).split("/")[:2]
                        if self.name(path).startswith("cases") else self.name(path).split("/")[:1])

    def bundles_of(self, store):
        """The model bundles a store may be of: those of its family, for a case those of its own name."""
        found = [each for each in self.bundles if self.family(each) == self.family(store)]
        stem = re.match(r"[A-Za-z]+\d?", os.path.basename(store)).group()
        named = [each for each in found if os.path.basename(each).split(".")[0] == stem]
        return named if "cases" in self.name(store) else [each for each in found if each not in doubled(found)]


def doubled(bundles):
    """Compiled bundles beside a source bundle of the same name."""
    names = {os.path.basename(each) for each in bundles}
    return {each for each in bundles if each.endswith(".momd")
            and os.path.basename(each)[:-4] + "xcdatamodeld" in names}


def is_store(path):
    with open(path, "rb") as file:
        return file.read(15) == b"SQLite format 3"


def versions_of(bundle):
    """The names of the versions of a bundle, in order."""
    ends = (".xcdatamodel",) if bundle.endswith(".xcdatamodeld") else (".mom",)
    names = [os.path.splitext(name)[0] for name in os.listdir(bundle) if name.endswith(ends)]
    return sorted(names, key=lambda name: [int(part) if part.isdigit() else part.lower()
                                           for part in re.split(r"(\d+)", name)])


# ---- what a task does


def read_store(place, store, models=(), searched=None, is_short=False):
    """Every reading command on one store."""
    with place.untouched():
        info = place.both("info", store)
        place.both("doctor", store)
        for arguments in (["history", "--changes", "--limit", "all"], ["undelete"], ["model"], ["hash"],
                          ["repair", "--dry-run"],
                          ["rollback", "--list"]):
            place.run(arguments[0], store, *arguments[1:], "--json")
            if not is_short:
                place.run(arguments[0], store, *arguments[1:])
        place.run("dump", store)
        if is_short:
            place.run("model", store, "--format", "xcdatamodel")
        else:
            for arguments in (["--authors"], ["--versions"]):
                place.both("history", store, *arguments)
            for form in ("xcdatamodel", "mermaid"):
                place.run("model", store, "--format", form, is_data=True)
            if os.path.getsize(place.path(store)) < 1_000_000:
                place.run("dump", store, "--blobs")
            for text in ("a", "1", "no such text"):
                place.run("search", store, text, "--limit", "5")
                place.run("search", store, text, "--json")
            place.both("stores", ".")
            place.run("plan", store, "--json")
            place.run("object", store, "Nothing/p1", "--json")
            place.run("rows", store, "Nothing", "--json")
        value = info.values[0] if info.values else {}
        entities = [each for each in value.get("entities") or [] if isinstance(each, dict)]
        is_first = True
        for entity in entities:
            rows = place.run("rows", store, entity["name"], "--json", "--limit", "1000" if is_short else "200")
            first = rows.values[0][0] if rows.values and isinstance(rows.values[0], list) and rows.values[0] else None
            if first is None:
                continue
            name, key = entity["name"], "%s/p%s" % (first.get("entity"), first.get("pk"))
            place.run("object", store, key, "--json")
            if is_first:
                is_first = False
                place.run("object", store, key)
                read_entity(place, store, name, sorted(first.get("attributes") or {}),
                            sorted(first.get("relationships") or {}))
        for model in models:
            place.both("explain", store, model)
            place.both("diff", store, model)
        if searched:
            place.both("find-model", store, searched)


def read_entity(place, store, entity, attributes, relationships):
    place.run("rows", store, entity)
    for form in ("csv", "markdown", "ndjson"):
        place.run("rows", store, entity, "--format", form, "--limit", "20", is_data=True)
    place.run("undelete", store, entity, "--json", is_data=True)
    place.run("undelete", store, entity, "--versions", "--json", is_data=True)
    for attribute in attributes[:6]:
        place.run("frequencies", store, entity, attribute, "--json")
    for attribute in attributes[:2]:
        place.run("frequencies", store, entity, attribute)
        place.run("rows", store, entity, "--sort", attribute + ":desc", "--offset", "1", "--limit", "5",
                  "--columns", attribute, "--format", "csv")
        place.run("rows", store, entity, "--where", attribute + " != nil", "--limit", "5", "--format", "ndjson")
    for relationship in relationships[:2]:
        place.run("rows", store, entity, "--where", "%s.@count > 0" % relationship, "--limit", "5", "--format",
                  "ndjson")
        place.run("rows", store, entity, "--where", "%s == nil" % relationship, "--limit", "5", "--format", "ndjson")
    place.run("rows", store, entity, "--where", "nothing == 1", "--json")


def accepted(plan):
    """The options that accept every loss of a plan."""
    value = plan.values[0] if plan.values and isinstance(plan.values[0], dict) else {}
    names = ["%s.%s" % (loss["entity"], loss["property"]) if loss.get("property") else str(loss["entity"])
             for loss in value.get("losses") or [] if isinstance(loss, dict) and loss.get("entity")]
    return [part for name in dict.fromkeys(names) for part in ("--allow-loss", name)]


def migrate_store(place, source, to, options=(), is_short=False, is_whole=True):
    """Plans, migrates, verifies and rolls back a copy of a store."""
    store = place.take(source)
    way = ["--to", to, *options]
    shown = " ".join(["to", os.path.basename(to), *(os.path.basename(option) for option in options)])
    with place.untouched():
        plan = place.run("plan", store, *way, "--json", label="plan %s --json" % shown)
        if not is_short:
            place.run("plan", store, *way, label="plan %s" % shown)
    if plan.values and isinstance(plan.values[0], dict) and "error" in plan.values[0] and is_short:
        return False
    allowed = accepted(plan)
    if allowed and not is_short:
        place.run("migrate", store, *way, "--output", "refused.sqlite", "--json",
                  label="migrate %s with losses --json" % shown)
    made = place.run("migrate", store, *way, *allowed, "--output", "new.sqlite", "--json",
                     label="migrate %s --output --json" % shown)
    if made.status == 0:
        place.text("rows %s --output" % shown, "new.sqlite")
        if is_whole or not is_short:
            place.run("verify", store, "new.sqlite", *way, "--json", label="verify %s --output --json" % shown)
    elif os.path.exists(place.path("new.sqlite")):
        place.files("files %s --output" % shown)
    for name in ("new.sqlite", "new.sqlite-wal", "new.sqlite-shm", "refused.sqlite"):
        with contextlib.suppress(OSError):
            os.remove(place.path(name))
    shutil.rmtree(place.path(support_name("new.sqlite")), ignore_errors=True)
    if not is_whole:
        return made.status == 0
    before = place.take(source, "Before" + os.path.splitext(store)[1])
    if not is_short:
        place.run("rehearse", store, *way, *allowed, "--json", label="rehearse %s --json" % shown)
    place.run("migrate", store, *way, *allowed, *([] if is_short else ["--json"]), label="migrate %s" % shown)
    place.files("files %s migrated" % shown)
    place.text("rows %s migrated" % shown, store)
    if made.status == 0:
        place.run("dump", store, label="dump %s migrated" % shown)
        if not is_short:
            place.both("verify", before, store, *way)
            place.run("doctor", store, "--json", label="doctor %s migrated --json" % shown)
            place.run("rollback", store, "--list", "--json", label="rollback %s --list --json" % shown)
        place.run("rollback", store, "--json", label="rollback %s --json" % shown)
        place.files("files %s rolled back" % shown)
        place.text("rows %s rolled back" % shown, store)
    clear(place)
    return made.status == 0


def clear(place):
    shutil.rmtree(place.folder)
    os.makedirs(place.folder)


def read_models(place, bundle, related=()):
    """What is said of a model bundle and of its versions."""
    for command in (["model"], ["hash"], ["lint"], ["plan", "--matrix"]):
        place.both(command[0], bundle, *command[1:])
    for form in ("sarif", "github", "junit"):
        place.run("lint", bundle, "--format", form)
    place.run("lint", bundle, "--cloudkit", "--all", "--json")
    names = versions_of(bundle) if bundle.endswith(Inputs.MODELS) else []
    for name in names:
        version = "%s@%s" % (bundle, name)
        place.run("hash", version, "--json")
        place.run("model", version, "--format", "json", is_data=True)
        place.run("model", version, "--format", "xcdatamodel", is_data=True)
        place.run("model", version, "--format", "mermaid", is_data=True)
    pairs = list(itertools.permutations(names, 2)) if len(names) <= 6 else \
        [*zip(names, names[1:]), *zip(names[1:], names), (names[0], names[-1])]
    for first, second in pairs:
        place.run("diff", "%s@%s" % (bundle, first), "%s@%s" % (bundle, second), "--json")
    for first, second in zip(names, names[1:]):
        place.run("diff", "%s@%s" % (bundle, first), "%s@%s" % (bundle, second))
    for other in related:
        place.run("lint", bundle, "--against", other, "--json")
        place.run("lint", bundle, "--against", other)


def seed_versions(place, bundle, objects=150):
    for at, name in enumerate(versions_of(bundle)):
        edges = ["--edge-cases"] if at % 2 else []
        file = "seeded.sqlite"
        made = place.run("seed", "%s@%s" % (bundle, name), file, "--objects", str(objects), "--seed", str(at + 1),
                         *edges, "--json")
        if made.status == 0:
            place.text("rows seeded %s" % name, file)
            place.run("dump", file, label="dump seeded %s" % name)
            place.run("doctor", file, "--json", label="doctor seeded %s --json" % name)
            place.run("lint", bundle, "--store", file, "--json", label="lint --store seeded %s --json" % name)
        clear(place)


def rescue_store(place, damage, store):
    """What doctor, salvage, repair and undelete make of a damaged store."""
    with place.untouched():
        place.run("info", store, "--json")
        place.both("doctor", store)
        place.run("undelete", store, "--json")
        place.run("dump", store)
        place.run("rollback", store, "--list", "--json")
    saved = place.run("salvage", store, "--output", "saved.sqlite", "--json")
    if os.path.exists(place.path("saved.sqlite")):
        place.text("rows salvaged", "saved.sqlite")
    place.run("salvage", store, "--output", "saved2.sqlite", "--ignore-wal", "--report", "report.json")
    if os.path.exists(place.path("saved2.sqlite")) and os.path.exists(place.path(store + "-wal")):
        place.text("rows salvaged without the wal", "saved2.sqlite")
    if saved.status in (0, 1):
        place.run("doctor", "saved.sqlite", "--json")
        place.run("info", "saved.sqlite", "--json")
    found = place.run("undelete", store, "--output", "undeleted.sqlite", "--json")
    is_deletion = damage.startswith(("del-", "table", "wal-cut"))
    if is_deletion and found.status in (0, 1) and os.path.exists(place.path("undeleted.sqlite")):
        place.text("rows undeleted", "undeleted.sqlite")
    place.run("repair", store, "--output", "mended.sqlite", "--json")
    if os.path.exists(place.path("mended.sqlite")):
        place.text("rows repaired", "mended.sqlite")
    mended = place.run("repair", store, "--force", "--json")
    place.files("files repaired")
    if mended.status in (0, 1):
        place.run("doctor", store, "--json", label="doctor repaired --json")
        place.run("dump", store, label="dump repaired")
        place.run("rollback", store, "--json")
        place.run("doctor", store, "--json", label="doctor rolled back --json")


# ---- the demo, its odd stores and models


class Demo:
    """A demo of the binary at hand, or of none where it makes none."""

    def __init__(self, recorder, objects):
        place = Place(recorder, "demo-%d" % objects)
        place.start("demo", "demo", "--objects", str(objects), "--no-open")
        self.folder = os.path.join(recorder.work, "demo-%d" % objects)
        shutil.move(place.path("demo"), self.folder)
        place.close()
        self.store = os.path.join(self.folder, "Recipes.sqlite")
        self.bundle = os.path.join(self.folder, "Recipes.xcdatamodeld")


def statements(*lines):
    def change(db):
        for line in lines:
            db.execute(line)
    return change


ODD = {
    "as-it-is": statements(),
    "own-columns": statements(
        "ALTER TABLE ZTAG ADD COLUMN ZMINE VARCHAR", "UPDATE ZTAG SET ZMINE = 'of the app ' || Z_PK",
        "ALTER TABLE ZSTEP ADD COLUMN ZMINE INTEGER", "UPDATE ZSTEP SET ZMINE = Z_PK * 2",
        "ALTER TABLE ZRECIPE ADD COLUMN ZMINE BLOB", "UPDATE ZRECIPE SET ZMINE = x'010203' WHERE Z_PK % 2",
        "ALTER TABLE Z_8TAGS ADD COLUMN MINE INTEGER", "UPDATE Z_8TAGS SET MINE = 7"),
    "own-columns-empty": statements(
        "ALTER TABLE ZTAG ADD COLUMN ZMINE VARCHAR", "ALTER TABLE ZRECIPE ADD COLUMN ZNOTES VARCHAR"),
    "own-tables": statements(
        "CREATE TABLE app_settings (key TEXT PRIMARY KEY, value) WITHOUT ROWID",
        "INSERT INTO app_settings VALUES ('a', 1), ('b', 2.5)",
        "CREATE TABLE app_log (id INTEGER PRIMARY KEY AUTOINCREMENT, recipe INTEGER REFERENCES ZRECIPE (Z_PK), at REAL)",
        "INSERT INTO app_log (recipe, at) SELECT Z_PK, ZCREATEDAT FROM ZRECIPE",
        "CREATE VIEW app_view AS SELECT ZTITLE, ZSERVES FROM ZRECIPE", "CREATE INDEX app_index ON ZRECIPE (ZMINUTES)",
        "CREATE TRIGGER app_trigger AFTER DELETE ON ZTAG BEGIN DELETE FROM app_log; END"),
    "to-one-dangling": statements(
        "UPDATE ZSTEP SET ZRECIPE = 99990 + Z_PK WHERE Z_PK % 7 = 0",
        "UPDATE ZRECIPE SET ZAUTHOR = 777 WHERE Z_PK % 5 = 0",
        "UPDATE ZPERSON SET ZPROFILE = 555 WHERE Z_PK = 1", "UPDATE ZAMOUNT SET ZINGREDIENT = 444 WHERE Z_PK % 6 = 0"),
    "to-one-wrong-entity": statements(
        "UPDATE ZAMOUNT SET Z3_INGREDIENT = 8 WHERE Z_PK % 4 = 0",
        "UPDATE ZAMOUNT SET Z3_INGREDIENT = NULL WHERE Z_PK % 4 = 1",
        "UPDATE ZAMOUNT SET ZINGREDIENT = NULL WHERE Z_PK % 8 = 2",
        "UPDATE ZAMOUNT SET Z3_INGREDIENT = 999 WHERE Z_PK % 8 = 3",
        "UPDATE ZAMOUNT SET Z3_INGREDIENT = 3 WHERE Z_PK % 8 = 7"),
    "one-to-one-sides": statements(
        "UPDATE ZPERSON SET ZPROFILE = NULL WHERE Z_PK = 1", "UPDATE ZPROFILE SET ZPERSON = 2 WHERE Z_PK = 3"),
    "join-null": statements(
        "INSERT INTO Z_8TAGS VALUES (NULL, 1), (1, NULL), (NULL, NULL), (NULL, NULL)",
        "INSERT INTO Z_8SIMILARRECIPES VALUES (NULL, 2), (2, NULL)",
        "INSERT INTO Z_8GOESWITH VALUES (NULL, 3), (3, NULL)"),
    "join-dangling": statements(
        "INSERT INTO Z_8TAGS VALUES (8888, 1), (1, 8888), (8888, 8889)",
        "INSERT INTO Z_8SIMILARRECIPES VALUES (8888, 2), (2, 8888)",
        "INSERT INTO Z_8GOESWITH VALUES (8888, 3), (3, 8888)"),
    "order-null": statements(
        "UPDATE ZSTEP SET Z_FOK_RECIPE = NULL WHERE Z_PK % 3 = 0",
        "UPDATE ZSTEP SET Z_FOK_RECIPE = 1024 WHERE Z_PK % 3 = 1"),
    "order-all-null": statements("UPDATE ZSTEP SET Z_FOK_RECIPE = NULL"),
    "foreign-leftovers": statements(
        "UPDATE ZINGREDIENT SET ZHEAT = 5 WHERE Z_ENT = 3",
        "UPDATE ZINGREDIENT SET ZORIGIN1 = 'left over' WHERE Z_ENT = 4",
        "UPDATE ZINGREDIENT SET ZORIGIN = 'left over', ZSEASON = 'summer' WHERE Z_ENT = 5"),
    "values-null": statements(
        "UPDATE ZRECIPE SET ZTITLE = NULL WHERE Z_PK % 4 = 0", "UPDATE ZTAG SET ZCOLOUR = NULL",
        "UPDATE ZDRAFT SET ZCREATEDAT = NULL",
        "UPDATE ZPERSON SET ZIDENTIFIER = NULL"),
    "values-of-other-types": statements(
        "UPDATE ZRECIPE SET ZCREATEDAT = 'yesterday' WHERE Z_PK % 4 = 0",
        "UPDATE ZRECIPE SET ZSERVES = 2.5 WHERE Z_PK % 4 = 1",
        "UPDATE ZRECIPE SET ZTITLE = 12 WHERE Z_PK % 4 = 2", "UPDATE ZRECIPE SET ZISFAVOURITE = 7 WHERE Z_PK % 4 = 3",
        "UPDATE ZRECIPE SET ZRATING = 'good' WHERE Z_PK % 5 = 0",
        "UPDATE ZRECIPE SET ZIDENTIFIER = x'00' || randomblob(0) WHERE Z_PK = 2",
        "UPDATE ZRECIPE SET ZSETTINGS = x'ffff' WHERE Z_PK = 3", "UPDATE ZRECIPE SET ZPRICE = 'dear' WHERE Z_PK = 4",
        "UPDATE ZTAG SET ZCOLOUR = 9223372036854775807 WHERE Z_PK = 1"),
    "entity-numbers-wrong": statements(
        "UPDATE ZTAG SET Z_ENT = 999 WHERE Z_PK % 5 = 0",
        "UPDATE ZINGREDIENT SET Z_ENT = 4 WHERE Z_ENT = 5 AND Z_PK % 2",
        "UPDATE ZSTEP SET Z_ENT = NULL WHERE Z_PK % 6 = 0"),
    "keys-odd": statements(
        "UPDATE ZTAG SET Z_PK = -3 WHERE Z_PK = 1", "UPDATE ZTAG SET Z_PK = 0 WHERE Z_PK = 2",
        "UPDATE ZDRAFT SET Z_PK = 3000000000 WHERE Z_PK = 1", "UPDATE ZTAG SET Z_OPT = NULL WHERE Z_PK = 4"),
    "unique-broken": statements(
        "DROP INDEX Z_Tag_UNIQUE_name", "UPDATE ZTAG SET ZNAME = 'same' WHERE Z_PK % 4 = 0",
        "DROP INDEX Z_Recipe_UNIQUE_identifier",
        "UPDATE ZRECIPE SET ZIDENTIFIER = x'00112233445566778899aabbccddeeff' WHERE Z_PK < 4"),
    "bookkeeping": statements(
        "UPDATE Z_PRIMARYKEY SET Z_MAX = 1", "DELETE FROM Z_PRIMARYKEY WHERE Z_NAME = 'Tag'",
        "UPDATE Z_PRIMARYKEY SET Z_SUPER = 0 WHERE Z_NAME = 'Spice'"),
    "table-missing": statements("DROP TABLE ZTAG"),
    "join-table-missing": statements("DROP TABLE Z_8TAGS"),
    "table-empty-missing": statements("DELETE FROM ZDRAFT", "DROP TABLE ZDRAFT"),
    "column-missing": statements("ALTER TABLE ZPERSON DROP COLUMN ZHOMEPAGE",
                                 "ALTER TABLE ZSTEP DROP COLUMN Z_FOK_RECIPE"),
    "link-column-missing": statements("DROP INDEX ZRECIPE_ZAUTHOR_INDEX", "ALTER TABLE ZRECIPE DROP COLUMN ZAUTHOR"),
    "entity-column-missing": statements("ALTER TABLE ZAMOUNT DROP COLUMN Z3_INGREDIENT"),
    "indexes-missing": statements("DROP INDEX Z_Recipe_byCreatedAtIndex", "DROP INDEX ZSTEP_ZRECIPE_INDEX",
                                  "DROP INDEX ZAMOUNT_ZRECIPE_INDEX"),
    "no-cache": statements("DROP TABLE Z_MODELCACHE"),
    "external-missing": statements("UPDATE ZRECIPE SET ZPHOTO = x'02' || CAST('00000000-1111-2222-3333-444444444444' AS BLOB) || x'00' WHERE Z_PK = 2"),
}


def odd_store(name, demo, folder, damage):
    """A copy of a demo with one oddity."""
    os.makedirs(folder, exist_ok=True)
    store = os.path.join(folder, "Recipes.sqlite")
    damage.copy(damage.Base(demo.store), store)
    support = os.path.join(folder, ".store_SUPPORT")  # named for a store.sqlite there
    if os.path.isdir(support):
        shutil.move(support, os.path.join(folder, support_name(store)))
    if name == "wal-frames":
        damage.keep_wal(store, lambda db: statements(
            "UPDATE ZTAG SET ZNAME = ZNAME || ' again', Z_OPT = Z_OPT + 1", "DELETE FROM ZDRAFT WHERE Z_PK = 1",
            "INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZCOLOUR, ZNAME) VALUES (500, 10, 1, 3, 'only in the wal')")(db))
    elif name.startswith("utf16"):
        reencode(store, "UTF-16" + name[-2:])
    else:
        with contextlib.closing(connect(store)) as db:
            db.execute("PRAGMA secure_delete = ON")
            db.execute("PRAGMA foreign_keys = OFF")
            db.execute("BEGIN")
            ODD[name](db)
            db.execute("COMMIT")
        for end in ("-wal", "-shm"):
            with contextlib.suppress(OSError):
                os.remove(store + end)
    return store


def reencode(store, encoding):
    made = store + ".made"
    with contextlib.closing(connect(store)) as old, contextlib.closing(connect(made)) as new:
        new.execute("PRAGMA encoding = '%s'" % encoding)
        new.executescript("\n".join(old.iterdump()))
    os.replace(made, store)


ODD_NAMES = [*ODD, "wal-frames", "utf16le", "utf16be"]


class OddModels:
    """A bundle with versions that the demo's model becomes, each with a recipe that speaks of another property."""

    RECIPE = "{ from: 'Recipes', to: '%s', entityMappings: [ { source: '%s', destination: '%s', attributes: { %s } } ] }\n"

    def __init__(self, demo, folder):
        self.bundle = os.path.join(folder, "Odd.xcdatamodeld")
        self.recipes = {}
        with open(os.path.join(demo.bundle, "Recipes.xcdatamodel", "contents"), encoding="utf-8") as file:
            self.former = file.read()
        self.version("Recipes", lambda model: None)
        self.version("Little", self.little, ("Step", "text", "upper(text)"))
        self.version("NoInverse", self.no_inverse, ("Recipe", "title", "upper(title)"))
        self.version("Abstract", self.abstract, ("Tag", "name", "name || '!'"))
        self.version("Fewer", self.fewer, ("Tag", "name", "lower(name)"))
        self.version("Ordered", self.ordered, ("Tag", "colour", "colour + 1"))
        self.version("Types", self.types, ("Recipe", "rating", "'r' || rating"))
        self.version("Dates", self.dates, ("Recipe", "cooked", "upper(title)"))
        self.version("Strict", self.strict, ("Tag", "name", "name"))
        self.version("Renamed", self.renamed, ("Person", "name", "trim(name)"))
        for name in ("2", "3"):
            name = "Recipes " + name
            shutil.copytree(os.path.join(demo.bundle, name + ".xcdatamodel"),
                            os.path.join(self.bundle, name + ".xcdatamodel"))
            self.recipe(name, ("Tag", "name", "upper(name)"), folder)
        for name, touched in list(self.recipes.items()):
            if isinstance(touched, tuple):
                self.recipe(name, touched, folder)
        with open(os.path.join(self.bundle, ".xccurrentversion"), "wb") as file:
            plistlib.dump({"_XCCurrentVersionName": "Recipes.xcdatamodel"}, file)

    def version(self, name, change, touched=None):
        model = ElementTree.fromstring(self.former)
        change(model)
        folder = os.path.join(self.bundle, name + ".xcdatamodel")
        os.makedirs(folder)
        ElementTree.ElementTree(model).write(os.path.join(folder, "contents"), encoding="utf-8", xml_declaration=True)
        if touched:
            self.recipes[name] = touched

    def recipe(self, name, touched, folder):
        entity, attribute, expression = touched
        path = os.path.join(folder, "%s.json5" % name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.RECIPE % (name, entity, entity, '%s: "%s"' % (attribute, expression)))
        self.recipes[name] = path

    @staticmethod
    def entity(model, name):
        return next(each for each in model if each.tag == "entity" and each.get("name") == name)

    @classmethod
    def property(cls, model, entity, name):
        return next(each for each in cls.entity(model, entity) if each.get("name") == name
                    and each.tag in ("attribute", "relationship"))

    @classmethod
    def add(cls, model, entity, **values):
        ElementTree.SubElement(cls.entity(model, entity), "attribute", values)

    @classmethod
    def little(cls, model):
        cls.add(model, "Step", name="hint", optional="YES", attributeType="String")
        cls.add(model, "Tag", name="weight", attributeType="Integer 32", defaultValueString="3")

    @classmethod
    def no_inverse(cls, model):
        cls.entity(model, "Tag").remove(cls.property(model, "Tag", "recipes"))
        link = cls.property(model, "Recipe", "tags")
        for name in ("inverseName", "inverseEntity"):
            del link.attrib[name]

    @classmethod
    def abstract(cls, model):
        cls.entity(model, "Draft").set("isAbstract", "YES")
        cls.entity(model, "Ingredient").set("isAbstract", "YES")

    @classmethod
    def fewer(cls, model):
        cls.entity(model, "Recipe").remove(cls.property(model, "Recipe", "legacyCode"))
        cls.entity(model, "Step").remove(cls.property(model, "Step", "minutes"))
        model.remove(cls.entity(model, "Draft"))
        model.remove(cls.entity(model, "Spice"))

    @classmethod
    def ordered(cls, model):
        cls.property(model, "Recipe", "tags").set("ordered", "YES")
        del cls.property(model, "Recipe", "steps").attrib["ordered"]
        cls.property(model, "Recipe", "amounts").set("ordered", "YES")

    @classmethod
    def types(cls, model):
        cls.property(model, "Recipe", "rating").set("attributeType", "String")

    @classmethod
    def dates(cls, model):
        cls.add(model, "Recipe", name="cooked", optional="YES", attributeType="Date")
        cls.property(model, "Draft", "createdAt").set("optional", "YES")

    @classmethod
    def strict(cls, model):
        for entity, name in (("Recipe", "author"), ("Step", "recipe"), ("Amount", "ingredient"),
                             ("Recipe", "difficulty")):
            del cls.property(model, entity, name).attrib["optional"]
        cls.property(model, "Step", "text").set("maxValueString", "12")
        lists = ElementTree.SubElement(cls.entity(model, "Person"), "uniquenessConstraints")
        ElementTree.SubElement(ElementTree.SubElement(lists, "uniquenessConstraint"), "constraint", value="name")

    @classmethod
    def renamed(cls, model):
        cls.property(model, "Recipe", "serves").set("name", "portions")
        cls.property(model, "Recipe", "portions").set("elementID", "serves")
        tag = cls.entity(model, "Tag")
        tag.set("name", "Label")
        tag.set("elementID", "Tag")
        for each in model.iter("relationship"):
            for name in ("destinationEntity", "inverseEntity"):
                if each.get(name) == "Tag":
                    each.set(name, "Label")
        cls.property(model, "Ingredient", "amounts").set("name", "uses")
        cls.property(model, "Ingredient", "uses").set("elementID", "amounts")
        cls.property(model, "Amount", "ingredient").set("inverseName", "uses")


# ---- generated pairs of models


class GeneratedPair:
    """Two versions of a small random model, the second made of the first by some changes."""

    TYPES = ["String", "Integer 16", "Integer 32", "Integer 64", "Double", "Float", "Boolean", "Date", "Decimal",
             "UUID", "Binary", "URI"]

    def __init__(self, number):
        self.random = random.Random(number)
        self.count = 0
        first = self.model()
        second = copy.deepcopy(first)
        for _ in range(self.pick(1, 4)):
            self.change(second)
        self.versions = {"V1": first, "V2": second}

    def pick(self, first, last):
        return first + int(self.random.random() * (last - first + 1))

    def one_of(self, values):
        values = list(values)
        return values[self.pick(0, len(values) - 1)] if values else None

    def name(self, prefix):
        self.count += 1
        return "%s%d" % (prefix, self.count)

    def chance(self, share):
        return self.random.random() < share

    def model(self):
        model = {}
        for _ in range(self.pick(2, 5)):
            name = self.name("Entity")
            parent = self.one_of(model) if model and self.chance(0.3) else None
            model[name] = {"parent": parent, "attributes": {}, "relationships": {}, "abstract": False, "id": None}
            for _ in range(self.pick(1, 4)):
                self.attribute(model[name])
        for _ in range(self.pick(1, 4)):
            self.relationship(model)
        return model

    def attribute(self, entity):
        kind = self.one_of(self.TYPES)
        is_optional = self.chance(0.7)
        entity["attributes"][self.name("value")] = {"type": kind, "optional": is_optional, "id": None,
                                                    "default": not is_optional and self.chance(0.6)}

    def relationship(self, model):
        ends = [self.one_of(model), self.one_of(model)]
        names = [self.name("link"), self.name("link")]
        for at in (0, 1):
            is_many = self.chance(0.55)
            model[ends[at]]["relationships"][names[at]] = {
                "many": is_many, "ordered": is_many and self.chance(0.3), "optional": True, "id": None,
                "to": ends[1 - at], "inverse": names[1 - at]}

    def links(self, model):
        return [(entity, name) for entity in model for name in model[entity]["relationships"]]

    def values(self, model):
        return [(entity, name) for entity in model for name in model[entity]["attributes"]]

    def change(self, model):
        kind = self.one_of(["add", "add", "drop", "rename", "optional", "entity-", "entity+", "entity-name", "many",
                            "inverse",
                            "ordered", "abstract", "type", "link-", "link+", "link-name", "move", "external"])
        value, link = self.one_of(self.values(model)), self.one_of(self.links(model))
        entity = self.one_of(model)
        if kind == "add":
            self.attribute(model[entity])
        elif kind == "entity+":
            model[self.name("Entity")] = {"parent": entity if self.chance(0.4) else None, "attributes": {},
                                          "relationships": {}, "abstract": False, "id": None}
            self.attribute(model[list(model)[-1]])
        elif kind == "entity-" and len(model) > 2 and not any(each["parent"] == entity for each in model.values()):
            for other, name in self.links(model):
                if model[other]["relationships"][name]["to"] == entity and other != entity:
                    del model[other]["relationships"][name]
            del model[entity]
        elif kind == "entity-name":
            model[entity]["id"] = model[entity]["id"] or entity
            self.put_entity(model, entity, self.name("Entity"))
        elif kind == "abstract":
            model[entity]["abstract"] = True
        elif kind == "link+":
            self.relationship(model)
        elif value and kind in ("drop", "rename", "optional", "type", "move", "external"):
            self.change_value(model, kind, *value)
        elif link and kind in ("many", "inverse", "ordered", "link-", "link-name"):
            self.change_link(model, kind, *link)

    def put_entity(self, model, former, name):
        entities = list(model.items())
        model.clear()
        for each, entity in entities:
            model[name if each == former else each] = entity
            entity["parent"] = name if entity["parent"] == former else entity["parent"]
            for link in entity["relationships"].values():
                link["to"] = name if link["to"] == former else link["to"]

    def change_value(self, model, kind, entity, name):
        attributes = model[entity]["attributes"]
        value = attributes[name]
        if kind == "drop":
            del attributes[name]
        elif kind == "rename":
            attributes[self.name("value")] = {**attributes.pop(name), "id": value["id"] or name}
        elif kind == "optional":
            value["optional"], value["default"] = not value["optional"], self.chance(0.5)
        elif kind == "type":
            value["type"] = self.one_of(self.TYPES)
        elif kind == "external":
            value["external"] = value["type"] == "Binary"
        elif kind == "move" and model[entity]["parent"]:
            model[model[entity]["parent"]]["attributes"][name] = attributes.pop(name)

    def change_link(self, model, kind, entity, name):
        links = model[entity]["relationships"]
        link = links[name]
        other = model[link["to"]]["relationships"]
        if kind == "many":
            link["many"] = not link["many"]
            link["ordered"] = link["ordered"] and link["many"]
        elif kind == "ordered":
            link["ordered"] = link["many"] and not link["ordered"]
        elif kind in ("inverse", "link-") and link["inverse"] != name:
            other.pop(link["inverse"], None)
            link["inverse"] = None
            if kind == "link-":
                del links[name]
        elif kind == "link-name" and link["inverse"] in other and link["inverse"] != name:
            new = self.name("link")
            other[link["inverse"]]["inverse"] = new
            links[new] = {**links.pop(name), "id": link["id"] or name}

    def write(self, folder):
        bundle = os.path.join(folder, "Pair.xcdatamodeld")
        for name, model in self.versions.items():
            os.makedirs(os.path.join(bundle, name + ".xcdatamodel"))
            tree = ElementTree.ElementTree(self.element(model))
            tree.write(os.path.join(bundle, name + ".xcdatamodel", "contents"), encoding="utf-8", xml_declaration=True)
        with open(os.path.join(bundle, ".xccurrentversion"), "wb") as file:
            plistlib.dump({"_XCCurrentVersionName": "V2.xcdatamodel"}, file)
        return bundle

    def element(self, model):
        root = ElementTree.Element("model", type="com.apple.IDECoreDataModeler.DataModel", documentVersion="1.0",
                                   lastSavedToolsVersion="22758", systemVersion="23E224", sourceLanguage="Swift")
        for name, entity in model.items():
            element = ElementTree.SubElement(root, "entity", name=name)
            put(element, parentEntity=entity["parent"], elementID=entity["id"],
                isAbstract="YES" if entity["abstract"] else None)
            for each, value in entity["attributes"].items():
                put(ElementTree.SubElement(element, "attribute", name=each), attributeType=value["type"],
                    elementID=value["id"],
                    optional="YES" if value["optional"] else None, defaultValueString=self.default(value),
                    allowsExternalBinaryDataStorage="YES" if value.get("external")
                    and value["type"] == "Binary" else None)
            for each, link in entity["relationships"].items():
                put(ElementTree.SubElement(element, "relationship", name=each), optional="YES", deletionRule="Nullify",
                    toMany="YES" if link["many"] else None, maxCount=None if link["many"] else "1",
                    elementID=link["id"],
                    ordered="YES" if link["ordered"] else None, destinationEntity=link["to"],
                    inverseName=link["inverse"],
                    inverseEntity=link["to"] if link["inverse"] else None)
        return root

    @staticmethod
    def default(value):
        if not value["default"]:
            return None
        return {"String": "text", "Boolean": "YES", "Date": None, "UUID": None, "Binary": None,
                "URI": None}.get(value["type"], "2")

    def recipe(self, folder):
        """A recipe that gives one attribute of text, or of a number, a value of its own."""
        for name, entity in self.versions["V2"].items():
            former = self.versions["V1"].get(name)
            for each, value in (entity["attributes"] if former else {}).items():
                old = former["attributes"].get(each)
                known = ("String", "Integer 32", "Integer 64", "Double")
                if old and old["type"] == value["type"] and value["type"] in known:
                    expression = "upper(%s)" % each if value["type"] == "String" else "%s + 0" % each
                    path = os.path.join(folder, "pair.json5")
                    with open(path, "w", encoding="utf-8") as file:
                        recipe = OddModels.RECIPE.replace("'Recipes'", "'V1'")
                        file.write(recipe % ("V2", name, name, '%s: "%s"' % (each, expression)))
                    return path
        return None


def put(element, **values):
    for name, value in values.items():
        if value is not None:
            element.set(name, value)


def make_odd(store):
    """Faults of every kind in a store of any model: what its columns are named tells what they hold."""
    with contextlib.closing(connect(store)) as db:
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'Z%' ORDER BY name").fetchall():
            columns = [(row[1], row[2]) for row in db.execute('PRAGMA table_info("%s")' % name)]
            if re.match(r"Z_\d", name):
                with contextlib.suppress(sqlite3.Error):
                    width = len(columns) - 2
                    db.execute('INSERT INTO "%s" VALUES (NULL, 1%s)' % (name, ", NULL" * width))
                    db.execute('INSERT INTO "%s" VALUES (7777, 1%s)' % (name, ", NULL" * width))
            elif name.startswith("Z") and not name.startswith("Z_"):
                for column, kind in columns:
                    if kind == "INTEGER" and any(other.endswith("_" + column[1:]) for other, _ in columns
                                                 if other != column):
                        db.execute('UPDATE "%s" SET "%s" = 7777 WHERE Z_PK %% 9 = 0' % (name, column))
                    if column.startswith("Z_FOK"):
                        db.execute('UPDATE "%s" SET "%s" = NULL WHERE Z_PK %% 4 = 0' % (name, column))
                db.execute('ALTER TABLE "%s" ADD COLUMN ZAPPS INTEGER' % name)
                db.execute('UPDATE "%s" SET ZAPPS = 5 WHERE Z_PK %% 2' % name)
    for end in ("-wal", "-shm"):
        with contextlib.suppress(OSError):
            os.remove(store + end)


# ---- the tasks


class Tasks:
    def __init__(self, recorder, inputs, pairs):
        self.recorder, self.inputs, self.pairs = recorder, inputs, pairs
        self.list = []

    def add(self, name, work, *values):
        self.list.append((re.sub(r"\s+", "_", name), work, values))

    def all(self):
        shared = self.recorder.shared
        self.damage = load_module("damage", os.path.join(shared, "tools", "damage.py"))
        self.demo = Demo(self.recorder, 200)
        self.large_demo = Demo(self.recorder, 1000)
        folder = os.path.join(self.recorder.work, "odd")
        os.makedirs(folder)
        self.odd_models = OddModels(self.demo, folder)
        self.add("help", self.help)
        self.add("usage", self.usage)
        self.add("explain", self.explain)
        self.add("containers", self.containers)
        self.add("git", self.git)
        self.add("reset", self.reset)
        for store in self.inputs.stores:
            self.add("read/" + self.inputs.name(store), self.read, store)
        for name in ODD_NAMES:
            self.add("read/odd/" + name, self.read_odd, name)
        for bundle in [*self.inputs.bundles, *self.inputs.sources, self.demo.bundle, self.odd_models.bundle]:
            self.add("models/" + self.short(bundle), self.models, bundle)
        self.add("mappings", self.mappings)
        for bundle in [*self.inputs.bundles, self.demo.bundle, self.odd_models.bundle]:
            if len(versions_of(bundle)) <= 12:
                self.add("seed/" + self.short(bundle), seed_versions, bundle)
        for store in self.inputs.stores:
            if any(len(versions_of(bundle)) > 1 for bundle in self.inputs.bundles_of(store)):
                self.add("migrate/" + self.inputs.name(store), self.migrate, store)
        self.add("migrate/cases.json", self.migrate_cases)
        self.add("migrate/swiftdata", self.migrate_swiftdata)
        self.add("migrate/demo", self.migrate_demo)
        for name in ODD_NAMES:
            self.add("migrate/odd/" + name, self.migrate_odd, name)
        for number in range(1, self.pairs + 1):
            self.add("pairs/%03d" % number, self.pair, number)
        self.add_damages()
        return self.list

    def short(self, path):
        is_shared = path.startswith(self.recorder.shared)
        return self.inputs.name(path) if is_shared else os.path.relpath(path, self.recorder.work)

    def add_damages(self):
        fixtures = os.path.join(self.recorder.shared, "fixtures")
        bases = {"demo": self.large_demo.store, "demo-wal": self.wal_base(),
                 "wire": os.path.join(fixtures, "wire/store2-95-0.wiredatabase"),
                 "bookmarks": os.path.join(fixtures, "bookmarks/Bookmarks_V5.sqlite")}
        for name, store in bases.items():
            if os.path.exists(store):
                for damage in self.damage.DAMAGES:
                    self.add("damage/%s/%s" % (name, damage), self.damaged, damage, store)

    def wal_base(self):
        folder = os.path.join(self.recorder.work, "demo-wal")
        os.makedirs(folder)
        store = os.path.join(folder, "Recipes.sqlite")
        self.damage.copy(self.damage.Base(self.demo.store), store)
        shutil.move(os.path.join(folder, ".store_SUPPORT"), os.path.join(folder, support_name(store)))
        self.damage.keep_wal(store, lambda db: statements(
            "UPDATE ZRECIPE SET ZSUMMARY = 'saved last ' || Z_PK", "UPDATE ZTAG SET ZCOLOUR = ZCOLOUR + 1",
            "DELETE FROM ZSTEP WHERE Z_PK % 5 = 0")(db))
        return store

    # one method a kind of task

    def help(self, place):
        general = place.run("--help")
        place.run("--version")
        place.run("help")
        place.run("man")
        place.both("keys")
        for shell in ("bash", "zsh", "fish"):
            place.run("completions", shell)
        commands = re.findall(r"^(?:[a-z]+ +| {9})([a-z-]+) (?:STORE|[A-Z]|\[|  )", general.out, re.M)
        known = ["info", "stores", "rows", "object", "search", "frequencies", "history", "dump", "model", "hash",
                 "keys", "diff",
                 "mapping", "explain", "find-model", "lint", "plan", "migrate", "rehearse", "verify", "rollback",
                 "reset", "doctor",
                 "repair", "salvage", "undelete", "demo", "seed", "completions", "man", "compare", "watch", "edit",
                 "export",
                 "anonymize", "merge", "convert", "cloudkit"]
        for command in dict.fromkeys([*known, *commands]):
            place.run(command, "--help")
        place.both("lint", "--rules")
        rules = place.start("lint", "--rules", "--json").values
        names = re.findall(r'"(?:rule|name|id)": ?"([a-z-]+)"', json.dumps(rules)) if rules else []
        for rule in dict.fromkeys(names):
            place.run("lint", "--explain", rule)

    def usage(self, place):
        store = place.take(self.demo.store)
        bundle = self.demo.bundle
        for name, data in (("empty", b""), ("text.txt", b"This is a text.\n"),
                           ("picture.png", b"\x89PNG\r\n\x1a\n" + bytes(100)),
                           ("short.sqlite", b"SQLite format 3\0" + bytes(20))):
            with open(place.path(name), "wb") as file:
                file.write(data)
        with contextlib.closing(sqlite3.connect(place.path("other.sqlite"))) as db:
            db.executescript("CREATE TABLE notes (id INTEGER PRIMARY KEY, text); INSERT INTO notes (text) VALUES ('a');")
        for name in ("empty", "text.txt", "picture.png", "short.sqlite", "other.sqlite", "missing.sqlite", "."):
            for command in (["info"], ["doctor"], ["dump"], ["rows", "Recipe"], ["history"], ["undelete"], ["model"],
                            ["hash"], ["stores"],
                            ["plan", "--to", bundle], ["migrate", "--to", bundle], ["repair"],
                            ["salvage", "--output", "saved.sqlite"],
                            ["rollback"], ["explain", bundle], ["find-model", bundle]):
                place.run(command[0], name, *command[1:], "--json")
            place.run("info", name)
            place.run("doctor", name)
        for arguments in (["nothing"], ["info"], ["info", store, "--nothing"], ["rows", store],
                          ["rows", store, "Recipe", "--limit", "x"],
                          ["rows", store, "Recip"], ["rows", store, "Recipe", "--sort", "titel"],
                          ["rows", store, "Recipe", "--columns", "titel"],
                          ["rows", store, "Recipe", "--where", "title ="], ["object", store, "Recipe/p99999"],
                          ["object", store, "Recipe"],
                          ["frequencies", store, "Recipe", "nothing"], ["plan", store],
                          ["plan", store, "--to", "missing.xcdatamodeld"],
                          ["plan", store, "--to", bundle + "@None"],
                          ["plan", store, "--to", bundle, "--strategy", "fast"],
                          ["migrate", store, "--to", bundle, "--allow-loss", "Nothing.here"],
                          ["migrate", store, "--to", bundle, "--mapping", "text.txt"],
                          ["verify", store], ["diff", store], ["salvage", store], ["repair", store, "--fix", "nothing"],
                          ["undelete", store, "Nothing"], ["seed", bundle, store], ["lint", "missing"],
                          ["lint", bundle, "--rule", "nothing=error"],
                          ["lint", "--explain", "nothing"], ["mapping", "text.txt"],
                          ["explain", "--error", "nothing that is known"],
                          ["completions", "none"], ["stores", "missing"], ["reset", store], ["demo", "."],
                          ["history", store, "--limit", "-1"]):
            place.both(*arguments)

    def explain(self, place):
        store = place.take(self.demo.store)
        sentences = os.path.join(self.recorder.shared, "cases", "sentences.txt")
        lines = []
        if os.path.exists(sentences):
            with open(sentences, encoding="utf-8") as file:
                lines = [line.strip() for line in file if line.strip() and not line.startswith("#")]
            place.both("explain", "--error", sentences)
        for line in lines:
            place.both("explain", "--error", line)
        codes = [132000, 132010, *range(133000, 133022, 10), 133020, 133021, *range(134000, 134094, 10), 134081,
                 *range(134100, 134201, 10),
                 134400, 134402, 134403, 134404, 134405, 134406, 134407, 134410, 134500, 134501, 134502, 134504, 134505,
                 134506,
                 *range(1550, 1681, 10), 4, 256, 257, 259, 260, 640, 642]
        for code in dict.fromkeys(codes):
            place.run("explain", "--error", str(code), "--json")
        place.both("explain", "--error", " ".join("Code=%d" % code for code in range(133000, 134600, 10)))
        for text in ("(Cocoa-Fehler 134100.)", "Error Domain=NSSQLiteErrorDomain Code=11", "CKErrorDomain Code=26",
                     "no such column: t0.ZTITLE", "UNIQUE constraint failed: ZTAG.ZNAME",
                     "The model used to open the store is incompatible with the one used to create the store"):
            place.both("explain", store, "--error", text)
            place.both("explain", "--error", text)
            place.run("explain", "--error", "-", "--json", stdin=text.encode())

    def containers(self, place):
        os.makedirs(place.path("in/App.app"))
        for name in ("Recipes.sqlite", ".Recipes_SUPPORT"):
            source = os.path.join(self.demo.folder, name)
            target = place.path("in", "Documents", name)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            if os.path.isdir(source):
                shutil.copytree(source, target)
            else:
                shutil.copyfile(source, target)
        names = sorted(os.path.relpath(os.path.join(folder, name), place.path("in"))
                       for folder, _, files in os.walk(place.path("in")) for name in files)
        with zipfile.ZipFile(place.path("Backup.zip"), "w", zipfile.ZIP_DEFLATED) as archive:
            for name in names:
                with open(place.path("in", name), "rb") as file:
                    archive.writestr(zipfile.ZipInfo(name, (2024, 5, 1, 0, 0, 0)), file.read())
        for end, mode in (("tar", "w"), ("tar.gz", "w:gz"), ("tar.xz", "w:xz"), ("tar.bz2", "w:bz2")):
            with tarfile.open(place.path("Backup." + end), mode) as archive:
                for name in names:
                    with open(place.path("in", name), "rb") as file:
                        data = file.read()
                    entry = tarfile.TarInfo(name)
                    entry.size = len(data)
                    archive.addfile(entry, io.BytesIO(data))
        shutil.copytree(place.path("in"), place.path("App.xcappdata", "AppData"))
        with place.untouched():
            for name in ("Backup.zip", "Backup.tar", "Backup.tar.gz", "Backup.tar.xz", "Backup.tar.bz2",
                         "App.xcappdata", "in"):
                place.both("stores", name)
                for store in (name, name + "//Documents/Recipes.sqlite", name + "//nothing"):
                    place.run("info", store, "--json")
                    place.run("dump", store)
                place.run("doctor", name, "--json")
                place.run("plan", name, "--to", self.demo.bundle + "@Recipes 2", "--json")
        for name in ("Backup.zip", "in"):
            place.run("migrate", name, "--to", self.demo.bundle + "@Recipes 2", "--output", "new-%s.sqlite" % name,
                      "--json")
            place.run("migrate", name + "//Documents/Recipes.sqlite", "--to", self.demo.bundle + "@Recipes 2", "--json")
            place.run("repair", name, "--output", "mended-%s.sqlite" % name, "--json")
        for name in sorted(os.listdir(place.folder)):
            if name.endswith(".sqlite"):
                place.text("rows " + name, name)

    def git(self, place):
        """A repository with two commits: what shipped is its first."""
        shutil.copytree(self.demo.bundle, place.path("app", "Recipes.xcdatamodeld"))
        store = place.take(self.demo.store)
        environment = {**place.environment, **{
            "GIT_%s_%s" % (who, what): value for who in ("AUTHOR", "COMMITTER") for what, value in
            (("NAME", "Recorder"), ("EMAIL", "recorder@example.com"), ("DATE", "2024-05-01T12:00:00Z"))}}

        def git(*arguments):
            subprocess.run(["git", *arguments], cwd=place.path("app"), env=environment, check=True, capture_output=True)

        git("init", "-q", "-b", "main")
        git("add", "-A")
        git("commit", "-q", "-m", "Ship")
        git("tag", "v1")
        path = place.path("app", "Recipes.xcdatamodeld", "Recipes 2.xcdatamodel", "contents")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace('name="isVegan" attributeType="Boolean" defaultValueString="NO"',
                                    'name="isVegan" attributeType="Boolean"'))
        shutil.rmtree(place.path("app", "Recipes.xcdatamodeld", "Recipes.xcdatamodel"))
        git("add", "-A")
        git("commit", "-q", "-m", "Change a version that shipped")
        for arguments in (["lint", "app"], ["lint", "app", "--git-base", "v1"],
                          ["lint", "app", "--git-base", "v1", "--all"],
                          ["lint", "app", "--git-base", "nothing"], ["find-model", store, "app"],
                          ["lint", "app", "--git-base", "v1", "--store", store],
                          ["plan", store, "--to", "app/Recipes.xcdatamodeld@v1"],
                          ["explain", store, "app/Recipes.xcdatamodeld"],
                          ["diff", store, "app/Recipes.xcdatamodeld"]):
            place.both(*arguments)
        place.run("find-model", store, "app", "--export", "found", "--json")
        place.files("files with the model found")

    def reset(self, place):
        for options in ([], ["--delete-backup"], ["--force"]):
            store = place.take(self.demo.store)
            place.run("reset", store, "--model", self.demo.bundle + "@Recipes", *options, "--json")
            place.run("reset", store, "--model", self.demo.bundle + "@Recipes 3", *options, "--json")
            place.text("rows reset " + " ".join(options), store)
            place.files("files reset")
            place.run("rollback", store, "--list", "--json")
            place.run("rollback", store, "--json")
            place.files("files rolled back")
            place.text("rows rolled back", store)
            clear(place)

    def read(self, place, store):
        name = place.take(store)
        bundles = self.inputs.bundles_of(store)
        models = ["%s@%s" % (bundle, version) for bundle in bundles for version in versions_of(bundle)]
        if len(models) > 6:
            models = [models[0], models[len(models) // 2], models[-1]]
        is_short = "cases" in self.inputs.name(store) or self.is_one_of_many(store)
        read_store(place, name, models, os.path.join(self.recorder.shared, "fixtures", self.inputs.family(store))
                   if bundles and not is_short else None, is_short=is_short)
        place.run("verify", name, place.take(store, "Other" + os.path.splitext(name)[1]), "--json")

    def is_one_of_many(self, store):
        """One of more than six stores of a family; the first and the last are read whole."""
        family = [each for each in self.inputs.stores if self.inputs.family(each) == self.inputs.family(store)]
        return len(family) > 6 and store not in (family[0], family[-1])

    def read_odd(self, place, name):
        store = odd_store(name, self.demo, place.folder, self.damage)
        place.know(store)
        read_store(place, os.path.basename(store), [self.odd_models.bundle + "@Little"], is_short=True)
        place.run("repair", "Recipes.sqlite", "--output", "mended.sqlite", "--json")
        if os.path.exists(place.path("mended.sqlite")):
            place.text("rows repaired", "mended.sqlite")
        for kind in ("one-to-one", "table-missing", "external-missing"):
            place.run("repair", "Recipes.sqlite", "--fix", kind, "--dry-run", "--json")
        place.run("repair", "Recipes.sqlite", "--fix", "uniqueness", "--keep", "newest", "--output", "unique.sqlite",
                  "--json")
        if os.path.exists(place.path("unique.sqlite")):
            place.text("rows unique", "unique.sqlite")
        place.run("salvage", "Recipes.sqlite", "--output", "saved.sqlite", "--json")
        if os.path.exists(place.path("saved.sqlite")):
            place.text("rows salvaged", "saved.sqlite")
        place.run("repair", "Recipes.sqlite", "--force", "--json")
        place.text("rows repaired in place", "Recipes.sqlite")
        place.run("doctor", "Recipes.sqlite", "--json", label="doctor repaired --json")
        place.run("rollback", "Recipes.sqlite", "--json")
        place.files("files rolled back")

    def models(self, place, bundle):
        base = os.path.basename(os.path.dirname(bundle) if bundle.endswith(Inputs.MODELS) else bundle)
        parent = os.path.dirname(os.path.dirname(bundle) if bundle.endswith(Inputs.MODELS) else bundle)
        related = []
        for new, old in (("new", "old"), ("swiftdata-v2", "swiftdata-v1"), ("swiftdata-v3", "swiftdata-v1"),
                         ("swiftdata-v3", "swiftdata-v2")):
            if base == new and os.path.isdir(os.path.join(parent, old)):
                related.append(os.path.join(parent, old))
        read_models(place, bundle, related)
        if len(versions_of(bundle) if bundle.endswith(Inputs.MODELS) else "") <= 12:
            # One at a time: a line a store is printed as each is done.
            place.run("rehearse", "--seeded", bundle, "--jobs", "1", "--objects", "60", "--json")
            place.run("rehearse", "--seeded", bundle, "--jobs", "1", "--objects", "60")
            place.run("rehearse", "--seeded", bundle, "--jobs", "1", "--objects", "60", "--edge-cases", "--format", "junit")

    def mappings(self, place):
        for mapping in [*self.inputs.mappings,
                        *(path for path in self.odd_models.recipes.values() if isinstance(path, str))]:
            place.both("mapping", mapping)
            bundles = [each for each in self.inputs.bundles
                       if self.inputs.family(each) == self.inputs.family(mapping)] \
                if mapping.startswith(self.recorder.shared) else [self.odd_models.bundle]
            for bundle in bundles[:6]:
                place.both("mapping", mapping, "--model", bundle)
                place.run("lint", bundle, "--mapping", mapping, "--json")

    def migrate(self, place, store):
        for bundle in self.inputs.bundles_of(store):
            names = versions_of(bundle)
            if len(names) > 12:
                names = self.near(store, names)
            for name in names:
                to = "%s@%s" % (bundle, name)
                if not migrate_store(place, store, to):
                    continue
                for way in ("in-place", "copy"):
                    migrate_store(place, store, to, ["--strategy", way], is_short=True, is_whole=False)
                migrate_store(place, store, to, ["--via", bundle], is_short=True)
            family = os.path.dirname(store)
            recipes = [os.path.join(family, "r%s.json5" % os.path.basename(store)[1])] if "cases/ways" in store else []
            for recipe in filter(os.path.exists, recipes):
                migrate_store(place, store, "%s@%s" % (bundle, names[-1]), ["--mapping", recipe])

    def near(self, store, names):
        """Of many versions those after the store's own, the last, and one before."""
        wanted = re.search(r"(\d+(?:-\d+)+)", os.path.basename(store))
        version = [int(part) for part in wanted.group(1).split("-")] if wanted else []
        numbers = [[int(part) for part in re.findall(r"\d+", name)] for name in names]
        at = next((index for index, each in enumerate(numbers) if each[:len(version)] >= version[:len(each)]), 0)
        return list(dict.fromkeys([*names[max(at - 1, 0):at + 2], names[-1]]))

    def migrate_cases(self, place):
        fixtures = os.path.join(self.recorder.shared, "fixtures")
        path = os.path.join(fixtures, "cases.json")
        if not os.path.exists(path):
            return
        with open(path, encoding="utf-8") as file:
            cases = json.load(file)
        for case in cases:
            store, to = os.path.join(fixtures, case["store"]), os.path.join(fixtures, case["to"])
            options = [part for name in case["mappings"] for part in ("--mapping", os.path.join(fixtures, name))]
            options += ["--via", os.path.join(fixtures, case["via"])] if case.get("via") else []
            if case["mappings"]:
                migrate_store(place, store, to, options)
                place.take(store)
                place.run("plan", os.path.basename(store), "--to", to, *options, "--write-recipe", "made.json5",
                          "--json")
                if os.path.exists(place.path("made.json5")):
                    with open(place.path("made.json5"), encoding="utf-8") as file:
                        self.recorder.write(place.task, place.label("recipe written"), "words",
                                            place.marks.in_words(file.read()))
                    recipe = os.path.join(place.root, "made.json5")
                    shutil.move(place.path("made.json5"), recipe)
                    migrate_store(place, store, to, [*options, "--mapping", recipe])
                clear(place)
                self.migrate_with_policies(place, store, to, options)
            elif case.get("via"):
                migrate_store(place, store, to, options)
            if case.get("apple"):
                name = place.take(store)
                apple = place.take(os.path.join(fixtures, case["apple"]))
                place.run("verify", name, apple, "--to", to, *options, "--json")
                clear(place)

    def migrate_with_policies(self, place, store, to, options):
        """A mapping model whose policies are said to do nothing of their own."""
        place.take(store)
        answer = place.start("mapping", options[1], "--json")
        names = sorted(set(re.findall(r'"policy": "([^"]+)"', json.dumps(answer.values or []))))
        if names:
            recipe = os.path.join(place.root, "policies.json5")
            with open(recipe, "w", encoding="utf-8") as file:
                json.dump({"policies": {name: {} for name in names}}, file)
            migrate_store(place, store, to, [*options, "--mapping", recipe])
        clear(place)

    def migrate_swiftdata(self, place):
        folder = os.path.join(self.recorder.shared, "fixtures", "cartkit")
        store = os.path.join(folder, "CartKitSwiftData_v1.sqlite")
        for version in ("swiftdata-v1", "swiftdata-v2", "swiftdata-v3"):
            if os.path.isdir(os.path.join(folder, version)):
                migrate_store(place, store, os.path.join(folder, version))
        place.marks.hides_identifiers = True  # UUID() as a default
        for source in self.inputs.sources:
            matrix = place.start("plan", source, "--matrix", "--json").values
            names = matrix[0].get("versions") or [] if matrix else []
            for former, name in zip(names, names[1:]):
                store = os.path.join(place.root, "seeded.sqlite")
                place.run("seed", "%s@%s" % (source, former), store, "--objects", "40", "--json")
                if os.path.exists(store):
                    migrate_store(place, store, "%s@%s" % (source, name), is_short=True)
                    os.remove(store)
            if source.startswith(os.path.join(self.recorder.shared, "cases")):
                made = place.run("seed", source, "seeded.sqlite", "--objects", "40", "--json")
                if made.status == 0:
                    place.text("rows seeded " + self.inputs.name(source), "seeded.sqlite")
                    new = re.sub(r"/old$", "/new", source)
                    store = shutil.move(place.path("seeded.sqlite"), os.path.join(place.root, "seeded.sqlite"))
                    migrate_store(place, store, new, is_short=True)
                    os.remove(store)
                clear(place)

    def migrate_demo(self, place):
        for store in (self.demo.store, self.large_demo.store):
            for version in versions_of(self.demo.bundle):
                to = "%s@%s" % (self.demo.bundle, version)
                if migrate_store(place, store, to):
                    for way in ("in-place", "copy"):
                        migrate_store(place, store, to, ["--strategy", way], is_short=True)
                    migrate_store(place, store, to, ["--via", self.demo.bundle], is_short=True)
        store = place.take(self.demo.store)
        place.run("plan", store, "--to", self.demo.bundle + "@Recipes 4", "--write-recipe", "made.json5", "--json")
        for name in ("made.json5",):
            if os.path.exists(place.path(name)):
                with open(place.path(name), encoding="utf-8") as file:
                    self.recorder.write(place.task, place.label("recipe written"), "words",
                                        place.marks.in_words(file.read()))
                recipe = os.path.join(place.root, name)
                shutil.move(place.path(name), recipe)
                migrate_store(place, self.demo.store, self.demo.bundle + "@Recipes 4", ["--mapping", recipe])
        for number, text in enumerate(DEMO_RECIPES):
            recipe = os.path.join(place.root, "recipe%d.json5" % number)
            with open(recipe, "w", encoding="utf-8") as file:
                file.write(text)
            migrate_store(place, self.demo.store,
                          "%s@%s" % (self.demo.bundle, re.search(r"to: '([^']+)'", text).group(1)),
                          ["--mapping", recipe])

    def migrate_odd(self, place, name):
        source = odd_store(name, self.demo, os.path.join(place.root, "odd"), self.damage)
        former = ["--from", self.odd_models.bundle + "@Recipes"] if name == "no-cache" else []
        for version in versions_of(self.odd_models.bundle):
            if version.startswith("Recipes"):
                continue
            to = "%s@%s" % (self.odd_models.bundle, version)
            migrate_store(place, source, to, former, is_whole=version in ("Little", "Renamed"))
            for options in (["--strategy", "in-place"], ["--strategy", "copy"],
                            ["--mapping", self.odd_models.recipes[version]]):
                migrate_store(place, source, to, [*former, *options], is_short=True, is_whole=False)

    def pair(self, place, number):
        pair = GeneratedPair(number)
        folder = os.path.join(place.root, "pair")
        os.makedirs(folder)
        bundle = pair.write(folder)
        recipe = pair.recipe(folder)
        place.run("diff", bundle + "@V1", bundle + "@V2", "--json")
        place.run("lint", bundle, "--json")
        store = os.path.join(folder, "pair.sqlite")
        edges = ["--edge-cases"] if number % 3 == 0 else []
        made = place.run("seed", bundle + "@V1", store, "--objects", "60", "--seed", str(number), *edges, "--json")
        if made.status != 0:
            return
        if number % 2 == 0:
            make_odd(store)
        shutil.copyfile(store, place.path("pair.sqlite"))
        place.text("rows", "pair.sqlite")
        to = bundle + "@V2"
        migrate_store(place, store, to, is_short=number % 4 != 0)
        for way in ("in-place", "copy"):
            migrate_store(place, store, to, ["--strategy", way], is_short=True, is_whole=False)
        if recipe:
            migrate_store(place, store, to, ["--mapping", recipe], is_short=True)

    def damaged(self, place, damage, store):
        place.know(store)
        facts = self.damage.make(damage, store, place.folder)
        if facts is None:
            return
        with contextlib.suppress(OSError):
            os.remove(place.path("damage.json"))
        rescue_store(place, damage, "store.sqlite")


DEMO_RECIPES = [
    "{ from: 'Recipes', to: 'Recipes 2', entityMappings: [ { source: 'Recipe', destination: 'Recipe', where: \"serves > 3\", "
    "attributes: { notes: \"author.name || ': ' || count(tags)\", isVegan: \"serves > 4\" } }, { source: 'Draft', delete: true } ] }\n",
    "{ from: 'Recipes', to: 'Recipes 2', rename: { 'Recipe.legacyCode': 'Recipe.notes' }, entityMappings: [ "
    "{ source: 'Tag', destination: 'Tag', attributes: { name: \"regex_replace(name, 'e', 'E')\", colour: \"colour % 7\" } } ], "
    "userInfo: { modelVersion: 2 } }\n",
    "{ from: 'Recipes', to: 'Recipes 3', entityMappings: [ { source: 'Recipe', destination: 'Recipe', attributes: "
    "{ difficulty: \"coalesce(difficulty, 'easy')\" } }, { source: 'Draft', delete: true } ] }\n",
    "{ from: 'Recipes', to: 'Recipes 4', entityMappings: [ { source: 'Recipe', destination: 'Recipe', attributes: "
    "{ rating: \"format('%.1f', rating)\" } }, { source: 'Draft', destination: 'Draft' } ] }\n",
    "{ from: 'Recipes', to: 'Recipes 2', entityMappings: [ { source: 'Recipe', destination: 'Recipe', create: [ { destination: 'Rating', "
    "relationship: 'ratings', each: \"json_array(1, 2, serves)\", attributes: { stars: \"item\", comment: \"title || position\" } } ] } ] }\n",
]


def load_module(name, path):
    sys.path.insert(0, os.path.dirname(path))
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


# ---- the commands of this script


def states(folder):
    """Size and time of every file."""
    found = {}
    for root, folders, names in os.walk(folder):
        for name in [*names, *folders]:
            path = os.path.join(root, name)
            status = os.lstat(path)
            found[os.path.relpath(path, folder)] = (status.st_size, status.st_mtime_ns)
    return found


def record(options):
    if os.path.exists(options.out) and os.listdir(options.out):
        sys.exit("%s is not empty" % options.out)
    os.makedirs(options.out, exist_ok=True)
    begin = time.monotonic()
    parts = [os.path.join(options.shared, part) for part in ("fixtures", "cases")]
    before = {part: states(part) for part in parts}
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # half the time: nothing waits for a disk
    work = tempfile.mkdtemp(prefix="record-", dir=options.work or memory)
    recorder = Recorder(options.strata, os.path.abspath(options.out), work, os.path.abspath(options.shared),
                        options.jobs, options.pause_while)
    failures, finished = [], []
    try:
        recorder.copy_inputs()
        copied = states(recorder.shared)
        tasks = Tasks(recorder, Inputs(recorder), options.pairs).all()
        chosen = [task for task in tasks if any(fnmatch.fnmatch(task[0], only) for only in options.only)]
        print("%d tasks of %d" % (len(chosen), len(tasks)), flush=True)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            # Kinds are mixed: what a run of some minutes recorded is of every kind.
            chosen.sort(key=lambda task: hashlib.sha256(task[0].encode()).digest())
            until = begin + 60 * options.minutes if options.minutes else float("inf")
            running = {pool.submit(carry_out, recorder, until, *task): task[0] for task in chosen}
            for done in concurrent.futures.as_completed(running):
                try:
                    seconds = done.result()
                except Exception as error:
                    failures.append("%s: %s: %s" % (running[done], type(error).__name__, error))
                    print("FAILED %s" % failures[-1], flush=True)
                    continue
                if seconds is not None:
                    finished.append(running[done])
                    print("%6.1f s  %s" % (seconds, running[done]), flush=True)
        changed = [os.path.relpath(part, options.shared) for part in parts if states(part) != before[part]]
        after = states(recorder.shared)
        changed += sorted("copy of " + name for name in {*copied, *after} if copied.get(name) != after.get(name)
                          and ".pyc" not in name)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    seconds = time.monotonic() - begin
    processor = sum(use.ru_utime + use.ru_stime
                    for use in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))
    with open(os.path.join(options.out, "about.txt"), "w", encoding="utf-8") as file:
        for title, value in (("binary", os.path.abspath(options.strata)), ("sha256", digest_of(options.strata)),
                             ("script", digest_of(__file__)), ("only", " ".join(options.only)),
                             ("tasks", "%d of %d" % (len(finished), len(tasks))), ("records", recorder.records),
                             ("commands", recorder.commands), ("seconds", "%.0f" % seconds),
                             ("seconds of processors", "%.0f" % processor)):
            file.write("%s: %s\n" % (title, value))
        for title, lines in (("left out", recorder.skipped), ("took more than %d s" % LIMIT, recorder.timeouts),
                             ("failed in this script", failures), ("inputs that were changed", changed)):
            file.write("%s: %s\n" % (title, "; ".join(lines) or "none"))
    with open(os.path.join(options.out, "tasks.txt"), "w", encoding="utf-8") as file:
        file.write("".join(name + "\n" for name in sorted(finished)))
    print("%d records of %d commands in %.0f s (%.0f s of processors); left out %d, timeouts %d, failures %d, changed inputs %d" % (
        recorder.records, recorder.commands, seconds, processor, len(recorder.skipped), len(recorder.timeouts),
        len(failures), len(changed)))
    return 1 if failures or changed else 0


def carry_out(recorder, until, name, work, values):
    """Seconds that a task took; None where it was too late to begin it."""
    begin = time.monotonic()
    if begin > until:
        return None
    place = Place(recorder, name)
    try:
        work(place, *values)
    finally:
        place.close()
    return time.monotonic() - begin


def digest_of(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def tasks_of(folder):
    with open(os.path.join(folder, "tasks.txt"), encoding="utf-8") as file:
        return set(file.read().splitlines())


def texts_of(folder, kind, tasks):
    found = {}
    for task in tasks:
        place = os.path.join(folder, task)
        for name in os.listdir(place) if os.path.isdir(place) else []:
            if name.endswith("." + kind):
                found["%s/%s" % (task, name[:-len(kind) - 1])] = os.path.join(place, name)
    return found


def compare(options):
    first, second = tasks_of(options.a), tasks_of(options.b)
    options.tasks = first & second
    for folder, alone in ((options.a, first - second), (options.b, second - first)):
        if alone:
            print("not compared, only %s has them: %d tasks: %s" % (folder, len(alone), " ".join(sorted(alone)[:20])))
    differ = compare_kind(options, "result", "results", True)
    compare_kind(options, "words", "wording", options.wording)
    return 1 if differ else 0


def compare_kind(options, kind, title, is_shown):
    first, second = texts_of(options.a, kind, options.tasks), texts_of(options.b, kind, options.tasks)
    differing = []
    for name in sorted({*first, *second}):
        if name not in first or name not in second:
            differing.append((name, None))
        elif digest_of(first[name]) != digest_of(second[name]):
            differing.append((name, (first[name], second[name])))
    for name, paths in differing:
        if not is_shown:
            continue
        if paths is None:
            print("%s: only in %s: %s" % (title, options.a if name in first else options.b, name))
            continue
        print("%s differ: %s" % (title, name))
        lines = [open_lines(path) for path in paths]
        shown = list(difflib.unified_diff(*lines, options.a, options.b, n=1, lineterm=""))[2:]
        print("\n".join("    " + line[:300] for line in shown[:options.lines]))
        if len(shown) > options.lines:
            print("    … %d lines more" % (len(shown) - options.lines))
    print("%s: %d equal, %d differ" % (title, len({*first, *second}) - len(differing), len(differing)))
    return differing


def open_lines(path):
    with open(path, encoding="utf-8", errors="backslashreplace") as file:
        return file.read().split("\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("record", help="record the answers of a binary")
    one.add_argument("strata")
    one.add_argument("out")
    one.add_argument("--shared", default="/work/shared", help="the folder with fixtures, cases and tools")
    one.add_argument("--work", default=None, help="where the work folder is made (in memory without it, /dev/shm)")
    one.add_argument("--jobs", type=int, default=2)
    one.add_argument("--only", nargs="+", default=["*"], help="the tasks to carry out, as patterns")
    one.add_argument("--pairs", type=int, default=60, help="how many generated pairs of models")
    one.add_argument("--minutes", type=float, default=None, help="begin no task after so many minutes")
    one.add_argument("--pause-while", default=None, metavar="FILE", help="start no command while FILE is there")
    one.set_defaults(work_of=record)
    two = commands.add_parser("compare", help="compare two records")
    two.add_argument("a")
    two.add_argument("b")
    two.add_argument("--wording", action="store_true", help="show where wording differs")
    two.add_argument("--lines", type=int, default=20, help="lines of a difference to show")
    two.set_defaults(work_of=compare)
    options = parser.parse_args()
    sys.exit(options.work_of(options))


if __name__ == "__main__":
    main()
