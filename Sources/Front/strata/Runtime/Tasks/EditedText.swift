import ManagedModel

/// A text as it stands in the file that an editor opens.
///
/// Control characters but line ends and tabs are written as `\u{1B}`, and then a backslash as `\\`. One line end is
/// added at the end, as editors want it, and taken away again.
struct EditedText: Equatable {
  /// The content of the file.
  let written: String
  /// Whether it has escapes.
  let isEscaped: Bool

  /// - Parameter guardsModelines: whether what an editor could obey is broken up by escapes.
  init(_ text: String, guardsModelines: Bool) {
    let orders = guardsModelines ? Self.orders(in: text) : []
    isEscaped = !orders.isEmpty || text.unicodeScalars.contains(where: Self.isControl)
    guard isEscaped else {
      written = text + "\n"
      return
    }
    var written = ""
    for (place, scalar) in text.unicodeScalars.enumerated() {
      if Self.isControl(scalar) || orders.contains(place) {
        written += "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
      } else if scalar == "\\" {
        written += "\\\\"
      } else {
        written.unicodeScalars.append(scalar)
      }
    }
    self.written = written + "\n"
  }

  /// The text that the file holds now.
  ///
  /// - Throws: ``CoreDataError`` for an escape that says nothing.
  func read(_ file: String) throws -> String {
    var scalars = Array(file.unicodeScalars)
    if scalars.last == "\n" { scalars.removeLast() }
    var text = String.UnicodeScalarView()
    guard isEscaped else {
      text.append(contentsOf: scalars)
      return String(text)
    }
    var index = 0
    while index < scalars.count {
      let scalar = scalars[index]
      index += 1
      guard scalar == "\\" else {
        text.append(scalar)
        continue
      }
      if index < scalars.count, scalars[index] == "\\" {
        text.append(scalar)
        index += 1
        continue
      }
      guard let (value, next) = Self.escape(scalars, at: index) else {
        throw CoreDataError(
          .usage, "a backslash in the text begins no escape: nothing was changed",
          hint: "In this text a backslash is written as \\\\, and a control character as \\u{1B}.")
      }
      text.append(value)
      index = next
    }
    return String(text)
  }

  private static func escape(
    _ scalars: [Unicode.Scalar], at index: Int
  ) -> (Unicode.Scalar, next: Int)? {
    guard index + 1 < scalars.count, scalars[index] == "u", scalars[index + 1] == "{",
      let end = scalars[(index + 2)...].firstIndex(of: "}"), end - index <= 10
    else { return nil }
    var digits = String.UnicodeScalarView()
    digits.append(contentsOf: scalars[(index + 2)..<end])
    return UInt32(String(digits), radix: 16).flatMap(Unicode.Scalar.init).map { ($0, end + 1) }
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar != "\n" && scalar != "\t" && scalar.properties.generalCategory == .control
  }

  /// Words with which a text gives orders to an editor: vi's, Vim's and Kakoune's modelines, Emacs's local variables.
  private static let words =
    ["vi:", "vim:", "vim<", "vim>", "vim=", "ex:", "kak:", "-*-", "local variables:"]
    // Vim's with the version that obeys them: `vim700:`.
    + (0...9).map { "vim\($0)" }

  /// Where the last character of such a word stands.
  private static func orders(in text: String) -> Set<Int> {
    let scalars = text.unicodeScalars.map {
      $0.properties.lowercaseMapping.unicodeScalars.first ?? $0
    }
    var places: Set<Int> = []
    for word in words.map({ Array($0.unicodeScalars) }) {
      guard let last = word.last else { continue }
      for (place, scalar) in scalars.enumerated() where scalar == last && place + 1 >= word.count {
        if Array(scalars[(place + 1 - word.count)...place]) == word { places.insert(place) }
      }
    }
    return places
  }
}
