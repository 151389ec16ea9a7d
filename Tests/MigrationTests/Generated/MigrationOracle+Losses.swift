import ManagedModel
import ManagedStore

extension MigrationOracle {
  /// What the plan must ask leave for: objects, values and links that nothing in the result holds.
  func losses(_ results: [Result]) -> Losses {
    var losses = Losses()
    let kept = Set(results.map(\.before.id))
    for object in objects.all where !kept.contains(object.id) && !isBroken(.lossOfEntities) {
      losses.exact[object.id.entity, default: 0] += 1
    }
    for result in results where !isBroken(.lossOfAttributes) {
      let entity = result.before.id.entity
      let now = carriedAttributes(of: result.after.id.entity)
      for (name, former) in now where !isBroken(.narrowerIntegers) {
        // What does not fit its new type stays in the store, and Core Data cuts it off.
        guard let value = result.before.attributes[former],
          let old = OracleElements.value(former, of: entity, in: source)?.type,
          let new = OracleElements.value(name, of: result.after.id.entity, in: destination)?.type,
          old != new, !OracleNumber.fits(value, old, new)
        else { continue }
        losses.exact[
          "\(source.declaringEntity(of: OracleElements.whole(former), in: entity) ?? entity).\(former)",
          default: 0] += 1
      }
      let carried = Set(now.values)
      for name in result.before.attributes.keys where !carried.contains(name) {
        losses.exact[
          "\(source.declaringEntity(of: OracleElements.whole(name), in: entity) ?? entity).\(name)",
          default: 0] += 1
      }
    }
    if !isBroken(.lossOfLinks) { losses.links = lostLinks(results, kept: kept) }
    return losses
  }

  private struct Link: Hashable {
    var first: ObjectID
    var second: ObjectID
  }

  private func lostLinks(_ results: [Result], kept: Set<ObjectID>) -> [Losses.Links] {
    var carried: [String: Set<String>] = [:]
    for entity in destination.entities {
      guard let former = matching.formers[entity.name] else { continue }
      carried[former] = Set(carriedRelationships(of: entity.name).values)
    }
    let after = Dictionary(results.map { ($0.before.id, $0.after) }) { first, _ in first }
    /// Whether a link that goes on is there still: another object may have claimed its end.
    func isKept(_ name: String?, from id: ObjectID, to target: ObjectID) -> Bool {
      guard let name, let object = after[id], let end = after[target]?.id else { return true }
      let names = carriedRelationships(of: object.id.entity).filter { $0.value == name }.keys
      return names.contains { object.links[$0]?.contains(end) ?? false }
    }
    func isCarried(_ name: String?, of id: ObjectID) -> Bool {
      name.map { carried[id.entity]?.contains($0) ?? false } ?? false
    }
    var found: [Losses.Links] = []
    for entity in source.entities {
      for relationship in entity.relationships {
        let name = "\(entity.name).\(relationship.name)"
        let inverse = relationship.inverse.map { "\(relationship.destination).\($0)" }
        // Each pair once, from the side whose name comes first.
        if let inverse, inverse < name { continue }
        var links = Losses.Links(
          names: Set([name] + (inverse.map { [$0] } ?? [])), least: 0, most: 0)
        var seen: Set<Link> = []
        for object in objects.all where source.isKind(object.id.entity, of: entity.name) {
          for target in object.links[relationship.name] ?? [] {
            // A relationship that is its own inverse has each link twice.
            guard !seen.contains(Link(first: target, second: object.id)) || inverse != name else {
              continue
            }
            seen.insert(Link(first: object.id, second: target))
            let isOwn = isCarried(relationship.name, of: object.id)
            if isOwn || isCarried(relationship.inverse, of: target) {
              let isThere =
                isOwn
                ? isKept(relationship.name, from: object.id, to: target)
                : isKept(relationship.inverse, from: target, to: object.id)
              if !isThere {
                links.least += 1
                links.most += 1
              }
              continue
            }
            let (owner, end) = (kept.contains(object.id), kept.contains(target))
            if owner && end { links.least += 1 }
            if owner || end { links.most += 1 }
          }
        }
        if links.most > 0 { found.append(links) }
      }
    }
    return found
  }
}
