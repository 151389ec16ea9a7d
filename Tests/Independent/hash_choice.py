"""Which entities of the fixtures become vectors of version hashes."""

from described import plain, Unsuitable


def facts(entity):
    found = set()
    attributes, relationships = entity.get("attributes", []), entity.get("relationships", [])
    for a in attributes:
        if not a.get("transient"):
            found.add("attribute: " + a["type"])
            for element in a.get("elements", []):
                found.add("element: " + element["type"])
        found.add("attribute: " + ("optional" if a.get("optional") else "mandatory"))
        for key in ("transient", "modifier", "indexed", "external", "kept", "derived", "default"):
            if a.get(key):
                found.add("attribute: " + key)
        if a.get("was"):
            found.add("attribute: renamed")
    for r in relationships:
        found.add("relationship: " + ("to many" if r.get("many") else "to one"))
        found.add("relationship: " + ("optional" if r.get("optional") else "mandatory"))
        found.add("delete rule: " + r["delete"])
        for key in ("ordered", "transient", "modifier"):
            if r.get(key):
                found.add("relationship: " + key)
        if r.get("was"):
            found.add("relationship: renamed")
        if not r.get("inverse"):
            found.add("relationship: no inverse")
        elif r["to"] == entity["name"] and r["inverse"] == r["name"]:
            found.add("relationship: its own inverse")
        elif r["to"] == entity["name"]:
            found.add("relationship: within the entity")
        if r.get("min"):
            found.add("relationship: least number")
        if r.get("many") and r.get("max"):
            found.add("relationship: greatest number")
    for key in ("abstract", "modifier", "fetched"):
        if entity.get(key):
            found.add("entity: " + key)
    for key in ("unique", "compound", "indexes", "info"):
        if entity.get(key):
            found.add("entity: " + key)
    if any(len(names) > 1 for names in entity.get("unique", [])):
        found.add("entity: unique together")
    if entity.get("was"):
        found.add("entity: renamed")
    if entity.get("parent"):
        found.add("entity: with a parent")
    if not attributes and not relationships:
        found.add("entity: no properties of its own")
    return found


def size(entity):
    return len(entity.get("attributes", [])) + len(entity.get("relationships", []))


WANTED = 3  # vectors of each fact, where so many are there
OF_A_PROJECT = 14  # vectors of all files of one project
OF_A_NAME = 2  # vectors of one entity, as its versions differ
DIGESTS = {"digest": "NSStoreModelVersionHashesDigest", "checksum": "NSStoreModelVersionChecksumKey"}
LARGEST = 40  # properties of an entity and its ancestors


def hash_vectors(found):
    """Chooses entities until each fact is shown some times, the smallest first."""
    candidates = []
    for file in found.values():
        for name in sorted(file.described):
            try:
                lineage = [file.entity(n) for n in file.lineage(name)]
            except Unsuitable:
                continue
            own = facts(lineage[-1])
            own.add("framework: %s" % file.framework if file.framework else "compiled model")
            if len(lineage) > 2:
                own.add("entity: with a grandparent")
            if set(file.hashes) == set(e["name"] for e in lineage):
                own |= {shown for shown, stated in DIGESTS.items() if stated in file.metadata}
            if sum(map(size, lineage)) <= LARGEST:
                candidates.append((file, lineage, own))
    counts, taken, names, projects, vectors = {}, set(), {}, {}, []
    rare = {}
    for _, _, own in candidates:
        for fact in own:
            rare[fact] = rare.get(fact, 0) + 1
    candidates.sort(key=lambda c: (sum(map(size, c[1])), c[0].path, c[1][-1]["name"]))

    def price(candidate):
        """What other vectors describe already comes first, and then what is small."""
        file, lineage, _ = candidate
        return len({e["name"] for e in lineage} - file.chosen)

    for fact in sorted(rare, key=lambda f: (rare[f], f)):
        while counts.get(fact, 0) < (1 if fact.startswith("framework") else WANTED):
            for file, lineage, own in sorted((c for c in candidates if fact in c[2]), key=price):
                name = lineage[-1]["name"]
                if (name, file.hashes[name]) in taken or names.get(name, 0) >= OF_A_NAME:
                    continue
                if projects.get(file.project, 0) >= OF_A_PROJECT:
                    continue
                try:
                    file.choose([entity["name"] for entity in lineage])
                except Unsuitable:
                    continue
                break
            else:
                break
            taken.add((name, file.hashes[name]))
            names[name] = names.get(name, 0) + 1
            projects[file.project] = projects.get(file.project, 0) + 1
            vectors.append((file, lineage, own))
            for shown in own:
                counts[shown] = counts.get(shown, 0) + 1
    result = []
    for file, lineage, own in vectors:
        hashes = {e["name"]: file.hashes[e["name"]] for e in lineage}
        members = {
            "shows": sorted(own),
            "entities": lineage,
            "hashes": {name: value.hex() for name, value in hashes.items()},
        }
        # The digest is over a whole model: a few have no other entities.
        if set(file.hashes) == set(hashes):
            members.update({key: file.metadata[stated] for key, stated in DIGESTS.items() if stated in file.metadata})
        result.append(members)
    return sorted(result, key=lambda v: (v["entities"][-1]["name"], sorted(v["hashes"].items())))


def attribute(name, type_, optional=False, **more):
    return plain({"name": name, "type": type_, "optional": optional, **more})


def composite(name, optional=False, **elements):
    """Elements are named by their types, `optional` ones with a question mark."""
    return attribute(name, "Composite", optional, elements=[
        attribute(element, type_.rstrip("?"), type_.endswith("?")) for element, type_ in elements.items()])


def written_vectors():
    """SwiftData's composites: no fixture has any. Hashes as stores of public projects state them."""
    colour = {"linearRed": "Float", "linearGreen": "Float", "linearBlue": "Float", "opacity": "Float"}
    described = [
        ("4a3b9f32df42aee19eb186b6ad03ad57c96cd3fb4532671a4063da2002cfc61a", {
            "name": "Ingredient",
            "attributes": [attribute("id", "UUID"), composite("unit", unit="String?"), attribute("value", "Double")],
            "relationships": [{"name": "ingredientBase", "to": "IngredientBase", "delete": "Nullify"}],
        }),
        ("e5242d181d1eb8e5b999d0e19f84b74db5c473219db44416e51022dfab605201", {
            "name": "CocktailImage",
            "attributes": [composite("backgroundColor", **colour), composite("drinkColor", **colour)]
            + [attribute(name, "String") for name in ("drinkLayer", "glassBackLayer", "glassReflection", "innerRim")]
            + [attribute(name, "String", True) for name in ("iceLayer", "straw")]
            + [attribute(name, "Transformable", True) for name in ("garnishes", "inDrinkComponents")],
        }),
        ("b7204663387a5680bdfd9bed01991300dbeccf23d6a9eba4f9902b6341dfac0e", {
            "name": "IngredientBase",
            "unique": [["name"]],
            "attributes": [
                composite("category", category="String?"), attribute("info", "String", True),
                attribute("isCustom", "Boolean"), attribute("name", "String"),
                composite("prep", True, id="UUID?", prepIngredientName="String?", prepRecipe="Binary?"),
                composite("tags", True, flavors="Binary?", profiles="Binary?", styles="Binary?", booze="Binary?",
                          nA="Binary?"),
            ],
        }),
    ]
    return [{"shows": sorted(facts(entity) | {"SwiftData"}), "entities": [entity], "hashes": {entity["name"]: hash_}}
            for hash_, entity in described]
