import Files
import ManagedModel
import ManagedStore

/// Puts a finished file where nothing was, with a copy of its own of the support folder.
struct ResultOutput {
  let path: String
  let result: VerifiedFile
  let journal: MigrationJournal
  let source: StoreFiles
  /// Files of external data that the result names and the source does not have.
  var added = AddedFiles()
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
          hint: "Name a file that does not exist. The store is unchanged.")
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

  /// Makes a copy beside the output, and notes where it goes: the whole folder, by one rename, if the output
  /// has none; else each file that is not there yet.
  ///
  /// - Returns: what a person should know of it, as sentences.
  private func bringSupportFolder(_ handover: inout Handover) throws -> [String] {
    let (from, to) = (source.supportFolder, StoreFiles(path: path).supportFolder)
    let staged = journal.workPath + MigrationJournal.externalSuffix
    var notes: [String] = []
    let isCopied = to != from && FileIdentity(of: from) != nil
    if isCopied { notes = try SupportTree.copy(of: source, to: staged, check: check) }
    try added.copy(to: staged, check: check)
    guard isCopied || !added.isEmpty else { return [] }
    try handover.bring(
      FileSystem.name(of: staged), into: StoreSuffix.supportFolder(of: handover.names.store))
    return notes
  }
}

/// New files of external data, which a store names once it is in place.
package struct AddedFiles: Sendable {
  /// Where they were made: in a private folder.
  private let folder: String
  /// Their names, those that rows have.
  private let names: [String]

  /// No files.
  package init() { (folder, names) = ("", []) }

  /// Files of a private folder.
  package init(_ names: [String], in folder: String) { (self.names, self.folder) = (names, folder) }

  /// Whether there are none.
  package var isEmpty: Bool { names.isEmpty }

  /// Where a file is; `nil` for a name that is none of these.
  package func path(of name: String) -> String? {
    names.contains(name) ? folder + "/" + name : nil
  }

  /// Copies them into a folder that is as a store's support folder, which is made where it is not there.
  func copy(to staged: String, check: () throws -> Void) throws {
    guard !isEmpty else { return }
    let support = try Folder(FileSystem.parent(of: staged) ?? ".")
      .makeFolder(FileSystem.name(of: staged))
    let data = try support.makeFolder(StoreFiles.externalDataName, permissions: 0o700)
    let source = try Folder(folder)
    for name in names {
      try SupportTree.copy(name, of: source, to: data, isToStay: true, check: check)
    }
    try data.sync()
    try support.sync()
  }
}

extension Handover {
  /// Notes that what was made comes to what is there: a folder as a whole where none is in its place, else each
  /// file of it.
  mutating func bring(_ from: String, into to: String) throws {
    guard let new = names.entry(from), let source = try names.opened(from),
      let target = try names.opened(to)
    else { return }
    guard let old = try target.folder.entry(target.name) else {
      bring.append(.init(from: from, to: to, file: new.identity))
      return
    }
    guard old.kind != .link else { throw FileSystem.refusal(of: .link, at: names.path(to)) }
    switch (new.kind, old.kind) {
    case (.folder, .folder):
      for name in try source.folder.folder(source.name)?.list() ?? [] {
        try bring(from + "/" + name, into: to + "/" + name)
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
      path: names.path(to), hint: "Move it away, or name another output. The store is unchanged.")
  }
}
