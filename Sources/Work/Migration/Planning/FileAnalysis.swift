import Files
import ManagedModel
import ManagedStore

extension StoreMigration {
  /// What refuses every migration of a store that was looked at as a whole, whatever it references: damages of
  /// its file, and tables, columns and numbers of entities that do not fit its own model.
  package static func standingChecks(of store: Store) throws -> [DataCheck] {
    let file = FileAnalysis(store: store)
    return try file.known + file.unfinished + file.unapplied + DriftAnalysis(store: store).checks()
  }

  /// Refuses a store beside which a -wal or a -journal lies whose content is not in it, or not for certain: who
  /// changes the store goes by what was read, and takes the file away.
  ///
  /// - Throws: ``CoreDataError`` of kind refused.
  package static func refuseUnreadLogs(of store: Store) throws {
    let file = FileAnalysis(store: store)
    guard let first = (file.missing + file.unapplied).first else { return }
    throw CoreDataError(
      .refused, code: .persistentStoreOpen, "\(first.entity): \(first.message)", path: store.path,
      advice: first.advice
        ?? "See \(.deed("diagnosis"), of: [ShellText.quoted(store.path)]). \(first.hint)")
  }
}

/// What a store's files keep from a migration, whatever its models say.
struct FileAnalysis {
  let store: Store

  /// Frames of the -wal that are not in the store, and pages of a -journal that are not restored: it can be
  /// migrated without them, if that is allowed.
  func losses() -> [Loss] {
    var losses: [Loss] = []
    let frames = store.unappliedFrames
    if frames > 0 {
      var loss = Loss(entity: Loss.logName, values: frames, suggestion: store.gaps.first)
      loss.isOfLog = true
      losses.append(loss)
    }
    if let stray = store.strays.first(where: { $0.kind == .journal && store.isNeeded($0) }) {
      var loss = Loss(
        entity: Loss.journalName, values: stray.frames,
        suggestion: stray.sentence(store: store.files.path, isNeeded: true))
      loss.isOfJournal = true
      losses.append(loss)
    }
    return losses
  }

  /// Damages of the file: the result would have them as well, or less than the store had.
  ///
  /// The whole file is checked, as the result of a migration is: a plan that is said to run does not
  /// stop there.
  func checks(isCancelled: @escaping () -> Bool) throws -> [DataCheck] {
    try store.stopping(when: isCancelled) { try store.inspect() }
    return known
  }

  /// The same of what has been looked at so far.
  var known: [DataCheck] { missing + damages }

  /// What ``losses()`` has, as what stands in the way of who does not allow it.
  fileprivate var unapplied: [DataCheck] {
    losses().map { loss in
      DataCheck(
        code: .persistentStoreOpen,
        entity: FileSystem.name(of: store.path) + (loss.isOfLog ? "-wal" : "-journal"),
        property: nil, rows: 0,
        message:
          "\(NumberText.counted(loss.values, loss.isOfLog ? "frame" : "page")) of it would be lost",
        hint: loss.suggestion ?? "")
    }
  }

  /// A -wal that the main file has gone on without: SQLite applies it, and reads and keeps the older rows.
  private var older: [DataCheck] {
    guard store.wal.isOlderThanStore else { return [] }
    let hint: Advice =
      "The main file by itself is the newer state. A salvage leaves the -wal out: \(.deed("salvage"), of: [ShellText.quoted(store.path)])"
    return [
      DataCheck(
        code: .persistentStoreOpen, entity: FileSystem.name(of: store.path) + "-wal", property: nil,
        rows: 0,
        message:
          "its \(NumberText.counted(store.wal.frames, "frame")) are older than the store, and would take the place of newer rows",
        hint: hint.text, advice: hint)
    ]
  }

  /// A -wal or a -journal that is not downloaded: it does not fit the store that a migration makes.
  fileprivate var missing: [DataCheck] {
    older + notDownloaded
  }

  private var notDownloaded: [DataCheck] {
    store.placeholders.map { placeholder in
      DataCheck(
        code: .persistentStoreOpen, entity: FileSystem.name(of: placeholder.file), property: nil,
        rows: 0, message: "this file of the store is not downloaded from iCloud",
        hint: CloudPlaceholder.advice(placeholder.file)
          + " If it cannot be downloaded, delete the placeholder \(placeholder.name).")
    }
  }

  /// A change that was cut off: the store is not replaced then, though its result can be written elsewhere.
  fileprivate var unfinished: [DataCheck] {
    guard store.files.hasUnfinishedChange else { return [] }
    return [
      DataCheck(
        code: .persistentStoreOpen, entity: FileSystem.name(of: store.path), property: nil, rows: 0,
        message: StoreFiles.unfinishedChange, hint: "Let the app open the store once.")
    ]
  }

  private var damages: [DataCheck] {
    guard let damage = store.damage else { return [] }
    let path = [ShellText.quoted(store.path)]
    let hint: Advice =
      "To print every row that can be read: \(.deed("dump"), of: path). To write them into a new store: \(.deed("salvage"), of: path). Or use another copy of the store."
    var checks = damage.holes.prefix(20).map { hole in
      let entity = store.entityTables.first { $0.table == hole.table && $0.isWholeTable }?.entity
      let count = hole.counts?.values.reduce(0, +)
      let keys = hole.last.map { "p\(hole.first)–p\($0)" } ?? "from p\(hole.first) on"
      return DataCheck(
        code: .sqlite, entity: entity ?? hole.table, property: nil, rows: count ?? 0,
        message: "objects that cannot be read (\(keys))", hint: hint.text, advice: hint)
    }
    if checks.isEmpty, let first = damage.problems.first {
      checks.append(
        DataCheck(
          code: .sqlite, entity: FileSystem.name(of: store.path), property: nil, rows: 0,
          message:
            "the file is damaged\(damage.problems.count > 1 ? " in \(damage.problemCount) places" : ""): \(first)",
          hint: hint.text, advice: hint))
    }
    return checks
  }
}
