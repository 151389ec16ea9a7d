import SQLite

/// A piece of SQL with the values of its parameters, put together by interpolation: pieces keep
/// their values in order, names are quoted, and values can only be bound.
package struct SQLText: ExpressibleByStringInterpolation, Sendable, Equatable {
  package var sql: String
  package var values: [Value] = []

  package init(stringLiteral value: String) { sql = value }

  /// SQL of our own making, in which nothing is bound.
  package init(own sql: String) { self.sql = sql }

  init(value: Value) { (sql, values) = ("?", [value]) }

  package init(stringInterpolation: StringInterpolation) {
    sql = stringInterpolation.sql
    values = stringInterpolation.values
  }

  package struct StringInterpolation: StringInterpolationProtocol {
    var sql = ""
    var values: [Value] = []

    package init(literalCapacity: Int, interpolationCount: Int) {}

    package mutating func appendLiteral(_ literal: String) { sql += literal }

    package mutating func appendInterpolation(_ piece: SQLText) {
      sql += piece.sql
      values += piece.values
    }

    package mutating func appendInterpolation(name: String) { sql += quoted(name) }

    /// An alias or an operator of our own making.
    package mutating func appendInterpolation(own text: String) { sql += text }

    package mutating func appendInterpolation(value: Value) {
      sql += "?"
      values.append(value)
    }

    package mutating func appendInterpolation(number: Int64) { sql += String(number) }
  }

  /// The pieces with a word between them, halved again and again: SQLite bounds the depth of an
  /// expression, and `a OR b OR c …` is as deep as it is long.
  static func joined(_ pieces: [SQLText], _ word: String) -> SQLText {
    if pieces.count == 1 { return pieces[0] }
    let half = pieces.count / 2
    let (left, right) = (joined(Array(pieces[..<half]), word), joined(Array(pieces[half...]), word))
    return "(\(left) \(own: word) \(right))"
  }

  /// The pieces as a list with commas.
  static func list(_ pieces: [SQLText]) -> SQLText {
    var result: SQLText = ""
    result.sql = pieces.map(\.sql).joined(separator: ", ")
    result.values = pieces.flatMap(\.values)
    return result
  }
}
