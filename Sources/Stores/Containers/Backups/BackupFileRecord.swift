import ManagedModel

/// What a backup's Manifest.db keeps of a file: a keyed archive of an object of class `MBFile`.
struct BackupFileRecord: Equatable {
  /// Bytes of the file on the device.
  let size: Int
  /// Its key; `nil` where the file is not encrypted.
  let key: WrappedKey?

  /// Bytes of an archive that are read; Apple's have fewer than a thousand.
  static let mostBytes = 1 << 20

  /// Reads a record.
  ///
  /// - Returns: `nil` for one that is damaged: no archive, no size, or a key of another length.
  init?(_ archive: [UInt8]) {
    guard archive.count <= Self.mostBytes, let list = try? PropertyList.read(archive),
      let file = (try? KeyedArchive(propertyList: list))?.root.value.object,
      let size = file["Size"].integer.flatMap(Int.init(exactly:)), size >= 0
    else { return nil }
    self.size = size
    guard file.has("EncryptionKey"), !file["EncryptionKey"].isNull else {
      key = nil
      return
    }
    guard case .data(let bytes) = file["EncryptionKey"], let key = WrappedKey(bytes) else {
      return nil
    }
    self.key = key
  }
}
