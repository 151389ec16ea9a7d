import Files
import ManagedModel
import Synchronization

/// Standard output and standard error, written in large pieces.
enum Output {
  /// errno of the first write to standard output that failed; nothing is written after it.
  private static let failure = Atomic<Int32>(0)

  /// What kept standard output from being written whole, as a sentence; `nil` where it was.
  ///
  /// A reader that went away, as `head` does, is no failure.
  static var failureMessage: String? {
    let number = failure.load(ordering: .relaxed)
    return number == 0 || number == EPIPE ? nil : String(cString: strerror(number))
  }

  /// Writes to standard output; a closed pipe ends the program as it would any other.
  static func write(_ bytes: [UInt8]) {
    guard failure.load(ordering: .relaxed) == 0 else { return }
    let number = FileSystem.write(bytes, to: STDOUT_FILENO)
    if number != 0 { failure.store(number, ordering: .relaxed) }
  }
  static func write(_ text: String) { write(Array(text.utf8)) }
  static func error(_ bytes: [UInt8]) { _ = FileSystem.write(bytes, to: STDERR_FILENO) }
  static func error(_ text: String) { error(Array(text.utf8)) }

  /// A variable of this process's environment.
  static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

  static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
  static var isErrorTerminal: Bool { isatty(STDERR_FILENO) == 1 }

  /// Columns of the terminal that standard output goes to; `nil` for a pipe or a file.
  static var width: Int? { width(of: STDOUT_FILENO).map { max(40, $0) } }
  static var errorWidth: Int? { width(of: STDERR_FILENO) }
  static var errorHeight: Int? {
    size(of: STDERR_FILENO).flatMap { $0.ws_row > 0 ? Int($0.ws_row) : nil }
  }

  private static func width(of descriptor: Int32) -> Int? {
    size(of: descriptor).flatMap { $0.ws_col > 0 ? Int($0.ws_col) : nil }
  }

  private static func size(of descriptor: Int32) -> winsize? {
    var size = winsize()
    guard isatty(descriptor) == 1, ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 else {
      return nil
    }
    return size
  }
}

/// Text that a person gives as a file, or through standard input as `-`.
enum InputText {
  /// Most bytes that are read: a pasted log is far shorter.
  static let limit = 4 << 20

  static func text(of path: String) throws -> String {
    String(
      decoding: path == "-" ? standardInput() : try FileSystem.read(path, limit: limit),
      as: UTF8.self)
  }

  static func standardInput() -> [UInt8] {
    var result: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while result.count < limit {
      let got = read(STDIN_FILENO, &buffer, buffer.count)
      if got < 0 && errno == EINTR { continue }
      guard got > 0 else { break }
      result += buffer[..<got]
    }
    return result
  }
}
