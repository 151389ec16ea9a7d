import CNcurses
import Terminal
import Testing

@testable import Curses

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Curses on a pipe: what is sent is typed, and what it draws goes nowhere.
final class TestTerminal {
  private let typing: Int32
  private let screen: OpaquePointer
  private let files: [UnsafeMutablePointer<FILE>]
  private var reader = KeyReader()

  init() throws {
    setlocale(LC_CTYPE, "C.UTF-8")
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    typing = ends[1]
    let input = try #require(fdopen(ends[0], "r"))
    let output = try #require(fopen("/dev/null", "w"))
    files = [input, output]
    set_escdelay(KeyReader.escapeDelay)
    // The name is no constant to the curses of macOS, which does not write to it either.
    let terminal = "xterm-256color".withCString {
      newterm(UnsafeMutablePointer(mutating: $0), output, input)
    }
    screen = try #require(terminal)
    KeyReader.prepare()
    // The first read would write the empty screen.
    refresh()
  }

  deinit {
    endwin()
    delscreen(screen)
    for file in files { fclose(file) }
    close(typing)
  }

  func send(_ bytes: [UInt8]) throws {
    try #require(write(typing, bytes, bytes.count) == bytes.count)
  }

  /// The keys that are there now.
  func keys(after typed: [UInt8] = []) -> [Key] {
    reader.prepend(typed)
    var keys: [Key] = []
    while let key = reader.next() { keys.append(key) }
    return keys
  }

  func takeBackground() -> Bool? { reader.takeBackground() }
}
