import Comparison
import ManagedModel
import ManagedStore
import Terminal

/// What changed in the store: save by save since it was opened, or against another file.
struct ChangesLayer: WaitingLayer, ChoosingLayer {
  enum Tab: Sendable, CaseIterable {
    case saves, prepared, against

    var title: String {
      switch self {
      case .saves: "saves"
      case .prepared: "prepared"
      case .against: "against…"
      }
    }
  }

  private(set) var tab = Tab.saves
  /// The save with which the sum of changes begins, by its place among all; `nil` for save by save.
  private(set) var since: Int?
  var list = List()
  var task: TaskID?
  /// Backups beside the store, other stores of its folder, then recent ones; `nil` before anybody looked.
  private var others: [ComparedFile]?
  private(set) var comparing: String?
  /// What the comparison is at.
  private(set) var doing = ""
  /// From the other file to the store.
  private(set) var differences: StoreDifferences?
  /// Whether they are shown from the store to the other file.
  private(set) var isSwapped = false
  private(set) var error: CoreDataError?
  /// Whether what differs is marked at once.
  private var marksAll = false
  /// The path of the other file while it is typed.
  private(set) var prompt: PathPrompt?

  init(_ context: Context) {
    differences = context.news.differences
    if !context.prepared.isEmpty {
      tab = .prepared
    } else if context.news.endsWithDifferences {
      tab = .against
    }
    list = List(
      count: lines(context).count, selected: tab == .saves ? .max : lines(context).firstChange,
      height: room(context) ?? 1)
  }

  /// Begins with what is different in another file, and marks it.
  mutating func begin(against path: String, in context: inout Context) -> [Effect] {
    (tab, marksAll) = (.against, true)
    return compare(path, in: &context)
  }

  func lines(_ context: Context) -> [ChangeLine] {
    switch tab {
    case .saves:
      since.map { ChangeLine.sum(since: $0, context.news) }
        ?? context.news.saves.flatMap(ChangeLine.lines(of:))
    case .prepared: ChangeLine.lines(of: context.prepared)
    case .against:
      shown.map(ChangeLine.lines(of:)) ?? (others ?? []).map { .other($0) } + [.typed]
    }
  }

  /// The differences in the direction that was asked for.
  private var shown: StoreDifferences? { isSwapped ? differences?.swapped : differences }

  /// Those that have something to show; what is prepared has a tab while something is.
  func tabs(_ context: Context) -> [Tab] {
    Tab.allCases.filter { $0 != .prepared || tab == .prepared || !context.prepared.isEmpty }
  }

  /// The save that the selected line belongs to, by its place among all.
  private func selectedSave(_ context: Context) -> Int? {
    guard tab == .saves, since == nil else { return nil }
    var end = 0
    for (index, seen) in context.news.saves.enumerated() {
      end += ChangeLine.lines(of: seen).count
      if list.selected < end { return context.news.dropped + index }
    }
    return nil
  }

  private func selected(_ context: Context) -> ChangeLine? {
    lines(context).element(list.selected)
  }

  private func selectedChange(_ context: Context) -> ObjectChange? {
    if case .change(let change)? = selected(context) { change } else { nil }
  }

  // MARK: Keys

  func bindings(_ context: Context) -> [Binding] {
    if let prompt {
      return [
        Binding(
          [.enter], "compare", chooses, unless: prompt.text.isEmpty ? "type a path first" : nil),
        Binding([.tab], "complete", asks("complete") { $0.prompt?.complete(in: &$1) ?? [] }),
        Binding([.escape], "back", changes("back") { $0.prompt = nil }),
      ]
    }
    let (change, isEmpty) = (selectedChange(context), lines(context).isEmpty)
    var bindings = [
      Binding(
        [.enter], enter(context), chooses, unless: reasonNotToChoose(context), footer: !isEmpty),
      Binding(
        [.tab, .right, .left], label: "Tab", tabs(context).map(\.title).joined(separator: ", "),
        Action(key: "nextPane") { state, key in
          Self.work(on: &state) { .stay($0.turn(key == .left ? -1 : 1, in: &$1)) }
        }
      ),
    ]
    if tab == .prepared { bindings += preparedBindings(context) }
    if tab == .saves, since == nil {
      bindings.append(
        Binding(
          ["s"], "since this save",
          asks("since") { layer, context in
            layer.since = layer.selectedSave(context)
            layer.list = List()
            return []
          }, unless: selectedSave(context) == nil ? "no other program saved yet" : nil,
          footer: !isEmpty))
    }
    if tab == .saves, since != nil {
      bindings.append(
        Binding(
          [.backspace], "save by save",
          asks("back") { layer, context in
            layer.showSaves(context)
            return []
          }))
    }
    if tab == .against {
      bindings.append(
        Binding(
          ["x"], "swap OLD and NEW", short: "swap",
          asks("swap") { layer, context in
            layer.isSwapped.toggle()
            layer.list = List(
              count: layer.lines(context).count, selected: layer.list.selected,
              height: layer.room(context) ?? 1)
            return []
          }, unless: differences == nil ? "compare with another store first" : nil,
          footer: differences != nil))
    }
    bindings += [
      Binding(
        ["d"], "old and new values", asks("open") { $0.open(in: &$1) },
        unless: change == nil && selectedEntry(context) == nil ? "choose an object first" : nil,
        footer: !isEmpty),
      Binding(
        ["e"], "export", asks("export") { $0.export(in: &$1) },
        unless: exported(context).isEmpty ? "there is nothing to export" : nil, footer: !isEmpty),
    ]
    if tab == .against {
      bindings.append(
        Binding(
          ["M"], "merge",
          asks("merge") { layer, context in
            guard let other = layer.differences?.path else { return [] }
            return context.show(MergeLayer(other, context)) { $0.preview(in: &$1) }
          },
          unless: differences == nil ? "compare with another store first" : nil,
          command: "strata merge OTHER \(context.storeArgument) --output NEW",
          footer: differences != nil))
    }
    if tab == .against, differences != nil {
      bindings.append(
        Binding(
          [.backspace], "another file",
          asks("back") { layer, context in
            (layer.differences, layer.isSwapped) = (nil, false)
            layer.list = List()
            return layer.findOthers(in: &context)
          }))
    }
    return bindings + [movement, closing([.escape, "q", "C"])]
  }

  private func selectedEntry(_ context: Context) -> PreparedEdits.Entry? {
    if case .prepared(let entry)? = selected(context) { entry } else { nil }
  }

  private func preparedBindings(_ context: Context) -> [Binding] {
    let isEmpty = context.prepared.isEmpty
    return [
      Binding(
        ["W"], "write",
        Action("writeEdits") { state in
          _ = state.layers.popLast()
          return state.writePrepared()
        },
        unless: context.work.map { "\($0) is running" } ?? (isEmpty ? "no change is prepared" : nil)
      ),
      Binding(
        ["x", .delete], label: "x", "take it back",
        asks("removeEdit") { layer, context in
          guard let entry = layer.selectedEntry(context),
            let index = context.prepared.entries.firstIndex(of: entry)
          else { return [] }
          context.prepare { $0.remove(at: index) }
          layer.list = List(
            count: layer.lines(context).count - 1, selected: layer.list.selected,
            height: layer.room(context) ?? 1)
          return []
        }, unless: selectedEntry(context) == nil ? "choose a change first" : nil),
      Binding(["u"], "undo the last", Action("undo") { $0.unprepare() }),
    ]
  }

  /// Lists saves one by one again, the one selected with which the sum began.
  private mutating func showSaves(_ context: Context) {
    let former = context.news.saves.prefix(max(0, (since ?? 0) - context.news.dropped))
    since = nil
    list = List(
      count: lines(context).count,
      selected: former.reduce(0) { $0 + ChangeLine.lines(of: $1).count },
      height: room(context) ?? 1)
  }

  private func enter(_ context: Context) -> String {
    switch selected(context) {
    case .other, .typed: "compare"
    case .heading, .change, .prepared, .note, nil: "go there"
    }
  }

  /// The object as the store has it.
  private func own(_ change: ObjectChange) -> ObjectID? {
    isSwapped && tab == .against ? change.a : change.b
  }

  private var isComparing: Bool { task != nil && comparing != nil }

  private func reasonNotToChoose(_ context: Context) -> String? {
    switch selected(context) {
    case .change(let change):
      own(change) == nil
        ? isSwapped && tab == .against
          ? "the store does not have it; d shows its values" : "it was deleted; d shows what it was"
        : nil
    case .prepared: nil
    case .other, .typed: isComparing ? "another file is being compared" : nil
    case .heading, .note, nil: "choose an object first"
    }
  }

  func room(_ context: Context) -> Int? { max(1, context.body.height - 4) }

  var movement: Binding {
    scrolling { $0.list.handle($1, count: $0.lines($2).count, height: $0.room($2)) }
  }

  private mutating func turn(_ step: Int, in context: inout Context) -> [Effect] {
    let all = tabs(context)
    let place = all.firstIndex(of: tab) ?? 0
    tab = all[(place + step + all.count) % all.count]
    list = List(count: lines(context).count)
    return tab == .against && differences == nil ? findOthers(in: &context) : []
  }

  private mutating func findOthers(in context: inout Context) -> [Effect] {
    guard others == nil, task == nil else { return [] }
    comparing = nil
    return context.ask(&task) { .find($0, .backups) }
  }

  mutating func type(_ key: Key, in context: inout Context) -> [Effect] {
    prompt?.handle(key, in: &context) ?? []
  }

  mutating func choose(in context: inout Context) -> LayerOutcome {
    if let path = prompt?.text {
      prompt = nil
      return .stay(compare(path, in: &context))
    }
    switch selected(context) {
    case .other(let other): return .stay(compare(other.path, in: &context))
    case .typed:
      prompt = PathPrompt()
      return .stay()
    case .change(let change):
      guard let id = own(change) else { return .stay() }
      if tab == .against, let differences { context.mark(against: differences) }
      return .close(context.on(BrowseScreen.self) { $0.goTo(object: id, in: &$1) })
    case .prepared(let entry):
      return .close(context.on(BrowseScreen.self) { $0.goTo(object: entry.object, in: &$1) })
    case .heading, .note, nil: return .stay()
    }
  }

  private mutating func compare(_ path: String, in context: inout Context) -> [Effect] {
    (comparing, error, doing) = (path, nil, "comparing")
    return context.ask(&task) { .compare($0, with: path) }
  }

  private func open(in context: inout Context) -> [Effect] {
    var change = selectedChange(context)
    if case .prepared(let entry)? = selected(context) {
      change = context.prepared.change(of: entry)
    }
    if let change {
      context.show(DetailsLayer(change.title, change.paragraphs(context.store)))
    }
    return []
  }

  private func exported(_ context: Context) -> [ObjectChange] {
    if tab == .prepared { return context.prepared.entries.map(context.prepared.change) }
    guard tab == .saves else { return shown?.changes ?? [] }
    return since.map { context.news.changes(since: $0) }
      ?? context.news.saves.flatMap(\.save.changes)
  }

  private func export(in context: inout Context) -> [Effect] {
    context.show(NewFileLayer(exported(context)))
    return []
  }

  // MARK: Answers

  mutating func take(_ answer: Answer, to task: TaskID, in context: inout Context) -> [Effect] {
    if prompt?.take(answer, to: task) == true { return [] }
    guard task == self.task else { return [] }
    if answer.isLast { self.task = nil }
    return take(answer, in: &context)
  }

  mutating func take(_ answer: Answer, in context: inout Context) -> [Effect] {
    switch answer {
    case .backups(let backups):
      others = backups.map {
        ComparedFile(
          path: $0.backup.path, about: "backup, \($0.date), \(NumberText.bytes($0.backup.bytes))")
      }
      return context.ask(&task) { .find($0, .siblings) }
    case .siblings(let stores):
      offer(
        stores.map {
          ComparedFile(
            path: $0.path, about: "beside it, \($0.modified), \(NumberText.bytes($0.bytes))")
        }, context)
      return context.ask(&task) { .find($0, .recentStores) }
    case .recentStores(let stores):
      offer(stores.map { ComparedFile(path: $0.path, about: "opened \($0.opened)") }, context)
    case .doing(let what): doing = what
    case .differs(let found):
      (differences, isSwapped) = (found, false)
      context.keep(found)
      list = List(count: lines(context).count, selected: lines(context).firstChange)
      if marksAll { context.mark(against: found) }
    default: break
    }
    return []
  }

  /// Adds files to those that can be compared with the store.
  private mutating func offer(_ files: [ComparedFile], _ context: Context) {
    let (known, own) = (Set((others ?? []).map(\.path)), context.storePath)
    others =
      (others ?? [])
      + files.filter {
        // The store may be named from the folder that the program was started in.
        !known.contains($0.path) && $0.path != own && !$0.path.hasSuffix("/" + own)
      }
  }

  mutating func fail(_ error: CoreDataError, in context: inout Context) -> [Effect] {
    // Without other stores to offer, one can be typed.
    if comparing == nil { others = others ?? [] } else { self.error = error }
    return []
  }
}
