import Files
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
    let start = ProgramStart()
    start.open("/dev/null", as: 0, O_RDONLY)
    start.duplicate(pipes[1], as: 1)
    start.duplicate(pipes[1], as: 2)
    start.admitSignals()
    let own = Subprocess.environment().filter { entry in
      !environment.keys.contains { entry.hasPrefix($0 + "=") }
    }
    let started = start.start(
      first, Array(words.dropFirst()),
      environment: own + environment.map { $0.key + "=" + $0.value })
    close(pipes[1])
    guard let started else {
      close(pipes[0])
      return nil
    }
    (process, output) = (started, pipes[0])
  }

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
    let code = ProgramStart.wait(for: process)
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
