import ManagedModel
import ManagedStore
import SQLite

extension Validation {
  /// Objects that policies made equal under a uniqueness constraint, before an index meets them.
  ///
  /// - Throws: ``CoreDataError`` of kind refused, code 134111, naming the properties and the rows.
  func checkConstraints() throws {
    for entity in step.destination.entities {
      for constraint in entity.uniquenessConstraints {
        try check(constraint, of: entity.name)
      }
    }
  }

  private func check(_ constraint: [String], of entity: String) throws {
    let schema = schemas.destination
    let columns = constraint.compactMap { schema.column(of: $0, in: entity) }.map { quoted($0) }
    guard columns.count == constraint.count, let table = schema.table(of: entity)?.name else {
      return
    }
    let numbers = schema.model.subtree(of: entity).compactMap { schema.numbers[$0] }
      .map(String.init).joined(separator: ", ")
    let select = "SELECT * FROM main.\(quoted(table)) WHERE Z_ENT IN (\(numbers))"
    guard let found = try Duplicates(of: select, by: columns, entity: entity, on: connection)
    else { return }
    throw DestinationRule(
      entity: entity, property: constraint.joined(separator: ", "), conditions: [],
      code: .migrationConstraintViolation, message: "duplicates under a uniqueness constraint",
      hint: "Let the policy make one object of those that are equal, or leave the constraint out."
    ).refusal(found.rows)
  }
}
