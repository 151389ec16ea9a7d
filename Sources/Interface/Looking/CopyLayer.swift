import ManagedModel
import ManagedStore
import Terminal

/// What of the selected thing goes to the clipboard; the key that opened it takes the first.
package struct CopyLayer: FinishingLayer {
  private(set) var isDone = false

  package struct Choice: Sendable, Equatable {
    var title: String
    var form: CopyForm
    var subject: CopySubject
  }

  private let choices: [Choice]
  private var list: List
  private var task: TaskID?
  private var title = ""

  /// `nil` where nothing is selected that could be copied.
  init?(_ state: State) {
    choices = Self.choices(state)
    guard !choices.isEmpty else { return nil }
    list = List(count: choices.count, height: choices.count)
  }

  private static func choices(_ state: State) -> [Choice] {
    guard state.screen == .browse else { return [] }
    let browse = state.browse
    let store = state.storeArgument
    func command(_ text: String) -> Choice {
      Choice(title: "command line", form: .command, subject: .text(text))
    }
    switch browse.focus {
    case .entities:
      guard let entity = browse.tree.selected else { return [] }
      return [
        Choice(title: "name", form: .value, subject: .text(entity)),
        command("strata rows \(store) \(ShellText.quoted(entity))"),
      ]
    case .rows, .inspector:
      let isRow = browse.focus == .rows
      guard let id = isRow ? browse.table?.window.selectedRow?.id : browse.inspector.object else {
        return []
      }
      var choices: [Choice] = []
      if let property = isRow ? browse.table?.selectedProperty : browse.inspector.selectedProperty {
        choices.append(
          Choice(
            title: "value of \(property)", form: .value, subject: .value(id, property: property)))
      }
      let columns = isRow ? browse.table?.shownProperties ?? [] : []
      let object = CopySubject.object(id, columns: columns)
      let forms: [(String, CopyForm)] = [
        ("object as JSON", .json), ("row for a spreadsheet (TSV)", .tsv),
        ("row as Markdown", .markdown), ("row as SQL INSERT", .sql),
        ("reference \(id)", .reference),
        ("object URI", .uri),
      ]
      choices += forms.map { Choice(title: $0.0, form: $0.1, subject: object) }
      return choices + [command("strata object \(store) \(id)")]
    }
  }

  package func bindings(_ state: State) -> [Binding] {
    [
      Binding(
        [.enter, .character("y")], "copy", .choose, unless: task == nil ? nil : "it is being read"),
      Keymap.movement,
      Binding([.escape, .character("q")], "close", .close),
    ]
  }

  package mutating func perform(
    _ action: Action, _ key: Key, in state: inout State
  ) -> LayerOutcome {
    guard action == .choose else {
      list.handle(key)
      return .stay()
    }
    guard let choice = choices.element(list.selected) else { return .close() }
    title = choice.title
    if case .text(let text) = choice.subject { return .close(Self.send(text, title, in: &state)) }
    let task = state.newTask()
    self.task = task
    return .stay([.look(task, .copy(choice.form, choice.subject))])
  }

  /// Most bytes that are sent: terminals drop or choke on more.
  package static let limit = 100_000

  static func send(_ text: String, _ title: String, in state: inout State) -> [Effect] {
    let count = text.utf8.count
    guard count <= limit else {
      state.notice = Notice(
        "\(title): \(NumberText.bytes(count)) are too much for a terminal's clipboard (100 kB); e exports",
        .warning)
      return []
    }
    state.notice = Notice(
      "\(title), \(NumberText.bytes(count)): sent to the terminal's clipboard", .success)
    return [.copy(text)]
  }

  package mutating func take(_ message: Message, in state: inout State) -> [Effect]? {
    guard case .looked(let task, .copied(let text)) = message, task == self.task else { return nil }
    self.task = nil
    isDone = true
    return Self.send(text, title, in: &state)
  }

  package mutating func fail(
    _ task: TaskID, _ error: CoreDataError, in state: inout State
  ) -> [Effect]? {
    guard task == self.task else { return nil }
    self.task = nil
    state.notice = Notice(error.description, .warning)
    return []
  }

  package mutating func cancel(in state: inout State) -> [Effect]? {
    guard let task else { return nil }
    self.task = nil
    return [.cancel(task)]
  }

  package func draw(_ state: State, with theme: Theme, in grid: inout Grid, _ body: Rect) {
    let inside = Popup("Copy", size: Size(width: 44, height: choices.count))
      .draw(in: &grid, body, theme: theme)
    list.draw(in: &grid, inside, theme: theme) { row in
      choices.element(row).map { [Span($0.title)] } ?? []
    }
  }
}
