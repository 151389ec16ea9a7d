"""Vectors of links: the keys in rows of a store, and what each object is linked with."""

import os

import model as models
from reader import Store
from schemas import group_of, GROUPS, Kind

OBJECTS = 12  # of one vector


def fresh(entities):
    """The same entities with the numbers of a new store, and with relationships alone."""
    order = Kind([{**e, "number": 0} for e in entities]).model.preorder()
    kept = [{k: v for k, v in e.items() if k in ("name", "number", "parent", "relationships")} for e in entities]
    return [{**e, "number": order.index(e["name"]) + 1} for e in kept]


class Links:
    """The links of a group's objects in a store, and the rows that hold them in a new one."""

    def __init__(self, store, entities):
        self.store, self.entities = store, fresh(entities)
        self.kind = Kind(self.entities)
        self.relationships = {
            name: [p for p in entity.properties.values() if isinstance(p, models.Relationship) and not p.transient]
            for name, entity in self.kind.model.entities.items()}
        self.objects, self.rows = {}, {}
        for entity, key, row in store.objects():
            if entity in self.relationships:
                self.rows[entity, key] = row
                self.objects[entity, key] = {p.name: self.related(entity, p, key, row) for p in self.relationships[entity]}

    def related(self, entity, property_, key, row):
        stated = self.store.model.entities[entity].properties[property_.name]
        found = self.store.related(entity, stated, key, row)
        return found if isinstance(found, list) else [found] if found else []

    def choose(self):
        """A few objects that show each relationship that has links."""
        chosen, shown = [], set()
        wanted = {(e, n) for (e, _), links in self.objects.items() for n, others in links.items() if others}

        def value(item):
            (entity, key), links = item
            new = [n for n, others in links.items() if others and (entity, n) not in shown]
            return -len(new), -max([min(len(links[n]), 3) for n in new], default=0), entity, key

        while wanted - shown and len(chosen) < OBJECTS:
            (entity, key), links = min(self.objects.items(), key=value)
            chosen.append((entity, key))
            for name, others in sorted(links.items()):
                if others:
                    shown.add((entity, name))
                    chosen += [o for o in others[:3] if o in self.objects]
            chosen = list(dict.fromkeys(chosen))
        return sorted(chosen[:OBJECTS + 3])

    def vector(self, framework):
        chosen = self.choose()
        if len(chosen) < 2:
            return None
        links = {"%s/p%d" % (entity, key): {name: ["%s/p%d" % o for o in others if o in chosen]
                                            for name, others in sorted(self.objects[entity, key].items())}
                 for entity, key in chosen}
        return {"framework": framework, "entities": self.entities, "rows": self.stored(chosen), "links": links}

    def stored(self, chosen):
        """Rows by table, in the columns that a new store of the group has."""
        source, target, tables = self.store.layout, self.kind.layout, {}
        for entity, key in chosen:
            row = {"Z_PK": key, "Z_ENT": target.numbers[entity], "Z_OPT": 1}
            lineage = [entity]
            while self.kind.model.entities[lineage[-1]].parent:
                lineage.append(self.kind.model.entities[lineage[-1]].parent)
            for (owner, name), columns in target.to_ones.items():
                if owner in lineage:
                    destination = self.store.model.entities[owner].properties[name].destination
                    self.take(self.rows[entity, key], source.to_ones[owner, name], row, columns, destination, chosen)
            for (owner, name), (_, column, order) in target.owners.items():
                if self.store.model.entities[owner].properties[name].destination in lineage:
                    _, *old = source.owners[owner, name]
                    self.take(self.rows[entity, key], (old[0], None, old[1]), row, (column, None, order), owner, chosen)
            tables.setdefault(target.table(entity), []).append(row)
        for (owner, name), (join, names_it) in sorted(target.joins.items(), key=lambda j: j[0]):
            if names_it:
                self.take_join(owner, name, join, tables, chosen)
        return tables

    def take(self, stored, old, row, new, destination, chosen):
        """A link to an object that is not chosen is left out."""
        root = self.store.model.root(destination)
        if not any(key == stored[old[0]] and self.store.model.root(entity) == root for entity, key in chosen):
            return
        row[new[0]] = stored[old[0]]
        if new[1] and stored[old[1]] is not None:
            row[new[1]] = self.kind.layout.numbers[self.store.names[stored[old[1]]]]
        if new[2] and old[2] and stored[old[2]] is not None:
            row[new[2]] = stored[old[2]]

    def take_join(self, owner, name, join, tables, chosen):
        old, names_it = self.store.layout.joins[owner, name]
        columns = [(old.near, join.near), (old.far, join.far), (old.near_order, join.near_order),
                   (old.far_order, join.far_order)]
        if not names_it:
            columns = [(old.far, join.near), (old.near, join.far), (old.far_order, join.near_order),
                       (old.near_order, join.far_order)]
        columns = [(a, b) for a, b in columns if a and b]
        other = self.store.model.entities[owner].properties[name].destination
        roots = [self.store.model.root(owner), self.store.model.root(other)]
        known = {(self.store.model.root(entity), key) for entity, key in chosen}
        listed = ", ".join('"%s"' % a for a, _ in columns)
        for values in self.store.db.execute('SELECT %s FROM "%s" ORDER BY 1, 2' % (listed, old.table)):
            if all((root, key) in known for root, key in zip(roots, values)):
                row = {b: value for (_, b), value in zip(columns, values) if value is not None}
                tables.setdefault(join.table, []).append(row)


def link_vectors(found, fixtures):
    vectors = []
    for path, full, parts in GROUPS:
        store = Store(os.path.join(fixtures, path))
        vectors.append(Links(store, group_of(found[path], store.numbers, full, parts)).vector(found[path].framework))
        store.db.close()
    return [vector for vector in vectors if vector]
