/// The known word that a mistyped one most likely meant.
package enum Nearest {
  /// - Returns: `nil` where nothing is near enough to be worth suggesting.
  package static func match(_ word: String, in known: [String]) -> String? {
    let ranked = known.map { (distance(word, $0), $0) }.min { $0.0 < $1.0 }
    guard let (distance, match) = ranked else { return nil }
    return distance <= max(1, min(word.count, match.count) / 2) ? match : nil
  }

  /// Letters to insert, remove or replace.
  package static func distance(_ a: String, _ b: String) -> Int {
    let (a, b) = (Array(a.prefix(64)), Array(b.prefix(64)))
    var row = Array(0...b.count)
    for (i, letter) in a.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for (j, other) in b.enumerated() {
        let cost = diagonal + (letter == other ? 0 : 1)
        diagonal = row[j + 1]
        row[j + 1] = min(cost, row[j] + 1, row[j + 1] + 1)
      }
    }
    return row[b.count]
  }
}
