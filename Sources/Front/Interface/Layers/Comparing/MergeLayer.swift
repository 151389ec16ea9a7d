import Comparison
import ManagedModel
import Merging
import Terminal

/// Makes one store of the open one and another: what is asked for, what would become of the objects, and the merge.
struct MergeLayer: WaitingLayer, ChoosingLayer {
  /// What a person says of the merge.
  enum Field: Sendable, Equatable, CaseIterable {
    case output, base, matches, preferences, entities, deleted
  }

  /// A line while it is typed.
  struct Typing: Sendable, Equatable {
    var field: Field
    var path: PathPrompt
  }

  private(set) var order: MergeOrder
  /// Where the result goes, once it is to be written.
  private(set) var output: String
  var list = List()
  var task: TaskID?
  /// Whether the task writes the result.
  private(set) var isWriting = false
  /// What is being done.
  private(set) var doing = ""
  /// What would become of the objects, or what became of them.
  private(set) var report: MergeReport?
  private(set) var error: CoreDataError?
  /// The line that is typed.
  private(set) var typed: Typing?

  init(_ other: String, _ context: Context) {
    order = MergeOrder(other: other)
    output = context.newStore("merged")
    list = List(count: Field.allCases.count)
  }

  /// Finds out what the merge would be.
  mutating func preview(in context: inout Context) -> [Effect] {
    let stopped = task.stop() ?? []
    (report, error, doing, isWriting) = (nil, nil, "reading both stores", false)
    var order = order
    order.output = ""
    return stopped + context.ask(&task) { .merge($0, order) }
  }

  // MARK: Keys

  func bindings(_ context: Context) -> [Binding] {
    if let typed {
      var bindings = [Binding([.enter], "use it", chooses)]
      if typed.field.isPath {
        bindings.append(
          Binding(
            [.tab], "complete", asks("complete") { $0.typed?.path.complete(in: &$1) ?? [] }))
      }
      return bindings + [Binding([.escape], "back", changes("cancel") { $0.typed = nil })]
    }
    let field = selectedField(context)
    var bindings = [
      Binding(
        [.enter], enter(context), chooses, unless: reasonNotToChoose(context),
        footer: field != nil || selectedChange(context) != nil),
      Binding(
        ["="], "type it", changes("type") { $0.type() },
        unless: reasonNotToType(context), footer: field?.isChoice == true),
      Binding(["M"], "merge", asks("merge") { $0.merge(in: &$1) }, unless: reasonNotToMerge),
      Binding(
        ["x"], "swap OLD and NEW",
        asks("swap") { layer, context in
          layer.order.isOtherNewer.toggle()
          return layer.preview(in: &context)
        }, unless: busy),
    ]
    if let path = report?.outputPath {
      bindings.append(
        Binding(
          ["o"], "open the new store",
          does("openResult") { _, context in
            .close(context.begin([.choose(path)]))
          }, unless: context.work.map { "\($0) is running" }))
    }
    return bindings + [movement, closing()]
  }

  private func selectedField(_ context: Context) -> Field? {
    Field.allCases.element(list.selected)
  }

  private var busy: String? {
    isWriting && task != nil
      ? "the new store is being written" : report?.outputPath == nil ? nil : "the merge is done"
  }

  private func enter(_ context: Context) -> String {
    guard let field = selectedField(context) else { return "both values" }
    return field.isChoice ? "change" : "type"
  }

  private func reasonNotToChoose(_ context: Context) -> String? {
    if selectedField(context) != nil { return busy }
    return selectedChange(context) == nil ? "select a conflict or a loss first" : nil
  }

  private func reasonNotToType(_ context: Context) -> String? {
    guard let field = selectedField(context) else { return "select one of the first lines" }
    return busy ?? (field == .deleted ? "⏎ changes it" : nil)
  }

  private var reasonNotToMerge: String? {
    if let busy { return busy }
    if task != nil { return "the preview is being made" }
    if output.isEmpty { return "the new store needs a name" }
    // What was stopped is begun again.
    if let error {
      return error.kind == .cancelled ? nil : "the stores cannot be merged with these choices"
    }
    guard let report else { return "there is no preview yet" }
    if !report.unpaired.isEmpty { return "objects are not paired: see below" }
    if report.undecided > 0 {
      return
        "\(NumberText.counted(report.undecided, "conflict")) to decide: choose whose values win"
    }
    return nil
  }

  private func selectedChange(_ context: Context) -> ObjectChange? {
    if case .change(let change, _)? = lines(context).element(list.selected) { change } else { nil }
  }

  func room(_ context: Context) -> Int? { max(1, context.body.height - 5) }

  var movement: Binding {
    scrolling { $0.list.handle($1, count: $0.lines($2).count, height: $0.room($2)) }
  }

  mutating func choose(in context: inout Context) -> LayerOutcome {
    if let line = typed {
      typed = nil
      return .stay(set(line.field, to: line.path.text, in: &context))
    }
    guard let field = selectedField(context) else {
      if let change = selectedChange(context) {
        let note = DetailsLayer.Paragraph("− is OLD’s value, + is NEW’s", .dim)
        context.show(DetailsLayer(change.title, [note] + change.paragraphs(context.store)))
      }
      return .stay()
    }
    guard field.isChoice else {
      type()
      return .stay()
    }
    switch field {
    case .deleted: order.keepsDeleted.toggle()
    case .matches: order.matches = order.matches == "" ? "key" : ""
    case .preferences:
      order.preferences = order.preferences == "" ? "new" : order.preferences == "new" ? "old" : ""
    case .output, .base, .entities: break
    }
    return .stay(preview(in: &context))
  }

  private mutating func type() {
    guard let field = Field.allCases.element(list.selected) else { return }
    typed = Typing(field: field, path: PathPrompt(text(field)))
  }

  private func text(_ field: Field) -> String {
    switch field {
    case .output: output
    case .base: order.base
    case .matches: order.matches
    case .preferences: order.preferences
    case .entities: order.entities
    case .deleted: ""
    }
  }

  private mutating func set(
    _ field: Field, to text: String, in context: inout Context
  ) -> [Effect] {
    guard text != self.text(field) else { return [] }
    switch field {
    case .output:
      output = text
      // Another name may be free.
      return error == nil ? [] : preview(in: &context)
    case .base: order.base = text
    case .matches: order.matches = text
    case .preferences: order.preferences = text
    case .entities: order.entities = text
    case .deleted: break
    }
    return preview(in: &context)
  }

  mutating func type(_ key: Key, in context: inout Context) -> [Effect] {
    guard typed?.field.isPath == true else {
      typed?.path.edit(key)
      return []
    }
    return typed?.path.handle(key, in: &context) ?? []
  }

  private mutating func merge(in context: inout Context) -> [Effect] {
    guard report?.canRun == true else { return preview(in: &context) }
    (isWriting, doing, error) = (true, "reading both stores", nil)
    var order = order
    order.output = output
    return context.ask(&task) { .merge($0, order) }
  }

  // MARK: Answers

  mutating func take(_ answer: Answer, to task: TaskID, in context: inout Context) -> [Effect] {
    if typed?.path.take(answer, to: task) == true { return [] }
    guard task == self.task else { return [] }
    if answer.isLast { self.task = nil }
    return take(answer, in: &context)
  }

  mutating func take(_ answer: Answer, in context: inout Context) -> [Effect] {
    switch answer {
    case .doing(let what): doing = what
    case .merged(let found):
      report = found
      if let path = found.outputPath {
        context.notice = Notice("merged: \(path)", .success)
        context.note("merged into \(path)", .success)
        list = List()
      }
    default: break
    }
    return []
  }

  mutating func fail(_ error: CoreDataError, in context: inout Context) -> [Effect] {
    guard error.kind != .cancelled || isWriting else { return [] }
    self.error = error
    return []
  }

  mutating func cancel(in context: inout Context) -> [Effect]? {
    guard let effects = task.stop() else { return nil }
    error = CoreDataError(.cancelled, "stopped: nothing was written")
    return effects
  }
}

extension MergeLayer.Field {
  /// Whether Enter goes on to the next value.
  var isChoice: Bool { !isPath && self != .entities }
  var isPath: Bool { self == .output || self == .base }
}
