import CZlib
import ManagedModel
import StoreTables

/// Replaces data by as many bytes of the same kind: texts, archives and property lists by such of the same shape, pictures
/// and other files by bytes that begin as such a file does, everything else by random bytes.
package final class DataPseudonyms {
  package let names: Pseudonyms
  /// Values whose content did not fit into their length: gzip of texts that could be packed better.
  package private(set) var shortened = 0
  /// Values that begin as an archive or a gzip and cannot be read.
  package private(set) var unreadable = 0

  /// Archives within archives.
  private static let mostDepth = 6
  /// Larger values are treated as files of which nothing is known but their beginning.
  package static let largest = 64 << 20

  package init(_ names: Pseudonyms) { self.names = names }

  /// Other bytes of the same number and kind.
  ///
  /// - Parameter keepsNumbers: whether numbers in an archive stay: those of history tokens name transactions.
  package func data(_ bytes: [UInt8], keepsNumbers: Bool = false, depth: Int = 0) -> [UInt8] {
    guard !bytes.isEmpty else { return [] }
    guard bytes.count <= Self.largest, depth < Self.mostDepth else { return file(bytes) }
    switch DataKind(bytes) {
    case .gzip: return gzip(bytes, depth: depth) ?? beginning(as: bytes, 3)
    case .keyedArchive, .propertyList:
      guard PropertyListNodes.isBinary(bytes) else { return text(bytes) ?? file(bytes) }
      guard let nodes = try? PropertyListNodes(bytes) else { return beginning(as: bytes, 8) }
      var archive = ArchivePseudonyms(bytes, nodes, self, keepsNumbers: keepsNumbers, depth: depth)
      return archive.replaced()
    case .json, .text: return text(bytes) ?? random(bytes)
    case .image(.jpeg, let size): return jpeg(bytes, size)
    case .image, .pdf: return file(bytes)
    case .empty, .bytes: return file(bytes)
    }
  }

  /// UTF-8 text as the text of a String attribute would be replaced.
  private func text(_ bytes: [UInt8]) -> [UInt8]? {
    String(validating: bytes, as: UTF8.self).map { Array(names.text($0).utf8) }
  }

  private func beginning(as bytes: [UInt8], _ count: Int) -> [UInt8] {
    unreadable += 1
    return Array((bytes.prefix(count) + random(bytes).dropFirst(count)).prefix(bytes.count))
  }

  // MARK: - Bytes

  /// Random bytes that follow from the key and the bytes.
  package func random(_ bytes: [UInt8]) -> [UInt8] {
    if bytes.count <= 32 {
      return names.cipher.replaced(
        bytes.map { Int($0) }, radices: bytes.map { _ in 256 }, context: Array("bytes".utf8)
      ).map { UInt8(truncatingIfNeeded: $0) }
    }
    var stream = stream(for: bytes)
    return stream.bytes(bytes.count)
  }

  /// A stream that follows from the key and some bytes.
  private func stream(for bytes: [UInt8]) -> KeyedStream {
    KeyedStream(names.hash, Array("data".utf8) + Digest.sha256(bytes))
  }

  /// Lengths of beginnings that tell files apart.
  private static let heads = [0, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24]
  /// As many bytes as decide what a file is.
  private static let sample = 4096

  /// Bytes that are taken for the same kind of file, by as little of the original's beginning as decides that.
  package func file(_ bytes: [UInt8]) -> [UInt8] {
    let kind = Self.kind(of: bytes)
    var replaced = random(bytes)
    for _ in 0..<16 {
      for head in Self.heads where head <= bytes.count {
        let candidate = Array(bytes.prefix(head)) + replaced.dropFirst(head)
        if Self.kind(of: candidate) == kind, candidate != bytes { return candidate }
      }
      // Few random bytes may happen to be a text.
      replaced = random(replaced)
    }
    return replaced
  }

  private struct Kind: Equatable {
    let ending: FileExtension
    let size: DataKind.PixelSize?
  }

  private static func kind(of bytes: [UInt8]) -> Kind {
    let head = Array(bytes.prefix(sample))
    let isWhole = head.count == bytes.count
    var size: DataKind.PixelSize?
    if case .image(_, let own) = DataKind(head, isWhole: isWhole) { size = own }
    return Kind(ending: FileExtension(head, isWhole: isWhole), size: size)
  }

  // MARK: - JPEG

  /// A JPEG of that size as far as its headers go: those of the original may hold where it was taken.
  private func jpeg(_ bytes: [UInt8], _ size: DataKind.PixelSize?) -> [UInt8] {
    guard let size, size.width <= 0xFFFF, size.height <= 0xFFFF, bytes.count >= 64 else {
      return Array((bytes.prefix(3) + random(bytes).dropFirst(3)).prefix(bytes.count))
    }
    func two(_ number: Int) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 255)] }
    let head: [UInt8] =
      [0xFF, 0xD8, 0xFF, 0xE0, 0, 16] + Array("JFIF\0".utf8) + [1, 1, 0, 0, 1, 0, 1, 0, 0]
      + [0xFF, 0xC0, 0, 11, 8] + two(size.height) + two(size.width) + [1, 1, 0x11, 0]
      + [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 63, 0]
    let body = random(bytes).map { $0 == 0xFF ? 0xFE : $0 }
    return Array((head + body.dropFirst(head.count + 2) + [0xFF, 0xD9]).prefix(bytes.count))
  }

  // MARK: - gzip

  private static let header: [UInt8] = [0x1F, 0x8B, 8]
  /// The header, and the checksum with the length behind the data.
  private static let frame = 18
  /// Most bytes of a block that is not packed.
  private static let block = 65_535

  /// A gzip of the same length whose content is of the same shape; where that cannot be packed as small, the content
  /// is cut.
  private func gzip(_ bytes: [UInt8], depth: Int) -> [UInt8]? {
    let decoded = DecodedData(bytes)
    guard decoded.layers > 0, decoded.problem == nil, decoded.isWhole else { return nil }
    let inner = data(decoded.bytes, depth: depth + 1)
    var packed = inner
    for _ in 0..<decoded.layers {
      guard let raw = try? ModelCache.deflate(packed) else { return nil }
      packed = Self.wrapped(raw, of: packed)
    }
    if packed.count <= bytes.count { return Self.filled(packed, to: bytes.count) }
    let room = bytes.count - Self.frame
    let blocks = max(1, (room + Self.block + 4) / (Self.block + 5))
    let count = min(inner.count, room - blocks * 5)
    guard count > 0 else { return nil }
    shortened += 1
    let content = Array(inner.prefix(count))
    return Self.filled(Self.wrapped(Self.stored(content), of: content), to: bytes.count)
  }

  private static func wrapped(_ raw: [UInt8], of content: [UInt8]) -> [UInt8] {
    var result = header + [0, 0, 0, 0, 0, 0, 255] + raw
    let sum = content.withUnsafeBufferPointer { crc32(0, $0.baseAddress, UInt32($0.count)) }
    result.append(number: UInt32(truncatingIfNeeded: sum))
    result.append(number: UInt32(truncatingIfNeeded: content.count))
    return result
  }

  /// DEFLATE's blocks that are not packed.
  private static func stored(_ content: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var place = 0
    repeat {
      let count = min(block, content.count - place)
      let isLast = place + count == content.count
      let (low, high) = (UInt8(count & 255), UInt8(count >> 8))
      result += [isLast ? 1 : 0, low, high, ~low, ~high]
      result += content[place..<place + count]
      place += count
    } while place < content.count
    return result
  }

  /// With a comment in the header, so that it has a length.
  private static func filled(_ packed: [UInt8], to count: Int) -> [UInt8] {
    let missing = count - packed.count
    guard missing > 0 else { return packed }
    let commented: UInt8 = 16
    let comment = [UInt8](repeating: UInt8(ascii: "-"), count: missing - 1) + [0]
    return header + [packed[3] | commented] + packed[4..<10] + comment + packed[10...]
  }
}
