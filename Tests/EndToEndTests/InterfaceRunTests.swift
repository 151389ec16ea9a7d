import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite(
  "The interface in a terminal", .serialized,
  .enabled(if: Shell.hasTmux, "tmux is not installed"),
  .enabled(if: !Shell.strata.isEmpty, "the program was not built"))
struct InterfaceRunTests {
  @Test("the four screens, and nothing beside the store has changed after a look")
  func screens() {
    let demo = InterfaceDemo()
    let before = demo.fingerprint
    #expect(before.contains("Recipes.sqlite"))
    let terminal = TmuxTerminal(
      width: 100, height: 30, folder: demo.folder,
      "'\(Shell.strata)' '\(demo.folder)/demo/Recipes.sqlite'")
    let browse = terminal.screen(
      showing: "Entities", "2,060", "model “Recipes”  ✓ exact", "Amount/p1", "▸1 Browse")
    #expect(browse.contains("▸1 Browse") && browse.contains("Amount/p1"), "\(browse)")
    terminal.send("2")
    let diff = terminal.screen(showing: "what it means", "favourites", "⟷", "Recipes  ⟷  Recipes 2")
    #expect(diff.contains("Recipes  ⟷  Recipes 2"), "\(diff)")
    terminal.send("3")
    let mapping = terminal.screen(showing: "IEM_Transform_Person", "✓ can migrate")
    #expect(mapping.contains("✓ can migrate"), "\(mapping)")
    terminal.send("4")
    let migrate = terminal.screen(showing: "asks, then migrates", "strata migrate", "as a command")
    #expect(migrate.contains("as a command"), "\(migrate)")
    terminal.resize(width: 60, height: 20)
    terminal.send("1")
    let narrow = terminal.screen(showing: "▸1 Browse  2  3  4", "Amount/p1")
    #expect(narrow.contains("Amount/p1"), "\(narrow)")
    terminal.send("q")
    #expect(terminal.screen(showing: "EXIT 0").contains("EXIT 0"))
    #expect(demo.fingerprint == before)
  }

  @Test("a migration ends in a receipt, and Browse shows the migrated store")
  func migration() {
    let demo = InterfaceDemo()
    let terminal = TmuxTerminal(
      width: 100, height: 30, folder: demo.folder,
      "'\(Shell.strata)' '\(demo.folder)/demo/Recipes.sqlite'")
    _ = terminal.screen(showing: "2,060")
    terminal.send("4")
    _ = terminal.screen(showing: "asks, then migrates")
    terminal.askToMigrate()
    #expect(terminal.screen.contains("Recipes.backup-1"), "the backup that the receipt names")
    terminal.send("y")
    let receipt = terminal.screen(
      showing: "receipt", "Recipes.backup-1", "migrated “Recipes”",
      "migrated “Recipes” → “Recipes 2”")
    #expect(receipt.contains("migrated “Recipes” → “Recipes 2”"), "\(receipt)")
    terminal.send("1")
    let browse = terminal.screen(showing: "model “Recipes 2”", "Rating")
    #expect(browse.contains("Rating"), "\(browse)")
    terminal.send("q")
    #expect(terminal.screen(showing: "EXIT 0").contains("EXIT 0"))
  }

  @Test("what is copied reaches tmux as it is set up by default; where it is off, that is said")
  func copying() {
    let demo = InterfaceDemo()
    let terminal = TmuxTerminal(
      width: 120, height: 30, folder: demo.folder,
      "'\(Shell.strata)' '\(demo.folder)/demo/Recipes.sqlite'")
    _ = terminal.screen(showing: "2,060", "Amount/p1")
    terminal.send("y", "Enter")
    Patience.wait { !terminal.buffer.isEmpty }
    #expect(terminal.buffer.contains("Amount"), "\(terminal.screen)")
    terminal.set("set-clipboard off")
    terminal.send("y", "Enter")
    let told = terminal.screen(showing: "set-clipboard external")
    #expect(told.contains("tmux kept it"), "\(told)")
  }

  @Test("what is no store is told in the shell, with the status of an unreadable file")
  func unreadable() {
    let demo = InterfaceDemo()
    Shell.run("echo hello > '\(demo.folder)/demo/note.sqlite'")
    let terminal = TmuxTerminal(
      width: 100, height: 30, folder: demo.folder,
      "'\(Shell.strata)' '\(demo.folder)/demo/note.sqlite'")
    let screen = terminal.screen(showing: "EXIT 4", "strata: ")
    #expect(screen.contains("EXIT 4") && screen.contains("strata: "), "\(screen)")
  }

  @Test("SIGTERM leaves the terminal as it was")
  func terminated() {
    let demo = InterfaceDemo()
    let terminal = TmuxTerminal(
      width: 100, height: 30, folder: demo.folder,
      "echo before; '\(Shell.strata)' '\(demo.folder)/demo/Recipes.sqlite'")
    _ = terminal.screen(showing: "Entities")
    terminal.signal("TERM")
    let screen = terminal.screen(showing: "before", "EXIT", without: ["Entities"])
    #expect(screen.contains("before") && !screen.contains("Entities"), "\(screen)")
  }

  @Test(
    "a paste whose marks come in pieces is text, and what follows it are keys",
    .enabled(if: TestScale.isFull, "\(TestScale.condition)"))
  func paste() {
    let demo = InterfaceDemo()
    let terminal = demo.open()
    _ = terminal.screen(showing: "2,060", "Amount/p1")
    terminal.send("/")
    _ = terminal.screen(showing: "a predicate such as")
    // Longer apart than curses waits for the rest of a key.
    terminal.sendBytes("1b 5b 32", "30 30 7e 71 31", "71 1b 5b 32", "30 31", "7e")
    terminal.send("-l z")
    let screen = terminal.screen(showing: "q1qz")
    #expect(screen.contains("q1qz"), "\(screen)")
    // Only once it is gone: together with what follows, Escape would be Alt.
    terminal.send("Escape")
    Patience.wait { !terminal.screen.contains("q1qz") }
    terminal.send("q")
    #expect(terminal.screen(showing: "EXIT 0").contains("EXIT 0"))
  }

  @Test(
    "4⏎⏎, typed at once or pasted, changes no byte beside the store",
    .enabled(if: TestScale.isFull, "\(TestScale.condition)"))
  func pastedMigration() {
    let demo = InterfaceDemo()
    let before = demo.fingerprint
    let terminal = demo.open(width: 80, height: 24)
    _ = terminal.screen(showing: "2,060", "Amount/p1")
    // Between the marks of a paste it is text, for which nothing asks here.
    terminal.sendBytes("1b 5b 32 30 30 7e 34 0d 0d 1b 5b 32 30 31 7e")
    terminal.send("3")
    _ = terminal.screen(showing: "▸3 Mapping", "✓ can migrate")
    terminal.sendAtOnce("4", "Enter", "Enter")
    let question = terminal.screen(
      showing: "Migrate Recipes.sqlite?", "Recipes.backup-1", "On disk")
    #expect(question.contains("y migrate"), "\(question)")
    terminal.sendAtOnce("Enter", "Enter", "Enter")
    terminal.send("n")
    _ = terminal.screen(showing: "asks, then migrates", without: ["Migrate Recipes.sqlite?"])
    // q is no; the second one quits.
    terminal.sendAtOnce("Enter", "q", "q")
    #expect(terminal.screen(showing: "EXIT 0").contains("EXIT 0"))
    #expect(demo.fingerprint == before)
  }
}
