import ManagedModel
import ModelWriting
import StoreTables

/// Bytes that are made once and shared by many objects.
package struct MadeBytes: Sendable {
  /// Small pictures.
  let pictures: [[UInt8]]
  /// Pictures that are kept in a file of their own where that is allowed.
  let large: [[UInt8]]

  package init(seed: UInt64) throws {
    let start = SeededGenerator.seed(seed, "pictures")
    pictures = try (0..<12).map {
      try SeededImage.png(
        width: 20 + $0, height: 14 + $0, seed: start &+ UInt64($0), noisy: false)
    }
    large = try (0..<2).map {
      try SeededImage.png(
        width: 260, height: 200 + 8 * $0, seed: start &+ 100 &+ UInt64($0), noisy: true)
    }
  }
}

/// What bytes are, as far as an attribute shows.
package enum BytesTopic: Sendable {
  /// With large ones for some of the objects.
  case pictures([[UInt8]], large: [[UInt8]])
  /// JSON, as SwiftData keeps what has no column.
  case json
  case random(large: [[UInt8]])
  /// Archives of a class that the attribute names.
  case archives([[UInt8]])

  /// Objects of an entity that have large bytes in a file.
  private static let mostLarge = 8

  /// What the values of a Binary attribute are.
  init(data attribute: Attribute, name: String, _ samples: MadeBytes) {
    let words = NameWords(name)
    let large = attribute.allowsExternalBinaryDataStorage ? samples.large : []
    if words.has(
      "photo", "image", "picture", "thumbnail", "avatar", "icon", "cover", "logo", "artwork",
      "preview", "screenshot", "png", "jpeg")
    {
      self = .pictures(samples.pictures, large: large)
    } else if words.has("json", "payload", "metadata", "codable", "settings", "options") {
      self = .json
    } else {
      self = .random(large: large)
    }
  }

  /// What the values of a Transformable attribute are.
  init(archive attribute: Attribute) {
    self = .archives((0..<24).map { SampleArchive.bytes(attribute.className ?? "", variant: $0) })
  }

  /// The bytes of an object.
  func bytes(_ ordinal: Int, using random: inout SeededGenerator) -> [UInt8] {
    switch self {
    case .pictures(let small, let large):
      return isLarge(ordinal, large)
        ? large[ordinal % large.count] : small[random.below(small.count)]
    case .json:
      return Array(
        "{\"id\":\(random.below(10_000)),\"name\":\"\(random.pick(SeedWords.words))\",\"on\":\(random.chance(50))}"
          .utf8)
    case .random(let large):
      return isLarge(ordinal, large)
        ? large[ordinal % large.count] : Self.noise(8 + random.below(120), using: &random)
    case .archives(let archives): return archives[random.below(archives.count)]
    }
  }

  private func isLarge(_ ordinal: Int, _ large: [[UInt8]]) -> Bool {
    !large.isEmpty && ordinal % 25 == 9 && ordinal < Self.mostLarge * 25
  }

  /// Bytes of a number, others for each.
  func bytes(numbered number: Int, using random: inout SeededGenerator) -> [UInt8] {
    if case .archives = self { return SampleArchive.bytes("NSArray", variant: number) }
    return (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - $0 * 8)) }
      + Self.noise(24, using: &random)
  }

  private static func noise(_ count: Int, using random: inout SeededGenerator) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var word: UInt64 = 0
    for index in 0..<count {
      if index & 7 == 0 { word = random.next() }
      bytes[index] = UInt8(truncatingIfNeeded: word >> UInt64((index & 7) * 8))
    }
    return bytes
  }
}

/// What an app would keep in a transformable attribute: an archive of the class that it names.
enum SampleArchive {
  static func bytes(_ className: String, variant: Int) -> [UInt8] {
    var writer = KeyedArchiveWriter()
    let root: PropertyListValue
    func text(_ index: Int) -> String {
      SeedWords.words[(variant &* 7 &+ index) % SeedWords.words.count]
    }
    let name = className.split(separator: ".").last.map(String.init) ?? className
    if name == "NSString" || name == "String" {
      root = writer.string(text(0))
    } else if name == "NSDate" || name == "Date" {
      root = writer.add(attributeValue: .date(600_000_000 + Double(variant) * 86_400))
    } else if name == "NSURL" || name == "URL" {
      root = writer.add(attributeValue: .uri("https://example.org/\(variant)"))
    } else if name == "NSNumber" {
      root = writer.add(.integer(Int64(variant)))
    } else if name == "NSData" || name == "Data" {
      root = writer.add(.data([UInt8(truncatingIfNeeded: variant), 1, 2]))
    } else if name.contains("Dictionary") || name.contains(":") {
      let entries = [
        (writer.string("name"), writer.string(text(1))),
        (writer.string("size"), writer.add(.integer(Int64(variant)))),
      ]
      root = writer.dictionary(entries.map { (key: $0.0, value: $0.1) })
    } else if name.contains("Int") || name.contains("Double") || name.contains("Float") {
      let isReal = !name.contains("Int")
      let values = (0...variant % 4).map {
        writer.add(isReal ? .real(Double(variant + $0) / 4) : .integer(Int64(variant + $0)))
      }
      root = writer.array(values)
    } else if name.contains("Set") {
      let values = (0...variant % 3).map { writer.string(text($0)) }
      root = writer.set(values)
    } else {
      // Arrays of texts are the most frequent; a number keeps them apart.
      let values =
        (0...variant % 3).map { writer.string(text($0)) } + [writer.string("no. \(variant)")]
      root = writer.array(values)
    }
    return writer.bytes(root: root)
  }
}

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
