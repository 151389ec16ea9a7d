/// What a terminal answered when it was asked for its background, among what was typed meanwhile.
package struct BackgroundReply: Sendable, Equatable {
  /// Asks for the background (OSC 11), and then for the kind of terminal (DA1): every terminal knows
  /// the second question, so its answer says that none will come to the first.
  package static let query = "\u{1B}]11;?\u{07}\u{1B}[c"

  /// `nil` where the terminal did not say.
  package private(set) var background: Color?
  /// Whether the last answer is there.
  package private(set) var isComplete = false
  /// Bytes that are no answer, and an answer that is not whole yet.
  package private(set) var typed: [UInt8] = []

  /// Finds the answers among what came.
  package init(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while let byte = rest.first {
      if byte == 0x1B, let end = Self.endOfColor(rest) {
        background = Self.color(rest[..<end]) ?? background
        rest = rest[end...]
      } else if byte == 0x1B, let end = Self.endOfAttributes(rest) {
        isComplete = true
        rest = rest[end...]
      } else {
        typed.append(byte)
        rest = rest.dropFirst()
      }
    }
  }

  /// Whether dark text is read better on it than light text.
  package var isLight: Bool? {
    guard let black = background?.contrast(on: .rgb(0, 0, 0)),
      let white = background?.contrast(on: .rgb(255, 255, 255))
    else { return nil }
    return black > white
  }

  /// Behind `ESC ] 11 ; … BEL`, or `… ESC \`.
  private static func endOfColor(_ bytes: ArraySlice<UInt8>) -> Int? {
    guard bytes.starts(with: "\u{1B}]11;".utf8) else { return nil }
    for index in bytes.indices.dropFirst(5) {
      if bytes[index] == 0x07 { return index + 1 }
      if bytes[index] == 0x1B {
        return index + 1 < bytes.endIndex && bytes[index + 1] == UInt8(ascii: "\\")
          ? index + 2 : nil
      }
    }
    return nil
  }

  /// Behind `ESC [ ? 6 4 ; 1 c`.
  private static func endOfAttributes(_ bytes: ArraySlice<UInt8>) -> Int? {
    guard bytes.starts(with: "\u{1B}[?".utf8) else { return nil }
    let rest = bytes.dropFirst(3).drop {
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: ";")
    }
    return rest.first == UInt8(ascii: "c") ? rest.startIndex + 1 : nil
  }

  /// `rgb:rr/gg/bb` with one to four digits each, `rgba:` the same, or `#rrggbb`.
  private static func color(_ reply: ArraySlice<UInt8>) -> Color? {
    let text = String(
      decoding: reply.dropFirst(5).prefix { $0 != 0x07 && $0 != 0x1B }, as: UTF8.self)
    if text.hasPrefix("#") { return Color(name: text) }
    guard let colon = text.firstIndex(of: ":"), ["rgb", "rgba"].contains(text[..<colon]) else {
      return nil
    }
    let parts = text[text.index(after: colon)...].split(separator: "/").compactMap { part in
      (1...4).contains(part.utf8.count)
        ? UInt32(part, radix: 16).map {
          UInt8($0 * 255 / ((1 << (4 * UInt32(part.utf8.count))) - 1))
        }
        : nil
    }
    guard parts.count >= 3 else { return nil }
    return .rgb(parts[0], parts[1], parts[2])
  }
}
