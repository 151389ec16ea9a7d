import ManagedModel
import ManagedStore
import Migration
import Reports
import Terminal

/// What of the selected thing goes to the clipboard; the key that opened it takes the first.
package struct CopyLayer: WaitingLayer, ChoosingLayer {
  private(set) var isDone = false

  struct Choice: Sendable, Equatable {
    var title: String
    var form: CopyForm
    var subject: CopySubject

    init(_ title: String, _ form: CopyForm, _ subject: CopySubject) {
      (self.title, self.form, self.subject) = (title, form, subject)
    }

    init(_ title: String, text: String) { self.init(title, .value, .text(text)) }

    init(command: String) { self.init("command line", .command, .text(command)) }
  }

  private let choices: [Choice]
  var list: List
  var task: TaskID?
  private var title = ""

  /// `nil` where nothing is selected that could be copied.
  init?(_ choices: [Choice]) {
    guard !choices.isEmpty else { return nil }
    self.choices = choices
    list = List(count: choices.count, height: choices.count)
  }

  func bindings(_ context: Context) -> [Binding] {
    [
      Binding([.enter, "y"], "copy", chooses, unless: task == nil ? nil : "it is being read"),
      movement,
      closing(),
    ]
  }

  mutating func choose(in context: inout Context) -> LayerOutcome {
    guard let choice = choices.element(list.selected) else { return .close() }
    title = choice.title
    if case .text(let text) = choice.subject { return .close(Self.send(text, title, in: &context)) }
    return .stay(context.ask(&task) { .copyText($0, choice.form, choice.subject) })
  }

  /// Most bytes that are sent: terminals drop or choke on more.
  package static let limit = 100_000

  static func send(_ text: String, _ title: String, in context: inout Context) -> [Effect] {
    let count = text.utf8.count
    guard count <= limit else {
      context.notice = Notice(
        "\(title): \(NumberText.bytes(count)) is too much for a terminal's clipboard (100 kB)"
          + (context.screen == .browse && !context.isCovered ? "; e exports" : ""), .warning)
      return []
    }
    context.notice = Notice(
      "\(title), \(NumberText.bytes(count)): sent to the terminal's clipboard", .success)
    return [.copy(text)]
  }

  mutating func take(_ answer: Answer, in context: inout Context) -> [Effect] {
    guard case .copied(let text) = answer else { return [] }
    isDone = true
    return Self.send(text, title, in: &context)
  }

  mutating func fail(_ error: CoreDataError, in context: inout Context) -> [Effect] {
    context.notice = Notice(error.description, .warning)
    return []
  }

  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ body: Rect) {
    let inside = Popup("Copy", 44, choices.count).draw(in: &grid, body, theme: theme)
    list.draw(choices, in: &grid, inside, theme: theme) { choice, _ in [Span(choice.title)] }
  }
}

/// What each screen has to copy; the first is what the key alone takes.
extension CopyLayer {
  static let action = Action.shows("copy") { CopyLayer($0[$0.front].copies($0.context)) }

  /// The key, on a screen that has such things to copy.
  static func binding(_ choices: [Choice], footer: Bool = false) -> Binding {
    Binding(
      ["y"], "copy", action, unless: choices.isEmpty ? "nothing is selected" : nil, footer: footer)
  }

  /// A receipt as the two things that it can be.
  static func choices(_ receipt: MigrationReceipt, _ report: Report) -> [Choice] {
    [
      Choice("receipt as JSON", .json, .receipt(receipt)),
      Choice("receipt as text", text: ReportText.text(report)),
    ]
  }
}

extension BrowseScreen {
  func copies(_ context: Context) -> [CopyLayer.Choice] {
    switch focus {
    case .entities:
      guard let entity = tree.selected else { return [] }
      let rows = table?.entity == entity ? table?.arguments() : ShellText.quoted(entity)
      return [CopyLayer.Choice("name", text: entity)]
        + (rows.map { [CopyLayer.Choice(command: context.known.command("rows", $0))] } ?? [])
    case .rows, .inspector:
      let isRow = focus == .rows
      guard let id = isRow ? table?.window.selectedRow?.id : inspector.object else {
        return []
      }
      var choices: [CopyLayer.Choice] = []
      if let property = isRow ? table?.selectedProperty : inspector.selectedProperty {
        choices.append(
          CopyLayer.Choice("value of \(property)", .value, .value(id, property: property)))
      }
      let columns = isRow ? table?.shownProperties ?? [] : []
      let object = CopySubject.object(id, columns: columns)
      let forms: [(String, CopyForm)] = [
        ("object as JSON", .json), ("row for a spreadsheet (TSV)", .tsv),
        ("row as Markdown", .markdown), ("row as SQL INSERT", .sql),
        ("reference \(id)", .reference),
        ("object URI", .uri),
      ]
      choices += forms.map { CopyLayer.Choice($0.0, $0.1, object) }
      if context.remains.isShown { return choices }
      if isRow, let rows = table?.arguments() {
        choices.append(
          CopyLayer.Choice("command line of the rows", text: context.known.command("rows", rows)))
      }
      return choices + [CopyLayer.Choice(command: context.known.command("object", "\(id)"))]
    }
  }
}

extension DiffScreen {
  func copies(_ context: Context) -> [CopyLayer.Choice] {
    guard let line = selectedLine else { return [] }
    let meaning = DiffMeaning(self, context, details: true).sentences.map(\.text).joined(
      separator: "\n")
    let choices = [
      CopyLayer.Choice("line", text: line.text), CopyLayer.Choice("what it means", text: meaning),
    ]
    return (focus == .lines ? choices : choices.reversed())
      + [CopyLayer.Choice(command: command(context))]
  }
}

extension DiffLine {
  /// Both sides in one line: `~ Recipe.portions: serves Integer 16 → portions Integer 32`.
  var text: String {
    func text(_ side: Side) -> String { "\(side.name) \(side.text)" }
    switch (left.map(text), right.map(text)) {
    case (let old?, let new?): return "\(sign.rawValue) \(place): \(old) → \(new)"
    case (let side?, nil), (nil, let side?): return "\(sign.rawValue) \(place): \(side)"
    case (nil, nil): return "\(sign.rawValue) \(place)"
    }
  }
}

extension MappingScreen {
  func copies(_ context: Context) -> [CopyLayer.Choice] {
    guard to != nil else { return [] }
    var choices: [CopyLayer.Choice] = []
    switch activePane {
    case .mappings:
      if let entry = selectedEntry {
        let layer = Self.details(of: entry.mapping, in: entry.step, self)
        choices.append(CopyLayer.Choice("mapping \(layer.title)", text: layer.text))
      }
    case .losses:
      switch selectedProblem {
      case .check(let check):
        choices = [CopyLayer.Choice("check", text: Self.details(of: check).text)]
      case .loss(let loss): choices = [CopyLayer.Choice("loss", text: Self.details(of: loss).text)]
      case .refusal(let error):
        choices = [CopyLayer.Choice("refusal", text: MessageLayer(error).text)]
      case .edit(let edit): choices = [CopyLayer.Choice("change", text: edit.text)]
      case .note(let text): choices = [CopyLayer.Choice("note", text: text)]
      case nil: break
      }
    }
    return choices + [
      CopyLayer.Choice(command: command(context)),
      CopyLayer.Choice("command line of the plan", text: command(context, "plan")),
    ]
  }
}

extension MigrateScreen {
  func copies(_ context: Context) -> [CopyLayer.Choice] {
    var choices: [CopyLayer.Choice] = []
    if let receipt, let report = report(context) {
      choices = CopyLayer.choices(receipt, report)
      if let backup = receipt.backupPath {
        choices.append(CopyLayer.Choice("path of the backup", text: backup))
      }
    } else if let report = report(context) {
      choices = [CopyLayer.Choice("what was done, as text", text: ReportText.text(report))]
    }
    guard context.planned.to != nil else { return choices }
    return choices + [
      CopyLayer.Choice(
        command: context.planned.command(context) + (pausesBeforeCutover ? " --confirm" : ""))
    ]
  }
}
