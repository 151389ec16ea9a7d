import TestSupport
import Testing

@testable import Files

@Suite(
  "Changes prepared in a terminal", .serialized,
  .enabled(if: Shell.hasTmux, "tmux is not installed"),
  .enabled(if: !Shell.strata.isEmpty, "the program was not built"))
struct EditInterfaceTests {
  private func output(_ demo: InterfaceDemo, _ command: String) -> String {
    Shell.output(of: "'\(Shell.strata)' \(command)", through: demo.folder + "/output")
  }

  /// The selected cell is `createdAt` of Recipe/p3.
  private func goToDate(_ terminal: TmuxTerminal) throws {
    _ = terminal.screen(showing: "Amount", "Entities")
    terminal.send("'*'", "Recipe/p3", "Enter")
    _ = terminal.screen(showing: "1 hit")
    terminal.send("Enter")
    _ = terminal.screen(showing: "Recipe/p3 ─")
    terminal.send("Right", "Right")
  }

  @Test("a wrong date is put right, verified and rolled back", arguments: [(120, 36), (80, 24)])
  func date(width: Int, height: Int) throws {
    let demo = InterfaceDemo(objects: 500)
    let before = output(demo, "dump '\(demo.store)'")
    let sum = demo.sum
    let terminal = demo.open(width: width, height: height)
    try goToDate(terminal)
    terminal.send("E")
    _ = terminal.screen(showing: "createdAt: Date", "typing replaces it")
    terminal.send("2024-02-30", "Enter")
    _ = terminal.screen(showing: "there is no 30 February 2024")
    terminal.send("BSpace", "BSpace", "29", "Enter")
    _ = terminal.screen(showing: "* 1 change", "*2024-02-29")
    #expect(demo.sum == sum)
    terminal.send("q")
    _ = terminal.screen(showing: "Quit without writing?")
    terminal.send("n")
    _ = terminal.screen(showing: "W write", without: ["Quit without writing?"])
    terminal.send("W")
    _ = terminal.screen(showing: "Write 1 change to Recipes.sqlite?", "On disk", "createdAt")
    #expect(demo.sum == sum)
    terminal.send("y")
    _ = terminal.screen(showing: "1 object changed, 0 deleted in", "SHA-256 of the backup")
    terminal.send("Enter")
    let shown = terminal.screen(showing: "2024-02-29", "Recipe/p3", without: ["* 1 change"])
    #expect(!shown.contains("*2024"))
    #expect(output(demo, "object '\(demo.store)' Recipe/p3").contains("2024-02-29"))
    terminal.send("q")
    _ = terminal.screen(showing: "EXIT 0")
    _ = output(demo, "rollback '\(demo.store)'")
    #expect(output(demo, "dump '\(demo.store)'") == before)
  }

  @Test("an object that is marked goes with what hangs on it, and u keeps it")
  func deletion() throws {
    let demo = InterfaceDemo(objects: 500)
    let terminal = demo.open(width: 120, height: 36)
    try goToDate(terminal)
    terminal.send("X")
    let marked = terminal.screen(showing: "Recipe/p3 is to be deleted, and with it", "D──3──")
    #expect(marked.contains("Step"))
    terminal.send("u")
    _ = terminal.screen(showing: "undone: deletion of Recipe/p3", without: ["D──3──"])
    terminal.send("X")
    _ = terminal.screen(showing: "D──3──")
    terminal.send("W")
    _ = terminal.screen(showing: "Deleted ", "Recipe/p3 Sunday", "With them", "On disk")
    terminal.send("y")
    _ = terminal.screen(showing: "10 deleted in", "SHA-256 of the backup")
    #expect(
      output(demo, "rows '\(demo.store)' Recipe --where 'title != nil' --limit all").contains(
        "  4  "))
    #expect(!output(demo, "dump '\(demo.store)'").contains("\"Recipe/p3\""))
    terminal.send("q")
    _ = terminal.screen(showing: "EXIT 0")
  }

  @Test("a store that an app has open is refused in the popup, and the change stays prepared")
  func inUse() throws {
    let demo = InterfaceDemo(objects: 500)
    let terminal = demo.open(width: 120, height: 36)
    try goToDate(terminal)
    terminal.send("E")
    _ = terminal.screen(showing: "typing replaces it")
    terminal.send("2024-02-29", "Enter")
    _ = terminal.screen(showing: "* 1 change")
    let script = """
      import sqlite3, time
      store = sqlite3.connect('\(demo.store)', isolation_level=None)
      store.execute('BEGIN')
      store.execute('SELECT count(*) FROM ZRECIPE').fetchall()
      open('\(demo.folder)/ready', 'w').close()
      time.sleep(600)
      """
    try FileSystem.write(Array(script.utf8), to: demo.folder + "/app.py")
    let app = ChildProgram(["python3", demo.folder + "/app.py"])
    defer { withExtendedLifetime(app) {} }
    let isReady = Patience.wait { FileSystem.isFile(demo.folder + "/ready") }
    try #require(isReady)
    terminal.send("W")
    _ = terminal.screen(showing: "1 change cannot be written", "still prepared")
    terminal.send("Escape")
    _ = terminal.screen(showing: "* 1 change", without: ["cannot be written"])
  }

  @Test("a text with a modeline and escape characters runs nothing in an editor")
  func editor() throws {
    let demo = InterfaceDemo(objects: 500)
    let trap = demo.folder + "/trap"
    let text =
      "# vim: set modeline fdm=expr fde=writefile([],'\(trap)'):\\n\\u001b]0;owned\\u0007$(touch \(trap))\\n# vim: ts=77"
    _ = output(demo, "edit '\(demo.store)' Recipe/p3 'title=\"\(text)\"'")
    // A person whose vim reads modelines and keeps undo files and backups.
    let home = demo.folder + "/home"
    Shell.run("mkdir -p '\(home)/undo'")
    let settings =
      "set modeline modelines=5 modelineexpr undofile backup undodir=\(home)/undo backupdir=\(home)/undo directory=\(home)/undo viminfo='100,n\(home)/viminfo\n"
    try FileSystem.write(Array(settings.utf8), to: home + "/.vimrc")
    let seen = demo.folder + "/seen"
    let script = """
      #!/bin/sh
      for word; do file=$word; done
      cp "$file" '\(seen)'
      exec vim "$@"
      """
    let editor = demo.folder + "/my editor"
    try OtherProgram.write(script: script, to: editor)
    let isVim = Shell.run("command -v vim") == 0
    let command = isVim ? "vim" : "'\(editor)'"
    let terminal = TmuxTerminal(
      width: 120, height: 36, folder: demo.folder,
      "HOME='\(home)' EDITOR=\\\"\(command)\\\" '\(Shell.strata)' '\(demo.store)'")
    _ = terminal.screen(showing: "Amount", "Entities")
    terminal.send("'*'", "Recipe/p3", "Enter")
    _ = terminal.screen(showing: "1 hit")
    terminal.send("Enter")
    _ = terminal.screen(showing: "Recipe/p3 ─")
    terminal.send("Right", "E")
    let inside = terminal.screen(showing: "\\u{1B}]0;owned\\u{7}")
    #expect(inside.contains("# vim: set modeline"))
    if isVim {
      terminal.send("':set modeline? ts? undofile? backup?'", "Enter")
      let options = terminal.screen(showing: "nomodeline")
      #expect(options.contains("noundofile") && !options.contains("tabstop=77"), "\(options)")
      terminal.send(
        "Enter", "Escape", "':1s/owned/changed/e'", "Enter", "':2s/owned/changed/'", "Enter",
        "':wq'", "Enter")
    }
    _ = terminal.screen(showing: "* 1 change", "Entities")
    terminal.send("W")
    _ = terminal.screen(showing: "Write 1 change", "On disk")
    terminal.send("y")
    _ = terminal.screen(showing: "1 object changed, 0 deleted in", "SHA-256 of the backup")
    #expect(!FileSystem.isFile(trap))
    let stored = output(demo, "object '\(demo.store)' Recipe/p3 --json")
    #expect(
      stored.contains("\\u001b]0;changed\\u0007") || stored.contains("\\u001B]0;changed\\u0007"),
      "\(stored)")
    #expect(Shell.output(of: "find '\(home)/undo' -type f", through: demo.folder + "/left").isEmpty)
    #expect(!FileSystem.isFile(home + "/viminfo"))
    terminal.send("q")
    _ = terminal.screen(showing: "EXIT 0")
  }
}
