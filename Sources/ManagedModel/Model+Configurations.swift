extension Model {
  /// Names of the configurations whose entities have just these hashes, sorted.
  ///
  /// A store that was added for one configuration states the hashes of that configuration's entities
  /// only. A configuration of all entities counts as none.
  package func configurations(
    matching hashes: [String: VersionHash], of own: [String: VersionHash]? = nil
  ) -> [String] {
    guard !configurations.isEmpty, !hashes.isEmpty else { return [] }
    let own = own ?? versionHashes
    return configurations.filter { _, members in
      let members = Set(members)
      return members.count < entities.count && own.filter { members.contains($0.key) } == hashes
    }.keys.sorted()
  }

  /// The model with the entities of one configuration only; `nil` where there is no such
  /// configuration, or where it has an entity without its parent, which no store can keep.
  package func restricted(to configuration: String) -> Model? {
    guard let names = configurations[configuration] else { return nil }
    let members = Set(names)
    return try? Model(
      entities: entities.filter { members.contains($0.name) },
      versionIdentifiers: versionIdentifiers, configurations: [configuration: names],
      fetchRequests: fetchRequests.filter { $0.entity.map(members.contains) ?? true },
      warnings: warnings)
  }
}
