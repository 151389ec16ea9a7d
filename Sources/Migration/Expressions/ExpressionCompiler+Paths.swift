import ManagedModel
import ManagedStore

extension ExpressionCompiler {
  /// The value of a key path: to-one relationships, then an attribute, then messages to its value.
  mutating func value(
    at path: [String], of expression: Expression
  ) throws -> ExpressionTerm {
    guard let first = path.first else {
      throw uncompilable(expression, "is the object itself, and no value of it")
    }
    // A name of the scope's own is only meant where it stands alone.
    if path.count == 1, let sql = scope.variables[first] { return ExpressionTerm(sql, .any) }
    if let index = path.firstIndex(where: { $0.hasPrefix("@") }) {
      let names = path[..<index] + path[(index + 1)...]
      return try aggregate(path[index], of: Array(names), in: expression)
    }
    var holder = scope.entity
    for (index, name) in path.enumerated() {
      if let relationship = scope.store.model.relationship(named: name, of: holder) {
        guard !relationship.isToMany else {
          throw uncompilable(expression, "goes through “\(name)”, which has many objects")
        }
        holder = relationship.destination
        continue
      }
      // The attribute of that name, or the element that the names from here lead to.
      let attributes = scope.store.table(of: holder)?.attributes.map(\.attribute) ?? []
      let found = (index..<path.count).lazy.compactMap { end in
        attributes.first { $0.name == path[index...end].joined(separator: ".") }.map { ($0, end) }
      }.first
      guard let (attribute, end) = found else {
        throw scope.unknown(path[index...].joined(separator: "."), in: holder)
      }
      let compiled = try scope.value(of: Array(path[...end]))
      note(compiled.properties)
      var term = ExpressionTerm(compiled.sql, ExpressionTerm.Kind(attribute.type))
      for message in path[(end + 1)...] {
        term = try self.message(message, to: term, [], of: expression)
      }
      return term
    }
    throw uncompilable(expression, "leads to an object, and no value of it")
  }

  /// `@count`, `@sum`, `@min`, `@max` or `@avg` of what a path through to-many relationships leads
  /// to.
  mutating func aggregate(
    _ operation: String, of path: [String], in expression: Expression
  ) throws -> ExpressionTerm {
    guard ["@count", "@sum", "@min", "@max", "@avg"].contains(operation) else {
      throw uncompilable(expression, "gives many values")
    }
    // The sign keeps names apart from words of the language.
    let text = (path.map { "#" + $0 } + [operation]).joined(separator: ".")
    let sql = try embedded { scope in
      try EmbeddedFilter(
        expression: text, entity: scope.entity, store: scope.store, row: scope.row,
        schema: scope.schema)
    }
    // The filters' compiler wrote it; what it is follows from what it is of.
    let kind = ValueFunctions.aggregate(operation, of: ValueTerm("", kind(at: path)))?.kind
    return ExpressionTerm(sql, kind ?? .any)
  }

  private func kind(at path: [String]) -> ExpressionTerm.Kind {
    var holder = scope.entity
    for (index, name) in path.enumerated() {
      if let relationship = scope.store.model.relationship(named: name, of: holder) {
        holder = relationship.destination
      } else if let attribute = scope.store.model.attribute(
        at: path[index...].joined(separator: "."), of: holder)
      {
        return ExpressionTerm.Kind(attribute.type)
      }
    }
    return .any
  }
}
