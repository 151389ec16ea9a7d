import ManagedStore
import Migration

extension StoreComparison {
  /// What differs beside the objects, a line for each part.
  func compareBookkeeping() throws -> [ComparisonSummary.Bookkeeping] {
    guard let mapping = alignment.mapping, a.modelSource != .raw, b.modelSource != .raw,
      !a.lacksTables, !b.lacksTables
    else {
      return [
        .init(
          part: "bookkeeping",
          message: "not compared: no mapping can be inferred, or tables are missing", count: 0)
      ]
    }
    let found = try StoreVerification.bookkeeping(
      before: a, after: b, mapping: mapping, isCancelled: isCancelled)
    var lines: [ComparisonSummary.Bookkeeping] = []
    for difference in found {
      let part = difference.part.rawValue
      // One line for each part, with the first difference in full.
      if let index = lines.firstIndex(where: { $0.part == part }) {
        lines[index].count += difference.count
        continue
      }
      let place = [difference.entity, difference.property].compactMap { $0 }
      let prefix = place.isEmpty ? "" : place.joined(separator: ".") + ": "
      lines.append(
        .init(part: part, message: prefix + difference.message, count: difference.count))
    }
    return lines
  }
}
