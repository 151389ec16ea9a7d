import Files
import ManagedModel
import ManagedStore

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
