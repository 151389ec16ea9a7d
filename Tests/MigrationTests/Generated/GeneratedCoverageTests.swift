import ManagedModel
import TestSupport
import Testing

/// What the generated pairs cover, and that a mistake in the rules would show: all in memory.
@Suite("Coverage of the generated pairs")
struct GeneratedCoverageTests {
  /// The default seeds, whatever the environment says.
  static let pairs: [GeneratedPair] = (1...GeneratedPair.standard).compactMap {
    try? GeneratedPair(seed: $0)
  }
  private static let outcomes = pairs.map { text($0.outcome(), $0.destination) }

  /// An outcome as text, to tell two of them apart.
  private static func text(_ outcome: MigrationOracle.Outcome, _ model: Model) -> String {
    switch outcome {
    case .nothing: "nothing"
    case .refused(let refusals): "refused \(refusals)"
    case .planned(let checks, let losses, let objects):
      checks.map { "\($0)" }.sorted().joined()
        + losses.exact.map { "\($0)" }.sorted().joined()
        + losses.links.map { "\($0.names.sorted()) \($0.least)" }.joined()
        + (checks.isEmpty ? OracleText.lines(objects, model: model).joined(separator: "\n") : "")
    }
  }

  @Test("every kind of edit, of relationship and of attribute occurs")
  func kinds() {
    #expect(Self.pairs.count == Int(GeneratedPair.standard))
    let edits = Set(Self.pairs.flatMap { $0.edits.map(\.kind) })
    #expect(ModelEdit.allCases.filter { !edits.contains($0) } == [])
    let shapes = Set(Self.pairs.flatMap(\.shapes))
    #expect(ModelGenerator.Shape.allCases.filter { !shapes.contains($0) } == [])
    let types = Set(
      Self.pairs.flatMap { $0.source.entities.flatMap { $0.attributes.map(\.type) } })
    #expect(GeneratedValues.types.filter { !types.contains($0) } == [])
    let sources = Self.pairs.map(\.source)
    #expect(
      sources.contains { $0.entities.contains { $0.attributes.contains { $0.type == .composite } } }
    )
    // Links between entities, and within one, with subentities on either side of them.
    func isManyToMany(_ isWithin: Bool, _ isOwner: Bool) -> Bool {
      sources.contains { model in
        model.entities.contains { entity in
          entity.relationships.contains { link in
            let inverse = link.inverse.flatMap {
              model.relationship(named: $0, of: link.destination)
            }
            return link.isToMany && inverse?.isToMany == true
              && (link.destination == entity.name) == isWithin
              && !model.children(of: isOwner ? entity.name : link.destination).isEmpty
          }
        }
      }
    }
    for isWithin in [false, true] {
      for isOwner in [false, true] { #expect(isManyToMany(isWithin, isOwner)) }
    }
    #expect(Self.pairs.contains { $0.isConfigured })
    let depth = Self.pairs.flatMap { pair in
      pair.source.entities.map { pair.source.lineage(of: $0.name).count }
    }.max()
    #expect(depth == 4)
  }

  @Test(
    "every refusal occurs, and most pairs are migrated",
    .enabled(if: TestScale.isFull, "\(TestScale.condition)"))
  func outcomes() {
    var migrated = 0
    var causes: Set<OracleRefusal.Cause> = []
    var codes: Set<Int> = []
    var nothing = 0
    for pair in Self.pairs {
      switch pair.outcome() {
      case .nothing: nothing += 1
      case .refused(let refusals): causes.formUnion(refusals.map(\.cause))
      case .planned(let checks, _, let objects):
        codes.formUnion(checks.map(\.code))
        if checks.isEmpty && !objects.isEmpty { migrated += 1 }
      }
    }
    #expect(OracleRefusal.Cause.allCases.filter { !causes.contains($0) } == [])
    #expect(codes == [134110, 134111, 1570])
    #expect(migrated >= 100)
    #expect(nothing > 0)
  }

  @Test(
    "each rule decides some pair: broken, the oracle would contradict the engine",
    arguments: TestScale.some(5, of: OracleRule.allCases))
  func rules(_ rule: OracleRule) {
    let isSeen = zip(Self.pairs, Self.outcomes).contains { pair, outcome in
      Self.text(pair.outcome(breaking: rule), pair.destination) != outcome
    }
    #expect(isSeen)
  }
}
