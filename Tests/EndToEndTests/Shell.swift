import TestSupport

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Commands of a shell. Foundation's Process would hang starting tmux, whose server inherits its
/// pipes; here nothing is inherited, and what is printed goes to a file.
enum Shell {
  /// Runs a command line with its output in the void; answers its status.
  @discardableResult
  static func run(_ command: String) -> Int32 {
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
    #else
      var actions = posix_spawn_file_actions_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    let words: [String] = ["sh", "-c", command]
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
    arguments.append(nil)
    defer { for argument in arguments { free(argument) } }
    var process: pid_t = 0
    guard posix_spawn(&process, "/bin/sh", &actions, nil, &arguments, environ) == 0 else {
      return -1
    }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0 && errno == EINTR {}
    return (status >> 8) & 0xFF
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
