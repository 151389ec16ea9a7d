import Values

/// An output of more than one file, such as a store with its external data, that is made in a private
/// folder beside its place and gets its names when it is whole.
///
///     let output = try PendingOutput(for: "/data/Saved.sqlite")
///     let file = try output.folder.create("Saved.sqlite")
///     …
///     try output.finish(with: [".Saved_SUPPORT"])
///
/// The folder goes away with a value that is not finished. Where the process is killed, the next output in
/// the same place removes it. Of two processes with one output, the later one ends with an error.
package final class PendingOutput {
  /// The path that the output gets.
  package let path: String
  /// The private folder. What is in it has its final name there.
  package let folder: Folder
  private let name: String
  private let parent: Folder
  private let work: String
  private let lock: NewFile
  /// Folders that were made for the output, from the outermost.
  private let madeFolders: [String]
  private var isFinished = false
  /// Whether what was put in place could not be undone. The next output in the folder tries again, and
  /// needs the private folder for that.
  private var isStuck = false

  /// Begins an output.
  ///
  /// - Parameter makesFolders: whether folders of the path that are missing are made.
  /// - Throws: ``CoreDataError`` where another process makes the same output, or the folder cannot be
  ///   written.
  package init(for path: String, makesFolders: Bool = false) throws {
    let place = FileSystem.parent(of: path) ?? "."
    let missing = makesFolders ? Self.missing(place) : []
    do {
      if makesFolders { try FileSystem.makeDirectory(place) }
      let (name, parent) = (FileSystem.name(of: path), try Folder(place))
      WorkName.removeAbandoned(in: parent)
      let made = try WorkName.makeFolder(for: name, in: parent)
      guard !WorkName.isMadeElsewhere(besides: made.name, in: parent) else {
        WorkName.remove(made.name, in: parent)
        WorkName.end(made.folder.path)
        throw CoreDataError(
          .failed, "another strata process is writing this file", path: path,
          hint: "Wait until it has ended, or name another file.")
      }
      (self.path, self.name, self.parent) = (path, name, parent)
      (work, folder, lock) = made
      madeFolders = missing
    } catch {
      Self.remove(missing)
      throw error
    }
  }

  deinit {
    guard !isFinished else { return }
    if isStuck {
      LeftBehind.add(
        "\(FileSystem.name(of: path)) was not finished, and part of it could not be removed from \(parent.path): the next output there removes it."
      )
    } else {
      removeWork()
      Self.remove(madeFolders)
    }
    WorkName.end(folder.path)
  }

  /// Puts the output in its place, which must be free. Its bytes must be on the disk: see ``sync(_:)``.
  ///
  /// The folders beside it come first. Each is marked until the output itself has its name: a process that
  /// is killed in between leaves what the next one recognizes.
  ///
  /// - Parameter others: names of folders in ``folder`` that are put beside the output; those that are not
  ///   there are left out.
  /// - Throws: ``CoreDataError`` where a name is taken or the file system refuses; nothing is in place then.
  package func finish(with others: [String] = []) throws {
    var items: [Item] = []
    for other in others {
      guard let made = try folder.folder(other) else { continue }
      items.append(try Item(name: other, folder: made))
      try WorkName.mark(made, by: work, for: name)
    }
    try WorkName.own.withLock { own in
      guard !own.isEnding else { throw CoreDataError(.cancelled, "cancelled", path: path) }
      try putInPlace(items)
      isFinished = true
      own.paths.remove(folder.path)
    }
    let marked = items.filter { !$0.removeMark(work) }.map(\.name)
    // A file system that cannot sync a folder loses no more than the names, and only with the power.
    try? parent.sync()
    guard marked.isEmpty else {
      LeftBehind.add(
        "\(name) is complete, but the file \(work) could not be removed from \(marked.joined(separator: ", ")) in \(parent.path): the next output there removes it."
      )
      return
    }
    removeWork()
  }

  private func putInPlace(_ items: [Item]) throws {
    var placed: [String] = []
    do {
      for item in items {
        try folder.renameExclusively(item.name, to: item.name, in: parent)
        placed.append(item.name)
      }
      try folder.renameExclusively(name, to: name, in: parent)
    } catch {
      for name in placed.reversed() {
        do { try parent.renameExclusively(name, to: name, in: folder) } catch { isStuck = true }
      }
      guard let taken = ([name] + items.map(\.name)).first(where: isTaken) else { throw error }
      throw CoreDataError(
        .failed, "another program has created a file of that name in the meantime",
        path: parent.path(of: taken), hint: "Nothing was replaced. Name another file.")
    }
  }

  /// Whether something that is not the output's has the name.
  private func isTaken(_ name: String) -> Bool {
    guard (try? folder.entry(name)) != nil else { return false }
    return (try? parent.entry(name)) != nil
  }

  /// Files that are brought to the disk one by one: more of them are faster with all else that waits to be written.
  private static let mostSynced = 64

  /// Brings a folder of the output to the disk, with all that is in it.
  ///
  /// - Parameter files: how many files that are, where it may be thousands.
  package func sync(_ name: String, files: Int = 0) throws {
    if files > Self.mostSynced, try folder.folder(name)?.syncFileSystem() == true { return }
    try Self.sync(name, in: folder)
  }

  private static func sync(_ name: String, in folder: Folder) throws {
    guard let inner = try folder.folder(name) else { return }
    for child in try inner.list() {
      switch try inner.entry(child)?.kind {
      case .folder: try sync(child, in: inner)
      case .file:
        if let file = try inner.file(child) { try FileSystem.sync(file.descriptor, file.path) }
      default: break
      }
    }
    try inner.sync()
  }

  private func removeWork() {
    let isGone = (0..<2).contains { _ in
      WorkName.remove(work, in: parent)
      return FileIdentity(of: folder.path) == nil
    }
    if !isGone {
      LeftBehind.add(
        "The folder \(folder.path), in which \(name) was created, could not be removed.")
    }
  }

  /// A folder beside the output.
  private struct Item {
    let name: String
    let folder: Folder
    /// Its permissions, where they had to be changed.
    private let permissions: mode_t?

    /// Makes the folder one that its owner may write to: else it could neither be marked nor moved.
    init(name: String, folder: Folder) throws {
      (self.name, self.folder) = (name, folder)
      permissions = try folder.withDescriptor { descriptor in
        var info = stat()
        guard fstat(descriptor, &info) == 0, info.st_mode & 0o300 != 0o300 else { return nil }
        guard fchmod(descriptor, info.st_mode & 0o7777 | 0o700) == 0 else {
          throw FileSystem.failure(.write, folder.path)
        }
        return info.st_mode & 0o7777
      }
    }

    /// - Returns: whether it is gone.
    func removeMark(_ work: String) -> Bool {
      let isGone = (0..<2).contains { _ in (try? folder.remove(work)) != nil }
      if let permissions { try? folder.withDescriptor { _ = fchmod($0, permissions) } }
      return isGone
    }
  }

  // MARK: - Folders of the path

  /// Folders of a path that are not there, from the outermost.
  private static func missing(_ path: String) -> [String] {
    guard FileIdentity(of: path) == nil else { return [] }
    return (FileSystem.parent(of: path).map(missing) ?? []) + [path]
  }

  private static func remove(_ folders: [String]) {
    for path in folders.reversed() { rmdir(path) }
  }
}

/// What processes that ended without finishing left, and what is done about it.
extension PendingOutput {
  /// Names of what interrupted runs left in the folder of an output; nothing is touched.
  package static func abandoned(beside path: String) -> [String] {
    (try? FileSystem.opened(path)).map { WorkName.abandoned(in: $0.folder) } ?? []
  }

  /// Removes what interrupted runs left in the folder of an output. To be called before a look at whether
  /// the output's names are free.
  package static func removeAbandoned(beside path: String) {
    if let place = try? FileSystem.opened(path) { WorkName.removeAbandoned(in: place.folder) }
  }

  /// Removes what this process has not finished, before a signal ends it. Nothing is put in place any more.
  ///
  /// - Returns: whether all of it is gone: what another thread writes just now may stay.
  package static func removeOwn() -> Bool {
    WorkName.own.withLock { own in
      own.isEnding = true
      for path in own.paths {
        guard let place = try? FileSystem.opened(path) else { continue }
        WorkName.remove(place.name, in: place.folder)
      }
      return own.paths.allSatisfy { FileIdentity(of: $0) == nil }
    }
  }
}
