import ManagedModel
import Terminal

/// Asks for the password of an encrypted backup, which is not shown, and then shows how far its key is.
struct PasswordLayer: LayerContent {
  private(set) var isDone = false
  private let backup: LockedBackup
  /// What was typed: bytes that are overwritten when the layer goes.
  private var typed = Secret([])
  private var work: (task: TaskID, fraction: Double)?
  /// Why the last password opened nothing.
  private var problem: CoreDataError?

  /// Most bytes of a password.
  private static let limit = 1024

  init(_ backup: LockedBackup) { self.backup = backup }

  static func == (left: PasswordLayer, right: PasswordLayer) -> Bool {
    left.isDone == right.isDone && left.backup == right.backup && left.typed == right.typed
      && left.work?.task == right.work?.task && left.work?.fraction == right.work?.fraction
      && left.problem == right.problem
  }

  func bindings(_ context: Context) -> [Binding] {
    guard work == nil else {
      return [Binding([.escape], "stop", asks("cancel") { $0.cancel(in: &$1) ?? [] })]
    }
    return [
      Binding(
        [.enter], "open the backup", asks("confirm") { $0.unlock(in: &$1) },
        unless: typed.count == 0 ? "type the password first" : nil,
        command: "strata stores \(ShellText.quoted(backup.path))"),
      closing([.escape]),
    ]
  }

  private mutating func unlock(in context: inout Context) -> [Effect] {
    let task = context.newTask()
    (work, problem) = ((task, 0), nil)
    defer { typed = Secret([]) }
    return [.unlock(task, path: backup.path, typed)]
  }

  mutating func type(_ key: Key, in context: inout Context) -> [Effect] {
    guard work == nil else { return [] }
    switch key {
    case .character(let character): add(String(character))
    case .paste(let text): add(String(text.prefix { !$0.isNewline }))
    case .backspace, .control("h"): removeLast()
    // ^W clears it as well: in a hidden password the user cannot see where a word ends.
    case .control("u"), .control("w"): typed = Secret([])
    default: break
    }
    return []
  }

  private mutating func add(_ text: String) {
    let former = typed
    guard former.count + text.utf8.count <= Self.limit else { return }
    typed = Secret(capacity: former.count + text.utf8.count) { memory in
      former.withBytes { memory.copyBytes(from: $0) }
      var place = former.count
      for byte in text.utf8 {
        memory[place] = byte
        place += 1
      }
      return place
    }
  }

  private mutating func removeLast() {
    let former = typed
    // A letter may have several bytes.
    let count = former.withBytes { $0.lastIndex { $0 & 0xC0 != 0x80 } ?? 0 }
    typed = Secret(capacity: count) { memory in
      former.withBytes { memory.copyBytes(from: $0.prefix(count)) }
      return count
    }
  }

  mutating func take(_ answer: Answer, to task: TaskID, in context: inout Context) -> [Effect] {
    guard task == work?.task else { return [] }
    switch answer {
    case .unlocking(let fraction): work = (task, fraction)
    case .unlocked(let listing, let peeks):
      (work, isDone) = (nil, true)
      return context.on(PickerScreen.self) { $0.open(listing, peeks, in: &$1) }
    default: break
    }
    return []
  }

  mutating func fail(_ task: TaskID, _ error: CoreDataError, in context: inout Context) -> [Effect]
  {
    guard task == work?.task else { return [] }
    work = nil
    if error.kind != .cancelled { problem = error }
    return []
  }

  mutating func cancel(in context: inout Context) -> [Effect]? {
    defer { work = nil }
    return work.map { [.cancel($0.task)] }
  }

  private static let deriving =
    "The key is derived from the password. This takes some seconds; then the list of files is read."

  private var question: String {
    let name = Sanitize.text(backup.name)
    return "The backup\(name.isEmpty ? "" : " " + name) is encrypted. Password of "
      + "“Encrypt local backup” in Finder or iTunes, not the passcode of the device:"
  }

  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ body: Rect) {
    let width = max(1, min(64, body.width - 4))
    let fault =
      problem.map { Wrapping.lines("✗ \($0.message.capitalizedFirst).", width: width) } ?? []
    let lines = Wrapping.lines(work == nil ? question : Self.deriving, width: width)
    let count = fault.count + lines.count
    let inside = Popup("Locked backup", width, count + 2).draw(in: &grid, body, theme: theme)
    grid.write(fault, in: inside, style: theme[.error])
    grid.write(lines, in: inside.droppingRows(fault.count), style: theme[.dim])
    let row = inside.row(min(count + 1, max(0, inside.height - 1)))
    if let work {
      Gauge(work.fraction).draw(in: &grid, row, theme: theme)
      return
    }
    // A dot for each letter; the end is in sight.
    let letters = typed.withBytes { $0.count { $0 & 0xC0 != 0x80 } }
    let dots = String(repeating: "•", count: min(letters, max(0, row.width - 4)))
    Prompt(dots).draw(in: &grid, row, label: [Span("› ", theme[.footerKey])], theme: theme)
  }
}
