import ManagedModel
import ManagedStore
import Mapping
import SQLite

extension ExpressionScope {
  /// Name among ``variables`` of SQL that distinguishes the objects made of one row: their places in
  /// the arrays around them. No property can be called so. `position` serves where it is missing.
  static let instance = "#"

  /// SQL over a row of the source for an expression of a recipe.
  ///
  /// - Parameter attribute: what the value is for; `uuid()` is text in a String.
  /// - Throws: ``CoreDataError`` of kind usage with the place in the text: unknown names, words of
  ///   SQL that an expression may not use.
  package func compile(
    recipe text: String, for attribute: Attribute? = nil
  ) throws -> CompiledExpression {
    let expression = try parsed(text)
    var properties: Set<String> = []
    var plain: CompiledExpression.Plain?
    let sql = try expression.joined { located in
      do throws(CoreDataError) {
        switch located.part {
        case .sql(let text):
          plain = Value(literal: text).map { .constant($0) }
          return text
        case .property(let path):
          let value = try value(of: path)
          properties.formUnion(value.properties)
          plain = value.plain
          return value.sql
        case .variable(let name): return variables[name] ?? "NULL"
        case .count(let path):
          let count = try count(of: path)
          properties.formUnion(count.properties)
          return count.sql
        case .uuid(let number):
          return attribute?.type == .string ? "strata_uuid_text(\(uuid(number)))" : uuid(number)
        }
      } catch {
        var error = error
        error.mark = error.mark ?? TextMark(text, located.range)
        throw error
      }
    }.sql
    let isOne = expression.parts.count == 1
    var compiled = CompiledExpression(isOne ? sql : "(\(sql))", properties)
    if isOne { compiled.plain = plain }
    return compiled
  }

  /// Refuses an expression that cannot run, before anything does.
  ///
  /// - Throws: ``CoreDataError`` of kind usage with the place in the text; SQLite's own words where
  ///   the mistake is one of SQL.
  package func check(recipe text: String) throws {
    _ = try compile(recipe: text)
    try ExpressionTrial(parsed(text)).run()
  }

  private func parsed(_ text: String) throws -> SQLExpression {
    try SQLExpression(
      text, entity: entity, model: layout.model,
      variables: Set(variables.keys).subtracting([Self.instance]))
  }

  /// The same for the same row whenever it is asked, so that a verification can ask again.
  private func uuid(_ number: Int) -> String {
    let name = AttributeValue.string("/\(entity)/\(number)/").literal
    let place = variables[Self.instance] ?? variables["position"]
    let instance = place.map { " || '/' || \($0)" } ?? ""
    return "uuid_from(strata_store() || \(name) || \(row).Z_PK\(instance))"
  }
}
