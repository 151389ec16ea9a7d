import ManagedStore
import ModelSearch
import ModelWriting
import Terminal

/// `strata model`: a model as text, JSON, Xcode's XML or a diagram.
enum ModelCommand {
  private static let model = Argument("MODEL", .model)
  private enum Format: String, CaseIterable { case text, json, xcdatamodel, mermaid }
  private static let format = Option(
    "format", "FORMAT", among: Format.allCases, "how to print it")
  static let command = Command(
    "model", .look, "prints a model as text, JSON, Xcode's XML or a Mermaid diagram",
    arguments: [model], options: [format, Option.jsonFormat],
    example: "strata model Recipes.xcdatamodeld@'Recipes 2' --format mermaid", run: run)

  @Sendable private static func run(
    _ arguments: Arguments, _ console: Console
  ) throws -> CommandStatus {
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
