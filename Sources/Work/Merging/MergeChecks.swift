import ManagedModel
import ManagedStore

/// Why two stores cannot be merged, as errors for people.
enum MergeChecks {
  /// Refuses what cannot be merged before anything is read of the objects.
  static func run(
    _ stores: MergedStores, _ options: MergeOptions, _ isCancelled: @escaping () -> Bool
  ) throws {
    let (old, new) = (stores.old, stores.new)
    guard old.files.path != new.files.path else {
      throw CoreDataError(
        .usage, "both stores are one file", path: new.path, hint: "Name two stores.")
    }
    for store in stores.all { try store.requireModel(for: "what its tables hold") }
    for store in [old] + [stores.base].compactMap({ $0 }) {
      try requireVersion(of: new, in: store, isBase: store === stores.base)
    }
    for store in stores.all {
      try store.stopping(when: isCancelled) { try store.inspect(isForPlan: false) }
      try store.refuseDamage(
        "merged",
        "Salvage it first, and merge the result: \(.deed("salvage"), of: [ShellText.quoted(store.path)])."
      )
      try store.refuseMissingTables(.refused)
    }
    try options.check(against: new.model)
    if let base = stores.base {
      for store in [old, new] where store.metadata.uuid != base.metadata.uuid {
        throw CoreDataError(
          .usage, "this is not the copy that both stores come from: its UUID differs",
          path: base.path, hint: "The UUID of \(store.path) is \(store.metadata.uuid).")
      }
      try base.takeEncoding(of: new)
    }
  }

  private static func requireVersion(of new: Store, in store: Store, isBase: Bool) throws {
    guard store.metadata.versionHashes != new.metadata.versionHashes else { return }
    let words = [store.path, new.path].map(ShellText.quoted)
    throw CoreDataError(
      .refused, code: .persistentStoreIncompatibleVersionHash,
      isBase
        ? "the copy that both stores come from has another version of the model"
        : "the stores have different versions of the model", path: store.path,
      advice:
        "Migrate one first, and merge the result: \(.deed("migration"), of: words) \(.mergeOutput, of: [migrated(store.path)])"
    )
  }

  /// A name for the migrated store beside it.
  private static func migrated(_ path: String) -> String {
    guard let dot = path.lastIndex(of: "."), !path[dot...].contains("/") else {
      return path + "-migrated"
    }
    return path[..<dot] + "-migrated" + path[dot...]
  }

  /// Nothing says which objects of some entities are one.
  static func unpaired(_ report: MergeReport) -> CoreDataError {
    let list = report.unpaired.map {
      let part = $0.lacking.isEmpty ? "" : " without \($0.lacking.joined(separator: ", "))"
      return
        "\($0.entity)\(part) (\(NumberText.counted($0.old, "object")) in the older store, \(NumberText.grouped($0.new)) in the newer one)"
    }
    let count =
      list.count == 1 ? "1 entity has" : "\(NumberText.grouped(list.count)) entities have"
    return CoreDataError(
      .refused, "\(count) objects that nothing pairs: \(list.joined(separator: ", "))",
      path: report.oldPath,
      advice:
        "Give the copy that both stores come from with \(.mergeBase, "FILE"), or attributes that identify an object with \(.mergeMatch, "ENTITY=NAME"). \(.mergeMatch, "key") takes objects with equal keys for one: two stores that grew apart gave the same new keys to different objects."
    )
  }

  /// Both stores changed the same values, and nothing says which count.
  static func undecided(_ report: MergeReport) -> CoreDataError {
    let count =
      report.undecided == 1
      ? "1 object differs" : "\(NumberText.grouped(report.undecided)) objects differ"
    return CoreDataError(
      .refused, "\(count) between the stores, and nothing decides which one wins",
      path: report.oldPath,
      advice:
        "\(.mergeRehearsal) lists them. \(.mergePreference, "new") takes the newer store’s values, \(.mergePreference, "old") the older store’s, \(.mergePreference, "ENTITY=ATTRIBUTE:newest") those of the later date."
    )
  }

  /// What was deleted is to stay deleted, and nothing shows what was.
  static func unknownDeletions(_ stores: MergedStores) -> CoreDataError {
    CoreDataError(
      .refused,
      "it is unknown which objects were deleted in the newer store: "
        + (!stores.new.keepsHistory
          ? "it keeps no history"
          : stores.new.metadata.uuid != stores.old.metadata.uuid
            ? "the stores have two UUIDs" : "its history lacks transactions"),
      path: stores.new.path,
      advice: "Give the copy that both stores come from with \(.mergeBase, "FILE").")
  }
}

extension Advice.Choice {
  /// The copy that both stores come from.
  package static let mergeBase = Advice.Choice("mergeBase", "base")
  /// How objects are paired.
  package static let mergeMatch = Advice.Choice("mergeMatch", "MergeOptions.matches")
  /// Whose values count.
  package static let mergePreference = Advice.Choice("mergePreference", "MergeOptions.preferences")
  /// A merge that writes nothing.
  package static let mergeRehearsal = Advice.Choice("mergeRehearsal", "output: nil")
  /// What was deleted in the newer store stays deleted.
  package static let mergeKeepsDeleted = Advice.Choice(
    "mergeKeepsDeleted", "MergeOptions.keepsDeleted")
  /// Where another store is written.
  package static let mergeOutput = Advice.Choice("mergeOutput", "output")
}
