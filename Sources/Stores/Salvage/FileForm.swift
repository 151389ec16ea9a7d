/// Formats of pictures, archives and compressed data that say where they end.
package enum FileForm {
  /// Whether bytes begin as a format whose end they lack.
  package static func isCut(_ bytes: some BidirectionalCollection<UInt8>) -> Bool {
    func ends(in zeros: Int) -> Bool {
      bytes.count > 32 && bytes.suffix(zeros).allSatisfy { $0 == 0 }
    }
    if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A]) {
      return !bytes.suffix(8).elementsEqual([0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82])
    }
    if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
      return !bytes.suffix(2).elementsEqual([0xFF, 0xD9])
    }
    // The last word of gzip is how much was compressed, that of a property list where its table begins.
    if bytes.starts(with: [0x1F, 0x8B, 8]) { return ends(in: 4) }
    return bytes.starts(with: "bplist0".utf8) && ends(in: 8)
  }
}
