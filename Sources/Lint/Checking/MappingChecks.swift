import ManagedModel
import Migration

extension LintRule {
  static let mappingStale = the("mapping-stale")
}

/// Mapping models that are for no two versions any more.
struct MappingChecks {
  let models: [LintedModel]
  let bases: [LintedModel]
  let documents: [MappingModelDocument]

  func findings() -> [LintFinding] {
    let names = Set(models.flatMap(\.versions).flatMap { $0.hashes.keys })
    return documents.compactMap { document -> LintFinding? in
      // One of another model is none of ours.
      let known = document.entities.count { names.contains($0) }
      guard known > 0, known * 2 >= document.entities.count else { return nil }
      guard !models.contains(where: { pair(document, $0.versions) != nil }) else { return nil }
      let before = bases.lazy.compactMap { pair(document, $0.versions) }.first
      let owner = models.max { one, other in
        Self.overlap(document, one) < Self.overlap(document, other)
      }
      let reason = owner.flatMap { misfit(document, $0.versions) }
      let was = before.map { " At the base it was for “\($0.0)” and “\($0.1)”." } ?? ""
      return LintFinding(
        .mappingStale, at: LintPlace(path: document.path), version: nil,
        "The mapping model matches no two versions"
          + (reason.map { ": \($0)." } ?? ".") + was,
        severity: before == nil ? nil : .error)
    }
  }

  private static func overlap(_ document: MappingModelDocument, _ model: LintedModel) -> Int {
    model.versions.map { version in
      document.entities.count { version.hashes[$0] != nil }
    }.max() ?? 0
  }

  /// The two versions that a mapping model is for; neighbours are asked first.
  private func pair(
    _ document: MappingModelDocument, _ versions: [LintedModel.Version]
  ) -> (String, String)? {
    let places = versions.indices
    var pairs: [(from: Int, to: Int)] = []
    for from in places { for to in places where from != to { pairs.append((from, to)) } }
    func distance(_ pair: (from: Int, to: Int)) -> Int { abs(pair.from + 1 - pair.to) }
    return pairs.sorted { distance($0) < distance($1) }.first { pair in
      document.fits(from: versions[pair.from].model, to: versions[pair.to].model)
    }.map { (versions[$0.from].name, versions[$0.to].name) }
  }

  /// Why it does not fit the last step.
  private func misfit(
    _ document: MappingModelDocument, _ versions: [LintedModel.Version]
  ) -> String? {
    guard versions.count > 1 else { return nil }
    return document.misfit(
      from: versions[versions.count - 2].model, to: versions[versions.count - 1].model)
  }
}
