import Files
import TestSupport

/// Commands of a shell. Foundation's Process would hang starting tmux, whose server inherits its
/// pipes; here nothing is inherited, and what is printed goes to a file.
enum Shell {
  /// Runs a command line with its output in the void; answers its status.
  @discardableResult
  static func run(_ command: String) -> Int32 {
    let start = ProgramStart()
    start.silence()
    return start.start("/bin/sh", ["-c", command]).map(ProgramStart.wait(for:)) ?? -1
  }

  /// What a command line prints.
  static func output(of command: String, through file: String) -> String {
    run("{ \(command); } > '\(file)'")
    return String(decoding: bytes(of: file), as: UTF8.self)
  }

  static func bytes(of path: String) -> [UInt8] {
    guard let file = fopen(path, "rb") else { return [] }
    defer { fclose(file) }
    var result: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 {
      result += buffer.prefix(count)
    }
    return result
  }

  /// The program that was built with the tests.
  static let strata = Built.strata

  static let hasTmux = Tool.tmux.isAvailable
}
