import ManagedModel

/// One name of a key path and where it stands.
private struct PathName {
  let text: String
  var range: Range<Int>?

  /// The names of a path that is written at a place.
  static func names(_ path: String, _ place: Range<Int>?) -> [PathName] {
    var offset = place?.lowerBound ?? 0
    return path.split(separator: ".", omittingEmptySubsequences: false).map { part in
      let range = offset..<(offset + part.utf8.count)
      offset = range.upperBound + 1
      // A name like a word of the language is written #size.
      let text = String(part.hasPrefix("#") ? part.dropFirst() : part)
      return PathName(text: text, range: place.map { _ in range })
    }
  }
}

/// A key path as it is written, of which names are taken one by one.
private struct KeyPath {
  var names: ArraySlice<PathName>
  let text: String
  let place: Range<Int>?

  init(_ text: String, _ place: Range<Int>?) {
    (names, self.text, self.place) = (PathName.names(text, place)[...], text, place)
  }

  init(_ names: [String]) {
    self.names = names.map { PathName(text: $0) }[...]
    (text, place) = (names.joined(separator: "."), nil)
  }
}

extension ExpressionCompiler {
  /// What a key path from the object leads to.
  package mutating func path(
    _ text: String, _ place: Range<Int>?
  ) throws(CoreDataError) -> ExpressionOperand {
    var path = KeyPath(text, place)
    if path.names.first?.text.uppercased() == "SELF" { path.names.removeFirst() }
    // A name of the scope's own is only meant where it stands alone.
    if path.names.count == 1, let name = path.names.first, let sql = scope.variables[name.text] {
      return .term(ExpressionTerm(SQLText(own: sql), .any, name: text, range: place))
    }
    return try follow(&path, from: object, through: nil)
  }

  /// What a key path from the object leads to.
  mutating func path(_ names: [String]) throws(CoreDataError) -> ExpressionOperand {
    var path = KeyPath(names)
    return try follow(&path, from: object, through: nil)
  }

  /// What a key path from what an expression stands for leads to.
  mutating func follow(
    _ text: String, from start: ExpressionOperand, _ expression: Expression
  ) throws(CoreDataError) -> ExpressionOperand {
    var path = KeyPath(text, expression.place)
    switch start {
    case .term(let term):
      guard case .object(let entity) = term.kind else { return try ask(&path, of: term, nil) }
      let found = ExpressionObject(entity: entity, row: nil, key: term.sql)
      return try follow(&path, from: term.sql == object.key ? object : found, through: nil)
    case .constant(let constant, let range):
      return try ask(&path, of: plain(constant, range), nil)
    case .collection(let many):
      guard case .object(let entity) = many.element.kind else {
        return try ask(&path, of: many.element, many)
      }
      let found = ExpressionObject(entity: entity, row: nil, key: many.element.sql)
      return try follow(&path, from: found, through: many)
    case .list:
      return .term(try aggregate(text, of: start, name: text, expression.place))
    }
  }

  private mutating func follow(
    _ path: inout KeyPath, from start: ExpressionObject, through many: ExpressionCollection?
  ) throws(CoreDataError) -> ExpressionOperand {
    // SQLite joins 64 tables at most; no path that means something is as long.
    guard path.names.count <= 32 else { throw wrong("the key path is too long", path.place) }
    var object = start
    var chain = many
    while let name = path.names.popFirst() {
      guard let table = layout.table(of: object.entity) else {
        throw wrong("the store has no objects of \(object.entity)", name.range)
      }
      if let entry = table.attribute(named: name.text) {
        note(name.text, of: object)
        return try value(entry.column, entry.attribute, of: object, &path, chain, name)
      }
      if let whole = layout.model.attribute(named: name.text, of: object.entity),
        whole.type == .composite
      {
        return try element(of: whole, &path, object, table, chain, name)
      }
      if let entry = table.relationship(named: name.text) {
        note(name.text, of: object)
        try step(entry, name, &object, &chain)
        continue
      }
      switch name.text {
      case "entity", "@entity":
        if path.names.first?.text == "name" { path.names.removeFirst() }
        try expectEnd(path, after: name)
        return leaf(entityNumber(of: object), .entity, path, chain)
      case "@cloud":
        try expectEnd(path, after: name)
        guard let mirror = layout.mirror else {
          throw wrong("the store is not mirrored to CloudKit", name.range)
        }
        let state = mirror.state(
          entity: entityNumber(of: object), key: object.key, in: scope.schema)
        return leaf(
          "(CASE WHEN \(object.key) IS NOT NULL THEN \(state) END)", .cloudState, path, chain)
      case "objectID", "self": try expectEnd(path, after: name)
      // What tables show of it, where no property is called so.
      case "key":
        try expectEnd(path, after: name)
        return leaf(object.key, .integer, path, chain)
      case "@count":
        guard let chain else { throw notMany(name) }
        try expectEnd(path, after: name)
        return .term(
          ExpressionTerm(
            chain.selecting("count(*)"), .integer, name: path.text, range: path.place))
      case "@min", "@max", "@sum", "@avg":
        guard let chain else { throw notMany(name) }
        let rest = try follow(&path, from: object, through: chain)
        return .term(try aggregate(name.text, of: rest, name: path.text, name.range))
      case _ where name.text.hasPrefix("@"): throw unknownAggregate(name.text, name.range)
      default: throw unknown(name, in: object.entity)
      }
    }
    return leaf(object.key, .object(object.entity), path, chain)
  }

  /// Goes over a relationship: a to-one is a key, a to-many another row source.
  private mutating func step(
    _ entry: EntityTable.RelationshipColumns, _ name: PathName, _ object: inout ExpressionObject,
    _ chain: inout ExpressionCollection?
  ) throws(CoreDataError) {
    let destination = entry.relationship.destination
    guard let storage = entry.storage else {
      throw wrong("the store does not keep \(name.text)", name.range)
    }
    if let column = storage.toOneColumn {
      let key = try self.column(column, of: object)
      object = ExpressionObject(entity: destination, row: nil, key: key)
      return
    }
    let row = alias()
    let links = storage.links(as: row, in: scope.schema)
    let condition: SQLText = "\(links.owner) = \(object.key)"
    object = ExpressionObject(
      entity: destination, row: storage.isInDestinationRow ? row : nil, key: links.destination)
    chain = ExpressionCollection(
      sources: (chain?.sources ?? []) + [links.from],
      conditions: (chain?.conditions ?? []) + [condition],
      element: ExpressionTerm(
        links.destination, .object(destination), name: name.text, range: name.range))
  }

  /// A column of an object's row.
  private mutating func column(
    _ column: String, of object: ExpressionObject
  ) throws(CoreDataError) -> SQLText {
    if let row = object.row { return "\(own: row).\(name: column)" }
    guard let table = layout.table(of: object.entity) else { return "NULL" }
    let row = alias()
    return """
      (SELECT \(own: row).\(name: column) FROM \(self.table(table.table)) \(own: row) \
      WHERE \(own: row).Z_PK = \(object.key))
      """
  }

  private func entityNumber(of object: ExpressionObject) -> SQLText {
    if let row = object.row { return "\(own: row).Z_ENT" }
    guard let table = layout.table(of: object.entity) else { return "NULL" }
    return "(SELECT Z_ENT FROM \(self.table(table.table)) WHERE Z_PK = \(object.key))"
  }

  private mutating func value(
    _ column: String, _ attribute: Attribute, of object: ExpressionObject, _ path: inout KeyPath,
    _ chain: ExpressionCollection?, _ name: PathName
  ) throws(CoreDataError) -> ExpressionOperand {
    let term = ExpressionTerm(
      try self.column(column, of: object), ValueKind(attribute), name: name.text,
      range: path.place)
    return try ask(&path, of: term, chain)
  }

  /// What the rest of a path makes of a value, or of many: messages to it, then an aggregate.
  private mutating func ask(
    _ path: inout KeyPath, of value: ExpressionTerm, _ chain: ExpressionCollection?
  ) throws(CoreDataError) -> ExpressionOperand {
    var term = value
    while let next = path.names.first, !next.text.hasPrefix("@"),
      let answer = try answer(to: next.text, of: content(term))
    {
      path.names.removeFirst()
      term = answer
    }
    let result = leaf(term.sql, term.kind, path, chain)
    guard let next = path.names.popFirst() else { return result }
    guard chain != nil, next.text.hasPrefix("@") else {
      throw wrong(
        "“\(value.name)” is an attribute: nothing can follow it", next.range, of: nil,
        "uses “\(next.text)”, for which there is no SQL")
    }
    try expectEnd(path, after: next)
    return .term(try aggregate(next.text, of: result, name: path.text, next.range))
  }

  /// An element of a composite attribute, or all of it, which has a value where an element has one.
  private mutating func element(
    of whole: Attribute, _ path: inout KeyPath, _ object: ExpressionObject, _ table: EntityTable,
    _ chain: ExpressionCollection?, _ name: PathName
  ) throws(CoreDataError) -> ExpressionOperand {
    var element = whole
    var last = name
    while element.type == .composite, let next = path.names.popFirst() {
      guard let found = element.element(named: next.text).map(element.pathed) else {
        guard case .text = origin else {
          throw scope.unknown(AttributeStorage.path(element.name, next.text), in: object.entity)
        }
        throw wrong(element.unknownElement(next.text), next.range)
      }
      (element, last) = (found, next)
    }
    note(element.name, of: object)
    let columns = element.storage.columns.compactMap { table.column(of: $0.attribute.name) }
    guard element.type == .composite else {
      guard let column = columns.first else {
        throw wrong("the store has no column for \(object.entity).\(element.name)", last.range)
      }
      return try value(column, element, of: object, &path, chain, last)
    }
    let sql = try columns.map { name throws(CoreDataError) in try column(name, of: object) }
    // SQLite's coalesce takes two at least.
    let any: SQLText = "coalesce(NULL, \(SQLText.list(sql.isEmpty ? ["NULL"] : sql)))"
    return leaf(any, .composite(element.elements.map { element.pathed($0).name }), path, chain)
  }

  private func leaf(
    _ sql: SQLText, _ kind: ValueKind, _ path: KeyPath, _ chain: ExpressionCollection?
  ) -> ExpressionOperand {
    let term = ExpressionTerm(sql, kind, name: path.text, range: path.place)
    guard var chain else { return .term(term) }
    chain.element = term
    return .collection(chain)
  }

  private func expectEnd(_ path: KeyPath, after name: PathName) throws(CoreDataError) {
    guard let next = path.names.first else { return }
    throw wrong("nothing can follow “\(name.text)”", next.range)
  }

  private func notMany(_ name: PathName) -> CoreDataError {
    wrong("\(name.text) needs a to-many relationship before it", name.range)
  }

  private func unknown(_ name: PathName, in entity: String) -> CoreDataError {
    guard case .text = origin else { return scope.unknown(name.text, in: entity) }
    if layout.model.declares(name.text, atOrAbove: entity) {
      return wrong("the store has no column for \(entity).\(name.text)", name.range)
    }
    return wrong(layout.model.unknownName(.property, name.text, of: entity), name.range)
  }
}
