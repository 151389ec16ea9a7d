import Files
import ManagedModel

/// Bytes of a container written into a private folder: new files, for their owner only.
extension Container {
  /// Writes files, each where it is wanted, and the folders that they are to be in.
  ///
  /// - Parameter progress: called with how many bytes were written.
  func unpack(
    _ wanted: [(entry: ContainerEntry, path: String)], progress: @escaping Progress = { _ in }
  ) throws {
    do { try unpackAll(wanted, progress) } catch var error as CoreDataError {
      // What cannot be put together cannot be read; nothing of it was begun.
      error.kind = .unreadable
      throw error
    }
  }

  private func unpackAll(
    _ wanted: [(entry: ContainerEntry, path: String)], _ progress: @escaping Progress
  ) throws {
    try check(wanted.map(\.entry), into: wanted.first?.path)
    for (_, path) in wanted {
      guard let folder = FileSystem.parent(of: path) else { continue }
      try FileSystem.makeDirectory(folder, permissions: 0o700)
    }
    var done = 0
    func count(_ bytes: Int) {
      done += bytes
      progress(done)
    }
    var members: [Int: (entry: ContainerEntry, path: String)] = [:]
    for (entry, path) in wanted {
      switch entry.place {
      case .member(let index): members[index] = (entry, path)
      case .nested(let archive, let index):
        try requireFree(path, for: entry)
        guard entry.cipher == nil else {
          try decryptNested(entry, archives[archive], index, to: path, count)
          continue
        }
        var last = 0
        try archives[archive].unpack(index, to: path) {
          count($0 - last)
          last = $0
        }
      case .file(let source):
        // Not what a link references by now.
        guard let identity = FileIdentity(of: source),
          FileSystem.target(ofLink: source) == nil || form == .folder
        else { throw changed(entry) }
        try requireFree(path, for: entry)
        if entry.cipher != nil {
          try decrypt(entry, at: source, to: path, count)
          guard FileIdentity(of: source) == identity else { throw changed(entry) }
          continue
        }
        var last = 0
        try FileSystem.copy(OpenFile(source), into: FileSystem.createEmpty(path)) {
          count($0 - last)
          last = $0
        }
        guard FileIdentity(of: source) == identity else { throw changed(entry) }
      }
    }
    guard !members.isEmpty, case .archive(let form) = self.form else { return }
    switch form {
    case .zip: try unpackZip(members, count)
    case .packedFile: try members[0].map { try unpackFile($0, count) }
    case .tar, .gzip, .bzip2, .xz, .zstd:
      try unpackTar(TarArchive(path: path, form: form, limits: limits), members, count)
    }
  }

  /// Writes an encrypted file of an archive in an archive in plain.
  private func decryptNested(
    _ entry: ContainerEntry, _ archive: NestedArchive, _ index: Int, to path: String,
    _ count: (Int) -> Void
  ) throws {
    let folder = try PrivateFolder()
    let sealed = folder.path + "/sealed"
    try withExtendedLifetime(folder) {
      try archive.unpack(index, to: sealed) { _ in }
      try decrypt(entry, at: sealed, to: path, count)
    }
  }

  /// The names of two files may be one to the file system of the temporary folder, which tells no cases apart.
  private func requireFree(_ path: String, for entry: ContainerEntry) throws {
    guard FileIdentity(of: path) == nil else {
      throw refused(
        entry.name,
        "and another file become one name, since the temporary folder takes them for one")
    }
  }

  private func newFile(_ path: String, for entry: ContainerEntry) throws -> UnpackedFile {
    try requireFree(path, for: entry)
    return try UnpackedFile(path)
  }

  private func unpackFile(
    _ member: (entry: ContainerEntry, path: String), _ count: (Int) -> Void
  ) throws {
    let file = try newFile(member.path, for: member.entry)
    var bytes = 0
    try PackedFile(path: path).read(limits: limits) { piece in
      bytes += piece.count
      guard bytes <= member.entry.bytes else { throw changed(member.entry) }
      try file.write(piece)
      count(piece.count)
    }
    guard bytes == member.entry.bytes else { throw changed(member.entry) }
  }

  private func unpackZip(
    _ members: [Int: (entry: ContainerEntry, path: String)], _ count: (Int) -> Void
  ) throws {
    let zip = try zipArchive ?? ZipArchive(path, limits: limits)
    for (index, member) in members.sorted(by: { $0.key < $1.key }) {
      guard zip.members.indices.contains(index),
        zip.members[index].bytes == member.entry.storedBytes
      else { throw changed(member.entry) }
      let file = try newFile(member.path, for: member.entry)
      var pieces = try plainPieces(of: member.entry)
      try zip.read(zip.members[index]) { piece in
        try file.write(pieces.plain(piece)[...])
        count(piece.count)
      }
      try file.write(end(of: pieces, member.entry)[...])
    }
  }

  private func unpackTar(
    _ tar: TarArchive, _ members: [Int: (entry: ContainerEntry, path: String)],
    _ count: @escaping (Int) -> Void
  ) throws {
    struct Enough: Error {}
    var (index, left) = (-1, members.count)
    var file: UnpackedFile?
    var pieces: PlainPieces?
    var current: ContainerEntry?
    var fault: CoreDataError?
    do {
      fault = try tar.read(
        TarReader.Visitor(
          begin: { member in
            index += 1
            guard let wanted = members[index] else { return false }
            guard member.kind == .file, member.bytes == wanted.entry.storedBytes else {
              throw self.changed(wanted.entry)
            }
            file = try self.newFile(wanted.path, for: wanted.entry)
            pieces = try self.plainPieces(of: wanted.entry)
            current = wanted.entry
            return true
          },
          data: { piece in
            if let plain = pieces?.plain(piece) { try file?.write(plain[...]) }
            count(piece.count)
          },
          end: {
            if let current, let pieces { try file?.write(self.end(of: pieces, current)[...]) }
            file = nil
            left -= 1
            // What follows is nobody's.
            if left == 0 { throw Enough() }
          }))
    } catch is Enough {}
    guard left == 0 else {
      throw fault
        ?? CoreDataError(
          .unreadable, "the archive changed while it was read", path: path, hint: "Try again.")
    }
  }

  /// Refuses what is no file, and what is more than there is room for.
  private func check(_ entries: [ContainerEntry], into path: String?) throws {
    var total = 0
    for entry in entries {
      guard entry.kind == .file else {
        throw refused(
          entry.name,
          entry.kind == .link
            ? "is a link, and links are not followed" : "is neither a file nor a folder")
      }
      guard entry.bytes <= limits.fileBytes else {
        throw refused(entry.name, "is larger than \(limits.fileBytes >> 20) MB")
      }
      total += entry.bytes
      guard total <= limits.totalBytes else {
        throw refused(
          entry.name, "brings the unpacked size above \(limits.totalBytes >> 20) MB")
      }
    }
    guard let path, let free = FileSystem.freeSpace(at: FileSystem.parent(of: path) ?? "."),
      free < total
    else { return }
    throw CoreDataError(
      .unreadable,
      "a private copy takes \(NumberText.bytes(total)), and the temporary folder has \(NumberText.bytes(free)) free",
      path: self.path, hint: "Free some space, or set TMPDIR to a folder with more of it.")
  }

  private func changed(_ entry: ContainerEntry) -> CoreDataError {
    CoreDataError(
      .unreadable, "\(EntryName.quoted(entry.name)) in it changed while it was read", path: path,
      hint: "Try again.")
  }
}

/// A file that is written a piece at a time: new, and for its owner only.
private final class UnpackedFile {
  private let path: String
  private let descriptor: Int32

  init(_ path: String) throws {
    self.path = path
    descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw FileSystem.failure(.write, path) }
    fchmod(descriptor, 0o600)
  }

  deinit { close(descriptor) }

  func write(_ bytes: ArraySlice<UInt8>) throws {
    let number = FileSystem.write(Array(bytes), to: descriptor)
    guard number == 0 else {
      errno = number
      throw FileSystem.failure(.write, path)
    }
  }
}

/// All that is in a folder and below it; links are reported, and not followed.
struct FolderWalk {
  private(set) var entries: [ContainerEntry] = []
  /// Folders that could not be read.
  private(set) var unreadable: [String] = []

  private static let deepest = 64

  /// - Parameter followsLinks: whether a link to a file counts as that file.
  init(_ path: String, followsLinks: Bool, limits: ContainerLimits) throws {
    var folders: [(name: String, depth: Int)] = [("", 0)]
    // What cannot be read at all is an error; a folder in it is not.
    _ = try FileSystem.list(path)
    while let (folder, depth) = folders.popLast() {
      try Task.checkCancellation()
      let full = folder.isEmpty ? path : path + "/" + folder
      guard let names = try? FileSystem.list(full) else {
        unreadable.append(folder)
        continue
      }
      for name in names {
        guard entries.count < limits.entries else {
          throw CoreDataError(
            .unreadable, "the folder has more than \(limits.entries) files", path: path,
            hint: "Give a subfolder.")
        }
        let (inner, place) = (folder.isEmpty ? name : folder + "/" + name, full + "/" + name)
        var info = stat()
        guard lstat(place, &info) == 0 else { continue }
        var kind = Self.kind(info)
        if kind == .link, followsLinks, let status = FileSystem.status(place), status.kind == .file
        {
          kind = .file
          info.st_size = off_t(status.size)
        }
        if kind == .folder, depth < Self.deepest { folders.append((inner, depth + 1)) }
        entries.append(
          ContainerEntry(
            name: inner, kind: kind, bytes: kind == .file ? Int(info.st_size) : 0,
            place: .file(place)))
      }
    }
  }

  private static func kind(_ info: stat) -> ContainerEntry.Kind {
    switch info.st_mode & S_IFMT {
    case S_IFREG: .file
    case S_IFDIR: .folder
    case S_IFLNK: .link
    default: .other
    }
  }
}
