import Files
import JSON
import ModelSearch
import ModelWriting

/// `strata diff`: what differs between two models, and what of it makes a store need migrating.
package enum DiffCommand {
  private static let (source, destination) = (Argument("A", .model), Argument("B", .model))
  package static let command = Command(
    "diff", .compare, "compares two models", arguments: [source, destination],
    options: [Option.json], example: "strata diff Recipes.sqlite Recipes.xcdatamodeld@'Recipes 2'",
    statuses: "1 if the models differ", run: run)

  private static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    let source = try ModelReference(arguments[Self.source]).load()
    let destination = try ModelReference(arguments[Self.destination]).load()
    console.warn(source.model.warnings + destination.model.warnings)
    let difference = ModelDifference(from: source.model, to: destination.model)
    let paths = [arguments[Self.source], arguments[Self.destination]]
    arguments[.json]
      ? console.json { write(difference, to: &$0) }
      : print(difference, source.name, destination.name, paths, console)
    if !arguments[.json], paths.allSatisfy(FileSystem.isDatabase) {
      console.line(
        "The models were compared, not the objects: \(ShellText.command("compare", paths[0], paths[1]))"
      )
    }
    return difference.isIdentical ? .done : .no
  }

  private static func print(
    _ difference: ModelDifference, _ source: String, _ destination: String, _ paths: [String],
    _ console: Console
  ) {
    // Of two stores of one name, or two versions of one, only the paths say which is which.
    let (source, destination) = source == destination ? (paths[0], paths[1]) : (source, destination)
    guard !difference.isIdentical else {
      console.line("\(source) and \(destination) are the same model")
      return
    }
    console.line("\(source) → \(destination)")
    for entity in difference.entities where !entity.changes.isEmpty || entity.source == nil {
      let sign = entity.source == nil ? "+" : entity.destination == nil ? "−" : "~"
      console.line(
        "\(sign) \(entity.name)"
          + (entity.isHashMoved ? "  (version hash changes)" : "  (same version hash)"))
      for change in entity.changes {
        console.line("    \(change.movesHash ? "*" : " ") \(change.description)")
      }
    }
    for sentence in difference.otherChanges { console.line("  \(sentence)") }
    for conflict in difference.conflicts { console.line("! \(conflict)") }
    console.line(
      difference.hashesAreEqual
        ? "No version hash changes: stores of either model open with the other, and no migration is needed."
        : "* changes the version hash: stores of \(source) must be migrated.")
  }

  private static func write(_ difference: ModelDifference, to json: inout JSONWriter) {
    json.fields(["identical": difference.isIdentical, "hashesEqual": difference.hashesAreEqual])
    let shown = difference.entities.filter { !$0.changes.isEmpty || $0.source == nil }
    json.objects("entities", shown) { json, entity in
      json.fields([
        "name": entity.name, "source": entity.source?.name,
        "destination": entity.destination?.name, "sourceHash": entity.sourceHash?.hex,
        "destinationHash": entity.destinationHash?.hex,
      ])
      json.objects("changes", entity.changes) {
        [
          "property": $0.property, "changesVersionHash": $0.movesHash,
          "description": $0.description,
        ]
      }
    }
    json.fields(["other": difference.otherChanges, "conflicts": difference.conflicts])
  }
}
