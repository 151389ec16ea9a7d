import JSON
import ManagedModel
import ModelSearch
import ModelWriting
import Terminal

/// `strata model`: a model as text, JSON, Xcode's XML or a diagram.
package enum ModelCommand {
  private static let model = Argument("MODEL", .model)
  private enum Format: String, CaseIterable { case text, json, xcdatamodel, mermaid }
  private static let format = Option(
    "format", "FORMAT", among: Format.allCases, "how to print it")
  package static let command = Command(
    "model", .look, "prints a model as text, JSON, Xcode's XML or a Mermaid diagram",
    arguments: [model], options: [format, Option.jsonFormat],
    example: "strata model Recipes.xcdatamodeld@'Recipes 2' --format mermaid", run: run)

  private static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    let loaded = try ModelReference(arguments[model]).load()
    let format = arguments[.json] ? .json : arguments[format] ?? .text
    // The text has them.
    if format != .text { console.warn(loaded.model.warnings) }
    switch format {
    case .json: console.write(loaded.model.json)
    case .xcdatamodel: console.write(loaded.model.xcdatamodelContents())
    case .mermaid: print(loaded.model.mermaid(), console)
    case .text: print(loaded.model.text(), console)
    }
    return .done
  }

  private static func print(_ text: String, _ console: Console) {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    if lines.last?.isEmpty == true { lines.removeLast() }
    console.write(lines.map { Sanitize.text(String($0)) + "\n" }.joined())
  }
}

/// `strata hash`: the digests by which Core Data says whether a store fits a model.
package enum HashCommand {
  private static let model = Argument("MODEL", .model)
  package static let command = Command(
    "hash", .look, "prints version hashes, digest and checksum", arguments: [model],
    options: [Option.json], example: "strata hash Recipes.xcdatamodeld", run: run)

  private static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    let model = try ModelReference(arguments[Self.model]).load().model
    if arguments[.json] {
      console.json { $0.hashes(of: model) }
    } else {
      let hashes = model.versionHashes
      let rows = model.entities.map { [$0.name, hashes[$0.name]?.hex ?? ""] }
      console.write(
        TextTable.text(
          [.left, .left],
          rows + [
            ["digest", Model.versionHashesDigest(of: hashes)],
            ["checksum", Model.versionChecksum(of: hashes)],
          ],
          limit: 100))
    }
    console.warn(model.warnings)
    for (entity, reason) in model.unverifiedVersionHashes.sorted(by: { $0.key < $1.key }) {
      console.note("! \(entity): \(reason)")
    }
    return .done
  }
}

extension JSONWriter {
  /// The members that name a model by its hashes.
  mutating func hashes(of model: Model) {
    let hashes = model.versionHashes
    object("entities") { json in
      for entity in model.entities {
        json.field(entity.name, hashes[entity.name]?.hex)
      }
    }
    field("digest", Model.versionHashesDigest(of: hashes))
    field("checksum", Model.versionChecksum(of: hashes))
    field("versionIdentifiers", model.versionIdentifiers)
  }
}
