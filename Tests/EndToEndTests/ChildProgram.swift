import TestSupport

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A program that runs beside a test, whose output is read while it runs.
final class ChildProgram {
  private let process: pid_t
  private let output: Int32
  private var bytes: [UInt8] = []
  private var status: Int32?

  /// - Parameter environment: variables that differ from this process's.
  init?(_ words: [String], environment: [String: String] = [:]) {
    var pipes: [Int32] = [0, 0]
    guard let first = words.first, pipe(&pipes) == 0 else { return nil }
    // Only this process reads: what it starts elsewhere must not hold the end.
    for end in pipes { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
      var attributes: posix_spawnattr_t?
    #else
      var actions = posix_spawn_file_actions_t()
      var attributes = posix_spawnattr_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, pipes[1], 1)
    posix_spawn_file_actions_adddup2(&actions, pipes[1], 2)
    // Tests run on threads that keep signals out, and what they start would keep them out too.
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var variables = Self.environment
    for (name, value) in environment { variables[name] = value }
    var arguments = words.map { strdup($0) } + [nil]
    var settings = variables.map { strdup($0.key + "=" + $0.value) } + [nil]
    defer { for pointer in arguments + settings { free(pointer) } }
    var started: pid_t = 0
    let result = posix_spawnp(&started, first, &actions, &attributes, &arguments, &settings)
    close(pipes[1])
    guard result == 0 else {
      close(pipes[0])
      return nil
    }
    (process, output) = (started, pipes[0])
  }

  private static let environment: [String: String] = {
    var result: [String: String] = [:]
    var next = environ
    while let entry = next.pointee {
      let parts = String(cString: entry).split(
        separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2 { result[String(parts[0])] = String(parts[1]) }
      next += 1
    }
    return result
  }()

  /// Takes what is printed until `isEnough` or the end, or until the time is over.
  func read(
    seconds: Double = Patience.seconds, until isEnough: (ChildProgram) -> Bool = { _ in false }
  ) {
    let end = ContinuousClock.now + .seconds(seconds)
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while !isEnough(self) {
      let left = end - ContinuousClock.now
      guard left > .zero else { return }
      var question = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
      let milliseconds = left / .milliseconds(1)
      let answer = poll(&question, 1, Int32(max(1, min(milliseconds, 1000))))
      guard answer > 0 else { continue }
      let count = systemRead(output, &buffer, buffer.count)
      guard count > 0 else { return }
      bytes += buffer.prefix(count)
    }
  }

  /// Everything printed so far, both streams.
  var text: String { String(decoding: bytes, as: UTF8.self) }

  /// Whether that was printed; quick enough to be asked about each piece that arrives.
  func has(_ text: String) -> Bool {
    (bytes + [0]).withUnsafeBufferPointer { printed in
      printed.withMemoryRebound(to: CChar.self) { characters in
        characters.baseAddress.map { strstr($0, text) != nil } ?? false
      }
    }
  }

  /// What was told as JSON, a value a line; a line that was cut off is left out.
  var lines: [Line] {
    bytes.split(separator: UInt8(ascii: "\n")).compactMap {
      try? JSONDecoder().decode(Line.self, from: Data($0))
    }
  }

  func signal(_ number: Int32) { if status == nil { kill(process, number) } }

  /// Waits for its end and answers its status; 128 and more for a signal.
  @discardableResult
  func wait() -> Int32 {
    if let status { return status }
    read()
    var result: Int32 = 0
    while waitpid(process, &result, 0) < 0 && errno == EINTR {}
    let signal = result & 0x7F
    let code = signal == 0 ? (result >> 8) & 0xFF : 128 + signal
    status = code
    return code
  }

  deinit {
    signal(SIGKILL)
    wait()
    close(output)
  }

  /// A line of `migrate --json`.
  struct Line: Decodable {
    struct Progress: Decodable {
      struct Part: Decodable { let kind: String }
      let step, steps, current: Int
      let parts: [Part]

      var kind: String { parts.indices.contains(current) ? parts[current].kind : "" }
    }
    struct Receipt: Decodable {
      let notes: [String]
      let backup: String?
    }
    struct Failure: Decodable {
      let message: String
      let code: Int?
      let hint: String?
    }
    let progress: Progress?
    let receipt: Receipt?
    let error: Failure?
  }
}

/// `read` by a name that the methods above do not hide.
private func systemRead(_ descriptor: Int32, _ bytes: UnsafeMutableRawPointer, _ count: Int) -> Int
{
  read(descriptor, bytes, count)
}
