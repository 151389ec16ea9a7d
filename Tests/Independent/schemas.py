"""Vectors of statements in sqlite_master and of history's bitmaps."""

import os
import re
import sys

import model as models
from described import Copy, NUMBERS, plain, Unsuitable
from layout import Layout
from reader import bit_blocks


class Kind:
    """A description as the layout's code wants it."""

    def __init__(self, entities):
        known = {}
        for described in entities:
            entity = models.Entity(described["name"])
            entity.parent = described.get("parent")
            for a in described.get("attributes", []):
                entity.properties[a["name"]] = self.attribute(a)
            for r in described.get("relationships", []):
                property_ = models.Relationship(r["name"])
                property_.destination, property_.inverse = r["to"], r.get("inverse")
                property_.to_many, property_.ordered = bool(r.get("many")), bool(r.get("ordered"))
                property_.transient = bool(r.get("transient"))
                entity.properties[r["name"]] = property_
            known[entity.name] = entity
        self.model = models.Model(known)
        for name in self.model.preorder():
            self.model.inherit(name)
        self.layout = Layout(self.model, {e["name"]: e["number"] for e in entities})

    def attribute(self, described):
        property_ = models.Attribute(described["name"], NUMBERS[described["type"]])
        property_.transient = bool(described.get("transient"))
        property_.elements = [self.attribute(e) for e in described.get("elements", [])]
        return property_

    def statements(self):
        """CREATE TABLE of every table that follows from the description, by the table's name."""
        found = {}
        for table, columns in self.layout.columns.items():
            texts = ["Z_PK INTEGER PRIMARY KEY"] + ["%s %s" % column for column in columns[1:]]
            found[table] = "CREATE TABLE %s ( %s )" % (table, ", ".join(texts))
        for join, _ in self.layout.joins.values():
            columns = [c + " INTEGER" for c in (join.near, join.far, join.near_order, join.far_order) if c]
            found[join.table] = "CREATE TABLE %s ( %s, PRIMARY KEY (%s, %s) )" % (
                join.table, ", ".join(columns), join.near, join.far)
        return found

    def bits(self, entity):
        """Names of the bits of a bitmap, in six blocks."""
        return bit_blocks(self.model, self.layout, entity)


# A store, the entities that are described in full, and those of which some properties are.
GROUPS = [
    ("wibosco/CoreDataMigration_Example_3.sqlite", ["Color", "Post"], {}),
    ("coredataplus/SampleModel/Fixtures/SampleModel_V1.sqlite", ["Car", "SportCar", "ExpensiveSportCar"], {}),
    ("coredataplus/SampleModel2/SampleModel2_V2.sqlite", ["Book", "GraphicNovel", "Page"], {}),
    ("coredataplus/SampleModel3/Fixtures/SampleModel3_V1.sqlite", ["User"], {}),
    ("moody/Moody.moody", ["GeographicRegion", "Continent", "Country"], {}),
    ("moody/Moody 5.moody", ["Country", "Mood"], {}),
    ("bookmarks/Bookmarks_V1.sqlite", ["BookmarkEntity"], {}),
    ("bookmarks/Bookmarks_V5.sqlite", ["BookmarkEntity"], {}),
    ("cartkit/CartKitSwiftData_v1.sqlite", ["CartItemModel", "CartItemModifierModel"], {}),
    ("cartkit/CartStorage_v1.sqlite", ["CDCartItem", "CDCartItemModifier"], {}),
    ("system/netusage.sqlite", ["Flow", "NWActivityFragment", "NWActivityMetricData"], {}),
    ("system/knowledgec-10.13.db", ["Source"], {}),
    ("system/Photos-10.15.7.sqlite", ["MomentList", "Person", "InternalResource"], {}),
    ("system/Photos-10.15.7.sqlite", [], {"AlbumList": ["albums"], "Keyword": ["assetAttributes"]}),
    ("system/Photos-10.15.7.sqlite", [], {"CloudFeedEntry": ["entryDate"], "Suggestion": ["creationDate"],
                                          "GenericAsset": ["dateCreated", "monthHighlightBeingFirstAsset"]}),
    ("system/Photos-10.15.7.sqlite", [], {"Suggestion": ["keyAssets", "representativeAssets"],
                                          "Memory": ["representativeAssets"]}),
    ("wire/store2-3.wiredatabase", ["GenericMessageData", "Connection"], {}),
    ("wire/store2-3.wiredatabase", [], {"TextMessage": ["text"], "SystemMessage": ["text"]}),
    ("wire/store2-28-0.wiredatabase", ["Reaction"], {}),
    ("wire/store2-95-0.wiredatabase", ["Label", "Action"], {}),
    ("wire/store2-95-0.wiredatabase", [], {"SystemMessage": ["users"], "Reaction": ["users"]}),
]


def group_of(file, numbers, full, parts):
    """Descriptions of a group: the entities in full or in part, and beside them those that lead to it.

    Of an entity beside it stand the name, the hierarchy and the relationships with the group: whether a
    destination has subentities, and which of two relationships names a table, depends on them.
    """
    whole = {name: file.entity(name) for name in file.described}
    chosen = {}
    for name in full:
        chosen[name] = dict(whole[name])
    for name, wanted in parts.items():
        chosen[name] = {**{k: v for k, v in whole[name].items() if k in ("name", "parent")},
                        "attributes": [a for a in whole[name].get("attributes", []) if a["name"] in wanted],
                        "relationships": [r for r in whole[name].get("relationships", []) if r["name"] in wanted],
                        "indexes": [i for i in whole[name].get("indexes", []) if all(
                            e.get("expression") == "entity" or e.get("property") in wanted for e in i["elements"])]}
    beside = {}

    def add(name):
        if name in chosen or name in beside:
            return
        beside[name] = {k: v for k, v in whole[name].items() if k in ("name", "parent")}
        for other in sorted(whole):
            if whole[other].get("parent") == name:
                add(other)
        if whole[name].get("parent"):
            add_lineage(whole[name]["parent"])

    def add_lineage(name):
        if name not in chosen and name not in beside:
            beside[name] = {k: v for k, v in whole[name].items() if k in ("name", "parent")}
            if whole[name].get("parent"):
                add_lineage(whole[name]["parent"])

    for entity in list(chosen.values()):
        if entity.get("parent"):
            add_lineage(entity["parent"])
        for r in entity.get("relationships", []):
            add(r["to"])
    members = set(chosen)
    for name in sorted(whole):
        links = [r for r in whole[name].get("relationships", []) if name not in members and leads(r, chosen, members)]
        if links:
            add(name)
            beside[name]["relationships"] = links
            for r in links:
                add(r["to"])
    group = list(chosen.values()) + list(beside.values())
    return [plain({"name": e["name"], "number": numbers[e["name"]], **e})
            for e in sorted(group, key=lambda e: numbers[e["name"]])]


def leads(relationship, chosen, members):
    """Whether a relationship belongs to the group: it is the inverse of one, or has none and adds a column."""
    if relationship["to"] in members and not relationship.get("inverse"):
        return bool(relationship.get("many"))
    return any(r.get("inverse") == relationship["name"] and relationship.get("inverse") == r["name"]
               for entity in chosen.values() for r in entity.get("relationships", []))


def schema_vectors(found, fixtures):
    vectors = []
    for path, full, parts in GROUPS:
        file = found[path]
        file.choose(full)
        with Copy(os.path.join(fixtures, path)) as db:
            numbers = dict(db.execute("SELECT Z_NAME, Z_ENT FROM Z_PRIMARYKEY"))
            statements = {name: (type_, table, sql) for type_, name, table, sql in db.execute(
                "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE sql NOT NULL")}
        entities = group_of(file, numbers, full, parts)
        kind = Kind(entities)
        made = kind.statements()
        tables = {}
        roots = {kind.layout.table(name) for name in full}
        # A hierarchy of which an entity is not described has columns that the description lacks.
        whole = {root for root in roots
                 if all(n in full for n in file.described if kind_table(file, n) == root)}
        joins = {kind.layout.joins[key][0].table for key in kind.layout.joins
                 if key[0] in full or key[0] in parts}
        for table in sorted(whole | joins):
            # A migration in place quotes the name of a table that it renames. Up to version 851 a constraint of
            # two properties is written into the table.
            sql = re.sub(r", CONSTRAINT \w+ UNIQUE \([^)]*\)\)$", " )", statements[table][2].replace('"', ""))
            if sql != made[table]:
                print("%s: %s is left out:\n  %s\n  %s" % (path, table, sql, made[table]), file=sys.stderr)
                continue
            tables[table] = sql
        wanted = {"Z_%s_%s" % (e["name"], i["name"]) for e in entities if e["name"] in parts
                  for i in e.get("indexes", [])}
        indexes = {name: sql for name, (type_, table, sql) in statements.items()
                   if type_ == "index" and (table in tables and is_current(name, table, made) or name in wanted)}
        triggers = {name: sql for name, (type_, table, sql) in statements.items()
                    if type_ == "trigger" and any("_%s_" % entity in name for entity in full)}
        columns = {}
        for name, wanted in parts.items():
            for a in wanted:
                if (name, (a,)) in kind.layout.attributes:
                    columns["%s.%s" % (name, a)] = kind.layout.attributes[name, (a,)]
        whole_layout = whole_model_layout(file, numbers)
        for key, column in columns.items():
            owner, name = key.split(".")
            if whole_layout.attributes[owner, (name,)] != column:
                raise Unsuitable("%s is in another column in the whole model" % key)
        vectors.append(plain({
            "framework": file.framework, "entities": entities, "tables": tables, "indexes": indexes,
            "triggers": triggers, "columns": columns,
        }))
    return vectors


def is_current(index, table, made):
    """Whether an index is of the model: an app's own, and those with a former number in the name, are not."""
    if index.startswith("RADAR"):
        return False
    middle = index[len(table) + 1:-len("_INDEX")]
    return not re.match(r"Z_\d+", table) or any(column in middle for column in re.findall(r"\w+", made[table])
                                               if column.startswith("Z_") or column == "REFLEXIVE")


def kind_table(file, name):
    return "Z" + file.lineage(name)[0].upper()


def whole_model_layout(file, numbers):
    return Kind([{**file.entity(name), "number": numbers[name]} for name in file.described]).layout


# ---- statements that are in every store, or of no model


STATEMENTS = [
    "cartkit/CartStorage_v1.sqlite", "coredataplus/SampleModel2/SampleModel2_V1.sqlite", "moody/Moody.moody",
    "system/Photos-10.15.7.sqlite", "system/knowledgec-10.13.db",
]
BOOKKEEPING = ("Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE", "ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING")
# The R-tree of Photos comes from an attribute's user info.
TREE = {"name": "Z_RT_GenericAsset_boundedByRect", "table": "ZGENERICASSET", "columns": ["ZLATITUDE", "ZLONGITUDE"]}


def statement_vectors(found, fixtures):
    vectors = []
    for path in STATEMENTS:
        with Copy(os.path.join(fixtures, path)) as db:
            rows = db.execute("SELECT name, tbl_name, sql FROM sqlite_master WHERE sql NOT NULL").fetchall()
            lengths = {table: len(db.execute("PRAGMA table_info(%s)" % table).fetchall()) for table in BOOKKEEPING[3:]}
        vectors.append(plain({
            "framework": found[path].framework,
            "columns": plain(lengths),
            "statements": {name: sql for name, table, sql in rows if table in BOOKKEEPING},
            "tree": TREE if any(name == TREE["name"] for name, _, _ in rows) else None,
            "treeStatements": {name: sql for name, _, sql in rows
                               if re.fullmatch(TREE["name"] + "(_(INSERT|UPDATE|DELETE))?", name)},
        }))
    return vectors


# ---- bitmaps of history


BITMAPS = [
    ("system/Photos-10.15.7.sqlite", ["MomentList", "Person", "InternalResource"]),
    ("system/knowledgec-10.13.db", ["Source"]),
]
FEW = 6  # bitmaps of one entity


def bitmap_vectors(found, fixtures):
    vectors = []
    for path, names in BITMAPS:
        file = found[path]
        file.choose(names)
        with Copy(os.path.join(fixtures, path)) as db:
            numbers = dict(db.execute("SELECT Z_NAME, Z_ENT FROM Z_PRIMARYKEY"))
            for name in names:
                rows = db.execute(
                    "SELECT DISTINCT ZCOLUMNS FROM ACHANGE WHERE ZCHANGETYPE = 1 AND ZENTITY = ? AND ZCOLUMNS NOT NULL"
                    " ORDER BY 1", (numbers[name],)).fetchall()
                entities = group_of(file, numbers, [name], {})
                vectors.append({
                    "entity": name, "framework": file.framework, "entities": entities,
                    "bitmaps": [written(entities, name, row[0]) for row in rows[:FEW]],
                })
    return vectors


def written(entities, entity, bitmap):
    """The properties of the bits that are set, sorted, and how many to-manys that may be others of their block."""
    blocks = Kind(entities).bits(entity)
    names = [name if number < 4 or len(block) == 1 else None for number, block in enumerate(blocks) for name in block]
    if len(bitmap) != (len(names) + 7) // 8:
        raise Unsuitable("%s has %d bits, not those of %s" % (entity, len(names), bitmap.hex()))
    places = [place for place in range(len(bitmap) * 8) if bitmap[place // 8] & 0x80 >> place % 8]
    if places and places[-1] >= len(names):
        raise Unsuitable("%s: a bit beyond the last in %s" % (entity, bitmap.hex()))
    found = [names[place] for place in places]
    return {"bits": bitmap.hex(), "properties": sorted({name for name in found if name}, key=str.encode),
            "toManys": found.count(None)}
