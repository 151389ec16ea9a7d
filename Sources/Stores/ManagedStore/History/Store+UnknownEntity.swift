import ManagedModel
import StoreTables

extension Store {
  /// The column with the entity of a change of history, and SQL that is true of a change `t` of an entity that
  /// the store does not have; `nil` without history, and where nothing lists the entities.
  ///
  /// - Parameter name: the prefix of tables, such as `main.`.
  package func unknownEntity(
    in name: String = ""
  ) -> (key: KeyColumn, condition: String)? {
    let key = KeyColumn(
      table: HistoryTable.change.name, column: "ZENTITY", destination: "Z_PRIMARYKEY",
      key: "Z_ENT", in: name)
    guard database.columns(of: key.table).contains(key.column),
      database.contains(key.destination)
    else { return nil }
    // Rows of tables show numbers that the list lacks.
    let known = schema.numbers.values.sorted().list
    return (key, "(\(key.isDangling) AND \(key.value) NOT IN (\(known)))")
  }
}
