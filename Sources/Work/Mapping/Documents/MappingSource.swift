import ManagedModel

/// What a mapping model's file says, before it is applied to two models.
///
/// The two file formats say the same in different words; this is what they have in common.
struct MappingSource: Sendable, Equatable {
  /// What shows the two models that the file was made for.
  enum Origin: Sendable, Equatable {
    /// Each entity mapping states the hashes of its entities: a compiled mapping model.
    case hashes
    /// Xcode's copies of the two models.
    case models(source: EditorModel, destination: EditorModel)
    /// The copies are missing or cannot be read: names are all there is.
    case names
  }

  var origin: Origin
  /// In the order in which they run.
  var entityMappings: [Entity]

  struct Entity: Sendable, Equatable {
    var name: String
    /// NSEntityMappingType's number, 0 where the file leaves it open.
    var type: Int64 = 0
    var source: String?
    var destination: String?
    var sourceHash: VersionHash?
    var destinationHash: VersionHash?
    /// Which source objects it takes: a `FETCH(…)`. All of the source entity without one.
    var sourceExpression: Expression?
    /// The fetch's predicate where the file has it by itself.
    var predicate: String?
    var attributes: [Property] = []
    var relationships: [Property] = []
    var policy: String?
    var userInfo: [String: PropertyListValue] = [:]
  }

  struct Property: Sendable, Equatable {
    var name: String
    var value: Value
  }

  /// Where a property's value comes from.
  enum Value: Sendable, Equatable {
    /// Left as it is in a new object.
    case untouched
    case expression(Expression)
    /// Xcode makes up the expression when it compiles the file: from the source's property of the
    /// same name, or the key path given, by way of the mapping given or the one that fits.
    case automatic(keyPath: String?, through: String?)
  }

  /// The names of the mappings have to distinguish them.
  mutating func makeNamesUnique() {
    var used = Set(entityMappings.map(\.name))
    var counts: [String: Int] = [:]
    for index in entityMappings.indices {
      let name = entityMappings[index].name
      var number = counts[name, default: 0] + 1
      if number > 1 {
        while !used.insert("\(name) \(number)").inserted { number += 1 }
        entityMappings[index].name = "\(name) \(number)"
      }
      counts[name] = number
    }
  }
}
