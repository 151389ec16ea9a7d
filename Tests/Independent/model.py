"""The model a store carries in Z_MODELCACHE, read with the standard library alone.

Written from the description of the formats, not from strata's Swift code: it is the second opinion.
"""

import plistlib
import zlib

COMPOSITE = 2100
DERIVED = "NSDerivedAttributeDescription"


class ModelError(Exception):
    pass


class Property:
    def __init__(self, name):
        self.name = name
        self.transient = False
        self.renaming = None
        self.optional = False


class Attribute(Property):
    def __init__(self, name, kind):
        super().__init__(name)
        self.kind = kind
        self.external = False
        self.kept = False  # history keeps the value of a deleted object
        self.elements = []


class Relationship(Property):
    def __init__(self, name):
        super().__init__(name)
        self.destination = None
        self.inverse = None
        self.to_many = False
        self.ordered = False


class Entity:
    def __init__(self, name):
        self.name = name
        self.parent = None
        self.renaming = None
        self.abstract = False
        self.properties = {}  # name -> Property, those of its ancestors included


class Archive:
    """A keyed archive with its references followed on demand."""

    def __init__(self, data):
        plist = plistlib.loads(data)
        self.objects = plist["$objects"]
        self.root = self.follow(plist["$top"]["root"])

    def follow(self, value):
        if isinstance(value, plistlib.UID):
            value = self.objects[value.data]
        return None if isinstance(value, str) and value == "$null" else value

    def get(self, object_, key):
        return self.follow(object_.get(key)) if isinstance(object_, dict) else None

    def name(self, object_):
        cls = self.get(object_, "$class")
        return cls["$classname"] if cls else None

    def text(self, value):
        value = self.follow(value)
        if isinstance(value, dict) and "NS.string" in value:
            value = self.follow(value["NS.string"])
        return value

    def array(self, value):
        value = self.follow(value)
        if value is None:
            return []
        return [self.follow(item) for item in value.get("NS.objects", [])]

    def dictionary(self, value):
        value = self.follow(value)
        if value is None:
            return {}
        if "searchMapping" in value:
            keys = [self.text(k) for k in self.get(self.get(value, "searchMapping"), "keys")["NS.objects"]]
            values = self.array(value["values"])
            empty = self.text(value.get("emptyToken"))
            return {k: v for k, v in zip(keys, values) if v is not None and v != empty}
        keys = [self.text(k) for k in value.get("NS.keys", [])]
        return dict(zip(keys, self.array(value)))


class Model:
    def __init__(self, entities):
        self.entities = entities  # name -> Entity

    @staticmethod
    def from_cache(blob):
        return Model.from_archive(zlib.decompress(blob, -15))

    @staticmethod
    def from_archive(data):
        archive = Archive(data)
        entities = {}
        for key, object_ in archive.dictionary(archive.root["NSEntities"]).items():
            entities[key] = read_entity(archive, object_)
        model = Model(entities)
        for name in model.preorder():
            model.inherit(name)
        return model

    def inherit(self, name):
        """Adds what the parent has: archives in stores repeat it, those of the compiler do not."""
        entity = self.entities[name]
        if entity.parent is not None:
            for property_ in self.entities[entity.parent].properties.values():
                entity.properties.setdefault(property_.name, property_)

    def children(self, name):
        """Siblings stand in case-insensitive order of their names."""
        found = [e.name for e in self.entities.values() if e.parent == name]
        return sorted(found, key=lambda n: (n.lower(), n))

    def subtree(self, name):
        names = [name]
        for child in self.children(name):
            names += self.subtree(child)
        return names

    def root(self, name):
        while self.entities[name].parent is not None:
            name = self.entities[name].parent
        return name

    def preorder(self):
        return [n for root in self.children(None) for n in self.subtree(root)]

    def declarer(self, entity, name):
        """The topmost entity at or above this one that has the property."""
        found = None
        while entity is not None:
            if name in self.entities[entity].properties:
                found = entity
            entity = self.entities[entity].parent
        return found

    def own(self, entity, kind):
        """Properties that no ancestor has, by name in byte order."""
        found = [
            p
            for p in self.entities[entity].properties.values()
            if isinstance(p, kind) and not p.transient and self.declarer(entity, p.name) == entity
        ]
        return sorted(found, key=lambda p: p.name.encode())


def read_entity(archive, object_):
    entity = Entity(archive.text(object_["NSEntityName"]))
    entity.abstract = bool(archive.get(object_, "NSIsAbstract"))
    entity.renaming = archive.text(object_.get("NSRenamingIdentifier"))
    parent = archive.get(object_, "NSSuperentity")
    entity.parent = archive.text(parent["NSEntityName"]) if parent else None
    for name, described in archive.dictionary(object_.get("NSProperties")).items():
        property_ = read_property(archive, described)
        if property_ is not None:
            entity.properties[name] = property_
    return entity


def read_property(archive, object_, depth=0):
    if depth > 16:
        raise ModelError("properties nested too deep")
    kind = archive.name(object_)
    while kind == "_NSPropertyDescriptionProxy":
        object_ = archive.get(object_, "NSUnderlyingProperty")
        kind = archive.name(object_)
    name = archive.text(object_["NSPropertyName"])
    if kind == "NSRelationshipDescription":
        property_ = Relationship(name)
        property_.destination = archive.text(object_["_NSDestinationEntityName"])
        property_.inverse = archive.text(object_.get("_NSInverseRelationshipName"))
        property_.to_many = archive.get(object_, "NSMaxCount") != 1
        property_.ordered = bool(archive.get(object_, "NSIsOrdered"))
    elif kind in ("NSFetchedPropertyDescription", "NSExpressionDescription"):
        return None
    else:
        property_ = Attribute(name, archive.get(object_, "NSAttributeType") or 0)
        flags = archive.get(object_, "NSFlagsKey") or 0
        property_.external = bool(flags & 4)
        property_.kept = bool(flags & 16)
        if kind == "NSCompositeAttributeDescription":
            property_.kind = COMPOSITE
        if property_.kind == COMPOSITE:
            property_.elements = read_elements(archive, object_, depth)
    property_.transient = bool(archive.get(object_, "NSIsTransient"))
    property_.optional = bool(archive.get(object_, "NSIsOptional"))
    property_.renaming = archive.text(object_.get("NSRenamingIdentifier"))
    return property_


def read_elements(archive, object_, depth):
    """The elements of a composite attribute, in their order.

    The archive's key for them is told by what it holds: the only array of attribute descriptions.
    """
    for key, value in object_.items():
        value = archive.follow(value)
        if key == "$class" or not isinstance(value, dict) or "NS.objects" not in value:
            continue
        items = archive.array(value)
        if items and all(isinstance(i, dict) and "NSAttributeType" in i for i in items):
            return [read_property(archive, item, depth + 1) for item in items]
    raise ModelError("a composite attribute without elements: " + str(archive.text(object_["NSPropertyName"])))
