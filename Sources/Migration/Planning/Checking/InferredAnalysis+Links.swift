import ManagedModel
import ManagedStore
import SQLite

extension InferredAnalysis {
  /// Links of a relationship that goes on which are not in order. A migration carries them over as
  /// they are.
  func brokenLinks(
    _ relationshipMapping: RelationshipMapping, from: String, to: String
  ) throws -> [DataCheck] {
    guard let name = relationshipMapping.source,
      let before = source.relationship(named: name, of: from),
      let after = destination.relationship(named: relationshipMapping.name, of: to)
    else { return [] }
    let place = (to, Optional(after.name))
    var checks: [DataCheck] = []
    if let gone = data.leadsNowhere(name, of: from) {
      checks += try check(.dangling(after.name, of: to, where: gone), of: from)
    }
    if !isLoose(after, of: to), let oneSided = data.isOneSided(name, of: from) {
      checks += try rows(
        of: from, where: [oneSided], break: place,
        "links of a one-to-one whose two sides do not match",
        hint: "Both sides stay as they are. Set the relationship again in the app.",
        warning: .migration)
    }
    if before.isOrdered, let unordered = data.hasNoPosition(name, of: from) {
      checks += try rows(
        of: from, where: [unordered], break: place, "ordered objects without a position",
        hint: "Their order is not known: they are sorted by their keys.",
        warning: .migration)
    }
    return try checks + counts(before, after, from: from, place)
  }

  /// Fewer or more objects than a new or tighter count allows; an optional relationship may be empty.
  private func counts(
    _ before: Relationship, _ after: Relationship, from: String,
    _ place: (entity: String, property: String?)
  ) throws -> [DataCheck] {
    guard after.isToMany, let count = data.count(of: before.name, from: from) else { return [] }
    let hint = "Such objects cannot be saved: change them first, or loosen the rule."
    var checks: [DataCheck] = []
    if after.minCount > 0, after.minCount > (before.isToMany ? before.minCount : 0) {
      // None at all is another matter: allowed, or found as missing.
      checks += try rows(
        of: from, where: ["\(count) BETWEEN 1 AND \(after.minCount - 1)"], break: place,
        "fewer objects than the new minimum \(after.minCount)", hint: hint,
        warning: .validationRelationshipLacksMinimumCount)
    }
    let limit = Int(after.maxCount)
    let former = before.maxCount == 0 ? Int.max : Int(before.maxCount)
    if limit > 0, after.maxCount != .max, limit < former {
      checks += try rows(
        of: from, where: ["\(count) > \(limit)"], break: place,
        "more objects than the new maximum \(limit)", hint: hint,
        warning: .validationRelationshipExceedsMaximumCount)
    }
    return checks
  }
}

extension SourceData {
  /// Links kept elsewhere than in the row they start from which reference no object: in join tables,
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
        message: "references to missing objects, in \(table)", hint: hint,
        isWarning: true, asked: [table])
    }
  }
}
