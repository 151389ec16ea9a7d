#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Standard output and standard error, written in large pieces.
enum Output {
  /// Writes to standard output; a closed pipe ends the program as it would any other.
  static func write(_ bytes: [UInt8]) { write(bytes, to: STDOUT_FILENO) }
  static func write(_ text: String) { write(Array(text.utf8), to: STDOUT_FILENO) }
  static func error(_ bytes: [UInt8]) { write(bytes, to: STDERR_FILENO) }
  static func error(_ text: String) { error(Array(text.utf8)) }

  static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
  static var isErrorTerminal: Bool { isatty(STDERR_FILENO) == 1 }

  private static func write(_ bytes: [UInt8], to descriptor: Int32) {
    var done = 0
    while done < bytes.count {
      let wrote = bytes.withUnsafeBytes { buffer in
        #if canImport(Darwin)
          Darwin.write(descriptor, buffer.baseAddress.map { $0 + done }, buffer.count - done)
        #else
          Glibc.write(descriptor, buffer.baseAddress.map { $0 + done }, buffer.count - done)
        #endif
      }
      if wrote < 0 && errno == EINTR { continue }
      guard wrote > 0 else { return }
      done += wrote
    }
  }
}
