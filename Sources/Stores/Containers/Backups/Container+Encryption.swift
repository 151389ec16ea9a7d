import Files
import ManagedModel

/// Encrypted backups in a container, and their files.
extension Container {
  /// The list of a backup, opened with its password where it is encrypted.
  func manifest(
    _ database: ContainerEntry, _ properties: ContainerEntry?, info: ContainerEntry?,
    _ unlocking: BackupUnlocking
  ) throws -> BackupManifest {
    let list = properties.flatMap(propertyList(of:))
    let isDatabase = FileSystem.isDatabaseHead(storedHead(of: database))
    guard list?["IsEncrypted"]?.boolean == true || !isDatabase else {
      return try withFile(of: database) {
        try BackupManifest(database: $0, of: path, limits: limits)
      }
    }
    let encryption = try BackupEncryption(
      list, info: info.flatMap(propertyList(of:)), of: path)
    let keys = try encryption.keys(of: path, unlocking)
    var entry = database
    if !isDatabase {
      guard let key = encryption.manifestKey else { throw damagedManifest("has no key") }
      entry.cipher = FileCipher(key: key, keys: keys, stored: database.bytes, stated: nil)
      if let fault = entry.cipherFault { throw damagedManifest(fault) }
      do { _ = try keys.unwrapped(key) } catch { throw damagedManifest(error.clause) }
      guard FileSystem.isDatabaseHead(head(of: entry)) else {
        throw damagedManifest("does not decrypt to a database")
      }
    }
    let folder = try PrivateFolder()
    let copy = folder.path + "/Manifest.db"
    return try withExtendedLifetime(folder) {
      try unpack([(entry, copy)])
      return try BackupManifest(database: copy, keys: keys, of: path, limits: limits)
    }
  }

  private func propertyList(of entry: ContainerEntry) -> PropertyListValue? {
    (try? bytes(of: entry)).flatMap { try? PropertyList.read($0) }
  }

  private func damagedManifest(_ clause: String) -> CoreDataError {
    CoreDataError(
      .unreadable, "the list of files of the encrypted backup (Manifest.db) \(clause)", path: path,
      hint:
        "The password is right; the backup is damaged: use another copy of it, or make a new one.")
  }

  /// Says how many files the list says too little about.
  func noteDamagedRecords(of manifest: BackupManifest) {
    let count = manifest.damagedRecords
    guard count > 0 else { return }
    notes.append(
      "\(NumberText.counted(count, "file")) of the encrypted backup cannot be decrypted: what Manifest.db says of them is damaged."
    )
  }

  /// The first bytes of a file that is encrypted, in memory.
  func plainHead(of entry: ContainerEntry) -> [UInt8] {
    guard entry.cipherFault == nil, let decryption = try? entry.cipher?.decryption() else {
      return []
    }
    return decryption.update(storedHead(of: entry)[...])
  }

  /// Begins to decrypt a member of an archive, if it is encrypted.
  func plainPieces(of entry: ContainerEntry) throws -> PlainPieces {
    do { return try PlainPieces(entry) } catch { throw refusedKey(entry, error) }
  }

  /// Writes an encrypted file in plain.
  func decrypt(
    _ entry: ContainerEntry, at source: String, to path: String, _ count: (Int) -> Void
  ) throws {
    var pieces = try plainPieces(of: entry)
    let file = try OpenFile(source)
    let copy = try FileSystem.createEmpty(path)
    var offset = 0
    while offset < entry.storedBytes {
      try Task.checkCancellation()
      let piece = try file.read(at: offset, count: min(1 << 20, entry.storedBytes - offset))
      guard !piece.isEmpty else { break }
      offset += piece.count
      try copy.append(pieces.plain(piece[...]))
      count(piece.count)
    }
    try copy.append(end(of: pieces, entry))
  }

  /// The last bytes of a file that is decrypted.
  func end(of pieces: PlainPieces, _ entry: ContainerEntry) throws -> [UInt8] {
    if entry.cipherFault == nil, let end = pieces.end() { return end }
    throw tooShort(entry)
  }

  private func tooShort(_ entry: ContainerEntry) -> CoreDataError {
    CoreDataError(
      .unreadable, "\(EntryName.quoted(entry.name)) in it is shorter than the backup's list says",
      path: path, hint: "The backup is damaged: use another copy of it, or make a new one.")
  }

  private func refusedKey(_ entry: ContainerEntry, _ fault: ClassKeys.Fault) -> CoreDataError {
    CoreDataError(
      .unreadable, "\(EntryName.quoted(entry.name)) in it \(fault.clause)", path: path,
      hint: {
        if case .onlyOnDevice = fault {
          return
            "No password opens this file: take it from the device itself, with Xcode or through the app."
        }
        return "The backup is damaged: use another copy of it, or make a new one."
      }())
  }

  /// What a main file of an encrypted backup is, without a plain copy of it; `nil` for one that is not
  /// encrypted.
  func look(atEncrypted group: Group, _ main: String, _ log: String?) -> StoreLook? {
    guard let cipher = group.main.cipher else { return nil }
    if let fault = group.main.cipherFault { return .damaged("it " + fault) }
    let secret: Secret
    do { secret = try cipher.keys.unwrapped(cipher.key) } catch { return .locked(error.clause) }
    do {
      let file = try DecryptedFile(OpenFile(main), secret)
      let last = try file.read(
        at: file.size - FileDecryption.block, count: FileDecryption.block)
      guard FileEnd.kept(of: last, total: file.size, stated: cipher.stated) != nil else {
        return .damaged("it is shorter than the backup's list says")
      }
      if let form = group.atomic { return .atomic(form) }
      let tables = try EncryptedTables(file)
      if tables.areOfStore { return .store(entities: [], versionIdentifiers: []) }
    } catch EncryptedTables.Fault.notDatabase {
      return isStoreLog(group, log) ? .store(entities: [], versionIdentifiers: []) : .nothing
    } catch { return .damaged(error.clause) }
    return isStoreLog(group, log) ? .store(entities: [], versionIdentifiers: []) : .database
  }

  /// Whether frames of an encrypted log hold the table that every store has.
  private func isStoreLog(_ group: Group, _ path: String?) -> Bool {
    guard let entry = group.log, let cipher = entry.cipher, let path,
      let secret = try? cipher.keys.unwrapped(cipher.key), let file = try? OpenFile(path),
      let log = try? DecryptedFile(file, secret).read(at: 0, count: 1 << 18)
    else { return false }
    return log.firstRange(of: "Z_METADATA".utf8) != nil
  }
}
