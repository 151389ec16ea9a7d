import ManagedModel

/// What a recipe says, before it meets any model.
struct RecipeDocument: Sendable {
  /// Where a value comes from.
  enum Value: Sendable, Equatable {
    /// Computed; SQL unless it says otherwise.
    case expression(ValueExpression, RecipeWord)
    /// Copied from an attribute of that name.
    case source(RecipeWord)
    /// As if the attribute were new.
    case none
  }

  struct Attribute: Sendable {
    var name: RecipeWord
    var value: Value
    /// What a NULL becomes, as model files write it, where it is not what the model says.
    var defaultText: RecipeWord?
    /// Whether an expression stays one, also where it is a mere name.
    var isExact = false
  }

  struct Relationship: Sendable {
    var name: RecipeWord
    /// A key path; `nil` without objects.
    var from: RecipeWord?
    var through: RecipeWord?
    /// Source objects that fulfil a condition, in place of a path.
    var fetched: RecipeWord?
    var condition: Value?
  }

  struct Child: Sendable {
    var destination: RecipeWord
    var relationship: RecipeWord
    var each: Value?
    var attributes: [Attribute]
    var children: [Child]
  }

  struct Mapping: Sendable {
    var range: Range<Int>
    var name: RecipeWord?
    var source: RecipeWord?
    var destination: RecipeWord?
    var kind: EntityMapping.Kind?
    /// Whether objects go on purpose: all of a mapping without destination, else those that the
    /// condition leaves out. `nil` where nothing is said.
    var isDeletion: Bool?
    var condition: Value?
    var distinct: Value?
    var attributes: [Attribute]
    var relationships: [Relationship]
    var children: [Child]
    var policy: String?
    var userInfo: [String: PropertyListValue]
    /// Further mappings that a policy's class would make.
    var also: [Mapping]
  }

  var from: RecipeWord?
  var to: RecipeWord?
  var mappings: [Mapping]
  /// What stands in for classes, by their names.
  var policies: [(name: RecipeWord, mapping: Mapping)]
  /// Source name to destination name: `Entity` or `Entity.property`.
  var renames: [(from: RecipeWord, to: RecipeWord)]
  var userInfo: [String: PropertyListValue]
}
