import ManagedModel
import ManagedStore
import Terminal

/// What of the selected thing goes to the clipboard; the key that opened it takes the first.
package struct CopyLayer: WaitingLayer, ChoosingLayer {
  private(set) var isDone = false

  struct Choice: Sendable, Equatable {
    var title: String
    var form: CopyForm
    var subject: CopySubject

    init(_ title: String, _ form: CopyForm, _ subject: CopySubject) {
      self.title = title
      self.form = form
      self.subject = subject
    }

    init(_ title: String, text: String) { self.init(title, .value, .text(text)) }

    init(command: String) { self.init("command line", .command, .text(command)) }
  }

  private let choices: [Choice]
  var list: List
  var task: TaskID?
  private var title = ""

  /// `nil` where nothing is selected that could be copied.
  init?(_ state: State) { self.init(Self.choices(state)) }

  init?(_ choices: [Choice]) {
    guard !choices.isEmpty else { return nil }
    self.choices = choices
    list = List(count: choices.count, height: choices.count)
  }

  func bindings(_ state: State) -> [Binding] {
    [
      Binding([.enter, "y"], "copy", chooses, unless: task == nil ? nil : "it is being read"),
      movement,
      closing(),
    ]
  }

  mutating func choose(in state: inout State) -> LayerOutcome {
    guard let choice = choices.element(list.selected) else { return .close() }
    title = choice.title
    if case .text(let text) = choice.subject { return .close(Self.send(text, title, in: &state)) }
    return .stay(state.ask(&task) { .copyText($0, choice.form, choice.subject) })
  }

  /// Most bytes that are sent: terminals drop or choke on more.
  package static let limit = 100_000

  static func send(_ text: String, _ title: String, in state: inout State) -> [Effect] {
    let count = text.utf8.count
    guard count <= limit else {
      state.notice = Notice(
        "\(title): \(NumberText.bytes(count)) are too much for a terminal's clipboard (100 kB)"
          + (state.screen == .browse && state.layers.isEmpty ? "; e exports" : ""), .warning)
      return []
    }
    state.notice = Notice(
      "\(title), \(NumberText.bytes(count)): sent to the terminal's clipboard", .success)
    return [.copy(text)]
  }

  mutating func take(_ answer: Answer, in state: inout State) -> [Effect] {
    guard case .copied(let text) = answer else { return [] }
    isDone = true
    return Self.send(text, title, in: &state)
  }

  mutating func fail(_ error: CoreDataError, in state: inout State) -> [Effect] {
    state.notice = Notice(error.description, .warning)
    return []
  }

  func draw(_ state: State, with theme: Theme, in grid: inout Grid, _ body: Rect) {
    let inside = Popup("Copy", size: Size(width: 44, height: choices.count))
      .draw(in: &grid, body, theme: theme)
    list.draw(choices, in: &grid, inside, theme: theme) { choice, _ in [Span(choice.title)] }
  }
}
