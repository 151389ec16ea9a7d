import SQLite
import Salvage

/// What the SQL of a planned value says, where that is so little that it is known without SQLite: a column
/// of the row `s`, a constant, the new number of an entity.
struct PlannedValue {
  let source: IndexedTable

  /// What a value must be; `nil` for all other SQL.
  func value(of sql: String) -> RowComparison.Value? { value(sql[...]) }

  private func value(_ sql: Substring) -> RowComparison.Value? {
    if let place = place(of: sql) { return .column(place) }
    if sql == "NULL" { return .null }
    if let number = Int64(sql) { return .integer(number) }
    if let text = quotedContent(of: sql, "'") { return .text(Array(text.utf8)) }
    if sql.hasPrefix("("), sql.hasSuffix(")") { return value(sql.dropFirst().dropLast()) }
    guard sql.hasPrefix("CASE "), sql.hasSuffix(" END") else { return nil }
    let cases = sql.dropFirst(5).dropLast(4)
    return cases.hasPrefix("WHEN ") ? present(cases.dropFirst(5)) : renumbered(cases)
  }

  /// `s."X" IS NOT NULL THEN` and a value.
  private func present(_ sql: Substring) -> RowComparison.Value? {
    guard let column = leadingColumn(of: sql), let place = place(of: column) else { return nil }
    let rest = sql[column.endIndex...]
    let test = " IS NOT NULL THEN "
    guard rest.hasPrefix(test), let then = value(rest.dropFirst(test.count)) else { return nil }
    return .present(place, then)
  }

  /// `s."X" WHEN 4 THEN 5`, and more of them, `ELSE s."X"`.
  private func renumbered(_ sql: Substring) -> RowComparison.Value? {
    guard let column = leadingColumn(of: sql), let place = place(of: column) else { return nil }
    let (rest, otherwise) = (sql[column.endIndex...], " ELSE " + column)
    guard rest.hasPrefix(" WHEN "), rest.hasSuffix(otherwise) else { return nil }
    var numbers: [Int64: Int64] = [:]
    var words = rest.dropLast(otherwise.count).split(
      separator: " ", omittingEmptySubsequences: false
    )
    .dropFirst()
    while words.count >= 4 {
      let four = Array(words.prefix(4))
      guard four[0] == "WHEN", let old = Int64(four[1]), four[2] == "THEN",
        let new = Int64(four[3]), numbers.updateValue(new, forKey: old) == nil
      else { return nil }
      words = words.dropFirst(4)
    }
    return words.isEmpty ? .renumbered(place, numbers) : nil
  }

  /// Which value of the source's row a column of `s` is; its key is none.
  private func place(of sql: Substring) -> Int? {
    guard sql.hasPrefix("s.") else { return nil }
    let name = sql.dropFirst(2)
    let isBare = name.utf8.allSatisfy {
      $0 == 0x5F || 0x30...0x39 ~= $0 || 0x41...0x5A ~= $0 || 0x61...0x7A ~= $0
    }
    guard let column = isBare ? String(name) : quotedContent(of: name, "\""),
      let place = source.columns.firstIndex(of: column), place != source.key
    else { return nil }
    return place
  }

  /// The quoted column of `s` that SQL begins with.
  private func leadingColumn(of sql: Substring) -> Substring? {
    guard sql.hasPrefix("s.\"") else { return nil }
    var place = sql.index(sql.startIndex, offsetBy: 3)
    while place < sql.endIndex {
      let next = sql.index(after: place)
      if sql[place] == "\"" {
        guard next < sql.endIndex, sql[next] == "\"" else { return sql[..<next] }
        place = sql.index(after: next)
      } else {
        place = next
      }
    }
    return nil
  }

  /// What stands between quotes, where all of it does.
  private func quotedContent(of sql: Substring, _ quote: Character) -> String? {
    guard sql.count >= 2, sql.first == quote, sql.last == quote else { return nil }
    var content = ""
    var isDoubled = false
    for character in sql.dropFirst().dropLast() {
      if character == quote {
        isDoubled.toggle()
        if isDoubled { continue }
      } else if isDoubled {
        return nil
      }
      content.append(character)
    }
    return isDoubled ? nil : content
  }
}
