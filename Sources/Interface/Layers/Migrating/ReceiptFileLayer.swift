import ManagedModel
import Migration
import Reports
import Terminal

/// Asks where a receipt is to be written.
struct ReceiptFileLayer: WaitingLayer {
  let receipt: WrittenReceipt
  /// What the screen says of it.
  let text: String
  var prompt: Prompt
  var task: TaskID?
  /// The path that holds a file already, which the next Enter replaces.
  private var taken: String?
  private var problem: String?

  init(_ receipt: WrittenReceipt, _ report: Report, storePath: String) {
    self.receipt = receipt
    text = ReportText.text(report)
    let name = storePath.split(separator: "/").last ?? "store"
    let stem = name.split(separator: ".").first ?? name
    prompt = Prompt("\(stem)-\(receipt.noun).json")
  }

  func bindings(_ context: Context) -> [Binding] {
    let replaces = taken == prompt.text
    return [
      Binding(
        [.enter], replaces ? "replace it" : "write", asks("confirm") { $0.write(in: &$1) },
        unless: task != nil
          ? "it is being written" : prompt.text.isEmpty ? "type a file name first" : nil),
      closing([.escape]),
    ]
  }

  private mutating func write(in context: inout Context) -> [Effect] {
    problem = nil
    let (receipt, path, replaces) = (receipt, prompt.text, taken == prompt.text)
    let text = text
    return context.ask(&task) {
      .writeReceipt($0, receipt, text: text, path: path, replaces: replaces)
    }
  }

  mutating func type(_ key: Key, in context: inout Context) -> [Effect] {
    guard task == nil else { return [] }
    prompt.handle(key)
    return []
  }

  mutating func take(_ answer: Answer, in context: inout Context) -> [Effect] {
    guard case .wroteReceipt(let path) = answer else { return [] }
    context.notice = Notice("the \(receipt.noun) is in \(path)", .success)
    isDone = true
    return []
  }

  private(set) var isDone = false

  mutating func fail(_ error: CoreDataError, in context: inout Context) -> [Effect] {
    problem = error.message
    taken = error.kind == .refused ? prompt.text : nil
    return []
  }

  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    let width = max(1, min(64, rect.width - 4))
    let hint = "As JSON, the same as \(receipt.command) writes, and beside it as text."
    let lines = Wrapping.lines(problem ?? hint, width: width)
    let inside = Popup("Write the \(receipt.noun)", width, lines.count + 2).draw(
      in: &grid, rect, theme: theme)
    prompt.draw(in: &grid, inside.row(0), label: [Span("› ", theme[.dim])], theme: theme)
    grid.write(lines, in: inside.droppingRows(2), style: theme[problem == nil ? .dim : .warning])
  }
}

extension WrittenReceipt {
  fileprivate var noun: String {
    switch self {
    case .migration, .rescue(.repaired): "receipt"
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
    }
  }
}
