import ManagedModel

/// Bytes with their gzip wrapping taken away, however often they were packed.
///
/// Whatever the bytes are, this ends soon and in little memory: what is packed more often, is too large or was
/// packed to exhaust its reader is left packed, and ``problem`` says so.
public struct DecodedData: Sendable, Equatable {
  /// Most bytes of an unpacked value.
  public static let mostBytes = 64 << 20
  /// Most bytes that come of a packed one; a value of less than a megabyte may have more.
  public static let mostRatio = 1_000
  /// How often a value may be packed.
  public static let mostLayers = 8

  /// How often the bytes were packed.
  public private(set) var layers = 0
  /// What they unpack to, as far as that goes.
  public private(set) var bytes: [UInt8]
  /// Whether nothing was cut off.
  public private(set) var isWhole: Bool
  /// Why they are not unpacked to the end, as a clause; `nil` where they are.
  public private(set) var problem: String?

  /// - Parameters:
  ///   - bytes: the content, or its beginning.
  ///   - isWhole: whether nothing was cut off.
  public init(_ bytes: [UInt8], isWhole: Bool = true) {
    (self.bytes, self.isWhole) = (bytes, isWhole)
    while problem == nil, self.bytes.starts(with: [0x1F, 0x8B, 8]) {
      guard layers < Self.mostLayers else {
        problem = "packed more than \(Self.mostLayers) times"
        return
      }
      guard unpack() else { return }
      layers += 1
    }
  }

  private enum Refusal: Error { case tooLarge, tooDense }

  /// Takes one layer away.
  ///
  /// - Returns: false where nothing came of it.
  private mutating func unpack() -> Bool {
    var result: [UInt8] = []
    do {
      let inflation = try Inflation(.gzip)
      let packed = bytes.count
      let isSound = try inflation.read(bytes) { piece in
        let count = result.count + piece.count
        guard count <= Self.mostBytes else { throw Refusal.tooLarge }
        guard count <= 1 << 20 || count / Self.mostRatio <= packed else { throw Refusal.tooDense }
        result += piece
      }
      if !isSound || isWhole && !inflation.isFinished { problem = "the gzip data is damaged" }
      if !inflation.isFinished { isWhole = false }
    } catch Refusal.tooLarge {
      problem = "it unpacks to more than \(Self.mostBytes >> 20) MB"
      return false
    } catch Refusal.tooDense {
      problem = "it unpacks to more than \(Self.mostRatio) times its size"
      return false
    } catch {
      problem = "it cannot be unpacked"
      return false
    }
    guard !result.isEmpty || problem == nil else { return false }
    bytes = result
    return true
  }
}
