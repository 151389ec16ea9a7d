import Files
import JSON
import ManagedModel
import Synchronization
import Terminal

/// Standard output and standard error, written in large pieces.
package enum Output {
  /// errno of the first write to standard output that failed; nothing is written after it.
  private static let failure = Atomic<Int32>(0)

  /// What kept standard output from being written whole, as a sentence; `nil` where it was.
  ///
  /// A reader that went away, as `head` does, is no failure.
  package static var failureMessage: String? {
    let number = failure.load(ordering: .relaxed)
    return number == 0 || number == EPIPE ? nil : String(cString: strerror(number))
  }

  /// Whether nobody reads standard output any more, or it cannot be written.
  static var isClosed: Bool {
    var output = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
    return failure.load(ordering: .relaxed) != 0
      || poll(&output, 1, 0) > 0 && output.revents & Int16(POLLERR | POLLHUP) != 0
  }

  /// Writes to standard output; a closed pipe ends the program as it would any other.
  package static func write(_ bytes: [UInt8]) {
    guard failure.load(ordering: .relaxed) == 0 else { return }
    let number = FileSystem.write(bytes, to: STDOUT_FILENO)
    if number != 0 { failure.store(number, ordering: .relaxed) }
  }
  package static func write(_ text: String) { write(Array(text.utf8)) }
  package static func error(_ bytes: [UInt8]) { _ = FileSystem.write(bytes, to: STDERR_FILENO) }
  package static func error(_ text: String) { error(Array(text.utf8)) }

  /// A variable of this process's environment.
  package static func environment(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }

  package static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
  package static var isErrorTerminal: Bool { isatty(STDERR_FILENO) == 1 }

  /// Columns of the terminal that standard output goes to; `nil` for a pipe or a file.
  package static var width: Int? { width(of: STDOUT_FILENO).map { max(40, $0) } }
  package static var errorWidth: Int? { width(of: STDERR_FILENO) }
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

/// What private copies of stores are called in all that is printed: a person named a place in a
/// container, and has no use for where its copy is.
enum ShownPaths {
  private struct Path {
    let id: Int
    /// The folder that holds the copy, with a slash behind it.
    let real: [UInt8]
    /// The same as text.
    let text: [UInt8]
    /// The same within JSON's quotes.
    let json: [UInt8]
    /// Whether it stands for a place in an archive or a backup.
    let isContainer: Bool
  }

  private static let paths = Mutex<(last: Int, all: [Path])>((0, []))
  private static let count = Atomic<Int>(0)

  /// Shows what is in a folder as being in another place, as long as `body` runs.
  ///
  /// - Parameter shown: each folder, and what stands for it and the slash behind it.
  static func showing<T>(
    _ shown: [(root: String, name: String)], _ body: () throws -> T
  ) rethrows -> T {
    var ids: Set<Int> = []
    paths.withLock { paths in
      for (root, name) in shown {
        for real in Set([root, FileSystem.canonical(root)]) {
          paths.last += 1
          ids.insert(paths.last)
          paths.all.append(
            Path(
              id: paths.last, real: Array((real + "/").utf8), text: Array(Sanitize.text(name).utf8),
              json: Array(JSONText.quoted(name).utf8.dropFirst().dropLast()),
              isContainer: name.hasSuffix("//")))
        }
      }
      count.store(paths.all.count, ordering: .relaxed)
    }
    defer {
      paths.withLock { paths in
        paths.all.removeAll { ids.contains($0.id) }
        count.store(paths.all.count, ordering: .relaxed)
      }
    }
    return try body()
  }

  /// Whether a file is a private copy of one in an archive or a backup, in whose place nothing is ever put.
  static func isInContainer(_ path: String) -> Bool {
    paths.withLock { paths in
      paths.all.contains { $0.isContainer && path.utf8.starts(with: $0.real) }
    }
  }

  /// What is printed, with the containers' names.
  static func applied(to bytes: [UInt8]) -> [UInt8] {
    guard count.load(ordering: .relaxed) > 0 else { return bytes }
    let isJSON = bytes.first == UInt8(ascii: "{") || bytes.first == UInt8(ascii: "[")
    return paths.withLock(\.all).reduce(bytes) { bytes, path in
      replacing(path.real, with: isJSON ? path.json : path.text, in: bytes)
    }
  }

  private static func replacing(
    _ pattern: [UInt8], with text: [UInt8], in bytes: [UInt8]
  ) -> [UInt8] {
    var result: [UInt8] = []
    var start = 0
    while let found = ByteSearch.place(of: pattern, in: bytes, from: start) {
      result += bytes[start..<found]
      result += text
      start = found + pattern.count
    }
    return start == 0 ? bytes : result + bytes[start...]
  }
}

/// Dates of a store as this machine's time zone has them.
package enum LocalTime {
  /// `2024-03-01 13:00`; with a `Z` where the zone is UTC.
  package static func minutes(_ seconds: Double) -> String {
    if let local = text(seconds) { return String(local.prefix(16)) }
    let date = CoreDataDate.text(seconds)
    return date.count > 16 ? "\(date.prefix(10)) \(date.dropFirst(11).prefix(5))Z" : date
  }

  /// The time of day: `14:02:11`; empty where no calendar holds it.
  package static func clock(of seconds: Double = CoreDataDate.now) -> String {
    moment(seconds).flatMap { formatted($0, "%H:%M:%S")?.text } ?? ""
  }

  /// `2024-03-01 13:00:00 +0100`; `nil` where the zone is UTC anyway, or no calendar holds the date.
  package static func text(_ seconds: Double) -> String? {
    moment(seconds).flatMap { formatted($0, "%Y-%m-%d %H:%M:%S %z") }
      .flatMap { $0.offset == 0 ? nil : $0.text }
  }

  /// When a file was written: `2024-03-01 13:00`; empty where no calendar holds the date.
  package static func ofFile(_ seconds: Double) -> String {
    moment(seconds).flatMap { formatted($0, "%Y-%m-%d %H:%M")?.text } ?? ""
  }

  private static func moment(_ seconds: Double) -> time_t? {
    guard seconds.isFinite, abs(seconds) < 2e11 else { return nil }
    return time_t((seconds + CoreDataDate.unixOffset).rounded(.down))
  }

  private static func formatted(_ moment: time_t, _ form: String) -> (text: String, offset: Int)? {
    var moment = moment
    var parts = tm()
    guard localtime_r(&moment, &parts) != nil else { return nil }
    var buffer = [CChar](repeating: 0, count: 64)
    let count = strftime(&buffer, buffer.count, form, &parts)
    let text = String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    return (text, parts.tm_gmtoff)
  }
}
