import Terminal

/// Where a command writes: the process's streams, or a test's buffers.
final class Console {
  private let out: ([UInt8]) -> Void
  private let err: ([UInt8]) -> Void
  /// Whether messages go to a person at a terminal, so that a line may be rewritten in place.
  let isErrorTerminal: Bool
  let isTerminal: Bool
  /// Cells that a line of text may take before it is broken: a pipe has none, and gets 120.
  let width: Int

  init(
    isTerminal: Bool = false, isErrorTerminal: Bool = false, width: Int = 100,
    out: @escaping ([UInt8]) -> Void,
    err: @escaping ([UInt8]) -> Void
  ) {
    self.isTerminal = isTerminal
    self.width = width
    self.isErrorTerminal = isErrorTerminal
    self.out = out
    self.err = err
  }

  /// The streams of this process.
  static var process: Console {
    Console(
      isTerminal: Output.isTerminal, isErrorTerminal: Output.isErrorTerminal,
      width: Output.width ?? 120, out: { Output.write($0) }, err: { Output.error($0) })
  }

  /// A result, as it is: JSON, or text that was sanitised already.
  func write(_ bytes: [UInt8]) { if !bytes.isEmpty { out(bytes) } }
  func write(_ text: String) { write(Array(text.utf8)) }

  /// A line of a result; what came out of a store cannot steer the terminal.
  func line(_ text: String = "") { write(Sanitize.text(text) + "\n") }

  /// A line of a message.
  func note(_ text: String) { err(Array((Sanitize.text(text) + "\n").utf8)) }

  /// Rewrites the last line of a terminal; nothing elsewhere, since it takes an escape sequence.
  func rewrite(_ text: String) {
    guard isErrorTerminal else { return }
    err(Array(("\r\u{1B}[K" + Sanitize.text(text, limit: 79)).utf8))
  }

  func json(_ body: (inout JSONWriter) -> Void) {
    write(JSONWriter.line(body))
  }
}
