import Comparison
import ManagedModel
import Terminal

/// Changes that are to be written to a file, in the format that its name ends with.
package struct ChangesFile: Sendable, Equatable {
  /// What is written.
  package var changes: [ObjectChange]
  /// Where it is to be written.
  package var path: String
  /// Whether a file that is there may be replaced.
  package var replaces = false

  /// The format that the name says; CSV where it says none.
  package var format: ExportRequest.Format {
    ExportRequest.Format.allCases.first { path.hasSuffix("." + $0.fileExtension) } ?? .csv
  }
}

/// Asks where changes are to be written.
struct ChangesExportLayer: WaitingLayer {
  private let changes: [ObjectChange]
  private var prompt = Prompt("changes.csv")
  var task: TaskID?
  /// The path that holds a file already, which the next Enter replaces.
  private var taken: String?
  private var problem: String?
  private(set) var isDone = false

  init(_ changes: [ObjectChange]) { self.changes = changes }

  private var file: ChangesFile {
    ChangesFile(changes: changes, path: prompt.text, replaces: taken == prompt.text)
  }

  func bindings(_ context: Context) -> [Binding] {
    [
      Binding(
        [.enter], file.replaces ? "replace it" : "write", asks("confirm") { $0.write(in: &$1) },
        unless: task != nil
          ? "it is being written" : prompt.text.isEmpty ? "type a file name first" : nil),
      closing([.escape]),
    ]
  }

  private mutating func write(in context: inout Context) -> [Effect] {
    let file = file
    problem = nil
    return context.ask(&task) { .writeChanges($0, file) }
  }

  mutating func type(_ key: Key, in context: inout Context) -> [Effect] {
    if task == nil { prompt.handle(key) }
    return []
  }

  mutating func take(_ answer: Answer, in context: inout Context) -> [Effect] {
    guard case .written(let path) = answer else { return [] }
    context.notice = Notice(
      "\(NumberText.counted(changes.count, "change")) in \(path)", .success)
    isDone = true
    return []
  }

  mutating func fail(_ error: CoreDataError, in context: inout Context) -> [Effect] {
    problem = error.message
    taken = error.kind == .refused ? prompt.text : nil
    return []
  }

  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    let width = max(1, min(64, rect.width - 4))
    let names = ExportRequest.Format.allCases.map { "." + $0.fileExtension }
    let hint =
      "\(NumberText.counted(changes.count, "change")) as \(file.format.title). Other formats: end the name with \(names.joined(separator: ", "))."
    let lines = Wrapping.lines(problem ?? hint, width: width)
    let inside = Popup("Export the changes to", width, lines.count + 2).draw(
      in: &grid, rect, theme: theme)
    prompt.draw(in: &grid, inside.row(0), label: [Span("› ", theme[.dim])], theme: theme)
    grid.write(lines, in: inside.droppingRows(2), style: theme[problem == nil ? .dim : .warning])
  }
}
