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
    let stored = entry.bytes
    opened.cipher = FileCipher(key: key, keys: keys, stored: stored, stated: record.size)
    let isLikely = record.size <= stored && stored - record.size <= FileDecryption.block
    opened.bytes = isLikely ? record.size : stored
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

  /// Why its bytes cannot be decrypted; `nil` where they can.
  var cipherFault: String? {
    guard let stored = cipher?.stored, !stored.isMultiple(of: FileDecryption.block) else {
      return nil
    }
    return
      "is encrypted and cut off: \(NumberText.grouped(stored)) bytes are not a whole number of blocks"
  }
}
