import ManagedModel
import SQLite

/// Turns expressions and predicates into SQL over a row: those of filters, of derived attributes and
/// of mappings.
///
/// To-one paths become lookups by key, to-many ones EXISTS or a scalar over them, so that nothing
/// multiplies rows. What the values are decides what `/` and `+` mean; nil goes through functions as
/// NULL does.
struct ExpressionCompiler {
  /// What is compiled, for errors to show.
  enum Origin {
    /// Text that a person wrote: errors are marked in it.
    case text(String)
    /// An expression of a mapping model: errors show it, and say how else to say it.
    case expression(Expression)
    /// A key path that was taken apart already.
    case path
  }

  let scope: ExpressionScope
  let origin: Origin
  /// The object that the expression is about.
  let object: ExpressionObject
  /// Objects that names with a `$` stand for: those of subqueries.
  var objects: [String: ExpressionObject] = [:]
  /// Properties of the row that were met.
  private(set) var properties: Set<String> = []
  /// Whether computing it twice must give the same.
  var isExact = true
  private var aliases = 0

  init(scope: ExpressionScope, origin: Origin) {
    self.scope = scope
    self.origin = origin
    object = ExpressionObject(
      entity: scope.entity, row: scope.row, key: "\(own: scope.row).Z_PK")
    if scope.hasSource { objects[ExpressionScope.source] = object }
  }

  var layout: StoreLayout { scope.layout }

  /// A table of the store, by its name in the statement.
  func table(_ name: String) -> SQLText { "\(own: scope.schema)\(name: name)" }

  mutating func note(_ property: String, of object: ExpressionObject) {
    if object.row == scope.row { properties.insert(property) }
  }

  mutating func alias() -> String {
    aliases += 1
    return "f\(aliases)"
  }

  /// A value, as a parameter or as a literal.
  func bound(_ value: Value) -> SQLText {
    scope.bindsValues ? "\(value: value)" : SQLText(own: value.literal)
  }

  /// An error about a name at a range of the text.
  func wrong(_ unknown: UnknownName, _ range: Range<Int>?) -> CoreDataError {
    wrong(unknown.message, range, hint: unknown.hint)
  }

  /// An error about the words in a range of the text, or about a part of a mapping's expression.
  ///
  /// - Parameter clause: what stands behind the expression where it shows no words; without it, the
  ///   message does.
  func wrong(
    _ message: String, _ range: Range<Int>?, hint: String? = nil, of part: Expression? = nil,
    _ clause: String? = nil
  ) -> CoreDataError {
    switch origin {
    case .text(let text):
      let mark = TextMark(text, range ?? text.utf8.count..<text.utf8.count)
      return CoreDataError(.usage, message, hint: hint, mark: mark)
    case .expression(let whole):
      var error = refusal(of: part ?? whole, clause ?? "cannot be computed: \(message)")
      error.hint = clause == nil ? hint ?? error.hint : error.hint
      return error
    case .path: return CoreDataError(.usage, message, entity: scope.entity, hint: hint)
    }
  }

  /// An error about a part of a mapping's expression, which says how else to say it.
  func refusal(of part: Expression, _ clause: String) -> CoreDataError {
    var shown = "“\(part)”"
    if case .expression(let whole) = origin, part != whole { shown += " in “\(whole)”" }
    return CoreDataError(
      .refused, code: .migration, "\(shown) \(clause)", entity: scope.entity,
      hint: "Give the attribute a value in a recipe, as SQL over the source's properties.")
  }
}
