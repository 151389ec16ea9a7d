import ManagedModel
import SQLite

/// One name of a key path and where it stands.
private struct PathName {
  let text: String
  let range: Range<Int>
}

extension FilterCompiler {
  /// What a key path from an object leads to.
  mutating func path(
    _ path: String, from start: FilterObject, place: Range<Int>
  ) throws -> FilterOperand {
    var names: [PathName] = []
    var offset = place.lowerBound
    for part in path.split(separator: ".", omittingEmptySubsequences: false) {
      let length = part.utf8.count
      // A name like a word of the language is written #size.
      names.append(
        PathName(
          text: String(part.hasPrefix("#") ? part.dropFirst() : part),
          range: offset..<(offset + length)))
      offset += length + 1
    }
    // SQLite joins 64 tables at most; no path that means something is as long.
    guard names.count <= 32 else { throw wrong("the key path is too long", place) }
    if names.first?.text.uppercased() == "SELF" { names.removeFirst() }
    return try follow(names[...], from: start, through: nil, path: path, place)
  }

  private mutating func follow(
    _ names: ArraySlice<PathName>, from start: FilterObject, through chain: FilterCollection?,
    path: String, _ place: Range<Int>
  ) throws -> FilterOperand {
    var names = names
    var object = start
    var chain = chain
    while let name = names.popFirst() {
      guard let table = layout.table(of: object.entity) else {
        throw wrong("the store does not keep \(object.entity)", name.range)
      }
      if let entry = table.attribute(named: name.text) {
        note(name.text, of: object)
        return try value(
          entry.column, entry.attribute, of: object, chain, names, path: path, name: name, place)
      }
      if let whole = layout.model.attribute(named: name.text, of: object.entity),
        whole.type == .composite
      {
        return try self.element(
          of: whole, names, object: object, table, chain, path: path, name: name, place)
      }
      if let entry = table.relationship(named: name.text) {
        note(name.text, of: object)
        try step(entry, name, &object, &chain)
        continue
      }
      switch name.text {
      case "entity", "@entity":
        if names.first?.text == "name" { names.removeFirst() }
        try expectEnd(names, after: name)
        return leaf(entityNumber(of: object), .entity, path, place, chain)
      case "objectID", "self":
        try expectEnd(names, after: name)
      case "@count":
        guard let chain else { throw notMany(name) }
        try expectEnd(names, after: name)
        return .term(
          FilterTerm(sql: chain.selecting("count(*)"), kind: .integer, name: path, range: place))
      case "@min", "@max", "@sum", "@avg":
        guard let chain else { throw notMany(name) }
        let rest = try follow(names, from: object, through: chain, path: path, place)
        return .term(try aggregate(name.text, of: rest, path: path, name.range))
      default: throw unknown(name, in: object.entity)
      }
    }
    return leaf(object.key, .object(object.entity), path, place, chain)
  }

  /// Goes over a relationship: a to-one is a key, a to-many another row source.
  private mutating func step(
    _ entry: EntityTable.RelationshipColumns, _ name: PathName, _ object: inout FilterObject,
    _ chain: inout FilterCollection?
  ) throws {
    let destination = entry.relationship.destination
    guard let storage = entry.storage else {
      throw wrong("the store does not keep \(name.text)", name.range)
    }
    if let column = storage.toOneColumn {
      let key = try self.column(column, of: object)
      object = FilterObject(entity: destination, row: nil, key: key)
      return
    }
    let row = alias()
    let links = storage.links(as: row, in: schema)
    let condition: SQLText = "\(links.owner) = \(object.key)"
    object = FilterObject(
      entity: destination, row: storage.isInDestinationRow ? row : nil, key: links.destination)
    let element = FilterTerm(
      sql: links.destination, kind: .object(destination), name: name.text, range: name.range)
    chain = FilterCollection(
      sources: (chain?.sources ?? []) + [links.from],
      conditions: (chain?.conditions ?? []) + [condition],
      element: element, range: name.range)
  }

  /// A column of an object's row.
  mutating func column(_ column: String, of object: FilterObject) throws -> SQLText {
    if let row = object.row { return "\(own: row).\(name: column)" }
    guard let table = layout.table(of: object.entity) else { return "NULL" }
    let row = alias()
    return """
      (SELECT \(own: row).\(name: column) FROM \(self.table(table.table)) \(own: row) \
      WHERE \(own: row).Z_PK = \(object.key))
      """
  }

  private mutating func entityNumber(of object: FilterObject) -> SQLText {
    if let row = object.row { return "\(own: row).Z_ENT" }
    guard let table = layout.table(of: object.entity) else { return "NULL" }
    return "(SELECT Z_ENT FROM \(self.table(table.table)) WHERE Z_PK = \(object.key))"
  }

  private mutating func value(
    _ column: String, _ attribute: Attribute?, of object: FilterObject,
    _ chain: FilterCollection?, _ names: ArraySlice<PathName>, path: String, name: PathName,
    _ place: Range<Int>
  ) throws -> FilterOperand {
    var names = names
    var sql = try self.column(column, of: object)
    var kind = FilterTerm.Kind(attribute)
    if names.first?.text == "length", let value = kind.value,
      let length = try? ValueFunctions.call("length:", [ValueTerm(sql, value)])
    {
      names.removeFirst()
      (sql, kind) = (length.sql, FilterTerm.Kind(length.kind))
    }
    let result = leaf(sql, kind, path, place, chain)
    guard let next = names.popFirst() else { return result }
    guard chain != nil, next.text.hasPrefix("@") else {
      throw wrong("“\(name.text)” is an attribute: nothing can follow it", next.range)
    }
    try expectEnd(names, after: next)
    return .term(try aggregate(next.text, of: result, path: path, next.range))
  }

  /// An element of a composite attribute, or all of it, which has a value where an element has one.
  private mutating func element(
    of whole: Attribute, _ names: ArraySlice<PathName>, object: FilterObject, _ table: EntityTable,
    _ chain: FilterCollection?, path: String, name: PathName, _ place: Range<Int>
  ) throws -> FilterOperand {
    var element = whole
    var names = names
    var last = name
    while element.type == .composite, let next = names.popFirst() {
      guard let inner = element.element(named: next.text).map(element.pathed) else {
        let wrong = WrongElement(next.text, of: element)
        throw self.wrong(wrong.message, next.range, hint: wrong.hint)
      }
      (element, last) = (inner, next)
    }
    note(element.name, of: object)
    let columns = element.storage.columns.compactMap { table.column(of: $0.attribute.name) }
    guard element.type == .composite else {
      guard let column = columns.first else {
        throw wrong("the store keeps no column for \(object.entity).\(element.name)", last.range)
      }
      return try value(column, element, of: object, chain, names, path: path, name: last, place)
    }
    let sql = try columns.map { try column($0, of: object) }
    // SQLite's coalesce takes two at least.
    let any: SQLText = "coalesce(NULL, \(SQLText.list(sql.isEmpty ? ["NULL"] : sql)))"
    let elements = element.elements.map { element.pathed($0).name }
    return leaf(any, .composite(elements), path, place, chain)
  }

  private func leaf(
    _ sql: SQLText, _ kind: FilterTerm.Kind, _ path: String, _ place: Range<Int>,
    _ chain: FilterCollection?
  ) -> FilterOperand {
    let term = FilterTerm(sql: sql, kind: kind, name: path, range: place)
    guard var chain else { return .term(term) }
    chain.element = term
    chain.range = place
    return .collection(chain)
  }

  /// `@count`, `@sum`, `@avg`, `@min`, `@max` of many values.
  func aggregate(
    _ name: String, of operand: FilterOperand, path: String, _ range: Range<Int>
  ) throws -> FilterTerm {
    guard case .collection(let many) = operand else {
      throw wrong("\(name) needs a to-many relationship", range)
    }
    if name == "@count" {
      return FilterTerm(
        sql: many.selecting("count(*)"), kind: .integer, name: path, range: many.range)
    }
    guard ["@sum", "@avg", "@min", "@max"].contains(name) else {
      throw wrong(
        "“\(name)” is not known", range, hint: "Known are @count, @sum, @avg, @min, @max.")
    }
    let kind = many.element.kind
    guard let value = kind.value, value.isNumber || value == .date || value == .text,
      let result = ValueFunctions.aggregate(name, of: ValueTerm(many.element.sql, value))
    else { throw wrong("\(name) cannot be taken of \(kind.name)", many.range) }
    return FilterTerm(
      sql: many.selecting(result.sql), kind: FilterTerm.Kind(result.kind), name: path,
      range: many.range)
  }

  private func expectEnd(_ names: ArraySlice<PathName>, after name: PathName) throws {
    guard let next = names.first else { return }
    throw wrong("nothing can follow “\(name.text)”", next.range)
  }

  private func notMany(_ name: PathName) -> CoreDataError {
    wrong("\(name.text) needs a to-many relationship before it", name.range)
  }

  private func unknown(_ name: PathName, in entity: String) -> CoreDataError {
    let attributes = layout.model.attributes(of: entity).map(\.name)
    let relationships = layout.model.relationships(of: entity).map(\.name)
    if (attributes + relationships).contains(name.text) {
      return wrong("the store keeps no column for \(entity).\(name.text)", name.range)
    }
    let nearest = Nearest.match(name.text, in: attributes + relationships)
    return wrong(
      "\(entity) has no property “\(name.text)”", name.range,
      hint: nearest.map { "Did you mean \($0)?" }
        ?? "It has: " + (attributes + relationships).sorted().joined(separator: ", "))
  }
}

extension FilterTerm.Kind {
  init(_ attribute: Attribute?) {
    switch attribute?.type {
    case .integer16, .integer32, .integer64: self = .integer
    case .double, .float: self = .number
    case .boolean: self = .boolean
    case .decimal: self = .decimal
    case .string, .uri: self = .text
    case .date: self = .date
    case .uuid: self = .uuid
    default: self = .data(isPlain: attribute?.allowsExternalBinaryDataStorage == false)
    }
  }
}
