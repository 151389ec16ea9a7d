import ManagedModel
import SQLite

/// SQL functions that tell whether a value can be read as what it is said to be.
enum ValidationFunctions {
  /// Archives are read whole; larger ones are left.
  static let largestArchive = 8 << 20

  /// Most texts are: eight bytes at once show.
  private static func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var place = 0
    var bits: UInt64 = 0
    while place + 8 <= bytes.count {
      bits |= bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)
      place += 8
    }
    while place < bytes.count {
      bits |= UInt64(bytes[place])
      place += 1
    }
    return bits & 0x8080_8080_8080_8080 == 0
  }

  static func define(on connection: Connection) throws {
    // Whether a text is UTF-8, which SQLite does not ask; NULL for what is no text.
    try connection.defineTest("strata_utf8", of: .text) { bytes in
      isASCII(bytes) || String(validating: bytes, as: UTF8.self) != nil
    }
    // Whether bytes are a property list that can be read to its end, as an archive is.
    try connection.defineTest("strata_opens", of: .blob) { bytes in
      (try? PropertyList.read([UInt8](bytes))) != nil
    }
  }
}
