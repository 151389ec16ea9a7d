import ManagedModel

/// The keys of a backup's files, by their names in the backup.
struct EncryptedFiles {
  private let keys: ClassKeys
  private var records: [String: BackupFileRecord] = [:]
  /// Files whose records are damaged.
  private(set) var damaged = 0

  init(keys: ClassKeys) { self.keys = keys }

  /// Adds what the list of files says of one.
  mutating func add(_ archive: [UInt8], of name: String) {
    guard let record = BackupFileRecord(archive) else {
      damaged += 1
      return
    }
    records[name] = record
  }

  /// An entry with its size and with what decrypts it; without a key it is as it is stored.
  func opened(_ entry: ContainerEntry, _ name: String) -> ContainerEntry? {
    guard let record = records[name], let key = record.key, entry.kind == .file else { return nil }
    var opened = entry
    opened.cipher = FileCipher(key: key, keys: keys, stored: entry.bytes)
    opened.bytes = record.size
    return opened
  }
}

extension ContainerEntry {
  /// Bytes that it has where it is stored.
  var storedBytes: Int { cipher?.stored ?? bytes }

  /// The same file as it is stored.
  var sealed: ContainerEntry {
    var entry = self
    (entry.bytes, entry.cipher) = (storedBytes, nil)
    return entry
  }

  /// Why its bytes cannot be what the list of files says; `nil` where they can.
  var cipherFault: String? {
    guard let cipher else { return nil }
    if !cipher.stored.isMultiple(of: FileDecryption.block) {
      return "is encrypted and cut off: \(cipher.stored) bytes are no whole number of blocks"
    }
    return bytes > cipher.stored
      ? "has \(NumberText.grouped(cipher.stored)) bytes, and the backup's list says \(NumberText.grouped(bytes))"
      : nil
  }
}
