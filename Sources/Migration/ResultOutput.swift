import ManagedModel
import ManagedStore

/// Puts a finished file where nothing was, with copies of its own of the external data.
struct ResultOutput {
  let path: String
  let result: VerifiedFile
  let journal: MigrationJournal
  let source: StoreFiles
  /// Throws when the run is to stop.
  let check: () throws -> Void
  /// Called before each step, for tests that let it fail or die there.
  var before: (Cutover.Step) throws -> Void = { _ in }

  /// External data first: a store without it would be read as one that lost it.
  ///
  /// - Returns: what could not be as it was, as sentences.
  func run() throws -> [String] {
    let names = journal.names
    var handover = Handover(names: names)
    handover.isOutput = true
    try bringExternalData(&handover)
    let notes = FileAttributes.copy(from: source.path, to: result.path)
    try result.sync()
    handover.bring.append(
      .init(from: FileSystem.name(of: result.path), to: names.store, file: result.identity))
    try check()
    try before(.note)
    do {
      try journal.note(handover)
      try before(.support)
      try handover.moveSupport()
      try FileSystem.sync(names.folder)
      try check()
      try before(.rename)
      try result.requireUnchanged()
      guard FileIdentity(of: path) == nil else {
        throw CoreDataError(
          .failed, "the output appeared meanwhile", path: path,
          hint: "Name a file that does not exist. The store is as it was.")
      }
      try handover.commit()
    } catch {
      journal.undo(handover)
      throw error
    }
    try? FileSystem.sync(names.folder)
    journal.noteDone()
    try? before(.done)
    return notes
  }

  /// Makes copies beside the output, and notes where they go: the whole folder where there is none,
  /// which is one rename; else each file.
  private func bringExternalData(_ handover: inout Handover) throws {
    let from = source.externalDataFolder
    let to = StoreFiles(path: path).externalDataFolder
    guard to != from, FileSystem.isDirectory(from) else { return }
    let files = try FileSystem.list(from).filter { FileSystem.isFile(from + "/" + $0) }
    let staged = journal.workPath + MigrationJournal.externalSuffix
    let inner = FileSystem.name(of: to)
    let folder = staged + "/" + inner
    try FileSystem.makeDirectory(folder, permissions: 0o700)
    for name in files { try copy(from + "/" + name, to: folder + "/" + name) }
    for (one, other) in [(from, folder), (FileSystem.parent(of: from) ?? from, staged)] {
      FileAttributes.copy(from: one, to: other)
    }
    let stagedName = FileSystem.name(of: staged)
    let support = StoreNames.support(of: handover.names.store)
    func bring(_ from: String, _ to: String) {
      guard let file = FileIdentity(of: handover.names.path(from)) else { return }
      handover.bring.append(.init(from: from, to: to, file: file))
    }
    guard FileIdentity(of: handover.names.path(support)) != nil else {
      return bring(stagedName, support)
    }
    guard FileIdentity(of: to) != nil else {
      return bring(stagedName + "/" + inner, support + "/" + inner)
    }
    for name in files {
      let target = to + "/" + name
      if FileIdentity(of: target) != nil {
        guard try FileSystem.sha256(target) == FileSystem.sha256(folder + "/" + name) else {
          throw CoreDataError(
            .refused, "an external data file of that name, with other content, is there already",
            path: target, hint: "Move it away, or name another output. The store is as it was.")
        }
        continue
      }
      bring(stagedName + "/" + inner + "/" + name, support + "/" + inner + "/" + name)
    }
  }

  private func copy(_ from: String, to: String) throws {
    try FileSystem.createEmpty(to)
    try FileSystem.copy(from, to: to) { _ in try check() }
    guard try FileSystem.sha256(to) == FileSystem.sha256(from) else {
      throw CoreDataError(.failed, "an external data file is not what was copied", path: to)
    }
    FileAttributes.copy(from: from, to: to)
    try FileSystem.sync(to)
  }
}
