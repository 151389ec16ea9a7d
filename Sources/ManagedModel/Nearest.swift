/// The known word that a mistyped one most likely meant.
package enum Nearest {
  /// - Returns: `nil` where nothing is near enough to be worth suggesting.
  package static func match(_ word: String, in known: [String]) -> String? {
    let ranked = known.map { (distance(word, $0), $0) }.min { $0.0 < $1.0 }
    guard let (distance, match) = ranked else { return nil }
    return distance <= max(1, min(word.count, match.count) / 2) ? match : nil
  }

  /// What was probably meant, as a question.
  ///
  /// - Parameter spelled: a known word as it would have to be written.
  package static func question(
    _ word: String, in known: [String], spelled: (String) -> String = { $0 }
  ) -> String? {
    match(word, in: known.filter { $0 != word }).map { "Did you mean \(spelled($0))?" }
  }

  /// What was probably meant, as a question; else all that there is, if anything.
  package static func hint(
    _ word: String, in known: [String], spelled: (String) -> String = { $0 }
  ) -> String? {
    question(word, in: known, spelled: spelled)
      ?? (known.isEmpty ? nil : "It has: " + known.joined(separator: ", "))
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
