/// The text between the marks of a bracketed paste.
///
/// A slow line may bring the mark of the end in pieces, which then come as characters.
package struct PasteDecoding: Sendable {
  /// A paste longer than this is cut; nobody means to type a book.
  package static let limit = 1 << 20
  /// After so long without a character, ^C is a key: the end got lost.
  package static let patience = Duration.seconds(2)
  private static let end: [Unicode.Scalar] = ["\u{1B}", "[", "2", "0", "1", "~"]

  /// Whether a paste began and has not ended.
  package private(set) var isOpen = false
  private var text = String.UnicodeScalarView()
  private var count = 0
  /// How many characters of the end's mark came last; they may be text after all.
  private var matched = 0
  private var last = ContinuousClock.now

  /// No paste has begun.
  package init() {}

  /// The mark of the beginning came.
  package mutating func begin(at time: ContinuousClock.Instant) {
    self = PasteDecoding()
    isOpen = true
    last = time
  }

  /// Takes a character of an open paste.
  ///
  /// - Returns: the paste, where that was its end; ^C, where it gave up waiting for that.
  package mutating func take(_ scalar: Unicode.Scalar, at time: ContinuousClock.Instant) -> Key? {
    defer { last = time }
    if scalar == "\u{03}", time - last >= Self.patience {
      self = PasteDecoding()
      return .control("c")
    }
    if scalar == Self.end[matched] {
      matched += 1
      return matched == Self.end.count ? finish() : nil
    }
    for earlier in Self.end[..<matched] { append(earlier) }
    matched = scalar == Self.end[0] ? 1 : 0
    if matched == 0 { append(scalar == "\r" ? "\n" : scalar) }
    return nil
  }

  /// The mark of the end came as a whole.
  package mutating func finish() -> Key {
    defer { self = PasteDecoding() }
    return .paste(String(text))
  }

  private mutating func append(_ scalar: Unicode.Scalar) {
    guard count < Self.limit else { return }
    text.append(scalar)
    count += 1
  }
}
