import ManagedStore
import SQLite

/// Links of a new store that name what is not in it, reported with what was saved: whoever made the store
/// has to know before an app opens it.
enum DanglingLinks {
  private static let mostListed = 5

  /// How many there are, in a sentence; `nil` where there are none.
  static func note(_ connection: Connection, _ schema: StoreSchema) throws -> String? {
    let audits = schema.audits(of: try DatabaseTables(connection))
    var found: [(name: String, count: Int)] = []
    for audit in audits.toOnes + audits.outside {
      // A column may hold what an object of another entity of the table left in it.
      let own = audit.storage.kind == .toOne ? audits.table(of: audit.entity)?.kindRows("t") : nil
      let count = try audit.counts(of: [.dangling], where: own, on: connection)[.dangling] ?? 0
      if count > 0 { found.append(("\(audit.entity).\(audit.relationship.name)", count)) }
    }
    guard !found.isEmpty else { return nil }
    found.sort { ($1.count, $0.name) < ($0.count, $1.name) }
    let names = found.prefix(mostListed).map { "\($0.name) \($0.count)" }
    let rest = found.count > mostListed ? " …" : ""
    return
      "References to missing objects (\(names.joined(separator: ", "))\(rest)): an app that follows one fails with an error. A repair of the new store empties them; which objects they named is then lost."
  }
}
