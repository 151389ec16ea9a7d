import ManagedModel

extension StoreSchema {
  /// The user info key with which Apple's own apps have attributes kept up by the store: a condition
  /// on the objects of one relationship, such as `(faces.hidden == NO) && (faces.visible == YES)`.
  static let triggerKey = "NSTriggerKey"

  /// The triggers of an attribute that counts the objects which fulfil a condition, as the store of
  /// Photos shows them.
  func countingTriggers(_ attribute: Attribute, of entity: String) -> TriggerGroup? {
    guard let text = attribute.userInfo[Self.triggerKey], let table = table(of: entity),
      let column = table.column(.attribute(entity: entity, name: attribute.name))
    else { return nil }
    return TriggerGroup(
      entity: entity, attribute: attribute.name,
      statements: CountingTriggers(
        schema: self, entity: entity, table: table.name, column: column.name, condition: text
      )?.statements ?? [],
      prefix: "ZT_\(table.name)_\(column.name)_")
  }
}

/// Writes the triggers of one counting attribute.
struct CountingTriggers {
  private let table: String
  private let column: String
  /// The table of the objects that are counted.
  private let other: String
  /// The to-one column, on ``table`` or on ``other``.
  private let key: String
  private let isToMany: Bool
  /// Columns of ``other`` with what they must be.
  private let terms: [(column: String, rest: String)]

  /// `nil` for conditions that compare anything but the objects' own columns with constants.
  init?(schema: StoreSchema, entity: String, table: String, column: String, condition: String) {
    guard let predicate = try? Predicate(format: condition) else { return nil }
    var relationships: Set<String> = []
    var compared: [(String, String)] = []
    for part in Self.parts(of: predicate) {
      guard case .comparison(let comparison) = part, comparison.quantifier == nil,
        comparison.options.isEmpty,
        case .keyPath(let path, of: let base) = comparison.left,
        base == nil || base == .selfObject,
        ["==", "!=", "<", "<=", ">", ">="].contains(comparison.comparator.symbol),
        let value = StoreSchema.constant(comparison.right)
      else { return nil }
      let names = path.split(separator: ".").map(String.init)
      guard names.count == 2 else { return nil }
      relationships.insert(names[0])
      compared.append((names[1], "\(comparison.comparator.symbol) \(value)"))
    }
    guard relationships.count == 1, let name = relationships.first,
      let relationship = schema.model.relationship(named: name, of: entity),
      let other = schema.table(of: relationship.destination)?.name
    else { return nil }
    terms = compared.compactMap { name, rest in
      schema.column(of: name, in: relationship.destination).map { (StoreSchema.name($0), rest) }
    }
    guard terms.count == compared.count else { return nil }
    guard let storage = schema.storage(of: name, in: entity),
      storage.kind == .toOne || storage.isInDestinationRow
    else { return nil }
    isToMany = storage.isInDestinationRow
    key = StoreSchema.name(isToMany ? storage.owner : storage.destination)
    self.table = table
    self.column = column
    self.other = other
  }

  private static func parts(of predicate: Predicate) -> [Predicate] {
    if case .and(let parts) = predicate { parts.flatMap(parts(of:)) } else { [predicate] }
  }

  var statements: [SchemaStatement] {
    let base = "ZT_\(table)_\(column)_\(other)"
    let changed = terms.map { "NEW.\($0.column) != OLD.\($0.column)" }.joined(separator: " OR ")
    let columns = terms.map(\.column).joined(separator: ", ")
    let (up, down) = ("IFNULL(\(column),0) + 1", "MAX(0,IFNULL(\(column),0) - 1)")
    // A to-many's objects keep the key; a to-one's row keeps it itself.
    func linked(_ row: String) -> String {
      isToMany ? "\(row).\(key) = Z_PK" : "\(row).Z_PK = \(key)"
    }
    func told(_ row: String) -> String {
      isToMany ? "Z_PK = \(row).\(key)" : "\(key) = \(row).Z_PK"
    }
    func stays(_ first: String, _ second: String) -> String {
      isToMany ? " AND (\(first).\(key) == \(second).\(key))" : ""
    }
    let row = "Z_PK = NEW.Z_PK"
    let made = [
      trigger(
        "\(base)_INSERT_INCREMENT", on: other, "INSERT", " FOR EACH ROW WHEN \(holds("NEW."))", up,
        linked("NEW"), told("NEW")),
      trigger(
        "\(base)_UPDATE_INCREMENT", on: other, "UPDATE OF \(columns)",
        " FOR EACH ROW WHEN (\(holds("NEW."))) AND (\(changed))\(stays("NEW", "OLD"))", up,
        linked("NEW"), told("NEW")),
      trigger(
        "\(base)_UPDATE_DECREMENT", on: other, "UPDATE OF \(columns)",
        " FOR EACH ROW WHEN (\(holds("OLD."))) AND (\(changed))\(stays("OLD", "NEW"))", down,
        linked("OLD"), told("NEW")),
      trigger(
        "\(base)_DELETE_DECREMENT", on: other, "DELETE", " FOR EACH ROW WHEN \(holds("OLD."))",
        down, linked("OLD"), told("OLD")),
      trigger(
        "\(base)_\(table)_INSERT_INCREMENT", on: table, "INSERT", " FOR EACH ROW",
        counted(isToMany ? "(\(key) = NEW.Z_PK)" : "(Z_PK = NEW.\(key))"), row, row),
    ]
    guard isToMany else {
      return made + [
        trigger(
          "\(base)_\(key)_UPDATE_TO_NULL", on: table, "UPDATE OF \(key)",
          " WHEN (NEW.\(key) IS NULL AND OLD.\(key) IS NOT NULL)", "0", row, row),
        trigger(
          "\(base)_\(key)_UPDATE_INCREMENT", on: table, "UPDATE OF \(key)",
          " WHEN (\(isMoved("NEW", "OLD")))", counted("Z_PK = NEW.\(key)"), row, row),
      ]
    }
    return made + [
      trigger(
        "\(base)_\(key)_UPDATE_INCREMENT", on: other, "UPDATE OF \(key)",
        " WHEN (\(holds("NEW."))) AND (\(isMoved("NEW", "OLD")))", up, told("NEW"), told("NEW")),
      trigger(
        "\(base)_\(key)_UPDATE_DECREMENT", on: other, "UPDATE OF \(key)",
        " WHEN (\(holds("OLD."))) AND (\(isMoved("OLD", "NEW")))", down, told("OLD"), told("OLD")),
    ]
  }

  private func holds(_ row: String) -> String {
    terms.map { "\(row)\($0.column) \($0.rest)" }.joined(separator: " AND ")
  }

  private func isMoved(_ there: String, _ gone: String) -> String {
    "(\(there).\(key) IS NOT NULL AND \(gone).\(key) IS NULL) OR (NEW.\(key) != OLD.\(key))"
  }

  private func counted(_ rows: String) -> String {
    "(SELECT COUNT(Z_PK) FROM \(StoreSchema.name(other)) WHERE \(rows) AND (\(holds(""))))"
  }

  private func trigger(
    _ name: String, on place: String, _ event: String, _ condition: String, _ value: String,
    _ rows: String, _ told: String
  ) -> SchemaStatement {
    let (own, column) = (StoreSchema.name(table), StoreSchema.name(column))
    return SchemaStatement(
      name: name, table: place,
      sql: """
        CREATE TRIGGER \(StoreSchema.name(name)) AFTER \(event) ON \(StoreSchema.name(place))\
        \(condition) BEGIN UPDATE \(own) SET \(column) = \(value) WHERE \(rows); \
        SELECT NSCoreDataTriggerUpdateAffectedObjectValue(\(StoreSchema.text(table)), Z_ENT, Z_PK, \(StoreSchema.text(self.column)), \
        \(column)) FROM \(own) WHERE \(told); END
        """)
  }
}

extension StoreSchema {
  /// SQL for the value that a derived attribute has in a row, as the store's own triggers keep it.
  ///
  /// Fit for an UPDATE of the row's table and for a SELECT over it. The connection needs
  /// ``StoreFunctions``.
  ///
  /// - Parameters:
  ///   - entity: an entity that has the attribute.
  ///   - row: alias of the row.
  ///   - schema: what stands before the names of tables, such as `src.`.
  /// - Returns: `nil` for `now()`, which no row decides, and for what is not understood.
  package func derivedExpression(
    for attribute: Attribute, of entity: String, row: String = "s", schema: String = "main."
  ) -> CompiledExpression? {
    guard let derivation = attribute.derivation, let value = DerivedValue(derivation),
      value != .now, let expression = try? Expression(format: derivation.expression)
    else { return nil }
    return try? ExpressionScope(derivedIn: self, entity: entity, row: row, schema: schema)
      .compile(expression)
  }
}

/// What a derived attribute is computed of.
enum DerivedValue: Equatable {
  enum Function: String {
    case canonical = "canonical:"
    case lowercase = "lowercase:"
    case uppercase = "uppercase:"
  }

  enum Aggregate: String {
    case sum, min, max
    case average = "avg"
  }

  /// When the object was last saved.
  case now
  /// The value at a path: to-one relationships and an attribute, or the attribute alone.
  case value(path: [String], Function?)
  /// How many objects the to-many relationship at the end of a path has.
  case count(path: [String])
  /// All values at a path with one to-many relationship in it.
  case aggregate(Aggregate, path: [String])

  /// `nil` for expressions beyond those that Apple documents. A filter changes the version hash and
  /// nothing in the store.
  init?(_ derivation: Attribute.Derivation) {
    guard let expression = try? Expression(format: derivation.expression) else { return nil }
    switch expression {
    case .function("now", receiver: nil, let arguments) where arguments.isEmpty,
      .function("now:", receiver: nil, let arguments) where arguments.isEmpty:
      self = .now
    case .function(let name, receiver: nil, let arguments) where arguments.count == 1:
      guard let path = Self.path(arguments[0]), !path.contains(where: { $0.hasPrefix("@") }) else {
        return nil
      }
      if let function = Function(rawValue: name) {
        self = .value(path: path, function)
      } else if let made = Self.collected(name == "average:" ? "avg" : name.dropLast(), path) {
        self = made
      } else {
        return nil
      }
    default:
      guard var path = Self.path(expression) else { return nil }
      guard let index = path.firstIndex(where: { $0.hasPrefix("@") }) else {
        self = .value(path: path, nil)
        return
      }
      // `pages.@sum.price` and `pages.price.@sum` mean the same.
      let name = path.remove(at: index).dropFirst()
      guard !path.contains(where: { $0.hasPrefix("@") }), let made = Self.collected(name, path)
      else { return nil }
      self = made
    }
  }

  private static func collected(_ name: Substring, _ path: [String]) -> DerivedValue? {
    if name == "count" { return .count(path: path) }
    guard path.count > 1, let aggregate = Aggregate(rawValue: String(name)) else { return nil }
    return .aggregate(aggregate, path: path)
  }

  private static func path(_ expression: Expression) -> [String]? {
    switch expression {
    case .keyPath(let path, of: nil), .keyPath(let path, of: .selfObject):
      let names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
      return names.contains("") ? nil : names
    case .keyPath(let path, of: let base?):
      guard let names = self.path(base) else { return nil }
      return self.path(.keyPath(path, of: nil)).map { names + $0 }
    default: return nil
    }
  }
}
