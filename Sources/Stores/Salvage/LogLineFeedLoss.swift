import Files

/// Undoes the same in a -wal: the checksum of each frame shows where the bytes stood.
struct LogLineFeedLoss {
  /// Where the bytes stand in the file as it was, in order.
  private(set) var places: [Int] = []
  /// Bytes of the file as it was, up to the first frame for which nothing shows where they stood.
  private(set) var size = LogHeader.size
  /// That frame and those behind it.
  private(set) var unknown = 0

  private let header: LogHeader
  private let frameSize: Int
  private static let mostOfFrame = 64
  private static let mostTried = 50_000

  /// - Returns: `nil` where no byte is gone that can be put back, or the header is damaged as well.
  /// - Throws: `CoreDataError` where the file cannot be read.
  init?(_ file: OpenFile, pageSize: Int) throws {
    header = LogHeader(try file.read(at: 0, count: LogHeader.size))
    frameSize = LogHeader.frameHeaderSize + pageSize
    guard header.isWhole else { return nil }
    var (start, sum) = (LogHeader.size, header.checksum)
    while start < file.size {
      let bytes = try file.read(at: start, count: frameSize + LogHeader.frameHeaderSize)
      guard let frame = frame(bytes, after: sum) else {
        // What is left of an older generation is of no use.
        let isOwn = (7...8).contains { LogHeader.salts(bytes, at: $0) == header.salts }
        if isOwn { unknown = (file.size - start + frameSize - 1) / frameSize }
        break
      }
      places += frame.places.map { size + $0 }
      sum = LogChecksum(frame.bytes, 16)
      start += frameSize - frame.places.count
      size += frameSize
    }
    guard !places.isEmpty else { return nil }
  }

  /// The frame that bytes begin with as it was, and where in it those stand that were put back.
  private func frame(
    _ bytes: [UInt8], after sum: LogChecksum
  ) -> (bytes: [UInt8], places: [Int])? {
    let whole = Array(bytes.prefix(frameSize))
    if fits(whole, after: sum) { return (whole, []) }
    // The next frame shows how many are gone, and so does the file's end.
    var counts = (0...Self.mostOfFrame).filter { gone in
      LogHeader.salts(bytes, at: frameSize - gone + 8) == header.salts
        || bytes.count == frameSize - gone
    }
    if counts.isEmpty { counts = [1, 2] }
    var tried = 0
    func extend(_ bytes: [UInt8], from first: Int, gone: Int, _ places: [Int]) -> [Int]? {
      guard gone > 0 else {
        tried += 1
        return fits(bytes, after: sum) ? places : nil
      }
      for place in first..<max(first, bytes.count)
      where bytes[place] == 0x0A && tried < Self.mostTried {
        var longer = bytes
        longer.insert(0x0D, at: place)
        if let found = extend(longer, from: place + 2, gone: gone - 1, places + [place]) {
          return found
        }
      }
      return nil
    }
    for gone in counts where gone > 0 {
      var frame = Array(bytes.prefix(frameSize - gone))
      guard let places = extend(frame, from: 0, gone: gone, []) else { continue }
      for place in places { frame.insert(0x0D, at: place) }
      return (frame, places)
    }
    return nil
  }

  private func fits(_ frame: [UInt8], after sum: LogChecksum) -> Bool {
    guard frame.count == frameSize, LogHeader.salts(frame, at: 8) == header.salts else {
      return false
    }
    return LogFrames.checksum(frame, from: sum, header.isBigEndian) == LogChecksum(frame, 16)
  }
}
