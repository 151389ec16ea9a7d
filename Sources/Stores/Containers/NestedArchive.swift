import Files
import ManagedModel

/// An archive in an archive, unpacked into a private folder: a ZIP in a ZIP, as mail programs and people make
/// them.
struct NestedArchive {
  /// Its path in the archive that it is in.
  let name: String
  private let container: Container
  private let folder: PrivateFolder
  /// The archive that it is in.
  private let outer: String

  /// Where it is to be unpacked to, so that it can be opened.
  static func place(in folder: PrivateFolder) -> String { folder.path + "/archive" }

  /// Opens one that was unpacked.
  ///
  /// - Parameter outer: the path of the archive that it is in.
  init(
    _ name: String, in folder: PrivateFolder, of outer: String, limits: ContainerLimits,
    unlocking: BackupUnlocking
  ) throws {
    (self.name, self.folder, self.outer) = (name, folder, outer)
    do {
      container = try Container(
        Self.place(in: folder), limits: limits, unlocking: unlocking, opensArchives: false)
    } catch let error as CoreDataError {
      throw Self.told(error, name, outer)
    }
  }

  /// What is in it, by paths in the archive that it is in.
  ///
  /// - Parameter number: its own among those.
  func entries(_ number: Int) -> [ContainerEntry] {
    container.entries.enumerated().map { index, entry in
      var entry = entry
      entry.name = name + "/" + entry.name
      entry.place = .nested(number, index)
      return entry
    }
  }

  /// What of it could not be looked into, as sentences.
  var notes: [String] { container.notes.map { "\(EntryName.quoted(name)): \($0)" } }

  /// The first bytes of a file in it, as they are stored.
  func head(at index: Int) -> [UInt8] { container.storedHead(of: container.entries[index]) }

  /// Writes a file in it to where it is wanted, as it is stored.
  func unpack(_ index: Int, to path: String, progress: @escaping Container.Progress) throws {
    do {
      try container.unpack([(container.entries[index].sealed, path)], progress: progress)
    } catch let error as CoreDataError {
      throw Self.told(error, name, outer)
    }
  }

  /// An error about a private copy, as one about the archive that a person gave.
  private static func told(
    _ error: CoreDataError, _ name: String, _ outer: String
  ) -> CoreDataError {
    var error = error
    error.message = "in \(EntryName.quoted(name)): \(error.message)"
    error.path = outer
    return error
  }
}

extension Container {
  /// Opens the ZIP archives in an archive; what is wrong with one is noted.
  func openArchives(_ unlocking: BackupUnlocking) throws {
    guard case .archive(let form) = form else { return }
    let found = entries.filter { entry in
      entry.kind == .file && entry.name.lowercased().hasSuffix(".zip")
        && head(of: entry).starts(with: [0x50, 0x4B, 3, 4])
    }
    let wanted = Array(found.prefix(limits.archives))
    if wanted.count < found.count {
      notes.append(
        "\(NumberText.counted(found.count - wanted.count, "more archive")) in it \(found.count - wanted.count == 1 ? "was" : "were") not opened."
      )
    }
    // A tar archive is read from its beginning for each that is taken out of it.
    for group in form == .zip ? wanted.map({ [$0] }) : [wanted] where !group.isEmpty {
      try Task.checkCancellation()
      do {
        let unpacked = try group.map { ($0, try PrivateFolder()) }
        try unpack(unpacked.map { ($0, NestedArchive.place(in: $1)) })
        for (entry, folder) in unpacked { try open(entry, in: folder, unlocking) }
      } catch let error as CoreDataError {
        note(error, of: group[0])
      }
    }
  }
}
