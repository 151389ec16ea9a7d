"""Where Core Data looks for each entity, attribute and relationship of a model.

Names are computed from the model and from the entity numbers in Z_PRIMARYKEY alone, as Core Data
does at every opening. Nothing is ever found by looking at what tables or columns there are.
"""

from model import COMPOSITE
from walk import Numbered, Walk

INTEGERS = {100, 200, 300, 800}
BLOCKS = {500: 2, 600: 2, 900: 2, 400: 3, 700: 4, 1200: 5, 1100: 6, 1800: 7, 1000: 8}
BLOCKS.update({kind: 0 for kind in INTEGERS})
TYPES = {0: "INTEGER", 3: "DECIMAL", 4: "VARCHAR", 5: "VARCHAR", 6: "BLOB", 7: "BLOB", 8: "BLOB"}


class LayoutError(Exception):
    pass


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
        self.joins = {}  # (declaring entity, name) -> (Join, this side names it)
        self.unused = {root: Numbered() for root in model.children(None)}
        self.blocks = {root: [[] for _ in range(9)] for root in self.unused}
        Walk(self).run()
        standing = [("Z_PK", "INTEGER"), ("Z_ENT", "INTEGER"), ("Z_OPT", "INTEGER")]
        for root, blocks in self.blocks.items():
            self.columns["Z" + root.upper()] = standing + [c for block in blocks for c in block]

    def table(self, entity):
        return "Z" + self.model.root(entity).upper()

    # ---- what the walk comes upon

    def add(self, entity, name, block=0, type_="INTEGER"):
        root = self.model.root(entity)
        name = self.unused[root](name)
        self.blocks[root][block].append((name, type_))
        return name

    def lay_attribute(self, entity, attribute, path):
        """The paths that have columns: of a composite attribute those of its leaves."""
        if attribute.kind == COMPOSITE:
            elements = [e for e in attribute.elements if not e.transient]
            return [p for e in elements for p in self.lay_attribute(entity, e, path + (e.name,))]
        if attribute.kind not in BLOCKS:
            return []
        block = BLOCKS[attribute.kind]
        type_ = TYPES.get(block) or ("TIMESTAMP" if attribute.kind == 900 else "FLOAT")
        name = "Z" + "".join(c.upper() if c.isascii() else c for c in attribute.name)
        self.attributes[entity, path] = self.add(entity, name, block, type_)
        return [path]

    def lay_to_one(self, entity, relationship):
        columns = [self.add(entity, "Z" + relationship.name.upper())]
        if self.model.children(relationship.destination):
            number = self.numbers[relationship.destination]
            columns.append(self.add(entity, "Z%d_%s" % (number, relationship.name.upper())))
        self.to_ones[entity, relationship.name] = (columns[0], (columns + [None])[1], None)
        return columns

    def lay_order(self, entity, relationship):
        order = self.add(entity, "Z_FOK_" + relationship.name.upper())
        self.to_ones[entity, relationship.name] = self.to_ones[entity, relationship.name][:2] + (order,)
        return order

    def lay_owner(self, owner, relationship):
        """A to-many without an inverse has its column in the destination's table."""
        entity, name = relationship.destination, "%d%s" % (self.numbers[owner], relationship.name.upper())
        columns = [self.add(entity, "Z" + name)]
        if relationship.ordered:
            columns.append(self.add(entity, "Z_FOK_" + name))
        self.owners[owner, relationship.name] = (self.table(entity), columns[0], (columns + [None])[1])
        return columns

    def lay_join(self, entity, relationship, other, back):
        table = "Z_%d%s" % (self.numbers[entity], relationship.name.upper())
        reflexive = entity == other and relationship.name == back.name
        far = "REFLEXIVE"
        if not reflexive:
            far = self.unused[self.model.root(other)]("Z_%d%s" % (self.numbers[other], relationship.name.upper()))
        near = self.unused[self.model.root(entity)]("Z_%d%s" % (self.numbers[entity], back.name.upper()))
        join = Join(table, near, far,
                    "Z_FOK_" + near[2:] if back.ordered else None,
                    "Z_FOK_" + far[2:] if relationship.ordered and not reflexive else None)
        self.joins[entity, relationship.name] = (join, True)
        if not reflexive:
            self.joins[other, back.name] = (join, False)

    def inverse(self, relationship):
        """The other side and the entity that declares it."""
        if relationship.inverse is None:
            return None
        declarer = self.model.declarer(relationship.destination, relationship.inverse)
        if declarer is None:
            return None
        return declarer, self.model.entities[declarer].properties[relationship.inverse]
