import Comparison
import ManagedModel
import ManagedStore
import Migration
import Reports
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

/// Asks for the file that something goes into.
struct NewFileLayer: WaitingLayer {
  /// What is written.
  enum Contents: Sendable, Equatable {
    /// As JSON, and beside it as what the screen says of it.
    case receipt(WrittenReceipt, text: String)
    case changes([ObjectChange])
    /// As it is, and never over another file; without its size while its beginning is read.
    case value(ValueOutput, bytes: Int?)
  }

  private(set) var contents: Contents
  var prompt: Prompt
  var task: TaskID?
  /// The path that holds a file already, which the next Enter replaces.
  private var taken: String?
  private var problem: String?
  private(set) var isDone = false

  init(_ receipt: WrittenReceipt, _ report: Report, storePath: String) {
    contents = .receipt(receipt, text: ReportText.text(report))
    let name = storePath.split(separator: "/").last ?? "store"
    let stem = name.split(separator: ".").first ?? name
    prompt = Prompt("\(stem)-\(receipt.noun).json")
  }

  init(_ changes: [ObjectChange]) {
    contents = .changes(changes)
    prompt = Prompt("changes.csv")
  }

  /// - Parameter part: the beginning of the value, which says what the file is to be called; ``read(in:)``
  ///   asks for it where it is not known.
  init(valueOf property: String, in object: ObjectID, beginning part: StoredContent? = nil) {
    contents = .value(ValueOutput(object: object, property: property, path: ""), bytes: part?.total)
    prompt = Prompt(part.map { ValueOutput.name(of: property, in: object, $0) } ?? "")
  }

  /// Reads the beginning of a value.
  mutating func read(in context: inout Context) -> [Effect] {
    guard case .value(let value, bytes: nil) = contents else { return [] }
    return context.ask(&task) {
      .ask(
        $0,
        .content(
          value.object, property: value.property, offset: 0, count: FileExtension.headLength))
    }
  }

  private var replaces: Bool { taken == prompt.text }
  private var isRead: Bool { if case .value(_, bytes: nil) = contents { false } else { true } }

  func bindings(_ context: Context) -> [Binding] {
    [
      Binding(
        [.enter], replaces ? "replace it" : "write", asks("confirm") { $0.write(in: &$1) },
        unless: task != nil
          ? isRead ? "it is being written" : "the value is being read"
          : prompt.text.isEmpty ? "type a file name first" : nil),
      closing([.escape]),
    ]
  }

  private mutating func write(in context: inout Context) -> [Effect] {
    problem = nil
    let (contents, path, replaces) = (contents, prompt.text, replaces)
    return context.ask(&task) { task in
      switch contents {
      case .receipt(let receipt, let text):
        .writeReceipt(task, receipt, text: text, path: path, replaces: replaces)
      case .changes(let changes):
        .writeChanges(task, ChangesFile(changes: changes, path: path, replaces: replaces))
      case .value(let value, _):
        .writeValue(
          task, ValueOutput(object: value.object, property: value.property, path: path))
      }
    }
  }

  mutating func type(_ key: Key, in context: inout Context) -> [Effect] {
    if task == nil { prompt.handle(key) }
    return []
  }

  mutating func take(_ answer: Answer, in context: inout Context) -> [Effect] {
    switch (answer, contents) {
    case (.content(let part), .value(let value, bytes: nil)):
      take(part, of: value, in: &context)
      return []
    case (.wroteReceipt(let path), .receipt(let receipt, _)):
      context.notice = Notice("the \(receipt.noun) is in \(path)", .success)
    case (.written(let path), .changes(let changes)):
      context.notice = Notice("\(NumberText.counted(changes.count, "change")) in \(path)", .success)
    case (.written(let path), .value(let value, let bytes)):
      let size = bytes.map { ", \(NumberText.bytes($0))," } ?? ""
      context.notice = Notice("\(value.object) \(value.property)\(size) is in \(path)", .success)
    default: return []
    }
    isDone = true
    return []
  }

  /// Proposes a name, or closes where there is nothing to be written.
  private mutating func take(
    _ part: StoredContent?, of value: ValueOutput, in context: inout Context
  ) {
    guard let part, part.location.problem == nil else {
      let problem = part?.location.problem ?? "there is no value"
      context.notice = Notice("\(value.object) \(value.property): \(problem)", .warning)
      isDone = true
      return
    }
    self = NewFileLayer(valueOf: value.property, in: value.object, beginning: part)
  }

  mutating func fail(_ error: CoreDataError, in context: inout Context) -> [Effect] {
    guard isRead else {
      context.notice = Notice(error.description, .warning)
      isDone = true
      return []
    }
    problem = error.message
    if case .value = contents { return [] }
    taken = error.kind == .refused ? prompt.text : nil
    return []
  }

  private var title: String {
    switch contents {
    case .receipt(let receipt, _): "Write the \(receipt.noun)"
    case .changes: "Export the changes to"
    case .value: "Write the value to"
    }
  }

  private var hint: String {
    switch contents {
    case .receipt(let receipt, _):
      return "As JSON, the same as \(receipt.command) writes, and beside it as text."
    case .value(let value, let bytes):
      guard let bytes else { return "…" }
      return
        "\(NumberText.bytes(bytes)) of \(value.object) \(value.property), as they are. Only you can read the file; one that is there is never replaced."
    case .changes(let changes):
      let format = ChangesFile(changes: changes, path: prompt.text).format
      let names = ExportRequest.Format.allCases.map { "." + $0.fileExtension }
      return
        "\(NumberText.counted(changes.count, "change")) as \(format.title). Other formats: end the name with \(names.joined(separator: ", "))."
    }
  }

  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    let width = max(1, min(64, rect.width - 4))
    let lines = Wrapping.lines(problem ?? hint, width: width)
    let inside = Popup(title, width, lines.count + 2).draw(in: &grid, rect, theme: theme)
    prompt.draw(in: &grid, inside.row(0), label: [Span("› ", theme[.dim])], theme: theme)
    grid.write(lines, in: inside.droppingRows(2), style: theme[problem == nil ? .dim : .warning])
  }
}

extension WrittenReceipt {
  fileprivate var noun: String {
    switch self {
    case .migration, .rescue(.repaired), .rescue(.edited): "receipt"
    case .rescue: "report"
    }
  }

  /// The command that writes the same.
  fileprivate var command: String {
    switch self {
    case .migration: "strata migrate --receipt"
    case .rescue(.salvaged): "strata salvage --report"
    case .rescue(.restored): "strata undelete --report"
    case .rescue(.repaired): "strata repair --receipt"
    case .rescue(.edited): "strata edit --receipt"
    }
  }
}
