/// Bytes as the text that an OSC 52 carries.
enum Base64 {
  static func text(_ bytes: [UInt8]) -> String {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let number = (0..<3).reduce(0) { sum, index in
        sum << 8 | (index < group.count ? Int(group[start + index]) : 0)
      }
      for index in 0..<4 {
        text.append(
          index <= group.count
            ? digits[number >> (18 - 6 * index) & 63] : UInt8(ascii: "="))
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}
