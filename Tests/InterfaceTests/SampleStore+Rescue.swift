import Migration
import Terminal

@testable import Interface
@testable import Rescue

/// What doctor and a salvage would tell of the sample store, had something happened to it.
extension SampleStore {
  private static let place = StorePlace(path: "Recipes.sqlite")

  static var condition: StoreCondition {
    var missing = Finding(
      .mandatory, "12 objects of Recipe.title have no value.", entity: "Recipe", property: "title",
      count: 12, first: ["Recipe/p3", "Recipe/p4"], in: place)
    missing.predicate = "title == nil"
    return StoreCondition(findings: [
      Finding(
        .cutOff, "The file has 2400000 bytes of 2600000: the last 66 of 640 pages are missing.",
        count: 66, in: place),
      Finding(
        .toOneDangling, "2 objects of Recipe.author reference missing objects of Person.",
        entity: "Recipe", property: "author", count: 2, first: ["Recipe/p5", "Recipe/p12"],
        in: place),
      missing,
      Finding(
        .externalOrphaned, "12 files of external data are unreferenced.", count: 12,
        in: place),
    ])
  }

  /// What a change of the sample store would keep and need.
  static func footprint(_ request: Footprint.Request) -> Footprint {
    if case .repair([.externalOrphaned]) = request {
      return Footprint(bytesNeeded: 0, bytesFree: 9_000_000_000)
    }
    let name: String? =
      switch request {
      case .migration, .cutover, .edit: "Recipes.backup-1"
      case .rollback: "Recipes.undone-1"
      case .repair: "Recipes.unrepaired-1"
      case .newStore: nil
      }
    return Footprint(
      backup: name.map { ExpectedBackup(name: $0, bytes: 1_200_000) },
      bytesNeeded: request == .cutover(MigrationOptions()) ? 0 : 1_800_000,
      bytesFree: 9_000_000_000)
  }

  static let holdings: [EntityHolding] = {
    var recipe = EntityHolding(entity: "Recipe", live: 8_572)
    recipe.lose(747)
    return [
      EntityHolding(entity: "Draft", live: 2), EntityHolding(entity: "Person", live: 3), recipe,
      EntityHolding(entity: "Soup", live: 1_428),
    ]
  }()

  static let salvaged: SalvageReport = {
    var report = SalvageReport(storePath: "Recipes.sqlite", outputPath: "Recipes-salvaged.sqlite")
    report.entities = [.init(name: "Person", objects: 3), .init(name: "Recipe", objects: 8_572)]
    report.tables = [
      .init(
        name: "ZRECIPE", entity: "Recipe", rows: 10_000, guessed: 40, refused: [], cut: [:],
        holes: [.init(keys: 4920...4965, missing: 46)])
    ]
    report.notes = ["Metadata was made anew."]
    report.isComplete = true
    return report
  }()

  /// What was deleted: the sample's own rows stand for it.
  static func remains() throws -> Remains {
    var summary = try summary()
    summary.showAsRemains()
    return Remains(
      entities: [
        .init(name: "Person", deleted: 0, older: 3),
        .init(name: "Recipe", deleted: 381, older: 1_455),
      ],
      isWiped: false, notes: ["A note of the search."], store: summary)
  }

  static let restored: Restoration.Report = {
    var report = Restoration.Report(salvage: salvaged)
    report.back = ["Recipe": Array(1...381)]
    report.refused = ["Recipe": [7, 9]]
    report.emptied = ["Recipe.author": 4]
    report.links = 12
    return report
  }()

  static let repaired: RepairReceipt = {
    var receipt = RepairReceipt(storePath: "Recipes.sqlite", faults: [])
    receipt.resultPath = "Recipes.sqlite"
    receipt.kinds = [
      .init(
        name: "to-one-dangling", count: 2,
        first: [
          RepairChange(
            kind: "to-one-dangling", entity: "Recipe", key: 5, property: "author", old: "Person/p88"
          )
        ])
    ]
    receipt.backupPath = "Recipes.unrepaired-1"
    (receipt.seconds, receipt.verificationSeconds, receipt.bytes) = (1.5, 0.5, 1_200_000)
    receipt.left = condition.findings.filter { $0.kind == .mandatory }
    return receipt
  }()
}
