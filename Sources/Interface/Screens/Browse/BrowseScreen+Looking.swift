import ManagedModel
import ManagedStore
import Terminal

extension BrowseScreen {
  /// What can be done with what is selected besides going about in it.
  func lookingBindings(_ state: State) -> [Binding] {
    let store = state.storeArgument
    let entity = table.map { ShellText.quoted($0.entity) } ?? "ENTITY"
    let rows = "strata rows \(store) \(entity)"
    let value = valueToView
    let property = table?.selectedProperty(isAttribute: false)
    return [
      Binding(
        ["v"], "view in full", viewsValue,
        unless: value == nil ? "choose the value of an attribute first" : nil,
        footer: focus == .inspector),
      Binding(
        ["y"], "copy", CopyLayer.action,
        unless: CopyLayer(state) == nil ? "nothing is selected" : nil),
      Binding(
        ["e"], "export", shows("export") { screen, _ in screen.export },
        unless: table == nil ? "there are no rows" : nil,
        command: rows + " --format csv --limit all > FILE"),
      Binding(
        ["F"], "frequencies", does("frequencies") { $0.countValues(in: &$1) },
        unless: property == nil ? "choose the column of a property first" : nil,
        command:
          "strata frequencies \(store) \(entity) \(property.map(ShellText.quoted) ?? "PROPERTY")",
        footer: false),
    ]
  }

  /// Enter shows a plain value in full, where it would do nothing else.
  func viewing(_ bindings: [Binding]) -> [Binding] {
    guard focus == .inspector, let line = inspector.selectedLine,
      !line.isExpandable, line.target == nil, valueToView != nil
    else { return bindings }
    return [Binding([.enter], "view", viewsValue)] + bindings.filter { !$0.keys.contains(.enter) }
  }

  private var viewsValue: Action {
    does("viewValue") { screen, state in
      guard let (id, property) = screen.valueToView else { return [] }
      return state.show(ContentLayer(id, property)) { $0.read(from: 0, in: &$1) }
    }
  }

  private var export: ExportLayer? {
    table.map { table in
      let query = table.query(.start)
      return ExportLayer(
        query, total: query.filter == nil ? counts[table.entity] : nil,
        isRelated: table.related != nil)
    }
  }

  private func countValues(in state: inout State) -> [Effect] {
    guard let table, let property = table.selectedProperty(isAttribute: false) else { return [] }
    let filter = table.query(.start).filter
    return state.show(FrequenciesLayer(property, of: table.entity, predicate: table.filter)) {
      $0.count(filter, in: &$1)
    }
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

extension RowTable {
  /// The attribute of the selected column; a relationship has no value to show or copy.
  var selectedProperty: String? { selectedProperty(isAttribute: true) }

  func selectedProperty(isAttribute: Bool) -> String? {
    guard let property else { return nil }
    if isAttribute, case .attribute = property.kind { return property.name }
    return isAttribute ? nil : property.name
  }

  /// The properties that are shown, in their order.
  var shownProperties: [String] {
    columns.compactMap { property($0)?.name }
  }
}
