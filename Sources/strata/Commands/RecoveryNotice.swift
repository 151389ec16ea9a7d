import Files
import Migration

/// What a command says before it rolls back or finishes an interrupted run.
enum RecoveryNotice {
  /// Writes a line to standard error for each thing that the command is about to do, before it does it.
  ///
  /// - Parameter places: where the command puts its results: the stores' own paths, or an output's.
  static func write(for places: [String], to console: Console) {
    // A folder of a thousand stores is listed once.
    var isClean: [String: Bool] = [:]
    for place in places {
      let folder = FileSystem.canonical(FileSystem.parent(of: FileSystem.place(of: place)) ?? ".")
      let isCleanFolder =
        isClean[folder]
        ?? ((try? FileSystem.list(folder))?.contains { $0.hasPrefix(".strata-") } == false)
      isClean[folder] = isCleanFolder
      guard !isCleanFolder else { continue }
      for sentence in StoreMigration.pendingRecovery(at: place) { console.note("! " + sentence) }
    }
  }

  /// The same of a command that makes a new store or model, which first removes what interrupted runs left in
  /// the folder.
  static func write(forOutput path: String, to console: Console) {
    let names = PendingOutput.abandoned(beside: FileSystem.place(of: path))
    guard !names.isEmpty else { return }
    console.note(
      "! An earlier run was interrupted: removing what it left (\(names.joined(separator: ", ").printable)) first."
    )
  }
}
