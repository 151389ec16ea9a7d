import ManagedModel
import SQLite

/// How indexed attributes and compound indexes of a model become indexes of a store.
package struct IndexStyle: Sendable, Equatable {
  /// `Z_Entity_attribute`: since iOS 11 they count as fetch indexes.
  package static let fetchIndexes = IndexStyle(isOfColumns: false, hasTwoBlanks: false)

  /// `ZTABLE_ZCOLUMN_INDEX`, by frameworks before iOS 11.
  fileprivate var isOfColumns: Bool
  /// Whether two blanks follow the WHERE of a partial index.
  fileprivate var hasTwoBlanks: Bool

  private init(isOfColumns: Bool, hasTwoBlanks: Bool) {
    self.isOfColumns = isOfColumns
    self.hasTwoBlanks = hasTwoBlanks
  }

  /// Fetch indexes came between the framework versions 754 and 836, as stores show; 973 to 977 wrote
  /// two blanks.
  package init(frameworkVersion: Int?) {
    self.init(
      isOfColumns: frameworkVersion.map { $0 < 800 } ?? false,
      hasTwoBlanks: frameworkVersion.map { (973...977).contains($0) } ?? false)
  }
}

/// A CREATE statement with what it makes, and on which table.
package struct SchemaStatement: Sendable, Equatable {
  /// What the statement makes is called so.
  package var name: String
  /// The table that it is made on.
  package var table: String
  /// The CREATE statement, in Core Data's wording.
  package var sql: String

  /// Takes a statement whose name and table are known.
  package init(name: String, table: String, sql: String) {
    self.name = name
    self.table = table
    self.sql = sql
  }
}

/// The index of a uniqueness constraint.
package struct UniqueIndex: Sendable, Equatable {
  /// What Core Data calls it.
  package let name: String
  /// The properties that must differ together, in the order of the constraint.
  package let properties: [String]
  /// Their columns.
  package let columns: [String]
}

extension StoreSchema {
  /// Every index that Core Data makes for the model, R-trees aside: see ``rtreeIndexes``.
  ///
  /// Fetch indexes of forms that no store showed are left out: see ``unmadeIndexes``.
  package func indexStatements(_ style: IndexStyle = .fetchIndexes) -> [SchemaStatement] {
    var statements: [SchemaStatement] = []
    func add(
      _ name: String, _ table: String, _ columns: [String], unique: Bool = false,
      where condition: String? = nil
    ) {
      let kind = unique ? "CREATE UNIQUE INDEX" : "CREATE INDEX"
      let rows = condition.map { " WHERE\(style.hasTwoBlanks ? "  " : " ")\($0)" } ?? ""
      statements.append(
        SchemaStatement(
          name: name, table: table,
          sql: """
            \(kind) \(Self.name(name)) ON \(Self.name(table)) (\(columns.joined(separator: ", ")))\(rows)
            """))
    }
    for table in tables {
      for column in table.columns {
        switch column.content {
        case .toOne, .owner: add("\(table.name)_\(column.name)_INDEX", table.name, [column.name])
        case .attribute(let entity, let name):
          guard model.entity(named: entity)?.storedAttribute(named: name)?.isIndexed == true else {
            break
          }
          if style.isOfColumns {
            add("\(table.name)_\(column.name)_INDEX", table.name, [column.name])
          } else if !hasFetchIndex(of: name, entity) {
            add("Z_\(entity)_\(name)", table.name, ["\(column.name) COLLATE BINARY ASC"])
          }
        default: break
        }
      }
      // A wish that Photos' model shows.
      let omits = model.entity(named: table.root)?.userInfo["_NSEntityOmitSubentityColumnIndex"]
      if !model.children(of: table.root).isEmpty,
        !["yes", "1", "true"].contains(omits?.lowercased() ?? "")
      {
        add("\(table.name)_Z_ENT_INDEX", table.name, ["Z_ENT"])
      }
    }
    for join in joins {
      let (indexed, other) = join.indexedColumns
      add("\(join.name)_\(indexed)_INDEX", join.name, [indexed, other])
      for (first, second, order) in orderedColumns(of: join) {
        add("\(join.name)_\(first)_\(second)_\(order)_INDEX", join.name, [first, second, order])
        add("\(join.name)_\(first)_\(order)_\(second)_INDEX", join.name, [first, order, second])
      }
    }
    for entity in model.entitiesInStoreOrder {
      guard let table = table(of: entity.name) else { continue }
      for index in uniqueIndexes(of: entity) {
        add(
          index.name, table.name, index.columns.map { "\($0) COLLATE BINARY ASC" }, unique: true)
      }
      // Caches by newer frameworks list an old compound index a second time, as a fetch index.
      let listed = entity.fetchIndexes.map { index in
        index.elements.compactMap { $0.property ?? $0.expression }
      }
      for names in entity.compoundIndexes where style.isOfColumns || !listed.contains(names) {
        let columns = names.compactMap { indexedColumn($0, in: entity.name) }
        guard !columns.isEmpty, columns.count == names.count else { continue }
        if style.isOfColumns {
          add("\(table.name)_\(columns.joined(separator: "_"))", table.name, columns)
        } else {
          add(
            "Z_\(entity.name)_\(names.joined(separator: "_"))", table.name,
            columns.map { "\($0) COLLATE BINARY ASC" })
        }
      }
      for index in entity.fetchIndexes {
        guard case .made(let columns, let rows) = form(of: index, entity: entity.name) else {
          continue
        }
        add("Z_\(entity.name)_\(index.name)", table.name, columns, where: rows)
      }
    }
    var seen: Set<String> = []
    return statements.filter { seen.insert($0.name).inserted }
  }

  /// Fetch indexes that are not made: no store shows how what they ask for is written, and an
  /// index that Core Data does not expect would only cost space.
  package var unmadeIndexes: [(entity: String, index: String)] {
    model.entitiesInStoreOrder.flatMap { entity in
      entity.fetchIndexes.filter { form(of: $0, entity: entity.name) == .unknown }
        .map { (entity.name, $0.name) }
    }
  }

  /// The indexes of an entity's own uniqueness constraints, but for those that have a part without a column.
  package func uniqueIndexes(of entity: Entity) -> [UniqueIndex] {
    entity.uniquenessConstraints.compactMap { constraint in
      let columns = constraint.compactMap { column(of: $0, in: entity.name) }
      guard !columns.isEmpty, columns.count == constraint.count else { return nil }
      // An element of a composite uses its own name.
      let names = constraint.map(Self.elementName).joined(separator: "_")
      return UniqueIndex(
        name: "Z_\(entity.name)_UNIQUE_\(names)", properties: constraint, columns: columns)
    }
  }

  private static func elementName(_ path: String) -> String {
    path.lastIndex(of: ".").map { String(path[path.index(after: $0)...]) } ?? path
  }

  private enum FetchIndexForm: Equatable {
    case made(columns: [String], where: String?)
    case rtree
    /// The store has no column for it, or an index on that column already.
    case needless
    case unknown
  }

  private func form(of index: FetchIndex, entity: String) -> FetchIndexForm {
    if index.elements.contains(where: { $0.kind == .rtree }) {
      return rtree(index, of: entity) == nil ? .unknown : .rtree
    }
    // What has no column of its own is left out: to-manys, transient attributes, whole composites.
    let elements = index.elements.filter { element in
      element.property.map { indexedColumn($0, in: entity) != nil } ?? true
    }
    if elements.isEmpty { return .needless }
    // A to-one's column has its own index.
    if elements.count == 1, let name = elements[0].property, elements[0].isAscending,
      index.partialPredicate == nil, model.relationship(named: name, of: entity) != nil
    {
      return .needless
    }
    var columns: [String] = []
    for element in elements {
      guard let sql = indexedColumn(element, in: entity) else { return .unknown }
      columns.append("\(sql) COLLATE BINARY \(element.isAscending ? "ASC" : "DESC")")
    }
    guard let predicate = index.partialPredicate else {
      return .made(columns: columns, where: nil)
    }
    return indexCondition(predicate, of: entity).map { .made(columns: columns, where: $0) }
      ?? .unknown
  }

  /// Whether a fetch index covers just that attribute: its index flag then counts for nothing.
  private func hasFetchIndex(of name: String, _ entity: String) -> Bool {
    model.entity(named: entity)?.fetchIndexes.contains {
      $0.elements.count == 1 && $0.elements.first?.property == name
        && $0.elements.first?.kind == .binary
    } ?? false
  }

  private func indexedColumn(_ element: FetchIndex.Element, in entity: String) -> String? {
    if let property = element.property { return indexedColumn(property, in: entity) }
    guard let text = element.expression, let expression = try? Expression(format: text) else {
      return nil
    }
    return indexedExpression(expression, in: entity)
  }

  /// A name in an index: a property, or `entity`, which is the row's Z_ENT.
  private func indexedColumn(_ name: String, in entity: String) -> String? {
    column(of: name, in: entity) ?? (name == "entity" ? "Z_ENT" : nil)
  }

  /// What two more indexes of a join table begin with, for a relationship whose user info asks to find
  /// its objects by their order: its owner, its objects and their order key.
  private func orderedColumns(of join: JoinTable) -> [(String, String, String)] {
    func asks(_ name: String, _ entity: String) -> Bool {
      guard let relationship = model.relationship(named: name, of: entity), relationship.isOrdered
      else { return false }
      return relationship.userInfo["NSRelationshipDescriptionOrderKeyIndexOption"] != nil
    }
    var all: [(String, String, String)] = []
    // The order of the naming side's objects is in the second column's order key.
    if asks(join.relationship, join.entity), let order = join.secondOrder {
      all.append((join.first, join.second, order))
    }
    if !join.isReflexive, asks(join.inverse, join.inverseEntity), let order = join.firstOrder {
      all.append((join.second, join.first, order))
    }
    return all
  }

  /// An expression of the row's own columns; *assumed* but for `entity`, which stores show.
  func indexedExpression(_ expression: Expression, in entity: String) -> String? {
    switch expression {
    case .selfObject: return "Z_PK"
    case .keyPath(let path, of: nil), .keyPath(let path, of: .selfObject):
      return indexedColumn(path, in: entity)
    case .constant(.integer(let number)): return String(number)
    case .function(let name, receiver: nil, let arguments) where arguments.count == 2:
      let operators = ["add:to:": "+", "from:subtract:": "-", "multiply:by:": "*"]
      guard let symbol = operators[name],
        let left = indexedExpression(arguments[0], in: entity),
        let right = indexedExpression(arguments[1], in: entity)
      else { return nil }
      return "(\(left) \(symbol) \(right))"
    default: return nil
    }
  }
}

extension StoreSchema.JoinTable {
  /// The column that the table's index begins with, and the other.
  ///
  /// It is the one named like the table, whichever side was taken for the first.
  fileprivate var indexedColumns: (String, String) {
    func label(_ name: String) -> Substring {
      name.dropFirst(2).drop { $0.isASCII && $0.isNumber }
    }
    let own = label(name)
    func isLike(_ column: String) -> Bool {
      label(column).hasPrefix(own) && label(column).dropFirst(own.count).allSatisfy(\.isNumber)
    }
    return isLike(first) && !isLike(second) && second != "REFLEXIVE"
      ? (first, second) : (second, first)
  }
}

extension StoreSchema {
  /// The rows of a partial index as SQL; `nil` where the predicate asks for more than constants
  /// compared with the row's own columns.
  ///
  /// `column IS NOT NULL` is as stores show it; the other comparisons are *assumed*.
  func indexCondition(_ text: String, of entity: String) -> String? {
    guard let predicate = try? Predicate(format: text) else { return nil }
    return indexCondition(predicate, of: entity)
  }

  private func indexCondition(_ predicate: Predicate, of entity: String) -> String? {
    switch predicate {
    case .always: return nil
    case .not(let part): return indexCondition(part, of: entity).map { "NOT (\($0))" }
    case .and(let parts): return joined(parts, " AND ", of: entity)
    case .or(let parts): return joined(parts, " OR ", of: entity)
    case .comparison(let comparison): return indexCondition(comparison, of: entity)
    }
  }

  private func joined(_ parts: [Predicate], _ word: String, of entity: String) -> String? {
    let conditions = parts.compactMap { indexCondition($0, of: entity) }
    guard conditions.count == parts.count, !parts.isEmpty else { return nil }
    return parts.count == 1 ? conditions[0] : "(" + conditions.joined(separator: word) + ")"
  }

  private func indexCondition(
    _ comparison: Predicate.Comparison, of entity: String
  ) -> String? {
    guard comparison.quantifier == nil, comparison.options.isEmpty,
      let left = indexedExpression(comparison.left, in: entity)
    else { return nil }
    switch (comparison.comparator, comparison.right) {
    case (.equal, .constant(.null)): return "\(left) IS NULL"
    case (.notEqual, .constant(.null)): return "\(left) IS NOT NULL"
    case (.isIn, .aggregate(let elements)):
      let constants = elements.compactMap { Self.constant($0) }
      guard constants.count == elements.count, !constants.isEmpty else { return nil }
      return "\(left) IN (\(constants.joined(separator: ", ")))"
    case (let comparator, let right):
      guard let sign = comparator == .notEqual ? "<>" : comparator.sqlSign,
        let value = Self.constant(right) ?? indexedExpression(right, in: entity)
      else { return nil }
      return "\(left) \(sign) \(value)"
    }
  }

  /// A constant that means the same in SQL as in a predicate.
  static func constant(_ expression: Expression) -> String? {
    guard case .constant(let constant) = expression, let (value, kind) = constant.stored else {
      return nil
    }
    switch kind {
    case .boolean, .integer, .real, .date, .text: return value.literal
    default: return nil
    }
  }

  /// Text as SQL.
  package static func text(_ text: String) -> String { Value.text(text).literal }
}
