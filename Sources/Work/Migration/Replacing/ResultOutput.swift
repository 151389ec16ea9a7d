import Files
import ManagedModel
import ManagedStore

/// Puts a finished file where nothing was, with a copy of its own of the support folder.
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
    var notes = try bringSupportFolder(&handover)
    notes += FileAttributes.copy(from: .named(source.path), to: result.file)
    try result.file.sync()
    handover.bring.append(
      .init(from: FileSystem.name(of: result.path), to: names.store, file: result.identity))
    try check()
    try before(.note)
    do {
      try journal.note(handover)
      try before(.support)
      try handover.moveSupport()
      try names.sync()
      try check()
      try before(.rename)
      try result.requireUnchanged()
      guard names.file(names.store) == nil else {
        throw CoreDataError(
          .failed, "the output appeared meanwhile", path: path,
          hint: "Name a file that does not exist. The store is as it was.")
      }
      try handover.commit()
    } catch {
      journal.undo(handover)
      throw error
    }
    try? names.sync()
    journal.noteDone()
    try? before(.done)
    return notes
  }

  /// Makes a copy beside the output, and notes where it goes: the whole folder where there is none,
  /// which is one rename; else each file that is not there yet.
  ///
  /// - Returns: what a person should know of it, as sentences.
  private func bringSupportFolder(_ handover: inout Handover) throws -> [String] {
    let (from, to) = (source.supportFolder, StoreFiles(path: path).supportFolder)
    guard to != from, FileIdentity(of: from) != nil else { return [] }
    let staged = journal.workPath + MigrationJournal.externalSuffix
    let notes = try SupportTree.copy(of: source, to: staged, check: check)
    try bring(
      FileSystem.name(of: staged), StoreSuffix.supportFolder(of: handover.names.store), &handover)
    return notes
  }

  private func bring(_ from: String, _ to: String, _ handover: inout Handover) throws {
    let names = handover.names
    guard let new = names.entry(from), let source = try names.opened(from),
      let target = try names.opened(to)
    else { return }
    guard let old = try target.folder.entry(target.name) else {
      handover.bring.append(.init(from: from, to: to, file: new.identity))
      return
    }
    guard old.kind != .link else { throw FileSystem.refusal(of: .link, at: names.path(to)) }
    switch (new.kind, old.kind) {
    case (.folder, .folder):
      for name in try source.folder.folder(source.name)?.list() ?? [] {
        try bring(from + "/" + name, to + "/" + name, &handover)
      }
      return
    case (.file, .file):
      if try source.folder.file(source.name)?.sha256() == target.folder.file(target.name)?.sha256()
      {
        return
      }
    default: break
    }
    throw CoreDataError(
      .refused, "an external data file of that name, with other content, is there already",
      path: names.path(to), hint: "Move it away, or name another output. The store is as it was.")
  }
}
