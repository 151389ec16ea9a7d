extension Unicode.Scalar {
  /// Whether it is a control character, from U+0000 to U+001F and from U+007F to U+009F: a terminal
  /// obeys it, and so does a shell that it is pasted into.
  package var isControl: Bool { value < 0x20 || (0x7F...0x9F).contains(value) }

  /// Whether a terminal or an editor obeys it instead of showing it: control characters, U+2028 and
  /// U+2029, which end a line for some readers, and the marks that turn the direction of text around.
  package var isObeyed: Bool {
    switch value {
    case 0x61C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: isControl
    }
  }
}
