import ManagedStore
import SQLite

extension Store {
  /// How many there are, and the first few of them, which are looked for only where there are any.
  func counted(_ count: String, _ first: String) throws -> (count: Int64, first: [[Value]]) {
    try reading {
      let number = try connection.value(count)?.integer ?? 0
      return (number, number > 0 ? try connection.rows(first) : [])
    }
  }
}
