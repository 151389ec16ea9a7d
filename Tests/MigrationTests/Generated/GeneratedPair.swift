import ManagedModel
import ManagedStore
import TestSupport

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Two versions of a model and the objects of a store of the first, all made of one seed.
struct GeneratedPair {
  let seed: UInt64
  let source: Model
  let destination: Model
  /// The models with what is in another configuration besides; those two if none exists.
  let wholeSource: Model
  let wholeDestination: Model
  let objects: GeneratedObjects
  let shapes: [ModelGenerator.Shape]
  /// What was done to the model, in order.
  let edits: [(kind: ModelEdit, text: String)]
  /// Edits that were tried.
  let count: Int

  /// Twelve, ``standard`` with STRATA_TESTS=all, or as many as `STRATA_PAIRS` says; only the one
  /// that `STRATA_SEED` names.
  static let seeds: ClosedRange<UInt64> = {
    if let one = number("STRATA_SEED") { return one...one }
    return 1...UInt64(TestScale.count(12, ofAll: Int(standard), variable: "STRATA_PAIRS"))
  }()

  /// So many cover every kind of model, edit and refusal.
  static let standard: UInt64 = 200

  private static func number(_ variable: String) -> UInt64? {
    getenv(variable).flatMap { UInt64(String(cString: $0)) }
  }

  /// - Parameter left: places of edits to leave out; the others stay as they are where they can.
  init(seed: UInt64, leavingOut left: Set<Int> = []) throws {
    self.seed = seed
    var generator = SeededGenerator(seed: seed &* 0x1_0001)
    var made = ModelGenerator(using: &generator)
    objects = GeneratedObjects(of: try made.draft.model(), using: &generator)
    try made.tighten(to: objects, using: &generator)
    shapes = made.shapes
    source = try made.draft.model()
    var draft = made.draft
    var edits: [(ModelEdit, String)] = []
    // Each kind has its turn; the others come as they fall.
    let all = ModelEdit.allCases
    var kinds = [all[Int(seed % UInt64(all.count))]]
    for _ in 0..<Int.random(in: 1...6, using: &generator) {
      let pool =
        generator.chance(8)
        ? ModelEdit.delicate : generator.chance(3) ? ModelEdit.refused : ModelEdit.harmless
      kinds.append(generator.pick(pool) ?? .changeModifier)
    }
    // Often one side of a one-to-one, whose claims may collide.
    if seed % 8 == 7 { kinds.append(.addOneToOneInverse) }
    // Now and then nothing that a version hash shows.
    if seed % 40 == 0 { kinds = [.changeDefault, .exchangeIdentifiers] }
    kinds.shuffle(using: &generator)
    count = kinds.count
    for (index, kind) in kinds.enumerated() {
      // Dice of its own for each edit, so that the others can be left out.
      var generator = SeededGenerator(seed: seed &* 0x1_0001 &+ UInt64(index + 1) &* 0x7_0003)
      for _ in 0..<6 where !left.contains(index) {
        guard let text = kind.apply(to: &draft, using: &generator) else { continue }
        edits.append((kind, text))
        break
      }
    }
    self.edits = edits
    destination = try draft.model()
    // Every sixth store is of one configuration; what else the models have changes, too.
    isConfigured = seed % 6 == 3
    wholeSource = isConfigured ? try Self.whole(source, "before") : source
    wholeDestination = isConfigured ? try Self.whole(destination, "after") : destination
  }

  /// What the store's configuration is called.
  static let configuration = "Part"
  let isConfigured: Bool

  private static func whole(_ part: Model, _ property: String) throws -> Model {
    var other = Entity("Elsewhere")
    other.attributes = [Attribute(property, .string, optional: true)]
    return try Model(
      entities: part.entities + [other], versionIdentifiers: part.versionIdentifiers,
      configurations: [configuration: part.entities.map(\.name), "Rest": ["Elsewhere"]])
  }

  func outcome(breaking rule: OracleRule? = nil) -> MigrationOracle.Outcome {
    MigrationOracle(from: source, to: destination, objects: objects, breaking: rule).outcome()
  }

  /// For the search of what went wrong.
  var description: String {
    "seed \(seed), \(objects.all.count) objects\n"
      + edits.map { "  \($0.text)" }.joined(separator: "\n")
  }
}
