import JSON
import ManagedModel
import ManagedStore
import ModelSearch
import RowText

/// `strata hash`: the digests by which Core Data tells whether a store fits a model.
enum HashCommand {
  private static let model = Argument("MODEL", .model)
  static let command = Command(
    "hash", .look, "prints version hashes, digest and checksum", arguments: [model],
    options: [Option.json], example: "strata hash Recipes.xcdatamodeld", run: run)

  @Sendable private static func run(
    _ arguments: Arguments, _ console: Console
  ) throws -> CommandStatus {
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
