import Files
import ManagedModel
import ManagedStore

/// One file that gzip packed: `App.sqlite.gz`.
///
/// The name that gzip may have put in it is ignored: the file is called what its own name says, without `.gz`.
struct PackedFile {
  let path: String

  /// What the file in it is called.
  var name: String {
    let name = FileSystem.name(of: path)
    guard name.lowercased().hasSuffix(".gz"), name.utf8.count > 3 else { return name }
    return String(decoding: name.utf8.dropLast(3), as: UTF8.self)
  }

  /// Whether it is a tar archive that is packed in it.
  var holdsTar: Bool {
    struct Enough: Error {}
    var head: [UInt8] = []
    guard let packed = try? FileSystem.read(path, limit: 1 << 16),
      let inflation = try? Inflation(.gzip, chunk: 1 << 12)
    else { return false }
    _ = try? inflation.read(packed) { piece in
      head += piece.prefix(TarHeader.size - head.count)
      if head.count == TarHeader.size { throw Enough() }
    }
    return TarHeader.isHeader(head)
  }

  /// Unpacks it a piece at a time.
  ///
  /// - Throws: ``CoreDataError`` where it is damaged, cut off, or larger than the limits.
  func read(limits: ContainerLimits, _ output: (ArraySlice<UInt8>) throws -> Void) throws {
    let file = try OpenFile(path)
    let inflation = try Inflation(.gzip)
    var (place, unpacked) = (0, 0)
    while place < file.size {
      try Task.checkCancellation()
      let bytes = try file.read(at: place, count: min(1 << 18, file.size - place))
      guard !bytes.isEmpty else { break }
      place += bytes.count
      let isSound = try inflation.read(bytes) { piece in
        unpacked += piece.count
        guard !limits.isBomb(bytes: unpacked, packed: place) else {
          throw ContainerLimits.bomb(
            bytes: unpacked, packed: place, in: EntryName.quoted(name)
          ).at(path: path)
        }
        guard unpacked <= limits.fileBytes else {
          throw CoreDataError(
            .unreadable, "unpacked, the file is larger than \(limits.fileBytes >> 20) MB",
            path: path, hint: "Unpack it and give the result.")
        }
        try output(piece)
      }
      guard isSound else { throw broken("damaged", after: unpacked) }
    }
    guard inflation.isFinished else { throw broken("cut off", after: unpacked) }
  }

  private func broken(_ how: String, after bytes: Int) -> CoreDataError {
    CoreDataError(
      .unreadable,
      "the packed file is \(how): \(NumberText.bytes(bytes)) of what is in it could be unpacked",
      path: path,
      hint:
        "Ask for it again. To use what is left: unpack it with gzip -dc, and salvage the result.")
  }
}
