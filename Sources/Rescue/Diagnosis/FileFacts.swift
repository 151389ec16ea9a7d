import Files
import ManagedModel
import Salvage

/// What the header of a store's file, its size and a few samples of it say, without SQLite: as they are once
/// a save that was not finished is rolled back.
struct FileFacts {
  /// Bytes of the main file, once it is rolled back.
  let size: Int
  /// The first hundred bytes, or fewer.
  let head: [UInt8]
  /// How evenly the sampled bytes are spread: 8 bits a byte for what is encrypted or packed.
  let entropy: Double
  /// The kind of page that the first one is.
  private let firstKind: UInt8?
  private let file: MainFile
  private let path: String

  init(_ path: String) throws {
    self.path = path
    // A -journal that cannot be read is a finding of its own.
    file = try (try? MainFile(path, journal: path + "-journal")) ?? MainFile(path, journal: nil)
    size = file.size
    head = try file.read(at: 0, count: 100)
    firstKind = try file.read(at: 100, count: 1).first
    var counts = [Int](repeating: 0, count: 256)
    for offset in [0, size / 2, size - 8192] {
      for byte in try file.read(at: max(0, offset), count: 8192) { counts[Int(byte)] += 1 }
    }
    entropy = Self.entropy(counts)
  }

  private static func entropy(_ counts: [Int]) -> Double {
    let total = Double(counts.reduce(0, +))
    guard total > 0 else { return 0 }
    return counts.reduce(0) { sum, count in
      guard count > 0 else { return sum }
      let part = Double(count) / total
      return sum - part * Self.binaryLogarithm(part)
    }
  }

  /// Of a number between 0 and 1, as exactly as distinguishing noise from text needs.
  private static func binaryLogarithm(_ value: Double) -> Double {
    let exponent = value.exponent
    var (mantissa, result, bit) = (value.significand, Double(exponent), 0.5)
    for _ in 0..<20 {
      mantissa *= mantissa
      if mantissa >= 2 {
        mantissa /= 2
        result += bit
      }
      bit /= 2
    }
    return result
  }

  /// How its bytes were moved on the way; `nil` where nothing shows it.
  func shift() throws -> ByteShift? { try MainFile(path, journal: nil, isRealigned: true).shift }

  /// Whether what is no text became the character that stands for it.
  func isSavedAsText() throws -> Bool { try file.isSavedAsText() }

  /// Whether a -journal is rolled back.
  var isRolledBack: Bool { file.journal?.state == .hot }

  /// What the header says, as far as it can be believed.
  private var header: FileHeader { FileHeader(head) }

  /// Whether it begins as every SQLite file does.
  var hasMagic: Bool { header.isMagic }

  /// The page size as the header states it; `nil` for no possible one.
  var statedPageSize: Int? { header.pageSize }

  /// Pages as the header counts them; `nil` where it says itself that the count is not kept up.
  var statedPages: Int? {
    let header = header
    return header.pages > 0 && header.changeCounter == header.versionValidFor ? header.pages : nil
  }

  /// Whether the three bytes that never vary are as they are in every SQLite file.
  var hasFractions: Bool { head.count >= 24 && Array(head[21..<24]) == [64, 32, 32] }

  /// Whether the header asks for a -wal.
  var isLogged: Bool { head.count >= 20 && head[18] == 2 }

  /// Whether a tree of tables stands behind the header.
  var hasFirstTree: Bool { firstKind.map { $0 == 5 || $0 == 13 } ?? false }

  /// Whether anything but random bytes is there; a small file says too little.
  var isNoise: Bool { size >= 4096 && entropy > 7.9 }

  /// The share of sampled pages that begin as pages of that size do.
  func share(ofPagesOf pageSize: Int) throws -> Double { try file.share(ofPagesOf: pageSize) }

  /// The page size that the file itself shows; `nil` where it shows none.
  func shownPageSize() throws -> Int? { try file.shownPageSize() }
}
