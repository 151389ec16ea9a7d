import ManagedModel
import ManagedStore
import Terminal

/// An entity's rows as a table: columns, sorting, filter, and the window of rows.
struct RowTable: Sendable, Equatable {
  /// A column as the table shows it.
  enum Column: Sendable, Hashable {
    case key
    /// Of a row that may be a subentity's.
    case entity
    /// Where a row comes from that is not in the store.
    case source
    /// Index in the page's columns.
    case property(Int)
  }

  let entity: String
  /// The entity's own, and behind them the key paths that a person added.
  private(set) var properties: [RowColumn]
  let ownCount: Int
  /// Every column, in the order in which they come.
  private(set) var all: [Column]
  /// Every column, in the order a person gave them.
  var arranged: [Column]
  var hidden: Set<Column> = []
  /// Those that are shown.
  var columns: [Column]
  /// What the contents need, up to ``maxWidth``.
  private var natural: [Column: Int] = [:]
  /// What a person chose.
  var chosen: [Column: Int] = [:]
  /// Columns at the left that stay.
  var frozen = 1
  var selectedColumn = 0
  var sort = RowQuery.Sort()
  private(set) var filter: String?
  private(set) var related: Relation?
  /// Both of them, compiled.
  private(set) var rowFilter: RowFilter?
  /// How many rows the filter takes, once they are counted.
  var matches: Int?
  var window = RowWindow()
  /// How the objects are called that the rows reference, as far as it is known.
  var names = RelationNames()
  /// Where rows come from, as far as it is known; none for those of the store itself.
  private(set) var sources: [ObjectID: RecoveredRowSource] = [:]

  static let maxWidth = 40
  /// Characters of text that are read for a cell.
  private static let longestText = 2_000

  /// - Parameter label: the property that labels the objects; it comes first.
  init(
    entity: String, properties: [RowColumn], label: String?, hasSubentities: Bool,
    hasSources: Bool = false
  ) {
    (self.entity, self.properties, ownCount) = (entity, properties, properties.count)
    all =
      [.key] + (hasSources ? [.source] : []) + (hasSubentities ? [.entity] : [])
      + Self.ordered(properties, label)
    arranged = all
    columns = all
    for column in all {
      natural[column] = min(Self.maxWidth, TextWidth.of(title(column), upTo: Self.maxWidth))
    }
  }

  private static func ordered(_ properties: [RowColumn], _ label: String?) -> [Column] {
    ObjectLabels.order(properties, label).map { .property($0) }
  }

  /// Another property labels the objects now.
  mutating func setLabel(_ label: String?) {
    let isAsItCame = arranged == all
    all =
      all.filter { if case .property = $0 { false } else { true } }
      + Self.ordered(ownProperties, label) + pathColumns
    guard isAsItCame else { return }
    let selected = column
    arranged = all
    show(selected)
  }

  func title(_ column: Column) -> String {
    switch column {
    case .key: "key"
    case .entity: "entity"
    case .source: "origin"
    case .property: property(column)?.name ?? ""
    }
  }

  /// The column that the person chose, always one of ``columns``.
  var column: Column { columns.element(selectedColumn) ?? .key }

  /// The property that the chosen column shows.
  var property: RowColumn? { property(column) }

  func property(_ column: Column) -> RowColumn? {
    if case .property(let index) = column { properties.element(index) } else { nil }
  }

  /// The entity's own properties.
  var ownProperties: [RowColumn] { Array(properties.prefix(ownCount)) }

  /// The key paths that are columns, such as `author.name`.
  var paths: [String] { properties.dropFirst(ownCount).map(\.name) }

  private var pathColumns: [Column] { (ownCount..<properties.count).map { .property($0) } }

  /// Has these key paths behind the entity's own properties.
  mutating func setPaths(_ paths: [RowColumn]) {
    all = all.filter { !isPath($0) }
    properties = ownProperties + paths
    all += pathColumns
    for column in pathColumns {
      natural[column] = min(
        Self.maxWidth, max(natural[column] ?? 0, TextWidth.of(title(column), upTo: Self.maxWidth)))
    }
  }

  /// Whether a column shows what a key path leads to: nothing of the row itself.
  func isPath(_ column: Column) -> Bool {
    if case .property(let index) = column { index >= ownCount } else { false }
  }

  /// The property that a column sorts by: `nil` in it is the key; `nil` when it cannot.
  func sortProperty(_ column: Column) -> String?? {
    switch column {
    case .key: return .some(nil)
    case .entity, .source: return nil
    case .property where isPath(column): return nil
    case .property:
      return property(column).flatMap { $0.isToMany ? nil : .some($0.name) }
    }
  }

  func isNumeric(_ column: Column) -> Bool {
    switch column {
    case .key: return true
    case .entity, .source: return false
    case .property:
      switch property(column)?.kind {
      case .attribute(.integer16), .attribute(.integer32), .attribute(.integer64),
        .attribute(.decimal), .attribute(.double), .attribute(.float), .toMany:
        return true
      default: return false
      }
    }
  }

  func text(_ column: Column, of row: RowPage.Row) -> ValueText {
    switch column {
    case .key: return ValueText(String(row.id.key), .dim)
    case .entity: return ValueText(row.id.entity, .entity)
    case .source:
      guard let source = sources[row.id] else { return ValueText("…", .dim) }
      return ValueText(source.words, source.isDeleted ? .removed : .dim)
    case .property(let index):
      guard let value = row.values.element(index), let property = properties.element(index) else {
        return ValueText(isPath(column) ? "…" : "", isPath(column) ? .dim : .null)
      }
      if isPath(column) { return ValueText(atPath: value, of: property) }
      return names.text(value, of: property, owner: row.id) ?? ValueText(value, of: property)
    }
  }

  /// What the chosen cell of the selected row holds, where it is a property's.
  var selectedValue: PropertyValue? {
    if case .property(let index) = column { window.selectedRow?.values.element(index) } else { nil }
  }

  func width(_ column: Column) -> Int { chosen[column] ?? natural[column] ?? 1 }

  /// Takes a page; columns widen to what is new but never narrow, so that they do not dance.
  mutating func take(_ page: RowPage, at anchor: RowQuery.Anchor, total: Int?) {
    widen(to: page.rows)
    window.take(page.rows, at: anchor, total: total)
  }

  mutating func take(_ found: ObjectNames) {
    names.take(found)
    // Once a screenful, and for the screenfuls that were asked about: never for all on a key.
    widen(to: window.near.map { window.rows[$0] })
  }

  /// Rows whose origin is to be asked for.
  var unknownSources: [ObjectID] {
    all.contains(.source) ? window.rows.map(\.id).filter { sources[$0] == nil } : []
  }

  mutating func take(_ found: [ObjectID: RecoveredRowSource]) {
    // Of rows that are long out of sight none is needed: flat memory.
    if sources.count > 4 * RowWindow.page { sources = [:] }
    sources.merge(found) { $1 }
    widen(to: window.rows)
  }

  mutating func take(_ placed: PlacedRows) {
    widen(to: placed.rows)
    window.take(placed)
  }

  mutating func widen(to rows: [RowPage.Row]) {
    for column in all {
      var width = natural[column] ?? 1
      for row in rows where width < Self.maxWidth {
        width = max(width, TextWidth.of(text(column, of: row).text, upTo: Self.maxWidth))
      }
      natural[column] = min(Self.maxWidth, width)
    }
  }

  var isFiltered: Bool { rowFilter != nil }

  /// Shows only the rows that a predicate takes, of those that a relationship references.
  ///
  /// - Throws: ``CoreDataError`` with a mark; the table is as it was then.
  mutating func setFilter(_ text: String?, related: Relation?, _ layout: StoreLayout) throws {
    if let related, let object = related.id {
      rowFilter = try RowFilter(
        relatedTo: object, by: related.relationship, taking: text, layout: layout)
    } else {
      rowFilter = try text.map { try RowFilter($0, entity: entity, layout: layout) }
    }
    filter = text
    self.related = related
    matches = nil
  }

  /// The rows as they are sorted and filtered.
  func query(_ anchor: RowQuery.Anchor = .start) -> RowQuery {
    RowQuery(
      entity: entity, sort: sort, anchor: anchor, limit: RowWindow.page,
      properties: properties.map(\.name), filter: rowFilter)
  }

  /// The same with the columns that are shown, in their order.
  var exported: RowQuery {
    var query = query()
    query.properties = shownProperties
    return query
  }

  /// The words of `strata rows` that print the same rows, after the store; `nil` where only those that a
  /// relationship references are shown, which no command line can say.
  func arguments(_ format: ExportRequest.Format? = nil) -> String? {
    guard related == nil else { return nil }
    var words = [entity]
    if let format { words += ["--format", format.rawValue, "--limit", "all"] }
    if shownProperties != ownProperties.map(\.name), !shownProperties.isEmpty {
      words += ["--columns", shownProperties.joined(separator: ",")]
    }
    if let filter { words += ["--where", filter] }
    if let property = sort.property {
      words += ["--sort", property + (sort.isDescending ? ":desc" : "")]
    }
    return words.map(ShellText.quoted).joined(separator: " ")
  }

  /// The same for showing them: of long text only the beginning.
  func page(_ anchor: RowQuery.Anchor = .start) -> RowQuery {
    var query = query(anchor)
    query.longestText = Self.longestText
    return query
  }
}

extension RowTable {
  /// The attribute of the selected column; a relationship has no value to show or copy.
  var selectedProperty: String? { selectedProperty(isAttribute: true) }

  func selectedProperty(isAttribute: Bool) -> String? {
    guard let property, !isAttribute || !isPath(column) else { return nil }
    if isAttribute, case .attribute = property.kind { return property.name }
    return isAttribute ? nil : property.name
  }

  /// The properties that are shown, in their order.
  var shownProperties: [String] {
    columns.compactMap { property($0)?.name }
  }
}
