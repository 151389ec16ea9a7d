import Files
import TestSupport

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A program in a terminal of ours: keys go in, and what it draws is kept as a screen.
final class PseudoTerminal {
  let process: pid_t
  private(set) var screen: DrawnScreen
  /// How many bytes came so far.
  private(set) var received = 0
  /// Whether it tells what it is when it is asked.
  private let answers: Bool
  private let master: Int32
  private var status: Int32?

  /// - Parameter answers: whether it tells what it is when it is asked.
  init?(
    _ words: [String], width: Int, height: Int, environment: [String: String],
    answers: Bool = true
  ) {
    self.answers = answers
    screen = DrawnScreen(width: width, height: height)
    #if canImport(Darwin)
      master = posix_openpt(O_RDWR | O_NOCTTY)
      guard master >= 0, grantpt(master) == 0, unlockpt(master) == 0, let pointer = ptsname(master)
      else { return nil }
      let name = String(cString: pointer)
    #else
      // Glibc's functions for this are behind a macro that Swift does not set.
      master = Glibc.open("/dev/ptmx", O_RDWR | O_NOCTTY)
      var (isLocked, number): (Int32, UInt32) = (0, 0)
      let (unlock, ask): (UInt, UInt) = (0x4004_5431, 0x8004_5430)
      guard master >= 0, ioctl(master, unlock, &isLocked) == 0, ioctl(master, ask, &number) == 0
      else { return nil }
      let name = "/dev/pts/\(number)"
    #endif
    var size = winsize(
      ws_row: UInt16(height), ws_col: UInt16(width), ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(master, UInt(TIOCSWINSZ), &size)
    _ = fcntl(master, F_SETFD, FD_CLOEXEC)
    _ = fcntl(master, F_SETFL, O_NONBLOCK)
    let start = ProgramStart()
    start.leadSession()
    start.open(name, as: 0, O_RDWR)
    start.duplicate(0, as: 1)
    start.duplicate(0, as: 2)
    var variables = ["TERM": "xterm-256color", "LANG": "C.UTF-8", "PATH": "/usr/bin:/bin"]
    variables.merge(environment) { $1 }
    guard let first = words.first,
      let started = start.start(
        first, Array(words.dropFirst()), environment: variables.map { $0.key + "=" + $0.value })
    else { return nil }
    process = started
  }

  func send(_ keys: String) {
    let bytes = Array(keys.utf8)
    _ = write(master, bytes, bytes.count)
  }

  /// Takes in what is drawn within so many seconds; answers the number of bytes.
  ///
  /// - Parameter limit: bytes to take at most, for a terminal that is slow.
  @discardableResult
  func read(seconds: Double, limit: Int = 1 << 16) -> Int {
    var ready = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
    guard poll(&ready, 1, Int32((seconds * 1000).rounded(.up))) > 0 else { return 0 }
    var buffer = [UInt8](repeating: 0, count: limit)
    let count = systemRead(master, &buffer, buffer.count)
    guard count > 0 else { return 0 }
    // What kind of terminal, and which background: asked at the start, and answered by every one.
    received += count
    if answers, String(decoding: buffer.prefix(count), as: UTF8.self).contains("\u{1B}[c") {
      send("\u{1B}]11;rgb:0000/0000/0000\u{7}\u{1B}[?62;22c")
    }
    screen.take(buffer.prefix(count))
    return count
  }

  /// Reads until the screen is as it should be; seconds that took, or nil.
  func wait(atMost seconds: Double = 20, until isThere: (DrawnScreen) -> Bool) -> Double? {
    let start = Fuzzing.now()
    while !isThere(screen) {
      guard Fuzzing.now() - start < seconds else { return nil }
      read(seconds: 0.005)
    }
    return Fuzzing.now() - start
  }

  /// Seconds of processor that the program has used; from /proc, so only on Linux.
  var processorSeconds: Double? {
    guard let file = fopen("/proc/\(process)/stat", "r") else { return nil }
    defer { fclose(file) }
    var buffer = [UInt8](repeating: 0, count: 1024)
    let count = fread(&buffer, 1, buffer.count, file)
    let text = String(decoding: buffer.prefix(count), as: UTF8.self)
    let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
    guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12])
    else { return nil }
    return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }

  func quit() {
    send("q")
    let start = Fuzzing.now()
    while Fuzzing.now() - start < 2 {
      read(seconds: 0.01)
      var status: Int32 = 0
      if waitpid(process, &status, WNOHANG) == process {
        self.status = status
        return
      }
    }
  }

  deinit {
    if status == nil {
      kill(process, SIGKILL)
      var status: Int32 = 0
      waitpid(process, &status, 0)
    }
    close(master)
  }
}

private func systemRead(_ descriptor: Int32, _ bytes: UnsafeMutableRawPointer, _ count: Int) -> Int
{
  read(descriptor, bytes, count)
}
