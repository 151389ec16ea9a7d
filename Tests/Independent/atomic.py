#!/usr/bin/env python3
"""Reads an XML or binary store of Core Data's by the description of the formats, without any code of strata's.

    atomic.py ATOMIC SQLITE    compares each object of an atomic store with that of the same key in a store of the SQLite
                               type that was made of it, whose model gives names and types; prints what differs

Ends with 1 where anything does.
"""

import base64
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


def read_xml(path):
    """(entity, key) -> attributes by name in small letters, relationships by name: lists of keys."""
    objects = {}
    for item in ElementTree.parse(path).getroot().iter("object"):
        attributes = {a.get("name").lower(): (a.get("type"), a.text or "") for a in item.iter("attribute")}
        links = {r.get("name").lower(): [int(i[1:]) for i in (r.get("idrefs") or "").split()]
                 for r in item.iter("relationship")}
        objects[int(item.get("id")[1:])] = (item.get("type"), attributes, links)
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
    start, length = struct.unpack(">QQ", data[32:48])
    archive = Archive(data[start:start + length])
    objects = {}
    for key, node in archive.pairs(archive.plist["$top"]["mapData"]):
        node = archive.follow(node)
        links = {}
        if archive.follow(node.get("NSRelatedNodes")) is not None:
            links = {name.lower(): archive.array(keys) for name, keys in archive.pairs(node["NSRelatedNodes"])}
        objects[key] = (archive.follow(node["NSEntityName"]), archive.array(node["NSAttributeValues"]), links)
    return archive, objects


def binary_value(archive, attribute, value):
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
    """A transformable: how it is archived is not compared here."""


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
    if isinstance(one, tuple):
        return other is not None and float(one[1]) == float(other)
    if isinstance(one, float) and isinstance(other, (int, float)):
        return one == other or one != one and other != other
    return one == other


def compare(atomic, sqlite):
    with open(atomic, "rb") as file:
        is_binary = file.read(8) == MAGIC[:8]
    archive, objects = read_binary(atomic) if is_binary else (None, read_xml(atomic))
    store = reader.Store(sqlite)
    seen, faults = 0, []
    for entity, key, row in store.objects():
        seen += 1
        if key not in objects:
            faults.append("%s/p%d is not in the atomic store" % (entity, key))
            continue
        kind, values, links = objects[key]
        if kind != (entity if is_binary else entity.upper()):
            faults.append("%s/p%d is a %s" % (entity, key, kind))
        order = places(store.model, entity)
        for name, property_ in store.model.entities[entity].properties.items():
            if property_.transient:
                continue
            if isinstance(property_, Attribute):
                declarer = store.model.declarer(entity, name)
                own = store.value(declarer, property_, (name,), row)
                if is_binary:
                    meant = binary_value(archive, property_, values[order.index(name)])
                else:
                    written = values.get(name.lower())
                    meant = written and xml_value(property_, written)
                if not equal(meant, own):
                    faults.append("%s/p%d.%s: %r and %r" % (entity, key, name, meant, own))
            elif isinstance(property_, Relationship):
                related = store.related(entity, property_, key, row)
                own = [k for _, k in related] if isinstance(related, list) else [related[1]] if related else []
                meant = links.get(name.lower(), [])
                if property_.ordered and own != meant or sorted(own) != sorted(meant):
                    faults.append("%s/p%d.%s: %r and %r" % (entity, key, name, meant, own))
    if seen != len(objects):
        faults.append("%d objects of %d" % (seen, len(objects)))
    for fault in faults[:50]:
        print(fault)
    print("%d objects, %d differences" % (seen, len(faults)))
    return 1 if faults else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(compare(sys.argv[1], sys.argv[2]))
