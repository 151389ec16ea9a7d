/// JSON that stands in one line, a member a line.
enum IndentedJSON {
  /// Levels from which lines are not indented further.
  private static let deepest = 32

  /// - Parameter bytes: text that looks like JSON. If it is not, its lines are broken at its brackets all the same.
  static func lines(_ bytes: [UInt8]) -> [String] {
    var lines: [String] = []
    var line: [UInt8] = []
    var depth = 0
    var isText = false
    var isEscaped = false
    func end() {
      let text = String(decoding: line, as: UTF8.self)
      if !text.isEmpty { lines.append(text) }
      line = Array(repeating: UInt8(ascii: " "), count: 2 * min(max(0, depth), deepest))
    }
    for (index, byte) in bytes.enumerated() {
      if isText {
        line.append(byte)
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isText = false
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""):
        isText = true
        line.append(byte)
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        line.append(byte)
        depth += 1
        let next = bytes.indices.contains(index + 1) ? bytes[index + 1] : 0
        if next != UInt8(ascii: "}"), next != UInt8(ascii: "]") { end() }
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        let last = index > 0 ? bytes[index - 1] : 0
        if last != UInt8(ascii: "{"), last != UInt8(ascii: "[") { end() }
        line.append(byte)
      case UInt8(ascii: ","):
        line.append(byte)
        end()
      case UInt8(ascii: ":"): line += [byte, UInt8(ascii: " ")]
      case UInt8(ascii: " "), 0x09, 0x0A, 0x0D: break
      default: line.append(byte)
      }
    }
    end()
    return lines
  }
}
