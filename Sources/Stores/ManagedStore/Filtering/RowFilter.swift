import ManagedModel
import SQLite
import StoreTables

/// A predicate over the objects of an entity, compiled to SQL for one store.
///
///     let soups = try RowFilter("title CONTAINS[c] \"soup\" AND ANY tags.name == \"quick\"",
///                               entity: "Recipe", store: store)
///     let page = try store.rows(RowQuery(entity: "Recipe", filter: soups))
///
/// The text is NSPredicate's format over the model's names. Where NSPredicate in memory and Core
/// Data's SQL differ about nil, this follows NSPredicate: a predicate is true or false and never
/// unknown. `nil == nil` holds, `!=` and `NOT` take rows without a value (Core Data's SQL for `!=`
/// does so too), and nothing is less or greater than nil.
///
/// Beyond NSPredicate: ISO text against a Date (UTC without a zone), UUID text against a UUID,
/// digits in quotes against a Decimal (exact), `Entity/p12` or an object's URI against a
/// relationship or SELF, and an entity's name against `entity`.
///
/// Text without `[c]` or `[d]` is compared byte for byte, also with `[n]` and `[l]`; `MATCHES` knows
/// the part of ICU's regular expressions that needs no going back, so that no pattern takes long.
public struct RowFilter: Sendable, Equatable {
  /// The predicate as it was written.
  public let text: String
  /// The entity whose objects it is about; a query must be for the same one.
  public let entity: String
  /// A condition on a row whose alias is `t`.
  let condition: SQLText
  /// What such a row is ordered by where a query names nothing: its place in a relationship.
  var order: SQLText?
  /// Whether the condition finds its rows by itself, better than by their entity.
  var isSeeking = false
}

extension RowFilter {
  /// - Throws: ``CoreDataError`` of kind usage with a ``TextMark`` at the word that is wrong.
  public init(_ text: String, entity: String, store: Store) throws(CoreDataError) {
    try self.init(text, entity: entity, layout: store.layout)
  }

  /// Compiles a predicate without a look at the store.
  ///
  /// - Parameter isWhole: whether the text is all that somebody typed, so that an error may say what to
  ///   type in its place.
  package init(
    _ text: String, entity: String, layout: StoreLayout, isWhole: Bool = true
  ) throws(CoreDataError) {
    let table = try layout.knownTable(of: entity)
    var compiler = ExpressionCompiler(
      scope: ExpressionScope(filtering: table.entity, in: layout), origin: .text(text))
    do {
      self.init(text: text, entity: entity, condition: try compiler.condition(of: text))
    } catch {
      throw isWhole
        ? FilterAdvice(text, entity: entity, layout: layout).improved(error) : error
    }
  }

  /// What to type where the filter takes no row, if its text suggests that something else was meant.
  package func doubt(_ layout: StoreLayout) -> String? {
    FilterAdvice(text, entity: entity, layout: layout).doubt
  }

  /// Whether the rows have an order of their own.
  package var isOrdered: Bool { order != nil }
}

extension RowFilter {
  /// The objects that a relationship of one object references, in the relationship's order where it
  /// has one; of them those that a predicate takes.
  ///
  /// It uses the keys that the store keeps for the relationship, so it needs no inverse.
  package init(
    relatedTo object: ObjectID, by relationship: String, taking text: String? = nil,
    layout: StoreLayout
  ) throws(CoreDataError) {
    let owner = try layout.knownTable(of: object.entity)
    guard let entry = owner.relationship(named: relationship) else {
      throw layout.model.unknown(.relationship, relationship, of: object.entity)
    }
    let destination = entry.relationship.destination
    let own = try text.map { text throws(CoreDataError) in
      try RowFilter(text, entity: destination, layout: layout)
    }
    let (related, order) =
      entry.storage?.restriction(of: "t", to: SQLText(value: .integer(object.key))) ?? ("0", nil)
    self.init(
      text: text ?? "", entity: destination,
      condition: own.map { "(\(related) AND (\($0.condition)))" } ?? related, order: order,
      isSeeking: true)
  }
}
