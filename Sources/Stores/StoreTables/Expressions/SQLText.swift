import ManagedModel
import SQLite

/// A piece of SQL with the values of its parameters, put together by interpolation: pieces keep
/// their values in order, names are quoted, and values can only be bound.
package struct SQLText: ExpressibleByStringInterpolation, Sendable, Equatable {
  /// The text, with a `?` for each value.
  package var sql: String
  package var values: [Value] = []

  /// SQL as it stands in the source code, in which nothing is bound.
  package init(stringLiteral value: String) { sql = value }

  /// SQL of our own making, in which nothing is bound.
  package init(own sql: String) { self.sql = sql }

  package init(value: Value) { (sql, values) = ("?", [value]) }

  /// SQL put together of pieces, with the values of all.
  package init(stringInterpolation: StringInterpolation) {
    sql = stringInterpolation.sql
    values = stringInterpolation.values
  }

  /// Gathers the pieces of one text.
  package struct StringInterpolation: StringInterpolationProtocol {
    var sql = ""
    var values: [Value] = []

    /// A text without a piece yet.
    package init(literalCapacity: Int, interpolationCount: Int) {}

    /// SQL between two interpolations.
    package mutating func appendLiteral(_ literal: String) { sql += literal }

    /// A piece, with its values.
    package mutating func appendInterpolation(_ piece: SQLText) {
      sql += piece.sql
      values += piece.values
    }

    /// A name of a table or a column, in quotes.
    package mutating func appendInterpolation(name: String) { sql += quoted(name) }

    /// An alias or an operator of our own making.
    package mutating func appendInterpolation(own text: String) { sql += text }

    /// A value, as a parameter.
    package mutating func appendInterpolation(value: Value) {
      sql += "?"
      values.append(value)
    }

    /// A number of our own, such as an entity's, written out.
    package mutating func appendInterpolation(number: Int64) { sql += String(number) }
  }

  /// The pieces with a word between them, halved again and again: SQLite bounds the depth of an
  /// expression, and `a OR b OR c …` is as deep as it is long.
  package static func joined(_ pieces: [SQLText], _ word: String) -> SQLText {
    if pieces.count == 1 { return pieces[0] }
    let half = pieces.count / 2
    let (left, right) = (joined(Array(pieces[..<half]), word), joined(Array(pieces[half...]), word))
    return "(\(left) \(own: word) \(right))"
  }

  /// The pieces as a list with commas.
  package static func list(_ pieces: [SQLText]) -> SQLText {
    var result: SQLText = ""
    result.sql = pieces.map(\.sql).joined(separator: ", ")
    result.values = pieces.flatMap(\.values)
    return result
  }
}

/// What a column of a type may hold besides NULL.
extension AttributeType {
  /// SQLite's storage classes, by the names of `typeof`; `nil` for a type without a column.
  package var storageClasses: [String]? {
    switch self {
    case .integer16, .integer32, .integer64, .boolean: ["integer"]
    case .double, .float, .date, .decimal: ["integer", "real"]
    case .string, .uri: ["text"]
    case .uuid, .binary, .transformable: ["blob"]
    default: nil
    }
  }
}
