import ManagedModel

/// How alike two names are.
package enum NameSimilarity {
  /// 0…1: one less the share of letters that must change, case aside.
  static func of(_ a: String, _ b: String) -> Double {
    // As many letters as ``Nearest`` looks at.
    let (a, b) = (String(a.lowercased().prefix(64)), String(b.lowercased().prefix(64)))
    guard !a.isEmpty, !b.isEmpty else { return 0 }
    return 1 - Double(Nearest.distance(a, b)) / Double(max(a.count, b.count))
  }

  /// How alike names are of which one or both may be an element's path. An element is known by its own
  /// name and by its composite's with it: `authorName` is like `author.name`.
  package static func likeness(_ a: String, _ b: String) -> Double {
    func spellings(_ path: String) -> [String] {
      [ElementPath.last(of: path), path.filter { $0 != "." }]
    }
    return spellings(a).flatMap { one in spellings(b).map { of(one, $0) } }.max() ?? 0
  }
}
