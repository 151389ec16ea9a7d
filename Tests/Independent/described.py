"""Descriptions of entities, out of the archived models of stores and .mom files.

They are in words of our own: what is left out is as Xcode leaves it.
"""

import os
import plistlib
import shutil
import sqlite3
import tempfile
import zlib

import model as models
from reader import quoted

TYPES = {
    0: "Undefined", 100: "Integer 16", 200: "Integer 32", 300: "Integer 64", 400: "Decimal", 500: "Double",
    600: "Float", 700: "String", 800: "Boolean", 900: "Date", 1000: "Binary", 1100: "UUID", 1200: "URI",
    1800: "Transformable", 2100: "Composite",
}
NUMBERS = {name: number for number, name in TYPES.items()}
RULES = {0: "No Action", 1: "Nullify", 2: "Cascade", 3: "Deny"}
MOST = 3  # entities described of one file


class Unsuitable(Exception):
    """Why an entity cannot be a vector."""


def plain(members):
    """Without what says nothing."""
    return {key: value for key, value in members.items() if value not in (None, False, [], {}, "")}


def other_name(archive, described, name):
    """Archives always have a renaming identifier."""
    stated = archive.text(described.get("NSRenamingIdentifier"))
    return stated if stated != name else None


def info_of(archive, described):
    info = archive.dictionary(described.get("NSUserInfo"))
    return {key: archive.text(value) for key, value in info.items() if isinstance(archive.text(value), str)}


def format_of(archive, expression):
    """The few expressions that the fixtures have, in predicate format."""
    kind = archive.name(expression)
    if kind == "NSKeyPathExpression":
        return archive.text(archive.array(expression["NSArguments"])[0]["NSKeyPath"])
    if kind == "NSFunctionExpression":
        inner = [format_of(archive, argument) for argument in archive.array(expression["NSArguments"])]
        return "%s(%s)" % (archive.text(expression["NSSelectorName"]), ", ".join(inner))
    if kind == "NSConstantValueExpression" and archive.get(expression, "NSConstantValue") is None:
        return "nil"
    raise Unsuitable("an expression of the class %s" % kind)


def condition_of(archive, predicate):
    if predicate is None:
        return None
    operator = archive.get(predicate, "NSPredicateOperator")
    if archive.name(predicate) != "NSComparisonPredicate" or archive.get(operator, "NSOperatorType") not in (4, 5):
        raise Unsuitable("a predicate of the class %s" % archive.name(predicate))
    sign = {4: "==", 5: "!="}[archive.get(operator, "NSOperatorType")]
    sides = [format_of(archive, archive.get(predicate, key)) for key in ("NSLeftExpression", "NSRightExpression")]
    return "%s %s %s" % (sides[0], sign, sides[1])


def attribute_of(archive, described, depth=0):
    name = archive.text(described["NSPropertyName"])
    number = archive.get(described, "NSAttributeType") or 0
    flags = archive.get(described, "NSFlagsKey") or 0
    default = archive.get(described, "NSDefaultValue")
    members = {
        "name": name,
        "type": TYPES.get(number),
        "optional": archive.get(described, "NSIsOptional"),
        "transient": archive.get(described, "NSIsTransient"),
        "modifier": archive.text(described.get("NSVersionHashModifier")),
        "was": other_name(archive, described, name),
        "indexed": archive.get(described, "NSIsIndexed"),
        "external": bool(flags & 4),
        "kept": bool(flags & 16),
        "default": isinstance(default, (bool, int, float, str, dict)),
    }
    if members["type"] is None:
        raise Unsuitable("an attribute of the type %s" % number)
    if "NSDerivationExpression" in described:
        members["derived"] = format_of(archive, archive.get(described, "NSDerivationExpression"))
    if number == models.COMPOSITE:
        raise Unsuitable("a composite: no fixture has one")
    return plain(members)


def relationship_of(archive, described):
    name = archive.text(described["NSPropertyName"])
    most = (archive.get(described, "NSMaxCount") or 0) & 0xFFFFFFFF
    return plain({
        "name": name,
        "to": archive.text(described["_NSDestinationEntityName"]),
        "inverse": archive.text(described.get("_NSInverseRelationshipName")),
        "many": most != 1,
        "ordered": archive.get(described, "NSIsOrdered"),
        "optional": archive.get(described, "NSIsOptional"),
        "transient": archive.get(described, "NSIsTransient"),
        "min": (archive.get(described, "NSMinCount") or 0) & 0xFFFFFFFF,
        "max": most if most != 1 else 0,
        "delete": RULES[archive.get(described, "NSDeleteRule") or 0],
        "modifier": archive.text(described.get("NSVersionHashModifier")),
        "was": other_name(archive, described, name),
        "info": info_of(archive, described),
    })


def index_of(archive, described):
    elements = []
    for element in archive.array(described["NSIndexElements"]):
        indexed = archive.get(element, "NSIndexedProperty")
        if isinstance(indexed, dict) and "NSExpression" in indexed:
            members = {"expression": format_of(archive, archive.get(indexed, "NSExpression"))}
        else:
            members = {"property": archive.text(element["NSPropertyName"])}
        members["rtree"] = archive.get(element, "NSFetchIndexElementType") == 1
        members["descending"] = archive.get(element, "NSAscending") is False
        elements.append(plain(members))
    return plain({
        "name": archive.text(described["NSIndexName"]),
        "elements": elements,
        "where": condition_of(archive, archive.get(described, "NSPartialIndexPredicate")),
    })


def names_of(archive, tuples):
    def text(item):
        return archive.text(item) if not isinstance(item, dict) or "NS.string" in item else archive.text(
            item["NSPropertyName"])
    return [[text(item) for item in archive.array(names)] for names in archive.array(tuples)]


def entity_of(archive, described, inherited):
    """An entity with what it declares itself."""
    name = archive.text(described["NSEntityName"])
    attributes, relationships, fetched = [], [], []
    for property_name, property_ in sorted(archive.dictionary(described.get("NSProperties")).items()):
        kind = archive.name(property_)
        if property_name in inherited or kind == "_NSPropertyDescriptionProxy":
            continue
        if kind == "NSRelationshipDescription":
            relationships.append(relationship_of(archive, property_))
        elif kind == "NSFetchedPropertyDescription":
            fetched.append(property_name)
        else:
            attributes.append(attribute_of(archive, property_))
    parent = archive.get(described, "NSSuperentity")
    return plain({
        "name": name,
        "parent": archive.text(parent["NSEntityName"]) if parent else None,
        "abstract": archive.get(described, "NSIsAbstract"),
        "modifier": archive.text(described.get("NSVersionHashModifier")),
        "was": other_name(archive, described, name),
        "unique": names_of(archive, described.get("NSUniqueTuples")),
        "compound": names_of(archive, described.get("NSCompoundIndexes")),
        "indexes": [index_of(archive, i) for i in archive.array(described.get("NSFetchIndexDescriptions"))],
        "info": info_of(archive, described),
        "attributes": attributes,
        "relationships": relationships,
        "fetched": fetched,
    })


class File:
    """A store or one version of a compiled model, with the hashes that Apple's tools state for it."""

    def __init__(self, path, archive, hashes, framework=None, metadata=None):
        self.path = path
        self.archive = archive
        self.hashes = hashes
        self.framework = framework
        self.metadata = metadata or {}
        self.described = archive.dictionary(archive.root["NSEntities"])
        self.chosen = set()  # names of entities that are described in full
        folder = path.split("/")[0]
        self.project = path if folder == "system" else folder

    def parent(self, name):
        parent = self.archive.get(self.described[name], "NSSuperentity")
        return self.archive.text(parent["NSEntityName"]) if parent else None

    def lineage(self, name):
        parent = self.parent(name)
        return (self.lineage(parent) if parent else []) + [name]

    def entity(self, name):
        parent = self.parent(name)
        inherited = set(self.archive.dictionary(self.described[parent].get("NSProperties"))) if parent else set()
        while parent:
            inherited |= set(self.archive.dictionary(self.described[parent].get("NSProperties")))
            parent = self.parent(parent)
        return entity_of(self.archive, self.described[name], inherited)

    def choose(self, names):
        chosen = self.chosen | set(names)
        if len(chosen) > MOST:
            raise Unsuitable("more than %d entities of %s" % (MOST, self.path))
        self.chosen = chosen


def files(fixtures):
    """Every file of the fixtures that has a model and hashes, by its path."""
    found = {}
    for folder, folders, names in os.walk(fixtures):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(folder, name)
            relative = os.path.relpath(path, fixtures)
            if name == "VersionInfo.plist":
                with open(path, "rb") as file:
                    stated = plistlib.load(file)["NSManagedObjectModel_VersionHashes"]
                for version, hashes in sorted(stated.items()):
                    with open(os.path.join(folder, version + ".mom"), "rb") as file:
                        archive = models.Archive(file.read())
                    key = "%s@%s" % (os.path.dirname(relative), version)
                    found[key] = File(key, archive, hashes)
                continue
            with open(path, "rb") as file:
                if file.read(15) != b"SQLite format 3":
                    continue
            with Copy(path) as db:
                try:
                    cache = db.execute("SELECT Z_CONTENT FROM Z_MODELCACHE").fetchone()
                    metadata = plistlib.loads(db.execute("SELECT Z_PLIST FROM Z_METADATA").fetchone()[0])
                except (sqlite3.Error, plistlib.InvalidFileException):
                    continue
            archive = models.Archive(zlib.decompress(cache[0], -15))
            hashes = metadata["NSStoreModelVersionHashes"]
            found[relative] = File(relative, archive, hashes, metadata["NSPersistenceFrameworkVersion"], metadata)
    return found


class Copy:
    """A connection to a copy of a store and its -wal."""

    def __init__(self, path):
        self.folder = tempfile.TemporaryDirectory()
        copy = os.path.join(self.folder.name, "store.sqlite")
        for suffix in ("", "-wal"):
            if os.path.exists(path + suffix):
                shutil.copyfile(path + suffix, copy + suffix)
        self.db = sqlite3.connect("file:%s" % quoted(copy), uri=True)

    def __enter__(self):
        return self.db

    def __exit__(self, *_):
        self.db.close()
        self.folder.cleanup()
