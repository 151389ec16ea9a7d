import Files
import ManagedModel
import Synchronization

/// Asks for a password on this process's terminal, which does not show it.
///
/// ^C comes as a byte and not as a signal: the terminal has its echo again before anything ends.
package enum TerminalPassword {
  /// How the terminal was before it was asked; `nil` while it is not.
  private static let former = Mutex<termios?>(nil)

  /// Whether there is a terminal that a person sits at.
  package static var canAsk: Bool {
    [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO].contains { isatty($0) == 1 }
  }

  /// - Returns: `nil` where there is no terminal, and where the input ended before a password came.
  /// - Throws: ``CoreDataError`` of kind cancelled at ^C.
  static func ask(_ prompt: String) throws -> Secret? {
    let terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard terminal >= 0 else { return nil }
    defer { close(terminal) }
    var before = termios()
    guard tcgetattr(terminal, &before) == 0 else { return nil }
    var silent = before
    silent.c_lflag &= ~tcflag_t(ECHO | ECHONL | ICANON | ISIG)
    withUnsafeMutableBytes(of: &silent.c_cc) { keys in
      keys[Int(VMIN)] = 1
      keys[Int(VTIME)] = 0
    }
    former.withLock { $0 = before }
    guard tcsetattr(terminal, TCSAFLUSH, &silent) == 0 else { return nil }
    defer {
      restoreTerminal()
      _ = FileSystem.write(Array("\n".utf8), to: terminal)
    }
    _ = FileSystem.write(Array(prompt.utf8), to: terminal)
    return try line(from: terminal)
  }

  /// Gives the terminal its echo back, where it was taken: before a signal ends this process, too.
  static func restoreTerminal() {
    guard
      var before = former.withLock({ former in
        defer { former = nil }
        return former
      })
    else { return }
    let terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard terminal >= 0 else { return }
    _ = tcsetattr(terminal, TCSAFLUSH, &before)
    close(terminal)
  }

  private static func line(from terminal: Int32) throws -> Secret? {
    var hasEnded = false
    var isTooLong = false
    let secret = try Secret(capacity: PasswordFile.limit) { memory in
      var count = 0
      while true {
        var byte: UInt8 = 0
        let got = read(terminal, &byte, 1)
        if got < 0 && errno == EINTR { continue }
        guard got > 0 else {
          hasEnded = true
          return 0
        }
        switch byte {
        case 3:
          throw CoreDataError.cancelled()
        // ^D on an empty line ends the input.
        case 4 where count == 0:
          hasEnded = true
          return 0
        case 10, 13: return count
        case 8, 127:
          // A letter may have several bytes.
          while count > 0 {
            count -= 1
            if memory[count] & 0xC0 != 0x80 { break }
          }
        // ^W clears it as ^U does: the user cannot see where a word ends.
        case 21, 23: count = 0
        case 0..<32: break
        default:
          guard count < memory.count else {
            isTooLong = true
            continue
          }
          memory[count] = byte
          count += 1
        }
      }
    }
    guard !isTooLong else {
      throw CoreDataError(
        .usage, "the password is longer than 1,024 bytes",
        hint: "It is the password that Finder or iTunes asked for at “Encrypt local backup”.")
    }
    return hasEnded ? nil : secret
  }
}
