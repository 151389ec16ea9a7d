import JSON
import ManagedModel
import Migration
import ModelSearch
import Terminal

/// `strata mapping`: what a mapping model or a recipe is for, carries, drops and forgets.
package enum MappingCommand {
  private static let file = Argument("FILE", .file)
  private static let models = Option(
    repeating: "model", "MODEL", .model,
    "find the versions that it is for in this bundle, folder or model")
  package static let command = Command(
    "mapping", .compare, "shows what a mapping model or recipe is for", arguments: [file],
    options: [models, Option.json], details: help,
    example: "strata mapping Recipes2to3.xcmappingmodel --model Recipes.xcdatamodeld",
    statuses: "1 if it is for no versions of --model", run: run)

  /// What `--help` says about its output.
  private static let help = """
    “no value” marks properties of the destination that the mapping gives no value: they begin empty or
    with their default, and a mandatory property without a default fails. “goes nowhere” marks properties
    of the source that no value is computed from. A compiled mapping model (.cdm) holds version hashes but no
    models: --model finds the versions it is for, and the properties that go nowhere.
    """

  private static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    let versions = try arguments[models].flatMap { path in
      let reference = ModelReference(path)
      guard reference.version == nil, let found = try? ModelVersions(readingFrom: path) else {
        let loaded = try reference.load()
        return [ModelVersions.Version(name: loaded.name, model: loaded.model, path: loaded.path)]
      }
      for error in found.unreadable { console.note("! " + error.description) }
      return found.versions
    }
    console.warn(versions.flatMap(\.model.warnings))
    let documents = try MappingDocuments(paths: [arguments[file]])
    let overviews =
      documents.models.map { MappingOverview($0, among: versions) }
      + documents.recipes.map { MappingOverview($0, among: versions) }
    if arguments[.json] {
      for overview in overviews { console.json { write(overview, &$0) } }
    } else {
      for overview in overviews { print(overview, isAmong: !versions.isEmpty, console) }
    }
    let isFound = versions.isEmpty || overviews.contains { !$0.pairs.isEmpty || $0.isForAny }
    return isFound ? .done : .no
  }

  private static func print(_ overview: MappingOverview, isAmong: Bool, _ console: Console) {
    let what = overview.kind == .recipe ? "a recipe" : "a mapping model"
    console.line("\(overview.path): \(what)", as: .title)
    for pair in overview.pairs { console.line("for “\(pair.from.name)” → “\(pair.to.name)”") }
    if overview.pairs.isEmpty {
      if isAmong, !overview.isForAny {
        console.line("✗ for no pair of the versions that --model named")
      }
      console.paragraph(origin(overview), indent: 2)
    }
    for note in overview.notes { console.paragraph("note: " + note, indent: 2) }
    for entity in overview.entities { print(entity, hashes: overview.pairs.isEmpty, console) }
    names("− source entities that no mapping takes: ", overview.untaken, console)
    names("! destination entities that begin without objects: ", overview.unmade, console)
    names(
      overview.kind == .recipe ? "stands in for: " : "classes that live in the app: ",
      overview.policies, console)
  }

  private static func origin(_ overview: MappingOverview) -> String {
    let names = overview.names.map { "“\($0.from)” → “\($0.to)”" } ?? ""
    return switch overview.origin {
    case .hashes: "for the versions whose entities have these hashes"
    case .models: "for the versions that it holds copies of, by digest: " + names
    case .names: "for versions with these entities and properties, by name: it holds no models"
    case .versions:
      overview.isForAny ? "for any versions: it only stands in for classes" : "for " + names
    }
  }

  private static func names(_ head: String, _ names: [String]?, _ console: Console) {
    guard let names, !names.isEmpty else { return }
    console.paragraph(
      head + names.joined(separator: ", "), indent: head.prefix { $0 == " " }.count + 4)
  }

  private static func print(
    _ entity: MappingOverview.Entity, hashes: Bool, _ console: Console
  ) {
    let role: Theme.Role? =
      switch entity.kind {
      case .add: .added
      case .remove: .removed
      case .transform, .custom: .changed
      case .copy: nil
      }
    console.line(
      "\(entity.kind.name)  \(entity.source ?? "—") → \(entity.destination ?? "—")  (\(entity.name))",
      as: role)
    if hashes {
      for (side, hash) in [("source", entity.sourceHash), ("destination", entity.destinationHash)] {
        if let hash { console.line("    \(side) hash \(hash.hex)") }
      }
    }
    if let condition = entity.condition { console.paragraph("    where \(condition)", indent: 8) }
    if let policy = entity.policy { console.line("    policy \(policy)") }
    if entity.isDeletionIntended {
      console.line("    the objects that it does not take are deleted on purpose")
    }
    let copied = entity.carried.filter {
      !$0.isComputed && $0.name == $0.value && $0.through == nil
    }
    names("    copied as they are: ", copied.map(\.name), console)
    for property in entity.carried where !copied.contains(property) {
      let through = property.through.map { " through \($0)" } ?? ""
      let sign = property.isComputed ? "=" : "←"
      console.paragraph("    \(property.name) \(sign) \(property.value)\(through)", indent: 8)
    }
    names("    ! no value: ", entity.forgotten, console)
    names(
      entity.policy == nil
        ? "    − goes nowhere: " : "    − goes nowhere, unless the class takes it: ",
      entity.dropped, console)
  }

  private static func write(_ overview: MappingOverview, _ json: inout JSONWriter) {
    json.fields([
      "path": overview.path, "kind": overview.kind.rawValue, "by": overview.origin.rawValue,
      "from": overview.names?.from, "to": overview.names?.to,
    ])
    json.objects("pairs", overview.pairs) { json, pair in
      for (key, version) in [("from", pair.from), ("to", pair.to)] {
        json.object(
          key,
          [
            "name": version.name, "path": version.path,
            "digest": Model.versionHashesDigest(of: version.hashes),
          ])
      }
    }
    json.objects("entityMappings", overview.entities) { json, entity in
      json.fields([
        "name": entity.name, "type": entity.kind.name, "source": entity.source,
        "destination": entity.destination, "sourceHash": entity.sourceHash?.hex,
        "destinationHash": entity.destinationHash?.hex, "condition": entity.condition,
        "policy": entity.policy, "deletionIntended": entity.isDeletionIntended,
      ])
      json.objects("carried", entity.carried) {
        ["name": $0.name, "value": $0.value, "computed": $0.isComputed, "through": $0.through]
      }
      json.fields(["forgotten": entity.forgotten, "dropped": entity.dropped])
    }
    json.fields([
      "untaken": overview.untaken, "unmade": overview.unmade, "policies": overview.policies,
      "notes": overview.notes,
    ])
  }
}

extension MappingOverview {
  /// Whether it is a recipe that only stands in for classes, and serves any pair.
  fileprivate var isForAny: Bool { kind == .recipe && names == nil }
}
