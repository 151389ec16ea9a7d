import ManagedModel
import ManagedStore

/// Puts a finished file where nothing was, with copies of its own of the external data.
struct ResultOutput {
  let path: String
  let resultPath: String
  /// The run's temporary file, whose name tells what is removed after a crash.
  let temporary: String
  let source: StoreFiles
  /// Throws when the run is to stop.
  let check: () throws -> Void

  private struct Undo {
    var files: [String] = []
    var folder: String?

    func run() {
      for file in files { FileSystem.remove(file) }
      if let folder { FileSystem.removeTree(folder) }
    }
  }

  /// External data first: a store without it would be read as one that lost it.
  func run() throws {
    var undo = Undo()
    do {
      try bringExternalData(&undo)
      FileSystem.copyOwnership(from: source.path, to: resultPath)
      try FileSystem.sync(resultPath)
      try giveName()
    } catch {
      undo.run()
      throw error
    }
    try? FileSystem.sync(StoreFiles(path: path).folder)
  }

  /// A second name is refused where the first is taken, which a rename would replace.
  private func giveName() throws {
    try check()
    if FileSystem.link(resultPath, to: path) {
      FileSystem.remove(resultPath)
      return
    }
    guard FileSystem.status(path) == nil else {
      throw CoreDataError(
        .failed, "the output appeared meanwhile", path: path,
        hint: "Name a file that does not exist. The store is as it was.")
    }
    try FileSystem.rename(resultPath, to: path)
  }

  private func bringExternalData(_ undo: inout Undo) throws {
    let from = source.externalDataFolder
    let to = StoreFiles(path: path).externalDataFolder
    guard to != from, FileSystem.isDirectory(from) else { return }
    let names = try FileSystem.list(from).filter { FileSystem.isFile(from + "/" + $0) }
    let staged = temporary + MigrationJournal.externalSuffix
    let folder = staged + "/" + FileSystem.name(of: to)
    defer { FileSystem.removeTree(staged) }
    try FileSystem.makeDirectory(folder)
    for name in names { try copy(from + "/" + name, to: folder + "/" + name) }
    // The usual case: one name, given when all is there.
    if let support = FileSystem.parent(of: to), FileSystem.status(support) == nil {
      try FileSystem.rename(staged, to: support)
      undo.folder = support
      return
    }
    try FileSystem.makeDirectory(to)
    for name in names {
      let target = to + "/" + name
      if FileSystem.status(target) != nil {
        guard try digest(target) == digest(folder + "/" + name) else {
          throw CoreDataError(
            .refused, "an external data file of that name, with other content, is there already",
            path: target, hint: "Move it away, or name another output. The store is as it was.")
        }
        continue
      }
      try FileSystem.rename(folder + "/" + name, to: target)
      undo.files.append(target)
    }
    try FileSystem.sync(to)
  }

  private func copy(_ from: String, to: String) throws {
    try FileSystem.copy(from, to: to) { _ in try check() }
    guard try digest(to) == digest(from) else {
      throw CoreDataError(.failed, "an external data file is not what was copied", path: to)
    }
    FileSystem.copyOwnership(from: from, to: to)
    try FileSystem.sync(to)
  }

  private func digest(_ path: String) throws -> [UInt8] {
    Digest.sha256(try FileSystem.read(path))
  }
}
