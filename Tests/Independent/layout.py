"""Where Core Data looks for each entity, attribute and relationship of a model.

Names are computed from the model and from the entity numbers in Z_PRIMARYKEY alone, as Core Data
does at every opening. Nothing is ever found by looking at what tables or columns there are, with
one exception that the format leaves open: a join table within one entity, which either side may name.
"""

from model import Attribute, COMPOSITE, Relationship

INTEGERS = {100, 200, 300, 800}
BLOCKS = {500: 2, 600: 2, 900: 2, 400: 3, 700: 4, 1200: 5, 1100: 6, 1800: 7, 1000: 8}
BLOCKS.update({kind: 0 for kind in INTEGERS})
TYPES = {0: "INTEGER", 3: "DECIMAL", 4: "VARCHAR", 5: "VARCHAR", 6: "BLOB", 7: "BLOB", 8: "BLOB"}


class LayoutError(Exception):
    pass


class Unused:
    """Gives each name once: the second of the same name gets 1, the third 2."""

    def __init__(self):
        self.counts = {}

    def __call__(self, name):
        count = self.counts.get(name, 0)
        self.counts[name] = count + 1
        return name if count == 0 else name + str(count)


class Join:
    def __init__(self, table, near, far, near_order, far_order):
        self.table = table
        self.near = near  # column with keys of the entity that names the table
        self.far = far
        self.near_order = near_order
        self.far_order = far_order


class Layout:
    def __init__(self, model, numbers):
        self.model = model
        self.numbers = numbers  # entity -> Z_ENT
        self.attributes = {}  # (declaring entity, path of names) -> column
        self.to_ones = {}  # (declaring entity, name) -> (column, entity column or None, order column or None)
        self.owners = {}  # (declaring entity, to-many without inverse) -> (table, column, order column or None)
        self.columns = {}  # table -> [(column, type)]
        for root in model.children(None):
            self.lay_table(root)
        self.joins = {}  # (declaring entity, name) -> [(Join, this side names it)], in order of likelihood
        self.lay_joins()

    def table(self, entity):
        return "Z" + self.model.root(entity).upper()

    # ---- tables of entities

    def lay_table(self, root):
        unused = Unused()
        blocks = [[] for _ in range(9)]
        for entity in self.model.subtree(root):
            for attribute in self.model.own(entity, Attribute):
                self.lay_attribute(entity, attribute, (attribute.name,), unused, blocks)
            for relationship in self.model.own(entity, Relationship):
                if not relationship.to_many:
                    self.lay_to_one(entity, relationship, unused, blocks)
            for owner, relationship in self.without_inverse(entity):
                name = unused("Z%d%s" % (self.numbers[owner], relationship.name.upper()))
                order = "Z_FOK_" + name[1:] if relationship.ordered else None
                blocks[0].append((name, "INTEGER"))
                if order:
                    blocks[1].append((order, "INTEGER"))
                self.owners[owner, relationship.name] = (self.table(entity), name, order)
        standing = [("Z_PK", "INTEGER"), ("Z_ENT", "INTEGER"), ("Z_OPT", "INTEGER")]
        self.columns["Z" + root.upper()] = standing + [c for block in blocks for c in block]

    def lay_attribute(self, entity, attribute, path, unused, blocks):
        if attribute.kind == COMPOSITE:
            for element in attribute.elements:
                self.lay_attribute(entity, element, path + (element.name,), unused, blocks)
        elif attribute.kind in BLOCKS:
            name = unused("Z" + attribute.name.upper())
            block = BLOCKS[attribute.kind]
            type_ = TYPES.get(block) or ("TIMESTAMP" if attribute.kind == 900 else "FLOAT")
            blocks[block].append((name, type_))
            self.attributes[entity, path] = name

    def lay_to_one(self, entity, relationship, unused, blocks):
        name = unused("Z" + relationship.name.upper())
        blocks[0].append((name, "INTEGER"))
        entity_column = order = None
        if self.model.children(relationship.destination):
            entity_column = "Z%d_%s" % (self.numbers[relationship.destination], name[1:])
            blocks[0].append((entity_column, "INTEGER"))
        inverse = self.inverse(relationship)
        if inverse and inverse[1].to_many and inverse[1].ordered:
            order = "Z_FOK_" + name[1:]
            blocks[1].append((order, "INTEGER"))
        self.to_ones[entity, relationship.name] = (name, entity_column, order)

    def inverse(self, relationship):
        """The other side and the entity that declares it."""
        if relationship.inverse is None:
            return None
        declarer = self.model.declarer(relationship.destination, relationship.inverse)
        if declarer is None:
            return None
        return declarer, self.model.entities[declarer].properties[relationship.inverse]

    def without_inverse(self, destination):
        for owner in self.model.preorder():
            for relationship in self.model.own(owner, Relationship):
                if relationship.to_many and relationship.destination == destination:
                    if self.inverse(relationship) is None:
                        yield owner, relationship

    # ---- many-to-many

    def lay_joins(self):
        pairs = []
        for entity in self.model.preorder():
            for relationship in self.model.own(entity, Relationship):
                inverse = self.inverse(relationship)
                if relationship.to_many and inverse and inverse[1].to_many:
                    other, back = inverse
                    if not any(p[2] == entity and p[3].name == relationship.name for p in pairs):
                        pairs.append((entity, relationship, other, back))
        named = []
        for entity, relationship, other, back in pairs:
            side = self.naming_side(entity, other)
            if side == 0 and back.name != relationship.name:
                # Within one entity: either name may stand in a store.
                named.append(sorted([(entity, relationship, other, back), (other, back, entity, relationship)],
                                    key=lambda p: p[1].name.encode(), reverse=True))
            else:
                ours = (entity, relationship, other, back)
                named.append([ours if side <= 0 else (other, back, entity, relationship)])
        named.sort(key=lambda options: (options[0][0].encode(), options[0][1].name.encode()))
        unused = Unused()
        for options in named:
            for entity, relationship, other, back in options:
                reflexive = entity == other and relationship.name == back.name
                table = "Z_%d%s" % (self.numbers[entity], relationship.name.upper())
                # Equal column names are numbered across the whole store.
                near = self.take(unused, options, "Z_%d%s" % (self.numbers[entity], back.name.upper()))
                if reflexive:
                    join = Join(table, near, "REFLEXIVE", None, None)
                    self.joins.setdefault((entity, relationship.name), []).append((join, True))
                    continue
                far = self.take(unused, options, "Z_%d%s" % (self.numbers[other], relationship.name.upper()))
                join = Join(table, near, far,
                            "Z_FOK_" + near[2:] if back.ordered else None,
                            "Z_FOK_" + far[2:] if relationship.ordered else None)
                self.joins.setdefault((entity, relationship.name), []).append((join, True))
                self.joins.setdefault((other, back.name), []).append((join, False))

    def take(self, unused, options, name):
        """Both possible names of one table have the same two columns: they are counted once."""
        if len(options) == 1:
            return unused(name)
        cache = options[0][1].__dict__.setdefault("_names", {})
        if name not in cache:
            cache[name] = unused(name)
        return cache[name]

    def naming_side(self, entity, other):
        """-1: the first entity's side names the table; 1: the other's; 0: not to be told."""
        first, second = set(self.model.subtree(entity)), set(self.model.subtree(other))
        if entity == other or first & second:
            return 0
        return -1 if min(n.encode() for n in first) < min(n.encode() for n in second) else 1
