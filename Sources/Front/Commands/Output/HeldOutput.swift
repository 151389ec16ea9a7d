import Files

/// Output that waits for what is printed before it, in a private file.
final class HeldOutput {
  private var file: (folder: PrivateFolder, file: WritableFile)?
  /// Bytes that wait to be written to the file, and those that are in it.
  private var (waiting, count): ([UInt8], Int) = ([], 0)

  private static let piece = 1 << 16

  /// Keeps bytes behind those that were kept before.
  ///
  /// - Throws: ``CoreDataError`` where the temporary folder has no room for them.
  func append(_ bytes: [UInt8]) throws {
    waiting += bytes
    guard waiting.count >= Self.piece else { return }
    let target = try self.file ?? Self.made()
    file = target
    try target.file.write(waiting, at: count)
    count += waiting.count
    waiting.removeAll(keepingCapacity: true)
  }

  private static func made() throws -> (PrivateFolder, WritableFile) {
    let folder = try PrivateFolder(.disk)
    let path = folder.path + "/held"
    _ = try FileSystem.createEmpty(path)
    return (folder, try WritableFile(path))
  }

  /// Prints what was kept, and forgets it.
  ///
  /// - Throws: ``CoreDataError`` where it cannot be read again.
  func write(to console: Console) throws {
    var offset = 0
    while offset < count, let file {
      let bytes = try file.file.read(at: offset, count: min(Self.piece, count - offset))
      guard !bytes.isEmpty else { break }
      console.write(bytes)
      offset += bytes.count
    }
    console.write(waiting)
    clear()
  }

  /// Forgets what was kept.
  func clear() {
    waiting.removeAll(keepingCapacity: true)
    (count, file) = (0, nil)
  }
}
