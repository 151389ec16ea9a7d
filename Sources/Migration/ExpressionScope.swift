import ManagedModel
import ManagedStore
import SQLite

/// What names mean in an expression over a source object, as SQL.
struct ExpressionScope {
  let store: Store
  /// Source entity of the object.
  let entity: String
  /// Alias of the object's row.
  var row = "s"
  /// What the source's tables are called by: `src.` in a migration, nothing on the store's own
  /// connection.
  var schema = "src."
  /// SQL of names that are no properties: `item` and `position`.
  var variables: [String: String] = [:]

  /// The value at a key path through to-one relationships; an attribute's content wherever it is
  /// kept, a to-one's key.
  ///
  /// - Throws: ``CoreDataError`` of kind usage naming the step that does not exist.
  func value(of path: [String]) throws -> CompiledExpression {
    guard let first = path.first else { return CompiledExpression("\(row).Z_PK", []) }
    if path.count == 1, let variable = variables[first] { return CompiledExpression(variable, []) }
    let (steps, name) = split(path)
    let (holder, key, alias) = try object(at: steps)
    guard let table = store.table(of: holder) else { throw unknown(name, in: holder) }
    let sql: String
    if let entry = table.attribute(named: name) {
      sql = entry.content(in: alias)
    } else if let column = table.toOneColumn(of: name) {
      sql = "\(alias).\(quoted(column))"
    } else if store.model.relationship(named: name, of: holder)?.isToMany == true {
      throw CoreDataError(
        .usage, "the relationship leads to many objects, which are no value", entity: holder,
        property: name, hint: "Use count(\(path.joined(separator: "."))).")
    } else {
      throw unknown(name, in: holder)
    }
    guard let key else { return CompiledExpression(sql, [name]) }
    return CompiledExpression(
      "(SELECT \(sql) FROM \(schema)\(quoted(table.table)) \(alias) WHERE \(alias).Z_PK = \(key))",
      [first])
  }

  /// How many objects a to-many relationship at the end of a path leads to.
  func count(of path: [String]) throws -> CompiledExpression {
    guard let first = path.first else { throw unknown("", in: entity) }
    let (holder, key, alias) = try object(at: path.dropLast())
    let name = path[path.count - 1]
    let owner = key ?? "\(alias).Z_PK"
    guard let storage = store.table(of: holder)?.storage(of: name) else {
      throw unknown(name, in: holder)
    }
    let count =
      storage.kind == .toOne
      ? "(\(try value(of: path).sql) IS NOT NULL)"
      : storage.count(of: SQLText(own: owner), in: schema).sql
    return CompiledExpression(count, [first])
  }

  /// The relationships that a path goes through, and the property behind them: an element of a
  /// composite attribute by its own path.
  private func split(_ path: [String]) -> (steps: ArraySlice<String>, property: String) {
    var holder = entity
    var count = 0
    while count < path.count - 1,
      let relationship = store.model.relationship(named: path[count], of: holder)
    {
      holder = relationship.destination
      count += 1
    }
    return (path[..<count], path[count...].joined(separator: "."))
  }

  /// The entity that a path of to-one relationships leads to, SQL for the key of the object there
  /// (`nil` for the row itself), and the alias its row gets.
  private func object(
    at path: ArraySlice<String>
  ) throws -> (entity: String, key: String?, alias: String) {
    var holder = entity
    var alias = row
    var key: String?
    for (depth, name) in path.enumerated() {
      guard let relationship = store.model.relationship(named: name, of: holder) else {
        throw unknown(name, in: holder)
      }
      guard let table = store.table(of: holder), let column = table.toOneColumn(of: name) else {
        throw CoreDataError(
          .usage, "a key path goes through to-one relationships only", entity: holder,
          property: name, hint: "Use count(\(path.joined(separator: "."))) for a to-many.")
      }
      let place = "\(alias).\(quoted(column))"
      key =
        key.map {
          "(SELECT \(place) FROM \(schema)\(quoted(table.table)) \(alias) WHERE \(alias).Z_PK = \($0))"
        } ?? place
      holder = relationship.destination
      alias = "p\(depth + 1)"
    }
    return (holder, key, alias)
  }

  func unknown(_ name: String, in entity: String) -> CoreDataError {
    if let composite = store.model.attribute(at: name, of: entity), composite.type == .composite {
      return CoreDataError(
        .usage, "the attribute is made of elements, each of which has a value", entity: entity,
        property: name,
        hint: "Name one: "
          + composite.storage.columns.map(\.attribute.name).joined(separator: ", "))
    }
    let table = store.table(of: entity)
    let known =
      (table?.attributes.map(\.attribute.name) ?? [])
      + (table?.relationships.map(\.relationship.name) ?? [])
    return CoreDataError(
      .usage, "the source has no such property", entity: entity, property: name,
      hint: known.isEmpty ? nil : "It has: " + known.joined(separator: ", "))
  }
}

/// An expression as SQL over a source row, and what it reads.
struct CompiledExpression: Equatable {
  /// In parentheses where it is more than a name or a call.
  var sql: String
  /// Properties of the source entity that it uses: their values are not lost.
  var properties: Set<String>

  init(_ sql: String, _ properties: Set<String>) {
    self.sql = sql
    self.properties = properties
  }
}
