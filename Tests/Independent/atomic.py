#!/usr/bin/env python3
"""Reads an XML or binary store of Core Data's by the description of the formats, without any code of strata's.

    atomic.py ATOMIC SQLITE    compares each object of an atomic store with that of the same key in a store of the SQLite
                               type that was made of it, whose model gives names and types; prints what differs
    atomic.py --serve          the same for each pair of paths on standard input, in hexadecimal: a line "N" or
                               "error: …", then N lines

Ends with 1 where anything does.

Ids that are no number, and the second of two equal ones, count on from the highest; a reference means the first object
of its id, and one to no object is left out. Where one side of a relationship names an object and the other side does
not, that is a link, unless the other side is a to-one that names another.
"""

import base64
import decimal
import os
import plistlib
import re
import struct
import sys
import uuid
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from model import Attribute, Relationship  # noqa: E402
import reader  # noqa: E402

MAGIC = b"CoreData\0\0\0\1\x08\x04\x08\0"


def unescaped(text):
    """Core Data's own escapes; four digits are a UTF-16 unit's bytes, little end first."""
    def meant(match):
        if match.group(0) == "\\\\":
            return "\\"
        first, second = int(match.group(1)[:2], 16), int(match.group(1)[2:], 16)
        swapped, straight = second << 8 | first, first << 8 | second
        unit = swapped
        if 0x100 <= swapped < 0xD800 and (straight < 0x100 or straight >= 0xD800):
            unit = straight
        return unit.to_bytes(2, "little").decode("utf-16-le", "surrogatepass")
    text = re.sub(r"\\\\|\\u([0-9a-fA-F]{4})", meant, text)
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")


class Numbers:
    """The number of each object by its id, from the ids as they stand in the file."""
    def __init__(self, ids, last):
        self.first, self.own = {}, []
        used = set()
        for id_ in ids:
            digits = str(id_)[1:] if str(id_).startswith("z") else str(id_)
            plain = digits.isascii() and digits.isdigit() and digits[0] != "0"
            number = int(digits) if plain else None
            if number in used:
                number = None
            used.add(number)
            self.own.append(number)
        following = max([last] + [n for n in self.own if n is not None])
        for place, id_ in enumerate(ids):
            if self.own[place] is None:
                following += 1
                self.own[place] = following
            self.first.setdefault(str(id_), self.own[place])

    def links(self, ids):
        return [self.first[str(i)] for i in ids if str(i) in self.first]


def read_xml(path):
    """key -> entity, attributes by name in small letters, relationships by name: lists of keys."""
    root = ElementTree.parse(path).getroot()
    items = list(root.iter("object"))
    last = root.findtext("databaseInfo/nextObjectID") or "0"
    numbers = Numbers([item.get("id") for item in items], int(last))
    objects = {}
    for key, item in zip(numbers.own, items):
        attributes = {a.get("name").lower(): (a.get("type"), a.text or "") for a in item.iter("attribute")}
        links = {r.get("name").lower(): numbers.links((r.get("idrefs") or "").split())
                 for r in item.iter("relationship")}
        objects[key] = (item.get("type"), attributes, links)
    return objects


def xml_value(attribute, written):
    kind, text = attribute.kind, written[1]
    if kind in (100, 200, 300, 800):
        return int(text)
    if kind in (500, 600, 900):
        return float(text)
    if kind == 400:
        return ("decimal", text)
    if kind in (1000, 1800):
        return base64.b64decode("".join(text.split()))
    if kind == 1100:
        return uuid.UUID(text).bytes
    return unescaped(text)


class Archive:
    def __init__(self, data):
        self.plist = plistlib.loads(data)
        self.objects = self.plist["$objects"]

    def follow(self, value):
        while isinstance(value, plistlib.UID):
            value = self.objects[value.data]
        return None if value == "$null" else value

    def array(self, value):
        return [self.follow(v) for v in self.follow(value)["NS.objects"]]

    def pairs(self, value):
        value = self.follow(value)
        return list(zip((self.follow(k) for k in value["NS.keys"]), value["NS.objects"]))

    def name(self, value):
        return self.follow(value["$class"])["$classname"]


def read_binary(path):
    with open(path, "rb") as file:
        data = file.read()
    if data[:16] != MAGIC:
        raise ValueError("no binary store")
    start, length, last = struct.unpack(">QQq", data[32:56])
    archive = Archive(data[start:start + length])
    nodes = [archive.follow(node) for _, node in archive.pairs(archive.plist["$top"]["mapData"])]
    numbers = Numbers([archive.follow(node.get("NSPrimaryKey64", node.get("NSKey"))) for node in nodes], last)
    objects = {}
    for key, node in zip(numbers.own, nodes):
        links = {}
        if archive.follow(node.get("NSRelatedNodes")) is not None:
            links = {name.lower(): numbers.links(archive.array(keys))
                     for name, keys in archive.pairs(node["NSRelatedNodes"])}
        values = archive.follow(node.get("NSAttributeValues"))
        # An older form has them by name.
        values = archive.array(node["NSAttributeValues"]) if values is not None else {
            name: archive.follow(value) for name, value in archive.pairs(node["NSAttributes"])}
        objects[key] = (archive.follow(node["NSEntityName"]), values, links)
    return archive, objects


def binary_value(archive, attribute, value):
    meant = plain_value(archive, attribute, value)
    if attribute.kind != 1800 or meant is None or isinstance(meant, Archived):
        return meant
    return Alone(meant, attribute)


def plain_value(archive, attribute, value):
    if value is None or not isinstance(value, dict):
        if isinstance(value, bool):
            return int(value)
        return float(value) if attribute.kind in (500, 600, 900) and isinstance(value, int) else value
    name = archive.name(value)
    if name == "NSNull":
        return None
    if name == "NSDate":
        return float(value["NS.time"])
    if name == "NSUUID":
        return value["NS.uuidbytes"]
    if name == "NSURL":
        return archive.follow(value["NS.relative"])
    if name in ("NSMutableString", "NSString"):
        return archive.follow(value["NS.string"])
    if name in ("NSMutableData", "NSData"):
        return archive.follow(value["NS.data"])
    if name in ("NSDecimalNumber", "NSDecimalNumberPlaceholder"):
        number = int.from_bytes(value["NS.mantissa"][:2 * value["NS.length"]], "little")
        return ("decimal", "%s%de%d" % ("-" if value["NS.negative"] else "", number, value["NS.exponent"]))
    return Archived()


class Archived:
    """An object of a class of the app's: how it is archived is not compared here."""


class Alone:
    """A transformable that is a value of Foundation's: its archive holds the same value alone."""
    def __init__(self, meant, attribute):
        self.meant, self.attribute = meant, attribute

    def is_in(self, data):
        archive = Archive(data)
        found = plain_value(archive, self.attribute, archive.follow(archive.plist["$top"]["root"]))
        if isinstance(found, tuple) and isinstance(self.meant, tuple):
            return decimal.Decimal(found[1]) == decimal.Decimal(self.meant[1])
        return found == self.meant

    def __repr__(self):
        return "an archive of %r" % (self.meant,)


def places(model, entity):
    """Attributes in the order of a binary store's places."""
    chain = [entity]
    while model.entities[chain[0]].parent is not None:
        chain.insert(0, model.entities[chain[0]].parent)
    names = []
    for member in chain:
        own = [n for n, p in model.entities[member].properties.items()
               if isinstance(p, Attribute) and not p.transient and n not in names]
        names += sorted(own, key=str.encode)
    return names


def equal(one, other):
    if isinstance(one, Archived):
        return isinstance(other, bytes)
    if isinstance(one, Alone):
        return isinstance(other, bytes) and one.is_in(other)
    if isinstance(one, tuple):
        return other is not None and float(one[1]) == float(other)
    if isinstance(one, float) and isinstance(other, (int, float)):
        return one == other or one != one and other != other
    return one == other


class Links:
    """What each relationship of the atomic store means, both sides taken together."""
    def __init__(self, model, objects):
        self.model, self.objects = model, objects
        self.entities = {name.upper(): name for name in model.entities}
        self.below = {name: set(model.subtree(name)) for name in model.entities}
        self.sources = {}

    def entity(self, key):
        return self.entities.get(self.objects[key][0].upper())

    def named(self, key, relationship):
        """The keys that the object names itself, of entities that the relationship can reference."""
        keys = []
        for other in self.objects[key][2].get(relationship.name.lower(), []):
            if other not in keys and self.entity(other) in self.below[relationship.destination]:
                keys.append(other)
        return keys

    def naming(self, relationship):
        """For each object that the relationship names, those that do."""
        declarer, name = relationship
        if relationship not in self.sources:
            found = {}
            for key in sorted(self.objects):
                if self.entity(key) in self.below[declarer]:
                    for other in self.named(key, self.model.entities[declarer].properties[name]):
                        found.setdefault(other, []).append(key)
            self.sources[relationship] = found
        return self.sources[relationship]

    def one(self, key, relationship):
        """The object of a to-one: its own side goes before the other."""
        keys = self.named(key, relationship)[:1]
        return keys or self.others(key, relationship)[:1]

    def others(self, key, relationship):
        if relationship.inverse is None:
            return []
        declarer = self.model.declarer(relationship.destination, relationship.inverse)
        return self.naming((declarer, relationship.inverse)).get(key, [])

    def all(self, key, entity, relationship):
        if not relationship.to_many:
            return self.one(key, relationship)
        keys = self.named(key, relationship)
        keys += [k for k in self.others(key, relationship) if k not in keys]
        if relationship.inverse is None:
            return keys
        inverse = self.model.entities[relationship.destination].properties[relationship.inverse]
        return keys if inverse.to_many else [k for k in keys if self.one(k, inverse) == [key]]


def differences(atomic, sqlite):
    """How many objects the store of the SQLite type has, and what differs."""
    with open(atomic, "rb") as file:
        is_binary = file.read(8) == MAGIC[:8]
    archive, objects = read_binary(atomic) if is_binary else (None, read_xml(atomic))
    store = reader.Store(sqlite)
    links = Links(store.model, objects)
    seen, faults = 0, []
    for entity, key, row in store.objects():
        seen += 1
        if key not in objects:
            faults.append("%s/p%d is not in the atomic store" % (entity, key))
            continue
        kind, values, _ = objects[key]
        if kind != (entity if is_binary else entity.upper()):
            faults.append("%s/p%d is a %s" % (entity, key, kind))
            continue
        order = places(store.model, entity)
        for name, property_ in store.model.entities[entity].properties.items():
            if property_.transient:
                continue
            if isinstance(property_, Attribute):
                declarer = store.model.declarer(entity, name)
                own = store.value(declarer, property_, (name,), row)
                try:
                    if is_binary:
                        written = values.get(name) if isinstance(values, dict) else values[order.index(name)]
                        meant = binary_value(archive, property_, written)
                    else:
                        written = values.get(name.lower())
                        meant = written and xml_value(property_, written)
                except ValueError:
                    # What does not fit its type is kept as text.
                    meant = written[1]
                if not equal(meant, own):
                    faults.append("%s/p%d.%s: %r and %r" % (entity, key, name, meant, own))
            elif isinstance(property_, Relationship):
                related = store.related(entity, property_, key, row)
                own = [k for _, k in related] if isinstance(related, list) else [related[1]] if related else []
                meant = links.all(key, entity, property_)
                if property_.ordered and own != meant or sorted(own) != sorted(meant):
                    faults.append("%s/p%d.%s: %r and %r" % (entity, key, name, meant, own))
    store.db.close()
    if seen != len(objects):
        faults.append("%d objects of %d" % (seen, len(objects)))
    return seen, faults


def compare(atomic, sqlite):
    seen, faults = differences(atomic, sqlite)
    for fault in faults[:50]:
        print(fault)
    print("%d objects, %d differences" % (seen, len(faults)))
    return 1 if faults else 0


def serve():
    for line in sys.stdin:
        try:
            words = [os.fsdecode(bytes.fromhex(word)) for word in line.rstrip("\n").split("\t")]
            faults = differences(*words)[1]
            answer = "%d\n" % len(faults) + "".join(fault.replace("\n", " ") + "\n" for fault in faults)
        except Exception as error:  # whatever it is, the test is told
            answer = "error: %s: %s\n" % (type(error).__name__, str(error).replace("\n", " "))
        sys.stdout.buffer.write(answer.encode("utf-8", "surrogateescape"))
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        serve()
        sys.exit(0)
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(compare(sys.argv[1], sys.argv[2]))
