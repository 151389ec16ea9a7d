import Files
import SQLite

@main
struct Strata {
  static func main() {
    // Before any store is opened, since SQLite takes no other word afterwards.
    SQLiteLibrary.leaveOutMemoryStatistics()
    Interruption.watchToTheEnd()
    let status = CommandLineTool.run(
      Array(CommandLine.arguments.dropFirst()), console: .process)
    if let message = Output.failureMessage {
      Output.error("strata: the output could not be written: \(message)\n")
      exit(status == .done ? CommandStatus.unreadable.rawValue : status.rawValue)
    }
    exit(status.rawValue)
  }
}
