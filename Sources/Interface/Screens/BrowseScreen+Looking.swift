import ManagedModel
import ManagedStore
import Terminal

extension BrowseScreen {
  /// What can be done with what is selected besides going about in it.
  static func lookingBindings(_ state: State) -> [Binding] {
    let browse = state.browse
    let store = state.storeArgument
    let entity = browse.table.map { ShellText.quoted($0.entity) } ?? "ENTITY"
    let rows = "strata rows \(store) \(entity)"
    let value = browse.valueToView
    let property = browse.table?.selectedProperty(isAttribute: false)
    return [
      Binding(
        [.character("v")], "view in full", .viewValue,
        unless: value == nil ? "choose the value of an attribute first" : nil,
        footer: browse.focus == .inspector),
      Binding(
        [.character("y")], "copy", .copy,
        unless: CopyLayer(state) == nil ? "nothing is selected" : nil),
      Binding(
        [.character("e")], "export", .export,
        unless: browse.table == nil ? "there are no rows" : nil,
        command: rows + " --format csv --limit all > FILE"),
      Binding(
        [.character("F")], "frequencies", .frequencies,
        unless: property == nil ? "choose the column of a property first" : nil,
        command:
          "strata frequencies \(store) \(entity) \(property.map(ShellText.quoted) ?? "PROPERTY")",
        footer: false),
    ]
  }

  /// Enter shows a plain value in full, where it would do nothing else.
  static func viewing(_ state: State, _ bindings: [Binding]) -> [Binding] {
    let browse = state.browse
    guard browse.focus == .inspector, let line = browse.inspector.selectedLine,
      !line.isExpandable, line.target == nil, browse.valueToView != nil
    else { return bindings }
    return [Binding([.enter], "view", .viewValue)] + bindings.filter { !$0.keys.contains(.enter) }
  }

  /// Does what ``lookingBindings(_:)`` ask for; `nil` for any other action.
  static func look(_ action: Action, in state: inout State) -> [Effect]? {
    switch action {
    case .viewValue:
      guard let (id, property) = state.browse.valueToView else { return [] }
      return ContentLayer.open(id, property, in: &state)
    case .copy:
      if let layer = CopyLayer(state) { state.show(layer) }
    case .export:
      guard let table = state.browse.table else { return [] }
      let query = table.query(.start)
      state.show(
        ExportLayer(
          query, total: query.filter == nil ? state.browse.counts[table.entity] : nil,
          isRelated: table.related != nil))
    case .frequencies:
      guard let table = state.browse.table,
        let property = table.selectedProperty(isAttribute: false)
      else { return [] }
      return FrequenciesLayer.open(
        property, of: table.entity, filter: table.query(.start).filter,
        predicate: table.filter, in: &state)
    default: return nil
    }
    return []
  }

  /// The attribute of an object that `v` shows: of the selected line, or of the selected cell.
  private var valueToView: (ObjectID, String)? {
    switch focus {
    case .entities: return nil
    case .rows:
      guard let id = table?.window.selectedRow?.id, let name = table?.selectedProperty else {
        return nil
      }
      return (id, name)
    case .inspector:
      guard let id = inspector.object, let name = inspector.selectedProperty else { return nil }
      return (id, name)
    }
  }
}

extension RowTable {
  /// The attribute of the selected column; a relationship has no value to show or copy.
  var selectedProperty: String? { selectedProperty(isAttribute: true) }

  func selectedProperty(isAttribute: Bool) -> String? {
    guard let column = columns.element(selectedColumn), case .property(let index) = column,
      let property = properties.element(index)
    else { return nil }
    if isAttribute, case .attribute = property.kind { return property.name }
    return isAttribute ? nil : property.name
  }

  /// The properties that are shown, in their order.
  var shownProperties: [String] {
    columns.compactMap { column in
      if case .property(let index) = column { properties.element(index)?.name } else { nil }
    }
  }
}
