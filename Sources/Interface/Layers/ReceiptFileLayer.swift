import ManagedModel
import Migration
import Terminal

/// Asks where a receipt is to be written.
package struct ReceiptFileLayer: LayerContent {
  let receipt: MigrationReceipt
  package var prompt: Prompt
  private var task: TaskID?
  /// The path that holds a file already, which the next Enter replaces.
  private var taken: String?
  private var problem: String?

  init(_ receipt: MigrationReceipt) {
    self.receipt = receipt
    let name = receipt.storePath.split(separator: "/").last ?? "store"
    let stem = name.split(separator: ".").first ?? name
    prompt = Prompt("\(stem)-receipt.json")
  }

  package func bindings(_ state: State) -> [Binding] {
    let replaces = taken == prompt.text
    return [
      Binding(
        [.enter], replaces ? "replace it" : "write", .confirm,
        unless: task != nil
          ? "it is being written" : prompt.text.isEmpty ? "type a file name first" : nil),
      Binding([.escape], "close", .close),
    ]
  }

  package mutating func perform(
    _ action: Action, _ key: Key, in state: inout State
  ) -> LayerOutcome {
    guard action == .confirm else { return .stay() }
    let task = state.newTask()
    self.task = task
    problem = nil
    return .stay([
      .writeReceipt(task, receipt, path: prompt.text, replaces: taken == prompt.text)
    ])
  }

  package mutating func type(_ key: Key, in state: inout State) -> [Effect] {
    guard task == nil else { return [] }
    prompt.handle(key)
    return []
  }

  package mutating func take(_ message: Message, in state: inout State) -> [Effect]? {
    guard case .wroteReceipt(let task, let path) = message, task == self.task else { return nil }
    self.task = nil
    state.notice = Notice("the receipt is in \(path)", .success)
    isDone = true
    return []
  }

  private(set) var isDone = false

  package mutating func fail(
    _ task: TaskID, _ error: CoreDataError, in state: inout State
  ) -> [Effect]? {
    guard task == self.task else { return nil }
    self.task = nil
    problem = error.message
    taken = error.kind == .refused ? prompt.text : nil
    return []
  }

  package func draw(_ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    let width = max(1, min(64, rect.width - 4))
    let hint = "As JSON, the same as strata migrate --receipt writes."
    let lines = Wrapping.lines(problem ?? hint, width: width)
    let inside = Popup("Write the receipt", size: Size(width: width, height: lines.count + 2))
      .draw(in: &grid, rect, theme: theme)
    prompt.draw(in: &grid, inside.row(0), label: [Span("› ", theme[.dim])], theme: theme)
    for (index, line) in lines.enumerated() where index + 2 < inside.height {
      grid.write(
        line, at: inside.row(index + 2).origin,
        style: theme[problem == nil ? .dim : .warning], within: inside.width)
    }
  }
}
