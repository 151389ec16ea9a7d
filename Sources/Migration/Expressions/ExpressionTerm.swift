import ManagedModel
import ManagedStore

/// A piece of an expression as SQL, and what its values are.
struct ExpressionTerm {
  typealias Kind = ValueKind

  var sql: String
  var kind: Kind

  init(_ sql: String, _ kind: Kind) {
    self.sql = sql
    self.kind = kind
  }

  init(_ term: ValueTerm) { self.init(term.sql.sql, term.kind) }

  /// As the functions take it: nothing is bound in it.
  var value: ValueTerm { ValueTerm(SQLText(own: sql), kind) }

  /// The SQL as an attribute of that type holds it; `nil` where it cannot.
  func sql(for type: AttributeType) -> String? {
    switch (type, kind) {
    case (_, .any): sql
    case (.integer16, .real), (.integer16, .decimal), (.integer32, .real), (.integer32, .decimal),
      (.integer64, .real), (.integer64, .decimal):
      "CAST(\(sql) AS INTEGER)"
    case (.boolean, let kind) where kind != .boolean && kind.isNumber: "(\(sql) <> 0)"
    case (.integer16, let kind), (.integer32, let kind), (.integer64, let kind),
      (.boolean, let kind), (.double, let kind), (.float, let kind), (.decimal, let kind):
      kind.isNumber ? sql : nil
    case (.string, .text), (.uri, .text), (.date, .date), (.uuid, .uuid), (.binary, .data),
      (.transformable, .data):
      sql
    default: nil
    }
  }

  /// A constant; `nil` for one that is no value of an attribute.
  init?(_ constant: Expression.Constant) {
    let value: AttributeValue
    switch constant {
    case .null: (value, kind) = (.null, .any)
    case .boolean(let flag): (value, kind) = (.boolean(flag), .boolean)
    case .integer(let number): (value, kind) = (.integer(number), .integer)
    case .real(let number): (value, kind) = (.double(number), .real)
    case .decimal(let digits): (value, kind) = (.decimal(digits), .decimal)
    case .string(let text), .url(let text): (value, kind) = (.string(text), .text)
    case .date(let seconds): (value, kind) = (.date(seconds), .date)
    case .data(let bytes): (value, kind) = (.bytes(bytes), .data)
    case .uuid(let bytes): (value, kind) = (.uuid(bytes), .uuid)
    case .type, .array: return nil
    }
    sql = value.literal
  }
}
