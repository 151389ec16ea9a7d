#!/usr/bin/env python3
"""Compares two dumps, and what `strata compare --format ndjson` says of the same stores.

    compare.py A.ndjson B.ndjson CHANGES.ndjson

A and B are what `strata dump` prints. How objects are paired is taken from the first line of CHANGES; which
objects that makes pairs, and what differs, is worked out here from the dumps alone. Prints each line that only one
of both has, and ends with 0 if none exists.
"""

import json
import sys


def read(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def flat(attributes, prefix=""):
    """Values by path: a composite attribute is an object of its elements, bytes are not."""
    found = {}
    for name, value in attributes.items():
        if isinstance(value, dict) and not ({"bytes", "missing", "unreadable", "base64"} & set(value)):
            found.update(flat(value, prefix + name + "."))
        else:
            found[prefix + name] = value
    return found


class Dump:
    def __init__(self, path):
        self.objects = {}
        for line in read(path):
            name = "%s/p%d" % (line["entity"], line["pk"])
            related = {}
            for key, value in line["relationships"].items():
                related[key] = [] if value is None else [value] if isinstance(value, str) else value
            self.objects[name] = (line["entity"], flat(line["attributes"]), related)

    def of(self, entity):
        return {name: found for name, found in self.objects.items() if found[0] == entity}


def telling(one, other):
    """Attributes whose values tell objects: NULL and Booleans do not."""
    return [n for n in one if n in other and not isinstance(one[n], bool) and not isinstance(other[n], bool)]


def is_split(one, other):
    """Whether one key may be of two objects: no value that tells is equal, or one that identifies
    differs."""
    names = telling(one, other)
    differ = any(one[n] != other[n] for n in names)
    for n in names:
        if n.lower() in ("id", "uuid", "identifier") or n.endswith("ID"):
            if isinstance(one[n], str) and isinstance(other[n], str) and one[n] != other[n]:
                return True
    return differ and not any(one[n] is not None and one[n] == other[n] for n in names)


def last_shared(one, other):
    """The last key of an entity whose object is the same in both: it and those before it are no two objects."""
    keys = [0]
    for name in one:
        if name in other:
            (_, old, _), (_, new, _) = one[name], other[name]
            names = telling(old, new)
            if any(old[n] is not None for n in names) and all(old[n] == new[n] for n in names):
                keys.append(int(name.split("/p")[1]))
    return max(keys)


def paired(pairing, a, b):
    """Names in the second store of objects of the first; None for a key that is two objects."""
    found = {}
    for line in pairing:
        one, other = a.of(line["entity"]), b.of(line["entity"])
        if line["by"] == "key":
            last = last_shared(one, other)
            for name in one:
                if name in other:
                    is_new = int(name.split("/p")[1]) > last
                    found[name] = None if is_new and is_split(one[name][1], other[name][1]) else name
        elif line["on"]:
            def values(objects):
                places = {}
                for name, (_, attributes, _) in objects.items():
                    key = [attributes.get(n) for n in line["on"]]
                    if None not in key:
                        places.setdefault(json.dumps(key), []).append(name)
                return {key: names[0] for key, names in places.items() if len(names) == 1}

            there = values(other)
            for key, name in values(one).items():
                if key in there:
                    found[name] = there[key]
    return found


def changes(pairing, a, b):
    pairs = paired(pairing, a, b)
    keyed = {line["entity"] for line in pairing if line["by"] == "key"}
    reported = {line["entity"] for line in pairing}

    def counterpart(name):
        # What is in neither store is the same in both, where keys are.
        return pairs.get(name, name if name.split("/")[0] in keyed else None)

    taken = {name for name in pairs.values() if name}
    for name, (entity, attributes, related) in a.objects.items():
        if entity not in reported:
            continue
        if not pairs.get(name):
            yield change("delete", entity, name, None, attributes, {}, {}, related, {}, counterpart)
            continue
        other = b.objects[pairs[name]]
        line = change("update", entity, name, pairs[name], attributes, other[1], {}, related, other[2], counterpart)
        if line["attributes"] or line["relationships"]:
            yield line
    for name, (entity, attributes, related) in b.objects.items():
        if entity in reported and name not in taken:
            yield change("insert", entity, None, name, {}, attributes, {}, {}, related, counterpart)


def change(kind, entity, a, b, old, new, differing, before, after, counterpart):
    for name in set(old) | set(new):
        if old.get(name) != new.get(name):
            differing[name] = {"old": old.get(name), "new": new.get(name)}
    links = {}
    for name in set(before) | set(after):
        formers, ids = before.get(name, []), after.get(name, [])
        mapped = [counterpart(former) for former in formers]
        common = [m for m in mapped if m is not None and m in ids]
        removed = [former for former, m in zip(formers, mapped) if m is None or m not in ids]
        added = [i for i in ids if i not in common]
        reordered = common != [i for i in ids if i in common]
        if removed or added or reordered:
            links[name] = {"added": added, "removed": removed, "reordered": reordered}
    return {"change": kind, "entity": entity, "a": a, "b": b, "attributes": differing, "relationships": links}


def unordered(lines):
    """The same without what is said of an order."""
    for line in lines:
        links = line["relationships"]
        for link in links.values():
            link["reordered"] = False
        line["relationships"] = {n: link for n, link in links.items() if link["added"] or link["removed"]}
    return [line for line in lines if line["change"] != "update" or line["attributes"] or line["relationships"]]


def main(one, other, told):
    lines = read(told)
    pairing = lines[0]["compare"]["pairing"]
    found = list(changes(pairing, Dump(one), Dump(other)))
    said = [line for line in lines if "change" in line]
    for line in said:
        line.pop("label")
    # A dump does not say which relationships are ordered; the others are sorted by keys, which pairs of values change.
    loose = any(line["by"] != "key" for line in pairing)
    if loose:
        found, said = unordered(found), unordered(said)
    counts = {}
    for line in found:
        key = (line["entity"], {"insert": "inserted", "update": "updated", "delete": "deleted"}[line["change"]])
        counts[key] = counts.get(key, 0) + 1
    wrong = 0
    for entity in lines[-1]["summary"]["entities"]:
        for kind in ("inserted", "deleted") if loose else ("inserted", "updated", "deleted"):
            if entity[kind] != counts.get((entity["entity"], kind), 0):
                print("counted", entity["entity"], kind, entity[kind], counts.get((entity["entity"], kind), 0))
                wrong += 1
    texts = [{json.dumps(line, sort_keys=True) for line in lines} for lines in (found, said)]
    for sign, these, those in (("-", texts[0], texts[1]), ("+", texts[1], texts[0])):
        for text in sorted(these - those):
            print(sign, text)
            wrong += 1
    if len(said) != len(texts[1]):
        print("a change is told twice")
        wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
