import ManagedModel
import Topics

/// `strata help`: the commands, the help of one of them, or an article.
enum HelpCommand {
  private static let topic = Argument(optional: "TOPIC", suggesting: { names })
  static let command = Command(
    "help", .shell,
    "prints the help of a command, or an article: "
      + Topic.all.map(\.name).joined(separator: ", "),
    arguments: [topic], details: help, example: "strata help predicates", run: run)

  private static var help: String {
    let width = Topic.all.map(\.name.count).max() ?? 0
    let topics = Topic.all.map { "  " + $0.name.padded(to: width + 2) + $0.summary }
    return """
      TOPIC is a command, as in strata help rows, or one of these articles:

      \(topics.joined(separator: "\n"))

      Without TOPIC it lists the commands and the topics.
      """
  }

  /// Everything that help can be asked for.
  static var names: [String] { CommandTable.commands.map(\.name) + Topic.all.map(\.name) }

  private static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    try write(arguments[topic], to: console)
  }

  /// - Throws: ``CoreDataError`` of kind usage for what is neither a command nor a topic.
  static func write(_ name: String?, to console: Console) throws -> CommandStatus {
    guard let name else {
      console.write(CommandLineTool.usage)
      return .done
    }
    if let command = CommandTable.command(named: name) {
      console.write(command.help)
    } else if let topic = Topic.topic(named: name) {
      for line in ArticleText.lines(of: topic.article, width: console.width) {
        console.line(line.text, as: line.isHeading ? .title : nil)
      }
    } else {
      throw CoreDataError(
        .usage, "there is no command and no topic “\(name)”",
        hint: Nearest.question(name, in: names) { "“strata help \($0)”" }
          ?? "Topics are " + Topic.all.map(\.name).joined(separator: ", ") + "; see strata help.")
    }
    return .done
  }
}
