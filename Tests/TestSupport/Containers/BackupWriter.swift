import Files
import ManagedModel
import SQLite

/// An iOS backup made as Finder makes them: files named by the SHA-1 of `domain-path`.
public struct BackupWriter {
  private let folder: String
  private let manifest: Connection

  public init(_ folder: String, isEncrypted: Bool = false) throws {
    self.folder = folder
    try FileSystem.makeDirectory(folder)
    manifest = try Connection(path: folder + "/Manifest.db", mode: .create)
    try manifest.execute(
      """
      CREATE TABLE Files (
        fileID TEXT PRIMARY KEY, domain TEXT, relativePath TEXT, flags INTEGER, file BLOB)
      """)
    try FileSystem.write(
      PropertyList.binary(.dictionary(["IsEncrypted": .boolean(isEncrypted)])),
      to: folder + "/Manifest.plist")
  }

  /// Adds a file, or a name alone where no bytes are given.
  ///
  /// - Returns: where the bytes are.
  @discardableResult
  public func add(
    _ domain: String, _ path: String, _ content: [UInt8]?, name: String? = nil
  ) throws -> String {
    let name = name ?? ByteText.hex(Digest.sha1(Array("\(domain)-\(path)".utf8)))
    try manifest.run(
      "INSERT INTO Files VALUES (?, ?, ?, ?, NULL)",
      [.text(name), .text(domain), .text(path), .integer(content == nil ? 2 : 1)])
    let place = folder + "/" + name.prefix(2) + "/" + name
    // Not what is to lead out of it.
    guard let content, !name.contains("/") else { return place }
    try FileSystem.makeDirectory(folder + "/" + name.prefix(2))
    try FileSystem.write(content, to: place)
    return place
  }
}
