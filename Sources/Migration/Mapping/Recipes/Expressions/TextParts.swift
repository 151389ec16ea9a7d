/// Text cut at a delimiter, byte for byte as SQLite compares.
enum TextParts {
  /// The part of that number as PostgreSQL's split_part counts: from 1, from the end below 0, empty
  /// where there is none. An empty delimiter cuts nothing. `nil` for the number 0.
  static func part(_ number: Int, of text: String, by delimiter: String) -> String? {
    guard number != 0 else { return nil }
    let bytes = Array(text.utf8)
    let cuts = places(of: Array(delimiter.utf8), in: bytes)
    let index = number > 0 ? number - 1 : cuts.count + 1 + number
    guard index >= 0, index <= cuts.count else { return "" }
    let start = index == 0 ? 0 : cuts[index - 1].upperBound
    let end = index == cuts.count ? bytes.count : cuts[index].lowerBound
    return String(decoding: bytes[start..<end], as: UTF8.self)
  }

  /// What follows the first delimiter; `nil` where there is none.
  static func rest(of text: String, after delimiter: String) -> String? {
    let bytes = Array(text.utf8)
    guard let cut = places(of: Array(delimiter.utf8), in: bytes, most: 1).first else { return nil }
    return String(decoding: bytes[cut.upperBound...], as: UTF8.self)
  }

  /// Places without overlap, in time that grows with both texts (Knuth, Morris and Pratt's way).
  private static func places(
    of delimiter: [UInt8], in bytes: [UInt8], most: Int = .max
  ) -> [Range<Int>] {
    guard !delimiter.isEmpty, delimiter.count <= bytes.count else { return [] }
    // For each prefix of the delimiter, how much of its end is its beginning again.
    var borders = [Int](repeating: 0, count: delimiter.count)
    var length = 0
    for index in delimiter.indices.dropFirst() {
      while length > 0, delimiter[index] != delimiter[length] { length = borders[length - 1] }
      if delimiter[index] == delimiter[length] { length += 1 }
      borders[index] = length
    }
    var result: [Range<Int>] = []
    length = 0
    for (index, byte) in bytes.enumerated() {
      while length > 0, byte != delimiter[length] { length = borders[length - 1] }
      if byte == delimiter[length] { length += 1 }
      guard length == delimiter.count else { continue }
      result.append(index + 1 - length..<index + 1)
      if result.count >= most { break }
      length = 0
    }
    return result
  }
}
