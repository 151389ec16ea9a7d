import ManagedStore

/// Small valid PNG pictures.
package enum SeededImage {
  /// A gradient that differs with the seed; `noisy` ones do not compress, so they grow large.
  package static func png(width: Int, height: Int, seed: UInt64, noisy: Bool) throws -> [UInt8] {
    var random = SeededGenerator(seed: seed)
    let tint = random.below(200)
    var pixels: [UInt8] = []
    pixels.reserveCapacity(height * (width * 3 + 1))
    for row in 0..<height {
      pixels.append(0)
      for column in 0..<width {
        let grain = noisy ? Int(random.next() & 0x7F) : 0
        pixels.append(UInt8((tint + row * 2 + grain) & 0xFF))
        pixels.append(UInt8((tint + column + (noisy ? Int(random.next() & 0xFF) : 0)) & 0xFF))
        pixels.append(UInt8((row + column + (noisy ? Int(random.next() & 0xFF) : 0)) & 0xFF))
      }
    }
    let header = bytes(UInt32(width)) + bytes(UInt32(height)) + [8, 2, 0, 0, 0]
    let data = [0x78, 0x01] + (try ModelCache.deflate(pixels)) + bytes(adler(pixels))
    return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunk("IHDR", header)
      + chunk("IDAT", data) + chunk("IEND", [])
  }

  private static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
    let body = Array(name.utf8) + content
    return bytes(UInt32(content.count)) + body + bytes(crc(body))
  }

  private static func bytes(_ value: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
  }

  private static func adler(_ bytes: [UInt8]) -> UInt32 {
    var (a, b): (UInt32, UInt32) = (1, 0)
    for byte in bytes {
      a = (a + UInt32(byte)) % 65521
      b = (b + a) % 65521
    }
    return b << 16 | a
  }

  private static func crc(_ bytes: [UInt8]) -> UInt32 {
    var value: UInt32 = 0xFFFF_FFFF
    for byte in bytes {
      value ^= UInt32(byte)
      for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
    }
    return ~value
  }
}
