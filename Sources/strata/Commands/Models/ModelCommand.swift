import ManagedStore
import ModelSearch
import ModelWriting
import Terminal

/// `strata model`: a model as text, JSON, Xcode's XML or a diagram.
enum ModelCommand {
  @Sendable static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    let loaded = try ModelReference(arguments[0]).load()
    let format = arguments.flag("json") ? "json" : arguments.value("format") ?? "text"
    // The text has them.
    if format != "text" { console.warn(loaded.model.warnings) }
    switch format {
    case "json": console.write(loaded.model.json)
    case "xcdatamodel": console.write(loaded.model.xcdatamodelContents())
    case "mermaid": print(loaded.model.mermaid(), console)
    default: print(loaded.model.text(), console)
    }
    return .done
  }

  private static func print(_ text: String, _ console: Console) {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    if lines.last?.isEmpty == true { lines.removeLast() }
    console.write(lines.map { Sanitize.text(String($0)) + "\n" }.joined())
  }
}
