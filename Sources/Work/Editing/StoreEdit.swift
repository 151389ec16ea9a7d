import ManagedModel
import ManagedStore

/// What is to be changed in a store, as a list: nothing is written before all of it is known to be in order.
package struct StoreEdit: Sendable, Equatable {
  /// What becomes of a to-many relationship.
  package enum ToManyChange: Sendable, Equatable {
    /// It has these objects, in this order where it is ordered.
    case set
    /// These come to those that it has, behind them where it is ordered.
    case add
    /// These are taken out.
    case remove
  }

  /// What becomes of a property of an object.
  package enum Assignment: Sendable, Equatable {
    /// An attribute, or an element by its path, gets a value.
    case attribute(String, AttributeValue)
    /// A to-one leads to an object, or to none.
    case toOne(String, ObjectID?)
    /// A to-many is changed.
    case toMany(String, ToManyChange, [ObjectID])

    /// The name of the property, or the path of the element.
    package var property: String {
      switch self {
      case .attribute(let name, _), .toOne(let name, _), .toMany(let name, _, _): name
      }
    }
  }

  /// Changes of one object, in the order in which they are made.
  package struct ObjectEdit: Sendable, Equatable {
    /// The object.
    package var id: ObjectID
    /// What is set.
    package var assignments: [Assignment]

    /// Changes of an object.
    package init(_ id: ObjectID, _ assignments: [Assignment]) {
      (self.id, self.assignments) = (id, assignments)
    }
  }

  /// An attribute of many objects that gets the value of an expression.
  package struct Computation: Sendable, Equatable {
    /// The attribute's name, or the path of an element.
    package var attribute: String
    /// SQL over the object's properties as they were, as recipes have it.
    package var expression: String

    /// An attribute and the expression that it gets.
    package init(_ attribute: String, _ expression: String) {
      (self.attribute, self.expression) = (attribute, expression)
    }
  }

  /// A to-one of many objects that references one object, or none.
  package struct Link: Sendable, Equatable {
    /// The relationship's name.
    package var relationship: String
    /// What it references; `nil` for nothing.
    package var object: ObjectID?

    /// A to-one and what it references.
    package init(_ relationship: String, _ object: ObjectID?) {
      (self.relationship, self.object) = (relationship, object)
    }
  }

  /// Attributes of all objects of an entity, and of those below it, that a predicate takes.
  package struct Selection: Sendable, Equatable {
    /// Name of the entity.
    package var entity: String
    /// A predicate in NSPredicate's format; `nil` for all objects.
    package var predicate: String?
    /// What each of them gets.
    package var computations: [Computation]
    /// What their to-ones reference.
    package var links: [Link]

    /// Properties of the objects of an entity.
    package init(
      _ entity: String, where predicate: String?, _ computations: [Computation],
      links: [Link] = []
    ) {
      (self.entity, self.predicate, self.computations) = (entity, predicate, computations)
      self.links = links
    }
  }

  /// What a property held when its change was prepared.
  package struct Expectation: Sendable, Equatable {
    /// The object.
    package var object: ObjectID
    /// The property's name, or the path of an element.
    package var property: String
    /// What it held.
    package var value: PropertyValue

    /// A property and what it held.
    package init(_ object: ObjectID, _ property: String, _ value: PropertyValue) {
      (self.object, self.property, self.value) = (object, property, value)
    }
  }

  /// Changes of single objects.
  package var objects: [ObjectEdit] = []
  /// Objects that go, before anything is set.
  package var deletions: [ObjectID] = []
  /// Changes of many objects by expressions.
  package var selection: Selection?
  /// What properties that are set held before: where one holds something else by now, the edit is refused.
  package var expectations: [Expectation] = []

  /// Nothing is changed.
  package init() {}

  /// Whether nothing is asked for.
  package var isEmpty: Bool {
    objects.allSatisfy { $0.assignments.isEmpty } && deletions.isEmpty && selection == nil
  }

  /// Properties whose values are set, whichever object's.
  var properties: Set<String> {
    Set(objects.flatMap { $0.assignments.map(\.property) })
      .union(selection?.computations.map(\.attribute) ?? [])
      .union(selection?.links.map(\.relationship) ?? [])
  }
}
