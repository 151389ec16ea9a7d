import Commands
import Files
import SQLite
import Terminal

@main
struct Strata {
  static func main() {
    // Before any store is opened, since SQLite takes no other word afterwards.
    SQLiteLibrary.leaveOutMemoryStatistics()
    Interruption.watchToTheEnd()
    var status = CommandLineTool.run(
      Array(CommandLine.arguments.dropFirst()), console: .process)
    Interruption.waitForEnd()
    // A copy of somebody's data that stays behind is no success.
    for sentence in LeftBehind.take() {
      Output.error("strata: \(Sanitize.text(sentence))\n")
      if status == .done || status == .no { status = .unreadable }
    }
    if let message = Output.failureMessage {
      Output.error("strata: the output could not be written: \(message)\n")
      if status == .done { status = .unreadable }
    }
    exit(status.rawValue)
  }
}
