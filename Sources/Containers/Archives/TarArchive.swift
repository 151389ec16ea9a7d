import Files
import ManagedModel
import ManagedStore

/// A tar archive, packed or not, whose members are read in the order that they have in it.
struct TarArchive {
  let path: String
  let form: ArchiveForm
  let limits: ContainerLimits

  /// Passes the members by, from the first to the last.
  ///
  /// - Returns: why it ended before its end, where it is damaged or cut off.
  func read(_ visitor: TarReader.Visitor) throws -> CoreDataError? {
    var reader = TarReader()
    do {
      switch form {
      case .tar: try readPlain(&reader, visitor)
      case .gzip: try readGzip(&reader, visitor)
      default: try readThroughProgram(&reader, visitor)
      }
    } catch let error as CoreDataError {
      throw error.at(path: path)
    } catch let damage as TarReader.Damage {
      return damage.error.at(path: path)
    }
    return reader.isIncomplete ? cutOff(reader).error : nil
  }

  private func readPlain(_ reader: inout TarReader, _ visitor: TarReader.Visitor) throws {
    let file = try OpenFile(path)
    var place = 0
    while place < file.size, !reader.isAtEnd {
      try Task.checkCancellation()
      let skipped = reader.skippable
      if skipped > 0 {
        guard skipped <= file.size - place else { throw cutOff(reader) }
        reader.skip(skipped)
        place += skipped
        continue
      }
      let bytes = try file.read(at: place, count: min(1 << 18, file.size - place))
      guard !bytes.isEmpty else { break }
      var rest = bytes[...]
      // Only as far as the next that can be passed over.
      while !rest.isEmpty, reader.skippable < 1 << 18, !reader.isAtEnd {
        let part = rest.prefix(1 << 12)
        try reader.read(part, visitor)
        rest = rest.dropFirst(part.count)
      }
      place += bytes.count - rest.count
    }
  }

  private func readGzip(_ reader: inout TarReader, _ visitor: TarReader.Visitor) throws {
    let file = try OpenFile(path)
    let inflation = try Inflation(.gzip)
    var (place, unpacked) = (0, 0)
    while place < file.size, !reader.isAtEnd {
      try Task.checkCancellation()
      let bytes = try file.read(at: place, count: min(1 << 18, file.size - place))
      guard !bytes.isEmpty else { break }
      place += bytes.count
      let isSound = try inflation.read(bytes) { piece in
        unpacked += piece.count
        try check(unpacked, of: place, reader)
        try reader.read(piece, visitor)
      }
      guard isSound else {
        throw broken("damaged", reader)
      }
    }
    if !reader.isAtEnd, !inflation.isFinished { throw cutOff(reader) }
  }

  private func readThroughProgram(_ reader: inout TarReader, _ visitor: TarReader.Visitor) throws {
    guard let program = form.program else { return }
    let size = FileSystem.status(path)?.size ?? 0
    var unpacked = 0
    let result = try Subprocess.run(
      program.name, ["-dc", "--", path], environment: Subprocess.environment()
    ) { piece in
      unpacked += piece.count
      try check(unpacked, of: size, reader)
      try reader.read(piece, visitor)
    }
    guard let result else {
      throw CoreDataError(
        .unreadable, "unpacking \(form.noun) needs \(program.name), which is not installed",
        path: path,
        hint:
          "Install it (apt-get install \(program.package)), or unpack the archive and give the folder."
      )
    }
    guard result.status == 0 || reader.isAtEnd else {
      throw broken("damaged (\(program.name): \(result.message.trimmed.printable))", reader)
    }
  }

  private func check(_ unpacked: Int, of packed: Int, _ reader: TarReader) throws {
    guard limits.isBomb(bytes: unpacked, packed: packed) else { return }
    throw CoreDataError(
      .unreadable,
      "the archive unpacks to \(unpacked / max(1, packed)) times its size in \(EntryName.quoted(reader.last)): no store compresses so well",
      hint: "The archive is malicious or has no content: ask for another.")
  }

  private func cutOff(_ reader: TarReader) -> TarReader.Damage { broken("cut off", reader) }

  private func broken(_ how: String, _ reader: TarReader) -> TarReader.Damage {
    TarReader.Damage(
      error: CoreDataError(
        .unreadable,
        "the archive is \(how)"
          + (reader.last.isEmpty ? "" : " in or after \(EntryName.quoted(reader.last))"),
        path: path, hint: "Ask for it again, or unpack what is left of it and give the folder."))
  }
}
