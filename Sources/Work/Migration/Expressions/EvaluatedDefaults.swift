import ManagedModel
import ManagedStore
import Mapping
import SQLite

extension MigrationStep {
  /// The step with a value in place of each default that is evaluated once: all rows get the same.
  func evaluatingDefaults() -> MigrationStep {
    var step = self
    step.mapping = mapping.evaluatingDefaults(from: source, to: destination)
    return step
  }
}

extension MappingModel {
  /// The mapping with the value that a migrated store has for each attribute that was added with such a
  /// default: any is right that all its rows share.
  func takingDefaults(of store: Store) throws -> MappingModel {
    try settingDefaults(to: store.model) { entityMapping, mapped, attribute in
      let data = SourceData(store: store)
      guard mapped.source == nil, let entity = entityMapping.destination,
        let column = data.column(of: attribute.name, in: entity),
        let rows = data.rows(of: entity, where: ["\(column) IS NOT NULL"])
      else { return nil }
      return try store.connection.value("SELECT \(column) \(rows) LIMIT 1")
        .flatMap { Self.value($0, as: attribute.type) }
    }
  }

  private static func value(_ stored: Value, as type: AttributeType) -> AttributeValue? {
    switch (stored, type) {
    case (.blob(let bytes), .uuid): .uuid(bytes)
    case (.text(let text), .string): .string(text)
    case (.real(let seconds), .date): .date(seconds)
    case (.integer(let seconds), .date): .date(Double(seconds))
    case (.integer(let number), .integer16), (.integer(let number), .integer32),
      (.integer(let number), .integer64):
      .integer(number)
    default: nil
    }
  }
}
