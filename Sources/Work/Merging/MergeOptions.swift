import Comparison
import ManagedModel
import ManagedStore

/// What a person may ask for when two stores become one.
package struct MergeOptions: Sendable {
  /// Which of two objects that are one, and differ, gives its values.
  package enum Preference: Sendable, Equatable {
    /// The newer store's.
    case new
    /// The older store's.
    case old
    /// Of an entity and those below it the one whose attribute has the later date or the greater number.
    case newest(entity: String, attribute: String)

    /// Reads `new`, `old` or `ENTITY=ATTRIBUTE:newest`; `nil` for anything else.
    package init?(_ word: String) {
      switch word {
      case "new": self = .new
      case "old": self = .old
      default:
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, parts[1].hasSuffix(":newest") else { return nil }
        let attribute = parts[1].dropLast(":newest".count)
        guard !attribute.isEmpty else { return nil }
        self = .newest(entity: String(parts[0]), attribute: String(attribute))
      }
    }
  }

  /// How objects are paired, in place of what is decided otherwise.
  package var matches: [ComparisonRequest.Match] = []
  /// Who wins where two objects that are one differ. Those of an entity go before general ones, and the last
  /// of a kind counts.
  package var preferences: [Preference] = []
  /// Entities whose objects are taken over, with those below them; empty for all.
  package var entities: [String] = []
  /// Whether what was deleted in the newer store stays deleted.
  package var keepsDeleted = false

  /// Nothing is asked for.
  package init() {}

  /// Whether equal keys alone may decide that two objects are one.
  var trustsKeys: Bool { matches.contains(.key) }

  /// Refuses names that the model does not have, and attributes that have no order.
  func check(against model: Model) throws(CoreDataError) {
    for name in entities where model.entity(named: name) == nil {
      throw CoreDataError(
        unknownEntity: name, of: "the stores", known: model.entities.map(\.name))
    }
    for case .newest(let entity, let name) in preferences {
      guard model.entity(named: entity) != nil else {
        throw CoreDataError(
          unknownEntity: entity, of: "the stores", known: model.entities.map(\.name))
      }
      guard let attribute = model.storedAttribute(named: name, of: entity) else {
        throw CoreDataError(
          unknown: "attribute", name, of: entity,
          known: model.attributes(of: entity).filter(\.isStored).map(\.name))
      }
      guard attribute.type == .date || attribute.type.isNumber else {
        throw CoreDataError(
          .usage, "this attribute cannot show which object is newer", entity: entity,
          property: name,
          hint: "Name an attribute that is a date or a number.")
      }
    }
  }

  /// Who wins for the objects of an entity in general; `nil` where nothing says so.
  var general: Preference? { preferences.last { $0 == .new || $0 == .old } }

  /// The attribute that decides which of two objects of an entity is the newer one.
  func newest(in lineage: [String]) -> String? {
    var found: String?
    for case .newest(let entity, let attribute) in preferences where lineage.contains(entity) {
      found = attribute
    }
    return found
  }
}
