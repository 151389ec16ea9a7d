import Testing

@testable import Curses

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

#if os(Linux)
  /// Curses writes at every move of the cursor: a terminal that was woken for each took turns with us.
  @MainActor
  @Suite("What goes to the terminal")
  struct FrameOutputTests {
    private func pipes() throws -> (reading: Int32, writing: Int32) {
      var ends: [Int32] = [-1, -1]
      try #require(pipe(&ends) == 0)
      _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
      return (ends[0], ends[1])
    }

    private func text(_ descriptor: Int32) -> String {
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      let count = read(descriptor, &buffer, buffer.count)
      return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }

    /// Time that passes where a test says so, however busy the machine is.
    private final class Clock {
      var now = ContinuousClock.now
    }
    private let clock = Clock()

    @Test("a frame goes out whole when it is done, and the next without the last")
    func frames() throws {
      let (reading, writing) = try pipes()
      let output = FrameOutput(terminal: writing, now: { [clock] in clock.now })
      #expect(output.descriptor != writing)
      for frame in [["one ", "and ", "more"], ["2"], [], ["three", "3"]] {
        output.sendFrame {
          for piece in frame {
            #expect(write(output.descriptor, piece, piece.utf8.count) == piece.utf8.count)
          }
          #expect(text(reading) == "")
        }
        #expect(text(reading) == frame.joined())
      }
    }

    @Test("what is written between frames goes out at once")
    func between() throws {
      let (reading, writing) = try pipes()
      let output = FrameOutput(terminal: writing, now: { [clock] in clock.now })
      output.sendFrame {}
      #expect(write(output.descriptor, "x", 1) == 1)
      #expect(text(reading) == "x")
    }

    @Test("after a frame that took long the next goes out piece by piece, so that a key can end it")
    func slow() throws {
      let (reading, writing) = try pipes()
      let output = FrameOutput(terminal: writing, now: { [clock] in clock.now })
      output.sendFrame { clock.now += .milliseconds(40) }
      output.sendFrame {
        #expect(write(output.descriptor, "x", 1) == 1)
        #expect(text(reading) == "x")
      }
      output.sendFrame {
        #expect(write(output.descriptor, "y", 1) == 1)
        #expect(text(reading) == "")
      }
      #expect(text(reading) == "y")
    }

    @Test("no program that is started holds the terminal or the frame open")
    func inheritance() throws {
      let (_, writing) = try pipes()
      let output = FrameOutput(terminal: writing, now: { [clock] in clock.now })
      output.sendFrame { #expect(fcntl(output.descriptor, F_GETFD) & FD_CLOEXEC != 0) }
      #expect(fcntl(output.descriptor, F_GETFD) & FD_CLOEXEC != 0)
    }
  }
#endif
