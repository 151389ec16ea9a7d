import ManagedModel
import ManagedStore
import SQLite

extension InferredAnalysis {
  /// Links of a relationship that goes on which are not in order. A migration carries them over as
  /// they are.
  func linkRules(
    _ relationshipMapping: RelationshipMapping, from: String, to: String
  ) -> [DestinationRule] {
    guard let name = relationshipMapping.source,
      let before = source.relationship(named: name, of: from),
      let after = destination.relationship(named: relationshipMapping.name, of: to)
    else { return [] }
    var rules: [DestinationRule] = []
    func add(
      _ condition: String, _ message: String, hint: String,
      code: CoreDataError.Code = .migration
    ) {
      rules.append(
        DestinationRule(
          entity: to, property: after.name, conditions: [condition], code: code, message: message,
          hint: hint, isWarning: true))
    }
    if let gone = data.leadsNowhere(name, of: from) {
      rules.append(.dangling(after.name, of: to, where: gone))
    }
    if !isLoose(after, of: to), let oneSided = data.isOneSided(name, of: from) {
      add(
        oneSided, "links of a one-to-one whose two sides disagree",
        hint: "Both sides stay as they are. Set the relationship anew in the app.")
    }
    if before.isOrdered, let unordered = data.hasNoPosition(name, of: from) {
      add(
        unordered, "ordered objects without a position",
        hint: "Their order is not known: they are put in the order of their keys.")
    }
    // Fewer or more objects than a new or tighter count allows; an optional relationship may be empty.
    guard after.isToMany, let count = data.count(of: before.name, from: from) else { return rules }
    let hint = "Such objects cannot be saved: change them first, or loosen the rule."
    if after.minCount > 0, after.minCount > (before.isToMany ? before.minCount : 0) {
      // None at all is another matter: allowed, or found as missing.
      add(
        "\(count) BETWEEN 1 AND \(after.minCount - 1)",
        "fewer objects than the new minimum \(after.minCount)", hint: hint,
        code: .validationRelationshipLacksMinimumCount)
    }
    let limit = Int(after.maxCount)
    let former = before.maxCount == 0 ? Int.max : Int(before.maxCount)
    if limit > 0, after.maxCount != .max, limit < former {
      add(
        "\(count) > \(limit)", "more objects than the new maximum \(limit)", hint: hint,
        code: .validationRelationshipExceedsMaximumCount)
    }
    return rules
  }
}

extension SourceData {
  /// Links kept elsewhere than in the row they start from which lead to no object: in join tables,
  /// and as the owner's key of a to-many without an inverse.
  ///
  /// - Parameter hint: what becomes of them.
  func brokenJoins(of mapping: MappingModel, hint: String) throws -> [DataCheck] {
    let kept = Set(mapping.entityMappings.filter { $0.destination != nil }.compactMap(\.source))
    return try store.audits().outside.compactMap { audit in
      let isKept =
        kept.contains(audit.entity)
        || audit.storage.isJoin && kept.contains(audit.destination)
      guard isKept, let broken = try brokenRows(of: audit), broken.count > 0 else { return nil }
      let table = audit.storage.table
      return DataCheck(
        code: .managedObjectReferentialIntegrity, entity: audit.entity,
        property: audit.relationship.name, rows: broken.count, first: broken.first,
        message: "links that lead to objects that are not there, in \(table)", hint: hint,
        isWarning: true, asked: [table])
    }
  }
}
