import ManagedStore

extension RowTable {
  static let widest = 200
  private static let narrowest = 3

  /// A column's name in a stored arrangement: no property is called so.
  func id(_ column: Column) -> String {
    switch column {
    case .key: "@key"
    case .entity: "@entity"
    case .source: "@origin"
    case .property: title(column)
    }
  }

  /// How it is arranged.
  var view: TableView {
    TableView(
      sort: sort.property, isDescending: sort.isDescending, filter: filter, related: related,
      paths: paths, order: arranged == all ? nil : arranged.map(id),
      hidden: arranged.filter(hidden.contains).map(id),
      widths: Dictionary(chosen.map { (id($0), $1) }) { first, _ in first }, frozen: frozen)
  }

  /// Arranges it; what the entity has not is passed over, and columns that are new come last.
  ///
  /// - Throws: ``CoreDataError`` when the filter does not fit; all else is arranged then.
  mutating func arrange(_ view: TableView, _ layout: StoreLayout) throws {
    let selected = column
    setPaths(view.paths.compactMap { try? layout.column(ofKeyPath: $0, of: entity) })
    let known = Dictionary(all.map { (id($0), $0) }) { first, _ in first }
    let isSortable = all.contains { sortProperty($0) == .some(view.sort) }
    sort = isSortable ? .init(property: view.sort, descending: view.isDescending) : .init()
    let order = (view.order ?? []).compactMap { known[$0] }
    var seen: Set<Column> = []
    arranged = (order + all).filter { seen.insert($0).inserted }
    hidden = Set(view.hidden.compactMap { known[$0] })
    if hidden.count == all.count { hidden = [] }
    chosen = [:]
    for (name, width) in view.widths {
      if let column = known[name] { chosen[column] = max(Self.narrowest, min(Self.widest, width)) }
    }
    frozen = max(1, view.frozen)
    show(selected)
    do {
      try setFilter(view.filter, related: view.related, layout)
    } catch {
      try? setFilter(nil, related: view.related, layout)
      throw error
    }
  }

  /// Lists what is shown again, the chosen column staying chosen where it can.
  mutating func show(_ selected: Column) {
    columns = arranged.filter { !hidden.contains($0) }
    frozen = max(1, min(frozen, columns.count))
    selectedColumn =
      columns.firstIndex(of: selected) ?? max(0, min(selectedColumn, columns.count - 1))
  }

  /// Moves the chosen column over the next one that is shown.
  mutating func move(by step: Int) {
    guard let next = columns.element(selectedColumn + step),
      let from = arranged.firstIndex(of: column), let to = arranged.firstIndex(of: next)
    else { return }
    let column = column
    arranged.remove(at: from)
    arranged.insert(column, at: to)
    show(column)
  }

  /// Exchanges two places of ``arranged``.
  mutating func exchange(_ one: Int, _ other: Int) {
    guard arranged.indices.contains(one), arranged.indices.contains(other) else { return }
    let selected = column
    arranged.swapAt(one, other)
    show(selected)
  }

  mutating func select(_ column: Column) {
    if let index = columns.firstIndex(of: column) { selectedColumn = index }
  }

  /// Chooses the column of a property, be it hidden; of a composite attribute its first element's.
  mutating func reveal(_ property: String) {
    guard
      let index = properties.firstIndex(where: { $0.name == property })
        ?? properties.firstIndex(where: { $0.path.first == property })
    else { return }
    setHidden(.property(index), false)
    select(.property(index))
  }

  mutating func setHidden(_ column: Column, _ isHidden: Bool) {
    let selected = self.column
    if isHidden {
      // One column stays, or there would be nothing to choose.
      guard columns.count > 1 else { return }
      hidden.insert(column)
    } else {
      hidden.remove(column)
    }
    show(selected)
  }

  /// Keeps the columns up to the chosen one in sight; once more lets them go.
  mutating func freeze() {
    frozen = frozen == selectedColumn + 1 ? 1 : selectedColumn + 1
  }

  mutating func widen(by cells: Int) {
    chosen[column] = max(Self.narrowest, min(Self.widest, width(column) + cells))
  }

  /// Adds a key path as the last column, and chooses it.
  mutating func add(_ path: RowColumn) {
    if !properties.contains(where: { $0.name == path.name }) {
      let column = Column.property(properties.count)
      setPaths(Array(properties.dropFirst(ownCount)) + [path])
      arranged.append(column)
    }
    reveal(path.name)
  }

  /// The columns as they come.
  mutating func resetColumns() {
    let selected = column
    setPaths([])
    (arranged, hidden, chosen, frozen) = (all, [], [:], 1)
    show(selected)
  }

  var isColumnsReset: Bool {
    arranged == all && hidden.isEmpty && chosen.isEmpty && frozen == 1 && paths.isEmpty
  }
}
