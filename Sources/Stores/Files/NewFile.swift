import Values

/// A file that this process made, under a name that nothing had and through no link.
///
/// Its descriptor is the file, whatever has the name by now: owner, mode and attributes are given through
/// it, since another user of the folder could have put a link in place of the name.
///
/// Keep it for as long as any connection of this process has the file open: POSIX ends all locks that a
/// process has on a file when it closes any descriptor of it.
package final class NewFile: Sendable {
  /// Where it was made, without links.
  package let path: String
  /// Which file it is, whatever name it has by then.
  package let identity: FileIdentity
  let descriptor: Int32

  init(_ descriptor: Int32, _ path: String) throws {
    (self.descriptor, self.path) = (descriptor, path)
    var info = stat()
    guard descriptor >= 0, fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0,
      fchmod(descriptor, 0o600) == 0, fstat(descriptor, &info) == 0
    else {
      let error = FileSystem.failure(.write, path)
      if descriptor >= 0 { close(descriptor) }
      throw error
    }
    identity = FileIdentity(info)
  }

  deinit { close(descriptor) }

  /// SHA-256 of its bytes in hexadecimal.
  package func sha256() throws -> String { try FileSystem.sha256(descriptor, path) }

  /// Forces its bytes to the disk.
  package func sync() throws { try FileSystem.sync(descriptor, path) }

  /// Writes bytes at the end of what was written so far.
  package func append(_ bytes: [UInt8]) throws {
    let number = FileSystem.write(bytes, to: descriptor)
    guard number == 0 else {
      errno = number
      throw FileSystem.failure(.write, path)
    }
  }

  /// Writes over bytes of it.
  package func overwrite(_ bytes: [UInt8], at offset: Int) throws {
    guard lseek(descriptor, off_t(offset), SEEK_SET) >= 0 else {
      throw FileSystem.failure(.write, path)
    }
    try append(bytes)
  }

  /// - Throws: ``CoreDataError`` where the name is another file's by now.
  package func requireName() throws {
    guard FileIdentity(of: path) == identity else {
      throw CoreDataError(
        .failed, "another file appeared under a name that strata is writing to", path: path,
        hint: "Find out which program or user changes files in this folder. Nothing was replaced.")
    }
  }
}

/// A file that grows under a name of its own and gets the one it is meant for when it is whole.
///
/// The name is random and begins with a dot; nobody can have put anything there before. A file that is not
/// finished goes away with the value. Where the process is killed, the next one in the folder removes it.
package final class PendingFile {
  /// The path that it gets.
  package let path: String
  private let folder: Folder
  private let name: String
  private let file: NewFile
  private var isFinished = false

  /// Begins a file beside the place that it is meant for.
  ///
  /// - Parameter isPrivate: whether it is for its owner only; else it gets the permissions of any new file.
  package init(for path: String, isPrivate: Bool = false) throws {
    self.path = path
    folder = try Folder(FileSystem.parent(of: path) ?? ".")
    WorkName.removeAbandoned(in: folder)
    (name, file) = try WorkName.makeFile(for: FileSystem.name(of: path), in: folder)
    if !isPrivate { FileAttributes.makeOrdinary(file) }
  }

  deinit {
    if !isFinished { try? folder.remove(name) }
    WorkName.end(file.path)
  }

  /// Writes bytes at the end of what was written so far.
  package func append(_ bytes: [UInt8]) throws { try file.append(bytes) }

  /// Puts it in its place, whole.
  ///
  /// - Parameter replaces: whether a file that is there is replaced; a link there is replaced itself.
  /// - Throws: ``CoreDataError`` where the place is taken and not to be replaced, or the disk is full; what
  ///   was there is as it was.
  package func finish(replacing replaces: Bool, isSynced: Bool = true) throws {
    if isSynced { try file.sync() }
    let target = FileSystem.name(of: path)
    if replaces {
      try folder.rename(name, to: target)
    } else {
      try folder.renameExclusively(name, to: target)
    }
    isFinished = true
  }
}
