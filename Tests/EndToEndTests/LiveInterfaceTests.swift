import TestSupport
import Testing

@testable import Files

/// Issue 30, point 1: the interface noticed no save of an app that had the store open.
@Suite(
  "The interface beside a program that saves", .serialized,
  .enabled(if: Shell.hasTmux, "tmux is not installed"),
  .enabled(if: Tool.python3.isAvailable, "python3 is not installed"),
  .enabled(if: !Shell.strata.isEmpty, "the program was not built"))
struct LiveInterfaceTests {
  /// Does one command of SQL after another, each a save, as they are written into a file.
  private static let writer = """
    import os, sqlite3, sys, time
    path, orders, mode = sys.argv[1:]
    store = sqlite3.connect(path, isolation_level=None)
    store.execute('PRAGMA journal_mode = ' + mode)
    store.execute("UPDATE ZTAG SET Z_OPT = Z_OPT + 1 WHERE Z_PK = 1")
    open(orders, 'w').close()
    done = 0
    while True:
        lines = open(orders).read().split('\\n')[:-1]
        for line in lines[done:]:
            if line == 'quit': sys.exit()
            store.execute(line).fetchall()
        done = len(lines)
        time.sleep(0.01)
    """

  /// An app that has the demo open.
  private final class App {
    private let orders: String
    private var lines: [String] = []
    private let program: ChildProgram?

    init(_ demo: InterfaceDemo, mode: String) throws {
      let script = demo.folder + "/writer.py"
      orders = demo.folder + "/orders"
      try FileSystem.write(Array(LiveInterfaceTests.writer.utf8), to: script)
      program = ChildProgram(["python3", script, demo.store, orders, mode])
      let isReady = Patience.wait { [orders] in FileSystem.isFile(orders) }
      try #require(isReady)
    }

    func run(_ sql: String) {
      lines.append(sql)
      let text = lines.joined(separator: "\n") + "\n"
      // At once, so that no half of it is read.
      try? FileSystem.write(Array(text.utf8), to: orders + "-new")
      try? FileSystem.rename(orders + "-new", to: orders)
    }

    func title(_ key: Int, _ title: String) {
      run("UPDATE ZTAG SET ZNAME = '\(title)', Z_OPT = Z_OPT + 1 WHERE Z_PK = \(key)")
    }

    /// It is killed if it does not.
    func quit() { run("quit") }
  }

  @Test("shows each save, marked, through checkpoints and ^R", arguments: ["WAL", "DELETE"])
  func saves(mode: String) throws {
    let demo = InterfaceDemo(objects: 500)
    let app = try App(demo, mode: mode)
    let terminal = demo.open(width: 120, height: 36)
    // What is typed before the store is open goes elsewhere.
    let opened = terminal.screen(showing: "Entities", "row 1 of")
    try #require(opened.contains("row 1 of"))
    terminal.send("Tab", "Tab", "G", "Enter")
    try #require(terminal.screen(showing: "Tag/p1").contains("Tag/p1"))
    // Saves are listed from the first look on.
    terminal.send("C")
    let look = terminal.screen(showing: "no other program saved since")
    try #require(look.contains("no other program saved since"), "\(look)")
    terminal.send("Escape")
    app.title(1, "first save")
    let first = terminal.screen(showing: "~  1  first save", "● 1 save since", " → first save")
    try #require(first.contains("~  1  first save") && first.contains("● 1 save since"), "\(first)")
    app.run("PRAGMA wal_checkpoint(TRUNCATE)")
    app.title(1, "behind a checkpoint")
    // A log that was emptied between two looks does not tell how many saves it held: they are not counted then.
    // The row may be read again before the save is known.
    let afterwards = ["● 2 saves since", "● changed since"]
    var second = ""
    let isTold = Patience.wait {
      second = terminal.screen
      return second.contains("~  1  behind") && afterwards.contains(where: second.contains)
    }
    try #require(isTold, "\(second)")
    terminal.send("C-r")
    let cleared = terminal.screen(showing: "  1  behind", without: ["since", "~  1"])
    try #require(!cleared.contains("~  1"), "\(cleared)")
    for number in 1...3 {
      app.title(1, "again \(number)")
      let again = terminal.screen(showing: "~  1  again \(number)")
      try #require(again.contains("~  1  again \(number)"), "\(again)")
    }
    app.run("DELETE FROM ZTAG WHERE Z_PK = 2")
    // The row stays, struck, whether it was read again before or after the save was known.
    let deleted = terminal.screen(showing: "Tag  19", "−──2──")
    try #require(deleted.contains("Tag  19") && deleted.contains("−──2──"), "\(deleted)")
    terminal.send("C")
    let list = terminal.screen(showing: "▸saves", "Tag/p1", "− Tag/p2")
    #expect(list.contains("− Tag/p2") && list.contains("again 3"), "\(list)")
    app.quit()
    terminal.send("Escape")
    let isClosed = Patience.wait { !terminal.screen.contains("▸saves") }
    try #require(isClosed)
    terminal.send("q")
    #expect(terminal.screen(showing: "EXIT 0").contains("EXIT 0"))
  }
}
