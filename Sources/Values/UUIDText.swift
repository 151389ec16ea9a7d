/// UUIDs as text of the form 8-4-4-4-12.
package enum UUIDText {
  /// Uppercase digits, as Apple prints them; plain hexadecimal when there are not sixteen bytes.
  package static func text(_ bytes: [UInt8]) -> String {
    let digits = ByteText.hex(bytes).uppercased()
    guard bytes.count == 16 else { return digits }
    var text = ""
    for (index, digit) in digits.enumerated() {
      if [8, 12, 16, 20].contains(index) { text.append("-") }
      text.append(digit)
    }
    return text
  }

  /// The sixteen bytes; `nil` for other text.
  package static func bytes(_ text: String) -> [UInt8]? {
    guard text.utf8.count == 36 else { return nil }
    guard let bytes = ByteText.bytes(hex: text.filter { $0 != "-" }), bytes.count == 16 else {
      return nil
    }
    return bytes
  }
}
