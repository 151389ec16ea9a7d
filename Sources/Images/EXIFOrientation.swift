import Terminal

/// How a camera was held: TIFF's tag 274, 1 to 8, in a JPEG's EXIF segment.
struct EXIFOrientation: Equatable {
  let number: Int

  /// The first EXIF segment's orientation; 1, upright, where there is none.
  init(_ bytes: [UInt8]) {
    number = Self.orientation(bytes).flatMap { (1...8).contains($0) ? $0 : nil } ?? 1
  }

  /// Whether width and height change places.
  var isTurned: Bool { number > 4 }

  func turned(_ size: Size) -> Size {
    isTurned ? Size(width: size.height, height: size.width) : size
  }

  private static func orientation(_ bytes: [UInt8]) -> Int? {
    var offset = 2
    // Segments before the picture: a marker and a length that counts itself.
    while offset + 4 <= bytes.count, bytes[offset] == 0xFF, bytes[offset + 1] != 0xDA {
      let length = Int(bytes[offset + 2]) << 8 | Int(bytes[offset + 3])
      guard length >= 2, offset + 2 + length <= bytes.count else { return nil }
      let content = bytes[(offset + 4)..<(offset + 2 + length)]
      if bytes[offset + 1] == 0xE1, content.starts(with: Array("Exif\0\0".utf8)) {
        return tag(Array(content.dropFirst(6)))
      }
      offset += 2 + length
    }
    return nil
  }

  /// The orientation in a TIFF directory.
  private static func tag(_ tiff: [UInt8]) -> Int? {
    let isLittle = tiff.starts(with: [0x49, 0x49])
    guard isLittle || tiff.starts(with: [0x4D, 0x4D]) else { return nil }
    func number(_ offset: Int, _ count: Int) -> Int? {
      guard offset >= 0, offset + count <= tiff.count else { return nil }
      let part = tiff[offset..<(offset + count)]
      return (isLittle ? Array(part.reversed()) : Array(part)).reduce(0) { $0 << 8 | Int($1) }
    }
    guard let directory = number(4, 4), let count = number(directory, 2) else { return nil }
    for entry in 0..<min(count, 200) {
      let place = directory + 2 + entry * 12
      if number(place, 2) == 274 { return number(place + 8, 2) }
    }
    return nil
  }

  /// The picture as it was seen.
  func upright(_ raster: Raster) -> Raster {
    guard number > 1 else { return raster }
    let (width, height) = (raster.width, raster.height)
    let size = turned(Size(width: width, height: height))
    var pixels = [UInt8](repeating: 0, count: raster.pixels.count)
    for y in 0..<size.height {
      for x in 0..<size.width {
        let (fromX, fromY): (Int, Int) =
          switch number {
          case 2: (width - 1 - x, y)
          case 3: (width - 1 - x, height - 1 - y)
          case 4: (x, height - 1 - y)
          case 5: (y, x)
          case 6: (y, height - 1 - x)
          case 7: (width - 1 - y, height - 1 - x)
          default: (width - 1 - y, x)
          }
        let (from, to) = ((fromY * width + fromX) * 4, (y * size.width + x) * 4)
        for channel in 0..<4 { pixels[to + channel] = raster.pixels[from + channel] }
      }
    }
    return Raster(width: size.width, height: size.height, pixels: pixels) ?? raster
  }
}
