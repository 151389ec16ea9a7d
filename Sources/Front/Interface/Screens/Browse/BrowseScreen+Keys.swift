import ManagedModel
import ManagedStore
import Terminal

extension BrowseScreen {
  func bindings(_ context: Context) -> [Binding] {
    let bindings =
      viewing(goingBindings(context)) + lookingBindings(context)
      + editingBindings(context)
    guard context.remains.isShown else { return bindings + remainsBindings(context) }
    // Their command lines are about the store itself.
    return remainsBindings(context)
      + bindings.map { binding in
        var binding = binding
        binding.command = nil
        return binding
      }
  }

  /// What leads to deleted rows, and from them back into a store.
  private func remainsBindings(_ context: Context) -> [Binding] {
    let isShown = context.remains.isShown
    return [
      Binding(
        // Where it is undelete on the screen that they come from, it is nothing else.
        isShown ? ["B", "u"] : ["B"], "restore",
        shows("undelete") { ChoiceLayer.restore($0, in: $1, output: $1.newStore("undeleted")) },
        unless: isShown ? nil : "D shows what was deleted first",
        command: context.known.command("undelete", "ENTITY --output NEW"), footer: isShown),
      Binding(
        ["D"], isShown ? "back to the store" : "deleted and older rows", .remains,
        unless: context.store == nil ? "no store is open" : context.work.map { "\($0) is running" },
        command: context.known.command("undelete", "ENTITY"), footer: isShown),
    ]
  }

  private func goingBindings(_ context: Context) -> [Binding] {
    let rows = rowsCommand(context)
    return [
      Binding(
        [.enter], opening, does("open") { $0.open(in: &$1) }, unless: reasonNotToOpen,
        command: context.known.command("object", inspector.object?.description ?? "REF")),
      Binding(
        [.backspace], "back", goesBack,
        unless: trail.isEmpty ? "no relationship was followed" : nil, footer: !trail.isEmpty),
      Binding(
        ["["], "back", goesBack, unless: trail.isEmpty ? "no relationship was followed" : nil,
        footer: false),
      Binding(
        ["]"], "forward", does("forward") { $0.step(back: false, in: &$1) },
        unless: trail.hasFuture ? nil : "nothing to go forward to", footer: false),
      searchBinding(context, rows),
      Binding(
        ["s"], "sort", does("sort") { $0.sort(in: &$1) }, unless: reasonNotToSort,
        command: sortCommand(rows)),
      Binding(
        ["H"], "history of this object", short: "history",
        does("objectHistory") { $0.showHistory(in: &$1) },
        unless: selectedObject == nil ? "select a row first" : nil,
        command: context.known.command("history", selectedObject?.description ?? "REF"),
        footer: context.store?.hasHistory == true, words: Keymap.history),
      Binding(
        ["r"], "related", shows("related") { RelatedLayer($0, $1) },
        unless: reasonNoRelated(context)),
    ] + columnBindings(rows) + [
      Binding(
        ["L"], "label objects by…", shows("label") { LabelLayer($0, $1) },
        unless: labelledEntity.flatMap { context.store?.layout.table(of: $0) } == nil
          ? "there is no entity" : nil, footer: false),
      Binding([.tab], "pane", changes("nextPane") { $0.changePane(1) }),
      Binding(
        [.backTab], "previous pane", changes("previousPane") { $0.changePane(-1) },
        footer: false),
      Binding(
        [.left, "h"], label: "← h", focus == .rows ? "column left" : "fold",
        does("leftColumn") { $0.turn(right: false, in: &$1) },
        footer: false),
      Binding(
        [.right, "l"], label: "→ l", focus == .rows ? "column right" : "unfold",
        does("rightColumn") { $0.turn(right: true, in: &$1) },
        footer: false),
      Binding(
        [.escape], isFiltered ? "all rows" : isNarrowed ? "show all" : "to the rows",
        does("close") { $0.widen(in: &$1) }, footer: isFiltered),
      moving { $0.move($1, in: &$2) },
    ]
  }

  private var goesBack: Action { does("back") { $0.step(back: true, in: &$1) } }

  private func searchBinding(_ context: Context, _ rows: String) -> Binding {
    switch focus {
    case .entities: Binding(["/"], "find an entity", searches)
    case .inspector:
      Binding(
        ["/"], "find a property", searches,
        unless: inspector.inspection == nil ? "no object is shown" : nil)
    case .rows:
      Binding(
        ["/"], "filter", searches, unless: reasonNotToFilter(context),
        command: rows + " --where PREDICATE")
    }
  }

  private var searches: Action {
    does("search") { screen, context in
      guard screen.focus == .rows else {
        screen.beginSearch()
        context.show(SearchLayer(.screen, former: screen.searched))
        return []
      }
      context.show(FilterLayer(screen, context))
      return []
    }
  }

  /// Whether the pane with the keys shows only what was searched for.
  private var isNarrowed: Bool {
    switch focus {
    case .entities: !tree.filter.isEmpty
    case .inspector: !inspector.filter.isEmpty
    case .rows: false
    }
  }

  /// Whether Esc drops the filter of the rows.
  var isFiltered: Bool { focus == .rows && table?.filter != nil }

  private func columnBindings(_ rows: String) -> [Binding] {
    let reason = table == nil ? "there are no rows" : nil
    let last = (table?.columns.count ?? 0) - 1
    let selected = table?.selectedColumn ?? 0
    return [
      Binding(
        ["<"], "move the column left", changes("columnToLeft") { $0.table?.move(by: -1) },
        unless: reason ?? (selected > 0 ? nil : "it is the first"), footer: false),
      Binding(
        [">"], "move the column right", changes("columnToRight") { $0.table?.move(by: 1) },
        unless: reason ?? (selected < last ? nil : "it is the last"), footer: false),
      Binding(
        ["-"], "hide the column",
        changes("hideColumn") {
          if let column = $0.table?.column { $0.table?.setHidden(column, true) }
        },
        unless: reason ?? (last > 0 ? nil : "it is the only one"), footer: false),
      Binding(
        ["+"], "columns", shows("columns") { screen, _ in ColumnsLayer(screen) }, unless: reason,
        command: rows + " --columns A,B", footer: false),
      Binding(
        ["="],
        table.map { $0.frozen > 1 && $0.frozen == $0.selectedColumn + 1 } == true
          ? "let the columns scroll" : "freeze columns up to here",
        changes("freeze") { $0.table?.freeze() }, unless: reason,
        footer: false),
      Binding(
        ["{"], "narrower", changes("narrower") { $0.table?.widen(by: -2) }, unless: reason,
        footer: false),
      Binding(
        ["}"], "wider", changes("wider") { $0.table?.widen(by: 2) }, unless: reason, footer: false),
      Binding(
        ["_"], "reset columns", changes("resetColumns") { $0.table?.resetColumns() },
        unless: reason ?? (table?.isColumnsReset == false ? nil : "nothing to reset"), footer: false
      ),
    ]
  }

  /// The command line that prints the rows as they are shown.
  private func rowsCommand(_ context: Context) -> String {
    guard let table else { return context.known.command("rows", "ENTITY") }
    let filter = table.filter.map { " --where " + ShellText.quoted($0) } ?? ""
    return context.known.command("rows", ShellText.quoted(table.entity) + filter)
  }

  private var opening: String {
    switch focus {
    case .entities: "open"
    case .rows: destination == nil ? "open" : "go there"
    case .inspector:
      inspector.selectedLine.map { relationship(of: $0) != nil } == true ? "go there" : "open"
    }
  }

  private var reasonNotToOpen: String? {
    switch focus {
    case .entities: tree.selected == nil ? "there is no entity" : nil
    case .rows: table?.window.selectedRow == nil ? "there is no row" : nil
    case .inspector:
      inspector.selectedLine.map { $0.target != nil || $0.isExpandable } == true
        ? nil : "the line is neither a relationship nor folded"
    }
  }

  private func reasonNotToFilter(_ context: Context) -> String? {
    guard let table else { return "there are no rows" }
    return context.store?.layout.table(of: table.entity) == nil
      ? "the store has no such entity" : nil
  }

  private var reasonNotToSort: String? {
    guard focus == .rows, let table else { return "choose a column of the rows first" }
    return table.sortProperty(table.column) == nil ? "rows cannot be sorted by this column" : nil
  }

  private func reasonNoRelated(_ context: Context) -> String? {
    guard let row = table?.window.selectedRow else { return "there is no row" }
    return context.known.relations(of: row.id).isEmpty
      ? "\(row.id.entity) has no relationships" : nil
  }

  private func sortCommand(_ rows: String) -> String {
    guard let table, let property = table.sortProperty(table.column) else {
      return rows + " --sort KEY"
    }
    return rows + (property.map { " --sort \($0)" } ?? "")
  }

  /// What can be done with what is selected besides going about in it.
  func lookingBindings(_ context: Context) -> [Binding] {
    let entity = table.map { ShellText.quoted($0.entity) } ?? "ENTITY"
    let rows = context.known.command("rows", entity)
    let value = valueToView
    let property = table?.selectedProperty(isAttribute: false)
    return [
      Binding(
        ["v"], "view in full", viewsValue,
        unless: reasonNotToView, footer: choosesData, words: "picture photo text"),
      Binding(
        ["w"], "write to a file", writesValue,
        unless: reasonNotToView ?? (isPreparedValue(context) ? PreparedEdits.notWritten : nil),
        command: context.known.command(
          "object",
          (value.map { "\($0) --property \(ShellText.quoted($1))" } ?? "REF --property PROPERTY")
            + " --output FILE"),
        footer: choosesData, words: "save extract picture photo image file"),
      CopyLayer.binding(copies(context), footer: true),
      Binding(
        ["e"], "export", shows("export") { screen, _ in screen.export },
        unless: table == nil ? "there are no rows" : nil,
        command: rows + " --format csv --limit all > FILE", words: "write save csv json table"),
      Binding(
        ["F"], "frequencies", does("frequencies") { $0.countValues(in: &$1) },
        unless: property == nil ? "choose the column of a property first" : nil,
        command: context.known.command(
          "frequencies", "\(entity) \(property.map(ShellText.quoted) ?? "PROPERTY")"),
        footer: false),
    ]
  }

  /// Goes to the next pane, past the inspector where it shows nothing.
  private mutating func changePane(_ step: Int) {
    repeat {
      focus = focus.next(step)
    } while focus == .inspector && inspector.object == nil
  }

  /// Enter shows a plain value in full, where it would do nothing else.
  func viewing(_ bindings: [Binding]) -> [Binding] {
    guard focus == .inspector, let line = inspector.selectedLine,
      !line.isExpandable, line.target == nil, valueToView != nil
    else { return bindings }
    return [Binding([.enter], "view", viewsValue)] + bindings.filter { !$0.keys.contains(.enter) }
  }

  private var viewsValue: Action {
    does("viewValue") { screen, context in
      guard let (id, property) = screen.valueToView else { return [] }
      if case .attribute(let value)? = context.prepared.value(of: id, property)?.change {
        context.show(ContentLayer(id, property, prepared: value))
        return []
      }
      return context.show(ContentLayer(id, property)) { $0.read(from: 0, in: &$1) }
    }
  }

  private var writesValue: Action {
    does("writeValue") { screen, context in
      guard let (id, property) = screen.valueToView else { return [] }
      return context.show(NewFileLayer(valueOf: property, in: id)) { $0.read(in: &$1) }
    }
  }

  private var reasonNotToView: String? {
    valueToView == nil
      ? "choose the value of an attribute first: → goes to its column, Tab to the object" : nil
  }

  /// Whether the chosen value is prepared, and not the store's.
  private func isPreparedValue(_ context: Context) -> Bool {
    guard let (id, property) = valueToView else { return false }
    return context.prepared.value(of: id, property) != nil
  }

  /// Whether the chosen value is data, such as a picture or an archive.
  private var choosesData: Bool {
    switch focus {
    case .entities: return false
    case .rows: if case .data? = table?.selectedValue { return true } else { return false }
    case .inspector:
      let property = inspector.selectedProperty
      let column = inspector.inspection?.lines.lazy.compactMap(\.column).first {
        $0.name == property
      }
      switch column?.kind {
      case .attribute(.binary), .attribute(.transformable): return true
      default: return false
      }
    }
  }

  private var export: ExportLayer? {
    table.map { ExportLayer($0, total: total) }
  }

  private func countValues(in context: inout Context) -> [Effect] {
    guard let table, let property = table.selectedProperty(isAttribute: false) else { return [] }
    let filter = table.query(.start).filter
    return context.show(FrequenciesLayer(property, of: table.entity, predicate: table.filter)) {
      $0.count(filter, in: &$1)
    }
  }

  /// The object whose row is selected, or that the inspector shows.
  var selectedObject: ObjectID? {
    switch focus {
    case .entities: nil
    case .rows: table?.window.selectedRow?.id
    case .inspector: inspector.object
    }
  }

  private func showHistory(in context: inout Context) -> [Effect] {
    guard let selectedObject else { return [] }
    let history = HistoryPages(of: .object(selectedObject), labels: labels)
    return context.show(StorePanel(.history, counts: counts, history)) { $0.read(in: &$1) }
  }

  /// The attribute of an object that `v` shows: of the selected line, or of the selected cell.
  private var valueToView: (ObjectID, String)? {
    switch focus {
    case .entities: return nil
    case .rows:
      return table?.window.selectedRow.flatMap { row in
        table?.selectedProperty.map { (row.id, $0) }
      }
    case .inspector:
      return inspector.object.flatMap { id in inspector.selectedProperty.map { (id, $0) } }
    }
  }
}
