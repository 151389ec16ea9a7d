import Files
import ManagedModel
import Migration

/// `migrate --confirm`: the receipt so far, and a question at the terminal before the cut-over.
struct CutoverConfirmation {
  static let option = Option(
    "confirm", "show what was made and verified, and ask before it is put in place")

  private let console: Console

  /// `nil` where it was not asked for.
  ///
  /// - Throws: ``CoreDataError`` of kind usage where nobody can be asked.
  init?(_ arguments: Arguments, isOne: Bool, _ console: Console) throws {
    guard arguments[Self.option] else { return nil }
    guard isOne, !arguments[.json] else {
      throw CoreDataError(
        .usage, "--confirm asks about one store, and not between lines of JSON",
        hint: "Migrate the stores one by one, or rehearse them first.")
    }
    guard console.isErrorTerminal, isatty(STDIN_FILENO) == 1 else {
      throw CoreDataError(
        .usage, "--confirm asks at a terminal, and there is none",
        hint: "Leave it out, or look at the result with strata rehearse first.")
    }
    self.console = console
  }

  /// The question as the engine asks it.
  ///
  /// - Parameter clear: takes away what stands in the line.
  func question(after clear: @escaping () -> Void) -> @Sendable (MigrationReceipt) -> Bool {
    // Called by the run that waits for it, in its own thread.
    nonisolated(unsafe) let ask = { receipt in
      clear()
      return self.ask(receipt)
    }
    return { ask($0) }
  }

  /// Asks; anything but a yes is a no, and so is the end of the input or ^C.
  private func ask(_ receipt: MigrationReceipt) -> Bool {
    console.note("made and verified, not in place yet:")
    for count in receipt.entities {
      console.note("  \(count.entity): \(count.before) before, \(count.after) after")
    }
    for verified in receipt.verified { console.note("  ✓ \(verified.what): \(verified.count)") }
    for loss in receipt.losses {
      console.note(
        "  ! lost: \(loss.name), \(loss.values)\(loss.isOfFile || loss.misfit != nil ? " " + loss.noun : "")"
      )
    }
    console.rewrite("Put it in place? [y/N] ")
    guard let answer = Self.line() else {
      console.note("")
      return false
    }
    return ["y", "yes"].contains(answer.lowercased())
  }

  /// A line of standard input; `nil` at its end, or when a signal asks to stop.
  private static func line() -> String? {
    var bytes: [UInt8] = []
    while bytes.count < 256 {
      var ready = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
      let count = poll(&ready, 1, 200)
      if Interruption.isRequested { return nil }
      if count <= 0 { continue }
      var byte: UInt8 = 0
      guard read(STDIN_FILENO, &byte, 1) == 1 else { return nil }
      if byte == 0x0A { break }
      bytes.append(byte)
    }
    return String(decoding: bytes, as: UTF8.self).filter { !$0.isWhitespace }
  }
}
