"""The walk over a model from which names of join tables, numbers of columns and their order come.

Written from sections 1 and 2 of the second part of the description of the format. Dictionaries of two
generations are played through: the hash of a name decides where it stands in them.
"""

MASK = 0xFFFFFFFF


def units(text):
    data = text.encode("utf-16-le", "surrogatepass")
    return [data[i] | data[i + 1] << 8 for i in range(0, len(data), 2)]


def spread(text, entering):
    """The hash of a text, of whose units only some may enter."""
    all_ = units(text)
    result = len(all_)
    chosen = entering(all_)
    whole = len(chosen) // 4 * 4
    for i in range(0, whole, 4):
        a, b, c, d = chosen[i:i + 4]
        result = (result * 67503105 + a * 16974593 + b * 66049 + c * 257 + d) & MASK
    for unit in chosen[whole:]:
        result = (result * 257 + unit) & MASK
    return (result + (result << (len(all_) % 32))) & MASK


def late_hash(text):
    def entering(all_):
        middle = len(all_) // 2 - 16
        return all_ if len(all_) <= 96 else all_[:32] + all_[middle:middle + 32] + all_[-32:]

    a, b, c = (0x4B616E65 + spread(text, entering)) & MASK, 0x4B616E65, 1
    for right, left, last in ((13, 8, 13), (12, 16, 5), (3, 10, 15)):
        a = ((a - b - c) & MASK) ^ (c >> right)
        b = ((b - c - a) & MASK) ^ (a << left & MASK)
        c = ((c - a - b) & MASK) ^ (b >> last)
    return c


def early_hash(text):
    return spread(text, lambda all_: all_ if len(all_) <= 23 else all_[:8] + all_[-16:])


class Late:
    def __init__(self):
        self.places = [None] * 4

    def keys(self):
        return [key for key in self.places if key is not None]

    def enter(self, key):
        held = self.keys()
        if len(held) >= len(self.places) // 4 * 3:
            self.places = [None] * (2 * len(self.places))
            for old in held:
                self.put(old)
        self.put(key)

    def put(self, key):
        place = late_hash(key) % len(self.places)
        while self.places[place] not in (None, key):
            place = (place + 1) % len(self.places)
        self.places[place] = key


EARLY = ((4, 5), (8, 11), (17, 23), (29, 41), (47, 67), (76, 113), (123, 199), (199, 317), (322, 521), (521, 839),
         (843, 1361), (1364, 2207), (2207, 3571), (3571, 5779), (5778, 9349), (9349, 15121))


def early_order(keys):
    size = next((size for most, size in EARLY if len(keys) <= most), 2 * len(keys) + 1)
    places = [None] * size
    for key in keys:
        place = early_hash(key) % size
        while places[place] not in (None, key):
            place = (place + 1) % size
        places[place] = key
    return [key for key in places if key is not None]


class Numbered:
    """The second use of a name gets 1, the third 2; a number that makes a name in use is passed over."""

    def __init__(self):
        self.last = {}

    def __call__(self, name):
        if name not in self.last:
            self.last[name] = 0
            return name
        number = self.last[name] + 1
        while name + str(number) in self.last:
            number += 1
        self.last[name] = number
        return name + str(number)


class Walk:
    """Visits a model; `layout` is told what is come upon, in order."""

    def __init__(self, layout):
        self.layout = layout
        self.model = layout.model
        self.late = {}  # entity -> Late
        self.entered = {}  # entity -> attributes and relationships in the order in which they are entered
        self.decided = set()  # (declaring entity, name)

    def run(self):
        for entity in self.model.preorder():
            self.make(entity)
        for entity in sorted(self.model.entities, key=lambda n: (n.lower(), n)):
            self.visit(entity)

    # ---- keys

    def make(self, entity):
        described = self.model.entities[entity]
        parent = described.parent
        late = self.late[entity] = Late()
        for key in self.late[parent].keys() if parent else ["_ent", "_pk", "_opt"]:
            late.enter(key)
        groups = self.entered[entity] = [list(g) for g in self.entered[parent]] if parent else [[] for _ in range(7)]
        own = [p for p in described.properties.values() if self.model.declarer(entity, p.name) == entity]
        own.sort(key=lambda p: p.name.encode())
        keys = {}
        for p in (p for p in own if not hasattr(p, "destination")):
            groups[1 if p.transient else 0].append(p.name)
            made = self.layout.lay_attribute(entity, p, (p.name,)) if not p.transient else []
            if p.elements:
                for path in made:
                    late.enter(".".join(path))
            elif made:
                keys[p.name] = [p.name]
        for p in (p for p in own if hasattr(p, "destination")):
            group = (5 if not p.to_many else 6) if p.transient else 2 if not p.to_many else 4 if p.ordered else 3
            groups[group].append(p.name)
            if not p.transient:
                columns = [] if p.to_many else self.layout.lay_to_one(entity, p)
                keys[p.name] = ["_" + column for column in columns] + [p.name]
        for some in (groups[:2], groups[2:]):
            order = Late()
            for group in some:
                for name in group:
                    order.enter(name)
            for name in order.keys():
                for key in keys.get(name, []):
                    late.enter(key)

    # ---- visit

    def visit(self, entity):
        for key in early_order(self.late[entity].keys()):
            owner = self.model.declarer(entity, key)
            relationship = self.model.entities[owner].properties[key] if owner else None
            if hasattr(relationship, "destination") and (owner, key) not in self.decided:
                self.decide(entity, owner, relationship)

    def decide(self, entity, owner, relationship):
        inverse = self.layout.inverse(relationship)
        if inverse is None:
            self.decided.add((owner, relationship.name))
            if relationship.to_many and relationship.destination in self.model.entities:
                columns = self.layout.lay_owner(owner, relationship)
                keys = ["_" + columns[0], "%d%s" % (self.layout.numbers[owner], relationship.name)]
                self.enter(relationship.destination, keys + ["_" + column for column in columns[1:]])
        elif relationship.to_many and inverse[1].to_many:
            self.decided |= {(owner, relationship.name), (inverse[0], inverse[1].name)}
            self.layout.lay_join(owner, relationship, inverse[0], inverse[1])
        elif not relationship.to_many and inverse[1].to_many and inverse[1].ordered and owner == entity:
            # Only the entity that declares a to-one makes its order key.
            self.decided.add((owner, relationship.name))
            self.enter(entity, ["_" + self.layout.lay_order(owner, relationship)])

    def enter(self, entity, keys):
        for below in self.model.subtree(entity):
            for key in keys:
                self.late[below].enter(key)
