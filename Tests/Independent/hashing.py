"""Version hashes of descriptions, as the description of the format gives them."""

import base64
import hashlib
import struct

from described import NUMBERS


def sha(*parts):
    return hashlib.sha256(b"".join(p.encode() if isinstance(p, str) else p for p in parts)).digest()


def base_hash(p):
    flags = (1 if p.get("optional") else 0) | (2 if p.get("transient") else 0)
    return sha(p["name"], struct.pack("<H", flags), p.get("modifier", ""))


def attribute_hash(a):
    if "derived" in a:
        return sha(a["derived"])
    if a["type"] == "Composite":
        leaves = sorted(leaves_of(a), key=lambda e: e["name"].encode())
        return sha(*[attribute_hash(leaf) for leaf in leaves])
    flags = b"\1" * (bool(a.get("external")) + bool(a.get("kept")))
    return sha(base_hash(a), struct.pack("<I", NUMBERS[a["type"]]), flags)


def leaves_of(a):
    for element in a["elements"]:
        if not element.get("transient"):
            yield from leaves_of(element) if element["type"] == "Composite" else [element]


def relationship_hash(r, entity):
    own = r.get("inverse") == r["name"] and r["to"] == entity
    most = r.get("max", 0 if r.get("many") else 1)
    return sha(base_hash(r), r["to"], "" if own else r.get("inverse", ""), struct.pack("<II", most, r.get("min", 0)),
               b"\1\0" if r.get("ordered") else b"")


def entity_hashes(entities):
    known, hashes, properties = {e["name"]: e for e in entities}, {}, {}

    def run(name):
        if name in hashes:
            return
        entity, parent = known[name], known[name].get("parent")
        if parent:
            run(parent)
        all_ = dict(properties[parent]) if parent else {}
        all_.update({a["name"]: attribute_hash(a) for a in entity.get("attributes", []) if not a.get("transient")})
        all_.update({r["name"]: relationship_hash(r, name) for r in entity.get("relationships", [])
                     if not r.get("transient")})
        properties[name] = all_
        hashes[name] = sha(name, b"\1" if entity.get("abstract") else b"\0", hashes[parent] if parent else b"",
                           *[all_[key] for key in sorted(all_, key=str.encode)], entity.get("modifier", ""),
                           *sorted(".".join(names) for names in entity.get("unique", [])))

    for name in known:
        run(name)
    return hashes


def digest(hashes):
    joined = b"".join(name.encode() + hashes[name] for name in sorted(hashes, key=str.encode))
    return base64.b64encode(hashlib.sha512(joined).digest()).decode()


def checksum(hashes):
    joined = b"".join(hashes[name] for name in sorted(hashes, key=str.encode))
    return base64.b64encode(hashlib.sha256(joined).digest()).decode()
