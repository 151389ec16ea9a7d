import ManagedModel
import Migration
import Terminal

/// Shown while prepared changes are checked on a private copy; the question follows, or what stands against it.
struct EditCheckLayer: WaitingLayer {
  private let order: EditOrder
  var task: TaskID?
  private var progress: MigrationProgress?
  private(set) var isDone = false

  init(_ order: EditOrder) { self.order = order }

  /// Has the changes made on a copy.
  mutating func begin(in context: inout Context) -> [Effect] {
    let order = order
    return context.ask(&task) { .checkEdit($0, order) }
  }

  func bindings(_ context: Context) -> [Binding] { [closing([.escape, "q"], "stop")] }

  mutating func take(_ answer: Answer, in context: inout Context) -> [Effect] {
    switch answer {
    case .progress(let progress): self.progress = progress
    case .checkedEdit(let check):
      isDone = true
      guard !check.receipt.isNothing else {
        context.forgetPrepared()
        context.notice = Notice("nothing to write: the store already has these values")
        return []
      }
      var order = order
      order.rehearsed = check.receipt.objectsNumber
      return context.confirm(.write(order, check, context.known))
    default: break
    }
    return []
  }

  mutating func fail(_ error: CoreDataError, in context: inout Context) -> [Effect] {
    isDone = true
    if error.kind == .cancelled {
      context.notice = Notice("stopped; nothing was written", .warning)
    } else {
      context.show(MessageLayer(refusing: error, order.words))
    }
    return []
  }

  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    let width = max(1, min(60, rect.width - 4))
    let inside = Popup("Checking \(order.words)", width, 2).draw(in: &grid, rect, theme: theme)
    let part = progress.flatMap { $0.parts.element($0.current)?.title } ?? "opening the store"
    let percent = progress.map { "  \(Int($0.fraction * 100)) %" } ?? ""
    grid.write("\(part)\(percent) …", at: inside.row(0).origin, within: inside.width)
    grid.write(
      "on a private copy; nothing is written yet", at: inside.row(1).origin, style: theme[.dim],
      within: inside.width)
  }
}

extension MessageLayer {
  /// Why prepared changes cannot be written.
  init(refusing error: CoreDataError, _ words: String) {
    self.init(error)
    title = "✗ \(words) cannot be written" + (error.code.map { ": error \($0)" } ?? "")
    paragraphs.append(
      "The changes are still prepared: C lists them; there x removes one, and u undoes the last one."
    )
  }
}
