import ManagedModel
import ManagedStore
import SQLite

extension Store {
  /// SELECT of where a path of relationships leads, in the columns of
  /// ``RelationshipStorage/allLinks(in:of:)``: each object once, however many ways lead to it.
  func links(along path: [String], from entity: String) -> String? {
    var holder = entity
    var walked: String?
    for name in path {
      guard let step = model.relationship(named: name, of: holder),
        let next = table(of: holder)?.storage(of: name)?.allLinks(in: "src.", bothWays: true)
      else { return nil }
      walked =
        walked.map {
          "SELECT w.owner, n.destination FROM (\($0)) w JOIN (\(next)) n ON n.owner = w.destination"
        } ?? next
      holder = step.destination
    }
    return walked.map {
      """
      SELECT DISTINCT owner, destination, NULL AS position, NULL AS inverse FROM (\($0))
      WHERE destination IS NOT NULL
      """
    }
  }
}
