import Editing
import ManagedModel
import ManagedStore
import Terminal

/// The line in which the value of an attribute is changed, checked by its type while it is typed.
struct ValueLayer: CheckedLineLayer {
  /// Characters of a text that are changed in the line; a longer one is opened in an editor.
  private static let longest = 400

  let object: ObjectID
  let column: RowColumn
  private let attribute: Attribute?
  private let label: String
  var line = CheckedLine(Prompt())
  /// What the property holds in the store; `nil` before it is read.
  private var old: PropertyValue?
  /// What it holds, or is to hold.
  private var current: AttributeValue?
  private var task: TaskID?
  private var isEditing = false
  /// What the line held when it was left to the editor; `nil` where that was no value.
  private var handed: AttributeValue?
  private var error: CoreDataError?
  private(set) var isDone = false

  /// - Parameter label: how the object is called.
  init(_ object: ObjectID, _ column: RowColumn, label: String, _ context: Context) {
    (self.object, self.column, self.label) = (object, column, label)
    attribute =
      context.store?.layout.table(of: object.entity)?.attribute(named: column.name)?
      .attribute
  }

  /// Reads what the property holds.
  mutating func read(in context: inout Context) -> [Effect] {
    let (object, name) = (object, column.name)
    return context.ask(&task) { .ask($0, .value(object, property: name)) }
  }

  private var type: AttributeType { attribute?.type ?? .string }
  private var isText: Bool { type == .string }

  // MARK: Keys

  func bindings(_ context: Context) -> [Binding] {
    let text = line.prompt.text
    var reason: String?
    if old == nil { reason = "the value is being read" }
    if isEditing || task != nil, old != nil { reason = "the text is being read" }
    if text.isEmpty, !isText, type != .uri { reason = "type a value first, or null for no value" }
    var bindings = lineBindings("prepare", unless: reason)
    if isText {
      bindings.insert(
        Binding(
          [.control("e")], "editor", asks("editText") { $0.edit(in: &$1) },
          unless: old == nil ? "the value is being read" : nil), at: 1)
    }
    return bindings
  }

  mutating func look(in context: Context) {
    let text = line.prompt.text
    (line.mistake, error) = (nil, nil)
    if case .failure(let mistake) = parsed(context), !text.isEmpty || isText {
      line.mistake = mistake
      line.mistake?.hint = nil
      line.mistake?.mark = TextMark(text, 0..<text.utf8.count)
    }
    line.completion = Completion(
      offers.filter { text.isEmpty || line.prompt.isSelected || $0.text.hasPrefix(text) }
        .filter { $0.text != text }, insteadOf: text)
  }

  private var offers: [Completion.Candidate] {
    var offers: [Completion.Candidate] = []
    if type == .boolean {
      offers += ["true", "false"].map { .init(text: $0, detail: "") }
    }
    if let value = attribute?.defaultValue, value != .null {
      let text = AssignmentText.text(of: value)
      offers.removeAll { $0.text == text }
      offers.append(.init(text: text, detail: "the default"))
    }
    if attribute?.isOptional == true { offers.append(.init(text: "null", detail: "no value")) }
    return offers
  }

  /// The value of the line; `nil` where it is in a file.
  private func parsed(
    _ context: Context, file: [UInt8]? = nil
  ) -> Result<AttributeValue?, CoreDataError> {
    guard let layout = context.store?.layout else { return .success(nil) }
    let text = line.prompt.text
    if text.hasPrefix("@"), file == nil { return .success(nil) }
    do {
      let assignments = try AssignmentText(layout) { _ in file ?? [] }
        .assignments("\(column.name)=\(text)", of: object.entity)
      if case .attribute(_, let value)? = assignments.first { return .success(value) }
      return .success(nil)
    } catch {
      return .failure(CoreDataError(error, or: .usage))
    }
  }

  mutating func confirm(in context: inout Context) -> LayerOutcome {
    switch parsed(context) {
    case .failure: return .stay()
    case .success(let value?):
      prepare(value, in: &context)
      return .close()
    case .success(nil):
      let path = String(line.prompt.text.dropFirst())
      return .stay(context.ask(&task) { .find($0, .bytes(path: path)) })
    }
  }

  private func prepare(_ value: AttributeValue, in context: inout Context) {
    guard let old else { return }
    let change = PreparedEdits.Value(
      object: object, column: column, old: old, change: .attribute(value))
    let (object, label) = (object, label)
    context.prepare {
      $0.name([object: label])
      $0.set(change)
    }
  }

  /// Opens the text in an editor.
  private mutating func edit(in context: inout Context) -> [Effect] {
    handed = if case .success(let value) = parsed(context) { value } else { nil }
    let text = if case .string(let typed)? = handed { typed } else { "" }
    isEditing = true
    return context.ask(&task) { .editText($0, text) }
  }

  // MARK: Answers

  mutating func take(_ answer: Answer, to task: TaskID, in context: inout Context) -> [Effect] {
    guard task == self.task else { return [] }
    self.task = nil
    switch answer {
    case .value(let value): return take(value, in: &context)
    case .editedText(let text):
      isEditing = false
      takeEdited(text, in: &context)
    case .bytes(let bytes):
      switch parsed(context, file: bytes) {
      case .success(let value?):
        prepare(value, in: &context)
        isDone = true
      case .success(nil): break
      case .failure(let error): self.error = error
      }
    default: break
    }
    return []
  }

  /// - Parameter text: `nil` where it is the one that the editor was given.
  private mutating func takeEdited(_ text: String?, in context: inout Context) {
    if let text {
      isDone = true
      prepare(.string(text), in: &context)
    } else if let handed, let current, handed.isExactly(current) {
      isDone = true
      context.notice = Notice("the text was not changed")
    } else if case .string(let typed)? = handed {
      // It was typed before.
      isDone = true
      prepare(.string(typed), in: &context)
    }
  }

  private mutating func take(_ value: PropertyValue?, in context: inout Context) -> [Effect] {
    guard let value else {
      context.notice = Notice("\(object) is not in the store any more", .warning)
      isDone = true
      return []
    }
    old = value
    current = if case .value(let value) = value { value } else { nil }
    if case .attribute(let value)? = context.prepared.value(of: object, column.name)?.change {
      current = value
    }
    // What was typed meanwhile stays.
    guard line.prompt.text.isEmpty else { return [] }
    var text = ""
    if let current {
      if case .bytes = current {} else { text = AssignmentText.text(of: current) }
    }
    line.prompt = Prompt(text, isSelected: true)
    look(in: context)
    guard isText, case .string(let whole)? = current,
      whole.count > Self.longest || whole.contains(where: \.isNewline)
    else { return [] }
    return edit(in: &context)
  }

  mutating func fail(_ task: TaskID, _ error: CoreDataError, in context: inout Context) -> [Effect]
  {
    guard self.task.end(task) else { return [] }
    isEditing = false
    if old == nil {
      context.show(MessageLayer(error))
      isDone = true
    } else {
      self.error = error
    }
    return []
  }

  mutating func cancel(in context: inout Context) -> [Effect]? { task.stop() }

  // MARK: Drawing

  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    let now = old.map { ValueText($0, of: column) } ?? ValueText("…", .dim)
    let title =
      "\(object) \(label.isEmpty ? "" : "“\(Sanitize.text(label, limit: 24))” ")"
      + "\(column.name): \(type.name)"
    let typed = try? parsed(context).get()
    var oddity: String?
    if case .date(let seconds)? = typed { oddity = CoreDataDate.oddity(seconds) }
    line.draw(
      title, head: [Span("now  ", theme[.dim]), Span(now.text, theme[now.role])],
      AssignmentText.forms(of: type), label: "new ", note: note(typed, theme), warning: oddity,
      with: theme, in: &grid, rect)
  }

  /// What Enter will do, or what cannot be.
  ///
  /// - Parameter typed: the value of the line; `nil` where it has none.
  private func note(_ typed: AttributeValue?, _ theme: Theme) -> [Span] {
    if let error { return [Span(" ✗ \(error.told)", theme[.error])] }
    if task != nil { return [Span(" …", theme[.dim])] }
    if line.prompt.isSelected {
      let more = isText ? "; ^E opens it in your editor" : ""
      return [Span(" typing replaces it; ← → change it\(more)", theme[.dim])]
    }
    if line.prompt.text == "null", attribute?.isOptional == false {
      return [Span(" ! mandatory: the app could not save it without a value", theme[.warning])]
    }
    if case .date(let seconds)? = typed {
      // A number of seconds is shown as the date that it is.
      return [
        Span(" ✓", theme[.success]),
        Span(Double(line.prompt.text) == nil ? "" : " " + CoreDataDate.text(seconds), theme[.dim]),
      ]
    }
    return line.prompt.text.isEmpty && !isText ? [] : [Span(" ✓", theme[.success])]
  }
}
